"""What became of a call, and who decided it, in the words of its card."""

from approvals.lifecycle import Cause, State
from approvals.models import Call
from bot.blocks import Block, leaf, when
from bot.canary_text import canary_end
from bot.card_text import NAME
from bot.common_reasons import shown_reason
from bot.language import HOLE, around, say, say_list
from bot.standing import standing
from bot.text import cut, one_line


def decided_by(call: Call) -> str:
    """The names of those whose approval counts, or of who rejected."""
    if call.state is State.REJECTED and call.cause is Cause.PERSON:
        rejected = [decision for decision in call.decisions if decision.verdict == "reject"]
        return cut(one_line(rejected[-1].name), NAME) if rejected else say("a person")
    names = {decision.reviewer: cut(one_line(decision.name), NAME) for decision in call.decisions}
    return say_list([names.get(user, user) for user in standing(call).approved_by])


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


def status(call: Call) -> list[Block]:
    """What became of a call that nobody has to decide any more."""
    if ended := canary_end(call):
        return [leaf(ended, bold=True)]
    match call.state:
        case State.REJECTED:
            return refusal(call)
        case State.EXPIRED:
            return expiry(call)
        case State.PROPOSED:
            return [leaf(say("Needs nobody's approval; judged again when the other calls are decided."))]
        case State.PENDING_REVIEW:
            return [leaf(say("Waiting for a decision."))]
        case _:
            return [*approval(call), leaf(". "), *ending(call)]


def ending(call: Call) -> list[Block]:
    """How far an approved call has come, without who approved it."""
    match call.state:
        case State.EXECUTING:
            return _timed(say("Running since {time}.", time=HOLE), call.claimed_at) or [leaf(say("Running now."))]
        case State.SUCCEEDED:
            return _timed(say("Done at {time}.", time=HOLE), call.ended_at) or [leaf(say("Done."), bold=True)]
        case State.FAILED:
            why = cut(one_line(call.reason or say("the tool said no")), 250)
            return [leaf(say("Did not happen"), bold=True), leaf(f": {why}")]
        case State.UNKNOWN:
            return [
                leaf(say("Nobody can tell yet whether it happened."), bold=True),
                leaf(" "),
                leaf(say("The provider is asked, then ops. It will not be tried again.")),
            ]
        case _:
            return [leaf(say("Waiting to run."))]


def _timed(said: str, at: int | None) -> list[Block]:
    """The sentence with the instant in its place; nothing when nobody noted the instant."""
    before, after = around(said)
    return [leaf(before, bold=True), when(at), leaf(after)] if at else []


def refusal(call: Call) -> list[Block]:
    """Who or what refused, and why."""
    reason = cut(one_line(shown_reason(call.reason or "")), 300)
    why = f": {reason}" if reason else "."
    match call.cause:
        case Cause.PERSON:
            kind = f" ({say('a corrected proposal is welcome')})" if _correction(call) else ""
            return [leaf(say("Rejected by {names}", names=decided_by(call)), bold=True), leaf(f"{kind}{why}")]
        case Cause.WITHDRAWN:
            return [leaf(say("Withdrawn"), bold=True), leaf(why)]
        case Cause.CAP | Cause.BUDGET:
            return [leaf(say("Not run, a limit is reached"), bold=True), leaf(why)]
        case Cause.VETO:
            return [leaf(say("Not run, a person refused the same before"), bold=True), leaf(why)]
        case _:
            return [leaf(say("Refused by policy"), bold=True), leaf(why)]


def expiry(call: Call) -> list[Block]:
    """Why time ended the call."""
    match call.cause:
        case Cause.LAPSED:
            why = say("the approval became too old before it could be used.")
        case Cause.UNPOSTED:
            why = say("its card could not be posted in time.")
        case _:
            why = say("nobody decided in time. That is nobody's refusal.")
            return [leaf(say("Expired"), bold=True), leaf(f": {why}")]
    return [leaf(say("Not run"), bold=True), leaf(f": {why}")]


def _correction(call: Call) -> bool:
    return any(decision.verdict == "reject" and decision.correction for decision in call.decisions)
