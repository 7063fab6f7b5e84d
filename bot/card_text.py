"""The words of a card: what is asked and how much, until when, and by whom."""

import re
from collections import Counter

from approvals.lifecycle import State
from approvals.models import BatchView, Call
from bot.agent_names import of_run
from bot.blocks import dated, when
from bot.language import say, say_count, say_list
from bot.radius import radius_on
from bot.text import clip, cut, inert, one_line
from policies.money import Money
from policies.requirement import Requirement, Spending
from policies.risk import Risk

#: Characters of one reviewer's name, and of the requester's own words on a card.
NAME = 60
_REQUEST = 150
#: A headline in the heading of a card; a longer one stands in full below it.
HEADING = 125
OPEN = frozenset({State.PROPOSED, State.PENDING_REVIEW, State.APPROVED, State.EXECUTING})
#: `Delete 21 customers...`: what happens to how many of what, as previews write it.
_COUNTED = re.compile(r"(?P<verb>[A-Z]\w+) (?P<number>\d{1,3}(?:,\d{3})*|\d+) (?P<noun>\w+)(?:: (?P<which>.+))?")


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
    return say_list([str(money) for _, money in sorted(by_currency.items())])


def own_amount(requirement: Requirement) -> Money | None:
    """What one call alone comes to. (Its `amount` may stand for the whole run, to hold a limit against.)"""
    return next(iter(requirement.counts.values()), requirement.amount)


def total(calls: list[Call]) -> str:
    """The amounts of these calls, summed by currency."""
    return sums([call.content.requirement for call in calls])


def title(view: BatchView) -> str:
    """What and how much, for the heading."""
    waiting = pending(view)
    if waiting and len(view.calls) == 1:
        return say("To decide: {what}", what=one_line(waiting[0].content.preview.headline))
    if waiting:
        amount = f", {total(waiting)}" if total(waiting) else ""
        return f"{_how_many(view, waiting)}: {radius_on(view)}{amount}"
    word = say("Settled") if settled(view) else say("Decided")
    if any(call.state is State.UNKNOWN for call in view.calls):
        word = say("Not settled")  # nothing on it runs any more, and somebody must still find out
    return f"{word}: {radius_on(view)}{tally_of(view)}"


def _how_many(view: BatchView, waiting: list[Call]) -> str:
    if len(waiting) == len(view.calls):
        return say_count(len(waiting), "{number} call to decide", "{number} calls to decide")
    return say_count(
        len(view.calls), "{open} of {number} call to decide", "{open} of {number} calls to decide", open=len(waiting)
    )


def tally_of(view: BatchView) -> str:
    """`, 7 done, 1 rejected`, for a card that nobody has to decide any more."""
    number = Counter(call.state for call in view.calls)
    counted = {
        State.SUCCEEDED: say_count(number[State.SUCCEEDED], "{number} done", "{number} done"),
        State.REJECTED: say_count(number[State.REJECTED], "{number} not run", "{number} not run"),
        State.EXPIRED: say_count(number[State.EXPIRED], "{number} expired", "{number} expired"),
        State.FAILED: say_count(number[State.FAILED], "{number} did not happen", "{number} did not happen"),
        State.UNKNOWN: say_count(number[State.UNKNOWN], "{number} unknown", "{number} unknown"),
        State.APPROVED: say_count(number[State.APPROVED], "{number} approved", "{number} approved"),
        State.EXECUTING: say_count(number[State.EXECUTING], "{number} running", "{number} running"),
    }
    return "".join(f", {said}" for state, said in counted.items() if number[state])


def deadline(view: BatchView) -> str:
    """Until when the card can be decided, in the reader's time zone; mrkdwn."""
    batch = view.batch
    if batch.decide_by is None:
        return say_count(
            max(1, batch.ttl_s // 60), "{number} minute to decide once posted", "{number} minutes to decide once posted"
        )
    shown = dated(when(batch.decide_by, "{date_short_pretty} {time}"))
    if len(view.calls) == 1:
        return say("decide by {time}, else nothing runs", time=shown)
    return say("decide by {time}; what is undecided then does not run", time=shown)


def attention(view: BatchView) -> list[str]:
    """Who is looking at it, and whether the next tier was added; mrkdwn."""
    found = []
    if view.batch.on_it:
        found.append(say("{name} is on it", name=inert(view.batch.on_it_name or view.batch.on_it, NAME)))
    if view.batch.escalated_at:
        found.append(say("the next tier may decide too"))
    return found


def request(view: BatchView) -> str:
    """Who asked, in their own words; mrkdwn. All of the words are in the details and above in the thread."""
    words = inert(clip(one_line(view.run.request), _REQUEST), 2 * _REQUEST)
    who = f"<@{view.run.requester}>"
    return say("{who} asked: “{words}”", who=who, words=words) if words else say("Asked by {who}", who=who)


def origin(view: BatchView) -> str:
    """In which run, by which agent; mrkdwn."""
    run = view.run
    agent = f" · {say('agent {name}', name=inert(of_run(run), 80))}" if of_run(run) else ""
    return f"{say('run {id}', id=f'`{run.id}`')}{agent}"


def notification(view: BatchView) -> str:
    """One inert line for notifications and screen readers."""
    waiting = pending(view)
    heading = f"{inert(title(view), 600)}."
    if not waiting:
        return heading
    end = f" {say('Cannot be undone.')}" if any(map(irreversible, waiting)) else ""
    if len(view.calls) == 1:
        return f"{heading} {inert(radius_on(view), 300)}.{end}"
    first = inert(waiting[0].content.preview.headline, 300)
    more = say_count(len(waiting) - 1, " and {number} more", " and {number} more") if len(waiting) > 1 else ""
    return f"{heading} {first}{more}.{end}"


def irreversible(call: Call) -> bool:
    """Whether what it does cannot be taken back."""
    requirement = call.content.requirement
    return requirement.risk is Risk.IRREVERSIBLE and not requirement.undo


def undo_of(call: Call) -> str:
    """Whether and how it can be taken back."""
    undo = call.content.requirement.undo
    if undo:
        return say("Can be undone: {how}", how=one_line(undo))
    return say("Cannot be undone") if irreversible(call) else say("Can be undone")


def limits_of(requirement: Requirement, most: int = 2) -> str:
    """What it takes from the limits that count it, the tightest first; `most` of them. Empty when none does."""
    counted = [spending for spending in requirement.spends if spending.amounts]
    if not counted:
        return ""
    tightest = sorted(counted, key=lambda one: one.limit.minor - _largest(one).minor)
    shown = "; ".join(map(_taken, tightest[:most]))
    if len(counted) > most:
        shown = say_count(len(counted) - most, "{shown}; and {number} more", "{shown}; and {number} more", shown=shown)
    return say("Limit: {limits}", limits=shown)


def _largest(spending: Spending) -> Money:
    return max(spending.amounts.values(), key=lambda amount: amount.minor)


def _taken(spending: Spending) -> str:
    most, limit, cap = str(_largest(spending)), str(spending.limit), one_line(spending.cap)
    if len(spending.amounts) == 1:
        return say("{amount} of {limit}, {cap}", amount=most, limit=limit, cap=cap)
    return say("up to {amount} of {limit}, {cap}", amount=most, limit=limit, cap=cap)


def together(calls: list[Call], most: int) -> str:
    """What approving all of these does, in words: `Delete 50 customers: 21 asked to be erased, 29 inactive`, else each
    headline; and the sum.
    """
    headlines = [one_line(call.content.preview.headline) for call in calls]
    amount = total(calls)
    counted = _counted(headlines)
    if counted:
        return cut(f"{counted}, {amount}" if amount else counted, most)
    listed = cut("; ".join(headlines), most - 40)
    return f"{listed}. {say('Together {total}', total=amount)}" if amount else listed


def _counted(headlines: list[str]) -> str:
    """One sentence for headlines that differ in number only, and in what follows a colon.

    `Delete 50 customers: 21 asked to be erased, 29 inactive` for `Delete 21 customers: asked to be erased` and
    `Delete 29 customers: inactive`; empty when they differ otherwise.
    """
    found = [match for match in map(_COUNTED.match, headlines) if match]
    kinds = {(match["verb"], match["noun"].removesuffix("s")) for match in found}
    plural = next((match["noun"] for match in found if match["number"] != "1"), "")
    if len(kinds) != 1 or len(found) < len(headlines) or not plural:
        return ""
    number = sum(int(match["number"].replace(",", "")) for match in found)
    which = [f"{match['number']} {match['which'].strip()}" for match in found if match["which"]]
    said = f"{found[0]['verb']} {number:,} {plural}"
    return f"{said}: {', '.join(which)}" if len(which) == len(found) else said
