"""`/vobo freeze WHY` and `/vobo unfreeze WHY`: the operators' way to stop all effects at once, from a phone."""

from bot.asker import asker_of, tell
from bot.authority import operator
from bot.deps import Deps
from bot.language import say
from bot.payloads import Slash
from bot.text import inert

FREEZE, UNFREEZE = "freeze", "unfreeze"


def asks_to_freeze(request: str) -> bool:
    """Whether a slash command is about freezing, not a request to the agent."""
    return request.split(" ", 1)[0].lower() in {FREEZE, UNFREEZE}


def freezing(deps: Deps, said: Slash, request: str) -> None:
    """Stop claims, or let them go on. A reason is required; it goes into the ledger and to ops.

    Raises:
        Refused: whoever asks is no operator; noted in the ledger.
        SlackUnavailable: nobody can tell who they are.
    """
    verb, _, reason = (part.strip() for part in request.partition(" "))
    person = operator(deps, said.sender, verb.lower(), "effects")
    if not reason:
        why = say("Say why, for example `/vobo {verb} the payment provider answers twice`.", verb=verb.lower())
        tell(deps, asker_of(said), why)
        return
    switches = deps.store.switches
    if verb.lower() == FREEZE:
        switches.freeze(person.name, reason)
        frozen = inert(switches.frozen() or "")
        tell(
            deps, asker_of(said), say("Frozen: nothing new runs, decisions go on. Effects are {frozen}.", frozen=frozen)
        )
        return
    was = switches.frozen()
    if was is None:
        tell(deps, asker_of(said), say("Nothing is frozen."))
        return
    switches.unfreeze(person.name, reason)
    tell(deps, asker_of(said), say("Unfrozen: approved calls run again, those whose time has passed lapse."))
