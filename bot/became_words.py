"""What became of calls that nobody has to decide any more, as a clause: for those who were asked about them."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from approvals.lifecycle import UNCHECKED, Cause, State
from approvals.models import BatchView, Call, PauseView
from bot.card_text import NAME
from bot.language import say, say_count, say_list
from bot.standing import standing
from bot.text import cut, one_line


class Around(NamedTuple):
    """What a card or an outcome knows beside the call itself.

    `waits_for` are the numbers of the calls that are decided before an approved one runs, `until` is when their time
    ends (ms); `whole_run`: not even that is enough, since everything of the run is decided first. `cancelled_by` is the
    name of whoever took the run back. `frozen`: operators have frozen all effects.
    """

    waits_for: tuple[int, ...] = ()
    until: int | None = None
    whole_run: bool = False
    cancelled_by: str = ""
    frozen: bool = False


#: For whoever knows nothing but the call.
APART = Around()


def around_of(view: BatchView | PauseView, *, frozen: bool = False) -> Around:
    """What stands around the calls of a card or of an outcome."""
    run = view.run
    by = cut(one_line(run.cancelled_name or run.cancelled_by or ""), NAME)
    if isinstance(view, PauseView):
        return Around(cancelled_by=by, frozen=frozen)
    waiting = tuple(call.number for call in view.calls if call.state is State.PENDING_REVIEW)
    return Around(waiting, view.batch.decide_by, run.barrier == "pause", by, frozen)


def approvers(call: Call) -> list[str]:
    """The names of those whose approval of the version that is shown counts."""
    names = {one.reviewer: cut(one_line(one.name), NAME) for one in call.decisions}
    return [names.get(user, user) for user in standing(call).approved_by]


def earlier(call: Call) -> list[str]:
    """The names of those who approved a version before this one, and not this one."""
    now = standing(call).approved_by
    before = {one.reviewer: cut(one_line(one.name), NAME) for one in call.decisions if one.version < call.version}
    return [name for user, name in before.items() if user not in now]


def editor(call: Call) -> str:
    """Who changed it last; empty when nobody did."""
    edits = [one for one in call.decisions if one.verdict == "edit"]
    return cut(one_line(edits[-1].name), NAME) if edits else ""


def why_expired(call: Call) -> str:
    """What was missing when the time to decide was over; a sentence that names everybody who had approved."""
    names, missing = approvers(call), standing(call).missing
    if call.reason == UNCHECKED:
        name = editor(call)
        return say("{name}'s change was not checked in time", name=name) if name else say("it was not checked in time")
    if names and missing:
        return say_count(
            missing,
            "{names} approved, one more approval was missing",
            "{names} approved, {number} more approvals were missing",
            names=say_list(names),
        )
    if names:
        return say("{names} approved, and its time was over", names=say_list(names))
    if earlier(call):
        return say(
            "nobody decided in time on what it had become; {names} approved a version before",
            names=say_list(earlier(call)),
        )
    return say("nobody decided in time")


def all_became(calls: Sequence[Call]) -> str:
    """`approved by Olga and Bruno`; where they ended differently, each with its number."""
    counted = Counter(map(became, calls))
    if len(counted) == 1:
        return next(iter(counted))
    return "; ".join(
        say_count(number, "{number} {became}", "{number} {became}", became=said) for said, number in counted.items()
    )


def became(call: Call) -> str:
    """What people, the law or time decided; not what ran since, which is told elsewhere."""
    match call.state:
        case State.EXPIRED:
            return _expired(call)
        case State.REJECTED:
            return _rejected(call)
        case State.PROPOSED:
            return say("needs nobody's approval")
        case State.PENDING_REVIEW:
            return say("waiting for a decision")
    names = approvers(call)
    if not names:
        return say("approved by policy")
    return (
        say("approved with changes by {names}", names=say_list(names))
        if editor(call)
        else say("approved by {names}", names=say_list(names))
    )


def _expired(call: Call) -> str:
    if call.cause is Cause.LAPSED:
        names = say_list(approvers(call)) or say("policy")
        return say("approved by {names}, but too old before it could run; nothing ran", names=names)
    if call.cause is Cause.UNPOSTED:
        return say("expired before it could be posted; nothing ran")
    return say("expired, nothing ran ({why})", why=why_expired(call))


def _rejected(call: Call) -> str:
    rejected = [one for one in call.decisions if one.verdict == "reject"]
    match call.cause:
        case Cause.PERSON if rejected:
            return say("rejected by {names}", names=cut(one_line(rejected[-1].name), NAME))
        case Cause.WITHDRAWN:
            return say("withdrawn, nothing ran")
        case Cause.CAP | Cause.BUDGET:
            return say("not run, a limit is reached")
        case _:
            return say("refused, nothing ran")
