"""`/vobo freeze WHY` and `/vobo unfreeze WHY`: the operators' way to stop all effects at once, from a phone."""

from approvals.switches import Switches, must_be_reconciled
from bot.asker import asker_of, tell
from bot.authority import operator
from bot.deps import Deps
from bot.language import say
from bot.payloads import Slash
from bot.text import inert

FREEZE, UNFREEZE = "freeze", "unfreeze"
#: Begins the reason of who compared what the ledger and the providers know.
RECONCILED = "reconciled"


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
    tell(deps, asker_of(said), _lifted(switches, person.name, reason))


def _lifted(switches: Switches, by: str, reason: str) -> str:
    """Lets effects go on, unless that needs another word; returns what is said about it."""
    reasons = switches.freezes()
    if not reasons:
        return say("Nothing is frozen.")
    looked = reason.split(" ", 1)[0].strip(":;,.-").lower() == RECONCILED
    if must_be_reconciled(reasons) and not looked:
        return say(
            "Nothing was lifted. Effects are {frozen}. Compare `vobo ledger` with the providers and settle what"
            " differs, then send `/vobo unfreeze reconciled WHY`.",
            frozen=inert(switches.frozen() or "", 2_000),
        )
    if not switches.unfreeze(by, reason, seen=len(reasons)).ok:
        return say("Nothing was lifted: it was frozen for another reason just now. Send it again.")
    return say("Unfrozen: approved calls run again, those whose time has passed lapse.")
