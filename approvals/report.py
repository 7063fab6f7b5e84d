"""The numbers of a period, from the ledger's rows alone."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from approvals.attentiveness import ReviewerRecord, reviewer_records, signals
from approvals.calibration import RECORD_DAYS, RuleRecord, rule_records, suggestions
from approvals.canary_record import CanaryRecord, canary_record, is_canary
from approvals.ledger_rows import LedgerRow
from approvals.stories import CallStory, Stories, judged

#: Upper ends of the classes that times to decide are counted in, in seconds, and their names.
TIMES = (
    (10, "10 s"),
    (30, "30 s"),
    (60, "1 min"),
    (300, "5 min"),
    (900, "15 min"),
    (3_600, "1 h"),
    (14_400, "4 h"),
    (86_400, "1 day"),
)

#: What a report needs of what was shown.
READ = frozenset({"amount", "resources", "characters"})


@dataclass(frozen=True, slots=True)
class Report:
    """What happened between two instants (ms). `budget` are calls refused by a budget or a cap.

    Canaries count nowhere but in `canaries`.
    """

    since: int
    until: int
    zone: str
    runs: int
    failed_runs: int
    unasked: int
    asked: int
    approved: int
    edited: int
    rejected: int
    expired: int
    waiting: int
    budget: int
    unknown: int
    turned_away: int
    rules: tuple[RuleRecord, ...]
    reviewers: tuple[ReviewerRecord, ...]
    times: tuple[int, ...]
    median_s: float | None
    cards_per_run: tuple[tuple[int, int], ...]
    suggestions: tuple[str, ...]
    signals: tuple[str, ...]
    too_young: bool
    canaries: CanaryRecord


def report(rows: Iterable[LedgerRow], *, since: int, until: int, zone: str, laws: Sequence[LedgerRow] = ()) -> Report:
    """Count the rows of the period, one by one; calls that were proposed before it are left out.

    `laws` are all changes of the law on record, also older ones: they tell which thresholds have never moved.
    """
    moved = {tool: row.at for row in laws for tool in row.body.get("rules", "").split() if row.at < until}
    told, types, canaries = Stories(READ), Counter[str](), list[LedgerRow]()
    for row in rows:
        if is_canary(row):
            canaries.append(row)
        else:
            types[row.type] += 1
            told.tell(row)
    calls = list(told.calls.values())
    settled = judged(calls)
    seconds = _seconds(settled)
    reviewers = reviewer_records(calls, zone=zone)
    verdicts = Counter(call.verdict for call in settled)
    asked = [call for call in calls if call.asked]
    rules = rule_records(settled, now=until, moved=moved)
    return Report(
        since=since,
        until=until,
        zone=zone,
        runs=types["run_started"],
        failed_runs=types["run_failed"],
        unasked=sum(not call.asked and call.executed_version is not None for call in calls),
        asked=len(asked),
        approved=verdicts["approved"],
        edited=verdicts["edited"],
        rejected=verdicts["rejected"],
        expired=verdicts["expired"],
        waiting=len(asked) - len(settled),
        budget=sum(call.cause in {"budget", "cap"} for call in calls),
        unknown=types["unknown"],
        turned_away=types["decision_refused"] + types["decision_late"],
        rules=tuple(rules),
        reviewers=tuple(reviewers),
        times=_classes(seconds),
        median_s=_median(seconds),
        cards_per_run=_cards(told.cards),
        suggestions=tuple(suggestions(settled, now=until, moved=moved)),
        signals=tuple(signals(reviewers)),
        too_young=all(record.days < RECORD_DAYS for record in rules),
        canaries=canary_record(canaries),
    )


def _seconds(calls: Sequence[CallStory]) -> list[float]:
    """From the card to the last word, of calls that somebody decided."""
    return sorted(
        (call.decided_at - call.posted_at) / 1000
        for call in calls
        if call.verdict != "expired" and call.decided_at is not None and call.posted_at is not None
    )


def _classes(seconds: Sequence[float]) -> tuple[int, ...]:
    counts = [0] * len(TIMES)
    for each in seconds:
        place = next((at for at, (end, _) in enumerate(TIMES) if each <= end), len(TIMES) - 1)
        counts[place] += 1
    return tuple(counts)


def _median(ordered: Sequence[float]) -> float | None:
    if not ordered:
        return None
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _cards(cards: "dict[str, list[str]]") -> tuple[tuple[int, int], ...]:
    """(cards, runs that had so many), without gaps."""
    counts = Counter(len(set(batches)) for batches in cards.values())
    return tuple((number, counts[number]) for number in range(1, max(counts, default=0) + 1))
