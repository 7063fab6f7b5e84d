"""`/vobo freeze WHY` and `/vobo unfreeze WHY`: the operators' way to stop all effects at once, from a phone."""

import re
from collections.abc import Sequence

from approvals.ledger import LedgerUnreachable
from approvals.ledger_head import LedgerDiffers
from approvals.switches import Freeze, must_be_reconciled
from bot.asker import asker_of, tell
from bot.authority import operator
from bot.blocks import dated, when
from bot.deps import Deps
from bot.language import say
from bot.payloads import Slash
from bot.text import inert

FREEZE, UNFREEZE = "freeze", "unfreeze"
#: What lifts several reasons: `reconciled`, where somebody has to compare, and how many there are.
_CONFIRMED = re.compile(
    r"(?P<looked>reconciled[\s:;,.-]+)?(?P<number>\d{1,4})(?=[\s:;,]|$)[\s:;,.-]*(?P<why>.*)", re.IGNORECASE | re.DOTALL
)
#: Characters of all reasons in one answer, without names and times.
_LISTED = 3_000


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
    tell(deps, asker_of(said), _lifted(deps, person.name, reason))


def _lifted(deps: Deps, by: str, reason: str) -> str:
    """Lets effects go on, unless that needs another word, or another ledger; returns what is said about it."""
    switches, unknown = deps.store.switches, ""
    reasons = switches.freezes()
    if not reasons:
        return say("Nothing is frozen.")
    if len(reasons) > 1 and not _confirms(reasons, reason):
        return f"{_how_to_lift(reasons)}\n{_listed(reasons)}"
    try:
        _require_ledger(deps)
    except LedgerDiffers as differs:  # the clock would freeze it anew, some seconds later
        return say("Nothing was lifted. {why}", why=inert(str(differs), 1_500))
    except LedgerUnreachable as away:
        deps.log.warning("%s", away)
        unknown = f"\n{say('The database does not answer: whether its ledger is the right one is not known.')}"
    if not switches.unfreeze(by, reason, seen=len(reasons)).ok:
        return say("Nothing was lifted: it was frozen for another reason just now. Send it again.")
    done = say("Unfrozen: approved calls run again, those whose time has passed lapse. Lifted:")
    return f"{done}\n{_listed(reasons)}{unknown}"


def _require_ledger(deps: Deps) -> None:
    if deps.store.ledger.noted() is not None:
        deps.ledger()


def _confirms(reasons: Sequence[Freeze], typed: str) -> bool:
    """Whether this names how many reasons there are, as only somebody can who was shown them, and says why."""
    said = _CONFIRMED.match(typed)
    if said is None or int(said["number"]) != len(reasons):
        return False
    return bool(said["looked"]) or (bool(said["why"]) and not must_be_reconciled(reasons))


def _how_to_lift(reasons: Sequence[Freeze]) -> str:
    number = len(reasons)
    if must_be_reconciled(reasons):
        return say(
            "Nothing was lifted. Effects are frozen for {number} reasons. Compare `vobo ledger` with the providers and"
            " settle what differs; to lift all of them, send `/vobo unfreeze reconciled {number} WHY`.",
            number=number,
        )
    return say(
        "Nothing was lifted. Effects are frozen for {number} reasons. To lift all of them, send"
        " `/vobo unfreeze {number} WHY`.",
        number=number,
    )


def _listed(reasons: Sequence[Freeze]) -> str:
    """Each of them: whoever lifts them must have been shown all, so many are told in fewer words."""
    most = min(300, max(40, _LISTED // len(reasons)))
    return "\n".join(
        say(
            "• by {name}, {time}: {why}",
            name=inert(one.by, 80),
            time=dated(when(one.at, "{date_short_pretty} {time}")),
            why=inert(one.reason, most),
        )
        for one in reasons
    )
