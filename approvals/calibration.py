"""What the record says about the thresholds. It suggests, in sentences; it never changes anything.

Pure: stories in, numbers out. Small numbers are said to be small: every share comes with its Wilson interval (95 %).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from approvals.stories import CallStory
from policies.money import Money

#: After so many approvals in a row, without an edit or a rejection, asking is worth a question itself.
STREAK = 30
#: No suggestion before there is a record of so many days.
RECORD_DAYS = 21
#: A rule that nobody has touched for so long is worth a look, whatever people decide.
UNMOVED_DAYS = 56
#: Below this nobody is said to do anything always.
ENOUGH = 10
_DAY_MS = 24 * 3600 * 1000
_Z = 1.959964  # 95 %


@dataclass(frozen=True, slots=True)
class Share:
    """`count` of `total`, and between which shares the truth lies with 95 % confidence."""

    count: int
    total: int
    low: float
    high: float


def share(count: int, total: int) -> Share:
    """The Wilson score interval: honest near 0 and 1 and for few cases; nothing is known of none."""
    if total == 0:
        return Share(0, 0, 0.0, 1.0)
    rate, zz = count / total, _Z * _Z
    middle = (rate + zz / (2 * total)) / (1 + zz / total)
    spread = _Z / (1 + zz / total) * math.sqrt(rate * (1 - rate) / total + zz / (4 * total * total))
    low = 0.0 if count == 0 else max(0.0, middle - spread)
    high = 1.0 if count == total else min(1.0, middle + spread)
    return Share(count, total, low, high)


@dataclass(frozen=True, slots=True)
class RuleRecord:
    """One rule over the period. `streak` counts the newest approvals in a row; `days` since it asked first.

    `unmoved` is for how many days its file is known to be unchanged; None when nobody knows.
    """

    tool: str
    asked: int
    approved: int
    edited: int
    rejected: int
    expired: int
    streak: int
    days: int
    unmoved: int | None = None

    @property
    def habit(self) -> str | None:
        """What always happens to its calls: approved, rejected or expired; None when it varies or is too little."""
        if self.asked < ENOUGH:
            return None
        always = {"approved": self.approved, "rejected": self.rejected, "expired": self.expired}
        return next((name for name, number in always.items() if number == self.asked), None)


def rule_records(
    calls: Sequence[CallStory], *, now: int, moved: Mapping[str, int] = MappingProxyType({})
) -> list[RuleRecord]:
    """A record for each tool that people were asked about; `calls` are settled ones, see `stories.judged`.

    `moved` is when the rule of a tool changed last (ms), as far as changes of the law are on record.
    """
    tools = sorted({call.tool for call in calls})
    return [_record(tool, [call for call in calls if call.tool == tool], now, moved.get(tool)) for tool in tools]


def _record(tool: str, calls: Sequence[CallStory], now: int, moved: int | None) -> RuleRecord:
    verdicts = [call.verdict for call in sorted(calls, key=lambda call: call.decided_at or call.proposed_at)]
    streak = next((at for at, verdict in enumerate(reversed(verdicts)) if verdict != "approved"), len(verdicts))
    return RuleRecord(
        tool=tool,
        asked=len(calls),
        approved=verdicts.count("approved"),
        edited=verdicts.count("edited"),
        rejected=verdicts.count("rejected"),
        expired=verdicts.count("expired"),
        streak=streak,
        days=(now - min(call.proposed_at for call in calls)) // _DAY_MS,
        unmoved=(now - moved) // _DAY_MS if moved is not None else None,
    )


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """Had calls up to `threshold` run unasked: `saved` questions and whole `cards` fewer; `through` of the calls people
    decided were rejected or edited and would have run as asked; `undecided` ran out of time.
    """

    tool: str
    threshold: Money
    saved: int
    asked: int
    cards: int
    through: Share
    undecided: int


def counterfactual(calls: Sequence[CallStory], tool: str, threshold: Money) -> Counterfactual:
    """What a threshold would have saved, and what it would have let through."""
    asked = [call for call in calls if call.tool == tool]
    below = [call for call in asked if _within(call, threshold)]
    decided = [call for call in below if call.verdict != "expired"]
    spared = {call.key for call in below}
    cards = {call.batch: True for call in below}
    for call in calls:
        if call.batch in cards and call.key not in spared:
            cards[call.batch] = False
    through = sum(call.verdict in {"rejected", "edited"} for call in decided)
    return Counterfactual(
        tool=tool,
        threshold=threshold,
        saved=len(below),
        asked=len(asked),
        cards=sum(cards.values()),
        through=share(through, len(decided)),
        undecided=len(below) - len(decided),
    )


def _within(call: CallStory, threshold: Money) -> bool:
    return call.amount is not None and call.amount[1] == threshold.currency and call.amount[0] <= threshold.minor


def proposed_threshold(calls: Sequence[CallStory], tool: str) -> Money | None:
    """The highest amount below everything that people refused or changed; None when no amount qualifies.

    Only in the currency that is asked about most: amounts of two currencies have no order.
    """
    mine = [call for call in calls if call.tool == tool and call.amount]
    currencies = [call.amount[1] for call in mine if call.amount]
    if not currencies:
        return None
    currency = max(sorted(set(currencies)), key=currencies.count)
    amounts = [(call.amount[0], call.verdict) for call in mine if call.amount and call.amount[1] == currency]
    ceiling = min((minor for minor, verdict in amounts if verdict in {"rejected", "edited"}), default=None)
    below = [minor for minor, verdict in amounts if verdict == "approved" and (ceiling is None or minor < ceiling)]
    return Money(minor=max(below), currency=currency) if len(below) >= ENOUGH else None


def suggestions(calls: Sequence[CallStory], *, now: int, moved: Mapping[str, int] = MappingProxyType({})) -> list[str]:
    """Sentences for whoever writes the rules; none about a rule with less than three weeks of record."""
    records = rule_records(calls, now=now, moved=moved)
    said = [sentence for record in records for sentence in _about(record, calls)]
    unmoved = [record for record in records if (record.unmoved or 0) >= UNMOVED_DAYS and record.asked >= ENOUGH]
    if unmoved:
        named = ", ".join(f"{one.tool} ({(one.unmoved or 0) // 7} weeks, asked {one.asked} times)" for one in unmoved)
        said.append(f"Not changed for {UNMOVED_DAYS // 7} weeks or more: {named}. Are the thresholds still right?")
    if said and not moved and len({call.law for call in calls}) == 1:
        days = max(record.days for record in records)
        said.append(f"Neither the rules nor the reviewers have changed in these {days} days.")
    return said


def _about(record: RuleRecord, calls: Sequence[CallStory]) -> list[str]:
    if record.days < RECORD_DAYS or record.asked < ENOUGH:
        return []
    said = []
    if record.habit == "rejected":
        said.append(
            f"{record.tool}: all {record.asked} were rejected. A rule that forbids it says so at once, without a card."
        )
    if record.habit == "expired":
        said.append(f"{record.tool}: all {record.asked} expired. Look at who is asked, and when; nobody answers.")
    if record.streak >= STREAK:
        said.append(_streak(record, calls))
    return said


def _streak(record: RuleRecord, calls: Sequence[CallStory]) -> str:
    start = f"{record.tool}: the last {record.streak} were approved as asked."
    threshold = proposed_threshold(calls, record.tool)
    if threshold is None:
        return f"{start} Nobody changes anything here; perhaps a narrower question would be worth more."
    what = counterfactual(calls, record.tool, threshold)
    return (
        f"{start} Unasked up to {what.threshold}, {what.saved} of {what.asked} questions and {what.cards} cards would"
        f" have been saved; {what.through.count} that were refused or changed would have run, which from so many cases"
        f" means between {what.through.low:.0%} and {what.through.high:.0%}."
    )
