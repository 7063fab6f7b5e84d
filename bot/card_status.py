"""What became of a call, and who decided it, in the words of its card."""

from approvals.lifecycle import Cause, State
from approvals.models import Call
from bot.approval_words import while_frozen
from bot.became_words import APART, Around, approvers, why_expired
from bot.blocks import Block, leaf, when
from bot.canary_text import canary_end
from bot.card_text import NAME
from bot.common_reasons import shown_reason
from bot.language import HOLE, around, say, say_count, say_list
from bot.text import cut, one_line
from bot.what_words import full_stop


def decided_by(call: Call) -> str:
    """The names of those whose approval counts, or of who rejected."""
    if call.state is State.REJECTED and call.cause is Cause.PERSON:
        rejected = [decision for decision in call.decisions if decision.verdict == "reject"]
        return cut(one_line(rejected[-1].name), NAME) if rejected else say("a person")
    return say_list(approvers(call))


def decided_at(call: Call) -> int:
    """When the last decision on the call was made, ms; 0 when nobody decided."""
    return max((decision.at for decision in call.decisions), default=0)


def approval(call: Call) -> list[Block]:
    """`Approved by Bruno Billing, 23:10, 312.40 EUR -> 250.00 EUR`."""
    names = decided_by(call)
    said = say("Approved by {names}", names=names) if names else say("Approved by policy")
    words = [leaf(said, bold=True)]
    if names and decided_at(call):
        words += [leaf(", "), when(decided_at(call))]
    if call.content.previous:
        words.append(leaf(f", {cut(one_line('; '.join(call.content.previous)), 200)}"))
    return words


def status(call: Call, beside: Around = APART) -> list[Block]:
    """What became of a call that nobody has to decide any more."""
    if ended := canary_end(call):
        return [leaf(ended, bold=True)]
    match call.state:
        case State.REJECTED:
            return refusal(call, beside)
        case State.EXPIRED:
            return expiry(call)
        case State.PROPOSED:
            return [leaf(say("Needs nobody's approval; judged again when the other calls are decided."))]
        case State.PENDING_REVIEW:
            return [leaf(say("Waiting for a decision."))]
        case _:
            return [*approval(call), leaf(". "), *ending(call, beside)]


def ending(call: Call, beside: Around = APART) -> list[Block]:
    """How far an approved call has come, without who approved it."""
    match call.state:
        case State.EXECUTING:
            return _timed(say("Running since {time}.", time=HOLE), call.claimed_at) or [leaf(say("Running now."))]
        case State.SUCCEEDED:
            return _timed(say("Done at {time}.", time=HOLE), call.ended_at) or [leaf(say("Done."), bold=True)]
        case State.FAILED:
            why = full_stop(cut(one_line(call.reason or say("the tool said no")), 250))
            return [leaf(say("Did not happen"), bold=True), leaf(f": {why}")]
        case State.UNKNOWN:
            return [
                leaf(say("Nobody can tell yet whether it happened."), bold=True),
                leaf(" "),
                leaf(say("The provider is asked, then ops. It will not be tried again.")),
            ]
        case _:
            return _waiting(call, beside)


def _waiting(call: Call, beside: Around) -> list[Block]:
    """What an approved call waits for: a worker, or, while it has no time to run by, the calls beside it."""
    if beside.frozen:
        return [leaf(full_stop(while_frozen()))]
    if call.execute_by is not None:
        return [leaf(say("Waiting to run."))]
    if beside.whole_run:
        return [leaf(say("Runs once everything of this run is decided, or its time is over."))]
    if not beside.waits_for:
        return [leaf(say("Runs once the calls asked with it are decided, or their time is over."))]
    calls = say_list([str(number) for number in beside.waits_for])
    if beside.until is None:
        said = say_count(
            len(beside.waits_for),
            "Runs once call {calls} is decided.",
            "Runs once calls {calls} are decided.",
            calls=calls,
        )
        return [leaf(said)]
    said = say_count(
        len(beside.waits_for),
        "Runs once call {calls} is decided, or at {time} when its time ends.",
        "Runs once calls {calls} are decided, or at {time} when their time ends.",
        calls=calls,
        time=HOLE,
    )
    before, after = around(said)
    return [leaf(before), when(beside.until), leaf(after)]


def _timed(said: str, at: int | None) -> list[Block]:
    """The sentence with the instant in its place; nothing when nobody noted the instant."""
    before, after = around(said)
    return [leaf(before, bold=True), when(at), leaf(after)] if at else []


def refusal(call: Call, beside: Around = APART) -> list[Block]:
    """Who or what refused, and why; and who had approved what did not run all the same."""
    reason = cut(one_line(shown_reason(call.reason or "")), 300)
    why = f": {reason}" if reason else "."
    had = approvers(call)
    ruled = f"{full_stop(why)} {say('{names} had approved.', names=say_list(had))}" if had else why
    match call.cause:
        case Cause.PERSON:
            kind = f" ({say('a corrected proposal is welcome')})" if _correction(call) else ""
            return [leaf(say("Rejected by {names}", names=decided_by(call)), bold=True), leaf(f"{kind}{why}")]
        case Cause.WITHDRAWN:
            by = beside.cancelled_by
            return [leaf(say("Withdrawn by {name}", name=by) if by else say("Withdrawn"), bold=True), leaf(why)]
        case Cause.CAP | Cause.BUDGET:
            return [leaf(say("Not run, a limit is reached"), bold=True), leaf(ruled)]
        case Cause.VETO:
            return [leaf(say("Not run, a person refused the same before"), bold=True), leaf(why)]
        case _:
            return [leaf(say("Refused by policy"), bold=True), leaf(ruled)]


def expiry(call: Call) -> list[Block]:
    """Why time ended the call, and who had approved it. Nothing of it ran."""
    match call.cause:
        case Cause.LAPSED:
            names = say_list(approvers(call)) or say("policy")
            why = say("approved by {names}, but that became too old before it could be used.", names=names)
        case Cause.UNPOSTED:
            why = say("its card could not be posted in time.")
        case _:
            why = say("{why}. Nothing ran; it may be asked again.", why=why_expired(call))
            return [leaf(say("Expired"), bold=True), leaf(f": {why}")]
    return [leaf(say("Not run"), bold=True), leaf(f": {why}")]


def _correction(call: Call) -> bool:
    return any(decision.verdict == "reject" and decision.correction for decision in call.decisions)
