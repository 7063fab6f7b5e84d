from datetime import UTC, datetime
from typing import Any

import pytest

from approvals.attentiveness import reading_ms, reviewer_records, signals
from approvals.calibration import (
    RECORD_DAYS,
    counterfactual,
    proposed_threshold,
    rule_records,
    share,
    suggestions,
)
from approvals.stories import CallStory, Word
from policies.money import Money, eur

DAY = 24 * 3600 * 1000
NOW = 100 * DAY


def a_word(said: Any = "approved", *, at: int = NOW, dwell_s: int = 60, by: str = "U0ANA", **changes: Any) -> Word:
    return Word(said, by, by.title(), at, **{"version": 1, "dwell_ms": dwell_s * 1000, "characters": 600, **changes})


def calls(*verdicts: Any, minor: Any = 5_000, days: int = 30, tool: str = "refund", start: int = 0) -> list[CallStory]:
    amounts = minor if isinstance(minor, list) else [minor] * len(verdicts)
    return [
        CallStory(
            key=f"{tool}_{start + at}",
            run="run_1",
            tool=tool,
            batch=f"{tool}_batch_{(start + at) // 2}",
            law="law-1",
            asked=True,
            proposed_at=NOW - days * DAY + at,
            verdict=verdict,
            versions={1: {"amount": {"minor": amount, "currency": "EUR"}}},
        )
        for at, (verdict, amount) in enumerate(zip(verdicts, amounts, strict=True))
    ]


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [(0, 0, 0, 1), (0, 30, 0, 0.1135), (30, 30, 0.8865, 1), (5, 10, 0.2366, 0.7634), (1, 100, 0.0018, 0.0545)],
)
def test_shares_of_few_cases_have_wide_intervals(count: int, total: int, low: float, high: float) -> None:
    found = share(count, total)
    assert found.low == pytest.approx(low, abs=5e-5)
    assert found.high == pytest.approx(high, abs=5e-5)


def test_a_streak_ends_with_the_newest_edit_rejection_or_expiry() -> None:
    for broken in ("edited", "rejected", "expired"):
        (record,) = rule_records(calls("approved", broken, "approved", "approved"), now=NOW)
        assert record.streak == 2
    assert rule_records(calls(*["approved"] * 5), now=NOW)[0].streak == 5


def test_a_rule_has_a_habit_only_when_it_was_asked_often_enough() -> None:
    assert rule_records(calls(*["rejected"] * 9), now=NOW)[0].habit is None
    assert rule_records(calls(*["rejected"] * 10), now=NOW)[0].habit == "rejected"
    assert rule_records(calls(*["rejected"] * 10, "approved"), now=NOW)[0].habit is None


def test_nothing_is_suggested_before_three_weeks_of_record() -> None:
    approved = ["approved"] * 40
    assert suggestions(calls(*approved, days=RECORD_DAYS - 1), now=NOW) == []
    assert len(suggestions(calls(*approved, days=RECORD_DAYS), now=NOW)) == 2


def test_thirty_approvals_in_a_row_are_worth_a_suggestion_and_twenty_nine_are_not() -> None:
    assert suggestions(calls(*["approved"] * 29), now=NOW) == []
    text = suggestions(calls(*["approved"] * 30), now=NOW)[0]
    assert "Unasked up to 50.00 EUR, 30 of 30 questions and 15 cards would have been saved" in text
    assert "0 that were refused or changed would have run" in text
    assert "between 0% and 11%" in text


def test_a_counterfactual_counts_what_would_have_gone_through_and_cards_only_when_they_are_empty() -> None:
    record = calls("approved", "approved", "edited", "rejected", "expired", "approved", minor=[10, 20, 30, 40, 50, 900])
    what = counterfactual(record, "refund", Money(minor=50, currency="EUR"))
    assert (what.saved, what.asked, what.undecided) == (5, 6, 1)
    assert what.cards == 2, "the third card also held a call above the threshold"
    assert (what.through.count, what.through.total) == (2, 4)
    assert counterfactual(record, "refund", Money(minor=50, currency="USD")).saved == 0


def test_a_card_that_asks_about_another_tool_too_is_not_saved() -> None:
    mine, other = calls("approved", "approved"), calls("approved", tool="mail")
    other[0].batch = mine[0].batch
    assert counterfactual([*mine, *other], "refund", eur(50)).cards == 0


def test_a_proposed_threshold_stays_below_everything_that_was_refused_or_changed() -> None:
    amounts = [*range(100, 112), 105, 2_000]
    record = calls(*["approved"] * 12, "edited", "approved", minor=amounts)
    assert proposed_threshold(record, "refund") is None, "five approvals below 1.05 are too few"
    record[12].versions[1]["amount"]["minor"] = 111
    assert proposed_threshold(record, "refund") == Money(minor=110, currency="EUR")


def test_what_is_always_rejected_or_never_answered_is_named() -> None:
    assert "forbids it" in suggestions(calls(*["rejected"] * 12), now=NOW)[0]
    assert "nobody answers" in suggestions(calls(*["expired"] * 12), now=NOW)[0]
    assert "have changed" in suggestions(calls(*["expired"] * 12), now=NOW)[1]


def test_nobody_reads_faster_than_two_seconds_or_sixty_characters_a_second() -> None:
    assert reading_ms(0) == 2_000
    assert reading_ms(600) == 10_000


def with_words(*words: Word) -> list[CallStory]:
    (call,) = calls("approved")
    call.words.extend(words)
    return [call]


def test_decisions_faster_than_the_card_can_be_read_are_told_kindly() -> None:
    quick, slow = a_word(dwell_s=3), a_word(dwell_s=30)
    (record,) = reviewer_records(with_words(*[quick] * 8, *[slow] * 4), zone="UTC")
    assert (record.quick.count, record.quick.total) == (8, 12)
    (said,) = signals([record])
    assert "8 of 12 times faster than the card can be read" in said
    assert signals(reviewer_records(with_words(*[quick] * 3, *[slow] * 9), zone="UTC")) == []
    assert signals(reviewer_records(with_words(*[quick] * 9), zone="UTC")) == [], "nine are too few to say anything"


def test_more_approvals_at_night_are_told_in_the_zone_of_the_team() -> None:
    night = int(datetime(2026, 11, 1, 23, 30, tzinfo=UTC).timestamp() * 1000)
    noon = night - DAY // 2
    words = [
        *[a_word(at=night)] * 20,
        *[a_word(at=noon)] * 5,
        *[a_word("rejected", at=noon)] * 10,
    ]
    (said,) = signals(reviewer_records(with_words(*words), zone="UTC"))
    assert "at night (20 of 20) than by day (5 of 15)" in said
    assert signals(reviewer_records(with_words(*words), zone="America/Los_Angeles")) == []


def test_an_edit_is_one_word_though_it_counts_as_its_own_approval() -> None:
    words = [a_word("edited", version=2), a_word("approved", version=2, dwell_s=0)]
    (record,) = reviewer_records(with_words(*words), zone="UTC")
    assert (record.edited, record.approved, record.quick.count) == (1, 0, 0)
