"""The words of a card: title, sums, deadline, and what became of a call."""

from approvals.lifecycle import Cause, State
from approvals.models import BatchView, Call
from bot.blocks import Block, leaf, when
from bot.standing import standing
from bot.text import count, cut, inert, listed, one_line
from policies.money import Money
from policies.requirement import Requirement

#: Characters of one reviewer's name.
_NAME = 60

OPEN = frozenset({State.PROPOSED, State.PENDING_REVIEW, State.APPROVED, State.EXECUTING})


def pending(view: BatchView) -> list[Call]:
    """The calls of a card that wait for a person."""
    return [call for call in view.calls if call.state is State.PENDING_REVIEW]


def settled(view: BatchView) -> bool:
    """Whether nothing on the card waits or runs any more."""
    return not any(call.state in OPEN for call in view.calls)


def sums(requirements: list[Requirement]) -> str:
    """`312.40 EUR and 10.00 USD`, or nothing when no amounts are involved."""
    by_currency: dict[str, Money] = {}
    for amount in map(own_amount, requirements):
        if amount is not None:
            known = by_currency.get(amount.currency)
            by_currency[amount.currency] = known + amount if known else amount
    return listed([str(money) for _, money in sorted(by_currency.items())])


def own_amount(requirement: Requirement) -> Money | None:
    """What one call alone comes to. (Its `amount` may stand for the whole run, to hold a limit against.)"""
    return next(iter(requirement.counts.values()), requirement.amount)


def total(calls: list[Call]) -> str:
    """The amounts of these calls, summed by currency."""
    return sums([call.content.requirement for call in calls])


def title(view: BatchView) -> str:
    """What and how much, for the heading."""
    waiting = pending(view)
    if waiting:
        amount = f", {total(waiting)}" if total(waiting) else ""
        return f"{count(len(waiting), 'call')} to decide: {view.batch.radius}{amount}"
    return f"{'Settled' if settled(view) else 'Decided'}: {view.batch.radius}{tally_of(view)}"


def tally_of(view: BatchView) -> str:
    """`, 7 done, 1 rejected`, for a card that nobody has to decide any more."""
    words = {
        State.SUCCEEDED: "done",
        State.REJECTED: "not run",
        State.EXPIRED: "expired",
        State.FAILED: "failed",
        State.UNKNOWN: "unknown",
        State.APPROVED: "approved",
        State.EXECUTING: "running",
    }
    counted = [(sum(call.state is state for call in view.calls), word) for state, word in words.items()]
    return "".join(f", {number} {word}" for number, word in counted if number)


def deadline(view: BatchView) -> str:
    """Until when the card can be decided, in the reader's time zone; mrkdwn."""
    batch = view.batch
    if batch.decide_by is None:
        return f"{count(max(1, batch.ttl_s // 60), 'minute')} to decide once posted"
    at = batch.decide_by // 1000
    shown = f"<!date^{at}^{{date_short_pretty}} {{time}}|{at} (seconds since 1970, UTC)>"
    return f"decide by {shown}"


def attention(view: BatchView) -> list[str]:
    """Who is looking at it, and whether the next tier was added; mrkdwn."""
    found = []
    if view.batch.on_it:
        found.append(f"{inert(view.batch.on_it_name or view.batch.on_it, _NAME)} is on it")
    if view.batch.escalated_at:
        found.append("the next tier may decide too")
    return found


def origin(view: BatchView) -> str:
    """Who asked for it, in which run; mrkdwn."""
    run = view.run
    agent = f" · agent {inert(run.agent, 80)}" if run.agent else ""
    return f"Asked by <@{run.requester}> · run `{run.id}`{agent}"


def notification(view: BatchView) -> str:
    """One inert line for notifications and screen readers."""
    waiting = pending(view)
    if not waiting:
        return f"{inert(title(view), 600)}."
    first = inert(waiting[0].content.preview.headline, 300)
    more = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
    return f"{inert(title(view), 600)}. {first}{more}."


def decided_by(call: Call) -> str:
    """The names of those whose approval counts, or of who rejected."""
    if call.state is State.REJECTED and call.cause is Cause.PERSON:
        rejected = [decision for decision in call.decisions if decision.verdict == "reject"]
        return cut(one_line(rejected[-1].name), _NAME) if rejected else "a person"
    names = {decision.reviewer: cut(one_line(decision.name), _NAME) for decision in call.decisions}
    return listed([names.get(user, user) for user in standing(call).approved_by])


def decided_at(call: Call) -> int:
    """When the last decision on the call was made, ms; 0 when nobody decided."""
    return max((decision.at for decision in call.decisions), default=0)


def approval(call: Call) -> list[Block]:
    """`Approved by Bruno Billing, 23:10, 312.40 EUR -> 250.00 EUR`."""
    names = decided_by(call)
    words = [leaf(f"Approved by {names}" if names else "Approved by policy", bold=True)]
    if names and decided_at(call):
        words += [leaf(", "), when(decided_at(call))]
    if call.content.previous:
        words.append(leaf(f", {cut(one_line('; '.join(call.content.previous)), 200)}"))
    return words


def status(call: Call) -> list[Block]:  # noqa: PLR0911 - one case per state
    """What became of a call that nobody has to decide any more."""
    match call.state:
        case State.APPROVED:
            return [*approval(call), leaf(". Waiting to run.")]
        case State.EXECUTING:
            since = [when(call.claimed_at)] if call.claimed_at else [leaf("now")]
            return [*approval(call), leaf(". Running since "), *since, leaf(".")]
        case State.SUCCEEDED:
            at = [leaf(" at "), when(call.ended_at)] if call.ended_at else []
            return [*approval(call), leaf(". "), leaf("Done", bold=True), *at, leaf(".")]
        case State.FAILED:
            why = cut(one_line(call.reason or "the tool said no"), 250)
            return [*approval(call), leaf(". "), leaf("Did not happen", bold=True), leaf(f": {why}")]
        case State.UNKNOWN:
            return [
                *approval(call),
                leaf(". "),
                leaf("Nobody can tell yet whether it happened", bold=True),
                leaf("; ops has been told. It will not be tried again."),
            ]
        case State.REJECTED:
            return refusal(call)
        case State.EXPIRED:
            return expiry(call)
        case State.PROPOSED:
            return [leaf("Needs nobody's approval; judged again when the other calls are decided.")]
        case State.PENDING_REVIEW:
            return [leaf("Waiting for a decision.")]


def refusal(call: Call) -> list[Block]:
    """Who or what refused, and why."""
    reason = cut(one_line(call.reason or ""), 300)
    why = f": {reason}" if reason else "."
    match call.cause:
        case Cause.PERSON:
            kind = " (a corrected proposal is welcome)" if _correction(call) else ""
            return [leaf(f"Rejected by {decided_by(call)}", bold=True), leaf(f"{kind}{why}")]
        case Cause.WITHDRAWN:
            return [leaf("Withdrawn", bold=True), leaf(why)]
        case Cause.CAP | Cause.BUDGET:
            return [leaf("Not run, a limit is reached", bold=True), leaf(why)]
        case Cause.VETO:
            return [leaf("Not run, a person refused the same before", bold=True), leaf(why)]
        case _:
            return [leaf("Refused by policy", bold=True), leaf(why)]


def expiry(call: Call) -> list[Block]:
    """Why time ended the call."""
    match call.cause:
        case Cause.LAPSED:
            return [leaf("Not run", bold=True), leaf(": the approval became too old before it could be used.")]
        case Cause.UNPOSTED:
            return [leaf("Not run", bold=True), leaf(": its card could not be posted in time.")]
        case _:
            return [leaf("Expired", bold=True), leaf(": nobody decided in time. That is nobody's refusal.")]


def _correction(call: Call) -> bool:
    return any(decision.verdict == "reject" and decision.correction for decision in call.decisions)
