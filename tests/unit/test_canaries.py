"""Canaries without a store: what the file says, when they come, what is said about them, how they are counted."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from approvals.canary_record import CanaryRecord, canary_record, told
from approvals.ledger_rows import LedgerRow
from approvals.lifecycle import Cause, State
from approvals.models import Call
from approvals.report import report
from approvals.report_page import page
from approvals.weekly import WeekNumbers
from bot.canary_text import canary_end
from bot.card_text import origin
from bot.cards import render_card
from bot.outcome import render_outcome
from bot.weekly_text import render_report
from bot_builders import AnyLaw, a_call, a_content, a_decision, a_pause, a_requirement, a_run, a_view, decided
from policies.canaries import LATE, instant_of, is_due, monday_of, slots
from policies.canary_notes import canary_notes
from policies.deadlines import Deadlines
from policies.money import Money
from policies.requirement import Canary
from policies.risk import Mode, Risk
from policies.roster import Reviewers, ReviewersRefused
from worker.load import factories
from worker.refusals import AgentRefused

PEOPLE = """
team = "T1"
strictest = "desk"
[tiers.desk]
users = ["U1", "U2", "U9"]
limits = { EUR = "100.00" }
"""
OPTED_IN = """
[canaries]
channel = "C1"
requester = "U9"
"""
CALL = """
[[canaries.calls]]
tool = "refund_payments"
radius = "refunds in EUR"
tier = "desk"
request = "refund my friend"
headline = "Refund 1 payment, 98.00 EUR"
"""
BERLIN = Deadlines(zone="Europe/Berlin", opens="09:00", closes="18:00", holidays="DE")
MONDAY = date(2026, 11, 23)


def people(call: str = CALL, head: str = OPTED_IN, before: str = PEOPLE) -> Reviewers:
    return Reviewers.from_toml(before + head + call)


# --- What the file says -----------------------------------------------------------------------------------------------


def test_without_the_table_there_are_none() -> None:
    assert Reviewers.from_toml(PEOPLE).canaries is None


def test_one_call_a_week_is_asked_unless_the_table_says_otherwise() -> None:
    found = people(f'{CALL}amount = "98.00 EUR"\n[canaries.calls.arguments]\npayment_id = "pay_9"\n').canaries
    assert found
    (call,) = found.calls
    assert (found.per_week, call.reviewers, call.amount) == (1, 1, Money(minor=9800, currency="EUR"))
    need = call.requirement(law="law-1", deadlines=BERLIN, now=datetime(2026, 11, 23, 12, tzinfo=UTC))
    assert (need.mode, need.risk, need.ttl_s, need.lapse_s) == (Mode.HUMAN, Risk.IRREVERSIBLE, 900, 3_600)
    assert need.canary == Canary()


@pytest.mark.parametrize(
    ("call", "head", "said"),
    [
        ("", OPTED_IN, "canaries.calls: Field required"),
        (CALL, "[canaries]\nchannel = '#refunds'\nrequester = 'U9'\n", "not a Slack channel id"),
        (CALL, "[canaries]\nchannel = 'C1'\nrequester = '@rosa'\n", "not a Slack user id"),
        (CALL, f"{OPTED_IN}per_week = 0\n", "canaries.per_week"),
        (CALL, f"{OPTED_IN}per_week = 6\n", "canaries.per_week"),
        (f'{CALL}amount = "9.800,00 EUR"\n', OPTED_IN, 'write for example "9800.00 EUR"'),
        (f'{CALL}amount = "98.00 XXQ"\n', OPTED_IN, "is not an amount"),
        (f"{CALL}amount = 98\n", OPTED_IN, "canaries.calls.0.amount"),
        (CALL.replace('headline = "Refund 1 payment, 98.00 EUR"', 'headline = " "'), OPTED_IN, "headline"),
        (CALL.replace("refund_payments", "refund payments"), OPTED_IN, "canaries.calls.0.tool"),
        (f"{CALL}oddity = '{'o' * 251}'\n", OPTED_IN, "canaries.calls.0.oddity"),
        (f"{CALL}reviewers = 0\n", OPTED_IN, "canaries.calls.0.reviewers"),
        (f"{CALL}undo = 'no'\n", OPTED_IN, "canaries.calls.0.undo"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_by_its_place(call: str, head: str, said: str) -> None:
    with pytest.raises(ReviewersRefused, match="canaries") as refused:
        people(call, head)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("call", "before", "said"),
    [
        (CALL.replace('"desk"', '"billing"'), PEOPLE, "the tier billing is not defined"),
        (f"{CALL}reviewers = 3\n", PEOPLE, "it is never shown. Nobody may approve it: it needs three people"),
        (f'{CALL}amount = "100.01 EUR"\n', PEOPLE, "too few may approve 100.01 EUR"),
        (CALL.replace("refund_payments", "refunds"), PEOPLE, "no rule is about this tool"),
        (CALL, f'starters = ["U1"]{PEOPLE}', "the requester U9 is not named under starters"),
    ],
)
def test_the_check_of_policies_notes_what_keeps_one_from_working(call: str, before: str, said: str) -> None:
    (note,) = canary_notes(["refund_payments"], people(call, before=before))
    assert said in note


def test_what_works_is_not_noted() -> None:
    assert list(canary_notes([], Reviewers.from_toml(PEOPLE))) == []
    strictest = CALL.replace('"desk"', '"strictest"')
    for call in (CALL, strictest, f'{CALL}amount = "100.00 EUR"\nreviewers = 2\n'):
        assert list(canary_notes(["refund_payments"], people(call))) == []


def test_no_agent_may_bear_the_name_under_which_no_door_is_found() -> None:
    with pytest.raises(AgentRefused, match="may never run"):
        factories("desk=worker.refund_desk:build_agent,canary=worker.refund_desk:build_agent")


# --- When they come ---------------------------------------------------------------------------------------------------


def test_each_draw_falls_into_business_hours_of_the_week_and_all_of_them_are_reached() -> None:
    minutes = 5 * 9 * 60
    found = [instant_of(BERLIN, MONDAY, draw) for draw in range(minutes)]
    instants = [at for at in found if at]
    assert len(set(instants)) == minutes
    assert (min(instants).isoformat(), max(instants).isoformat()) == (
        "2026-11-23T09:00:00+01:00",
        "2026-11-27T17:59:00+01:00",
    )
    assert {at.hour for at in instants} == set(range(9, 18))
    assert instant_of(BERLIN, MONDAY, minutes + 7) == found[7]


def test_a_holiday_is_no_day_for_it_and_a_week_without_business_days_has_none() -> None:
    christmas = {instant_of(BERLIN, date(2026, 12, 21), draw * 540) for draw in range(8)}
    assert date(2026, 12, 25) not in {at.date() for at in christmas if at}
    assert len(christmas) == 4
    assert instant_of(Deadlines(weekdays=()), MONDAY, 3) is None


def test_it_is_due_from_its_instant_on_for_a_while_and_while_people_are_at_work() -> None:
    noon = datetime(2026, 11, 27, 12, 0, tzinfo=ZoneInfo("Europe/Berlin"))
    second = timedelta(seconds=1)
    assert not is_due(BERLIN, noon, noon - second)
    assert is_due(BERLIN, noon, noon)
    assert is_due(BERLIN, noon, noon + LATE - second)
    assert not is_due(BERLIN, noon, noon + LATE)
    evening = noon.replace(hour=17, minute=59)
    assert not is_due(BERLIN, evening, evening + timedelta(minutes=1))
    assert not is_due(BERLIN, None, noon)


def test_weeks_are_those_of_the_teams_zone() -> None:
    late_sunday = datetime(2026, 11, 22, 23, 30, tzinfo=UTC)
    assert monday_of(late_sunday, "Europe/Berlin") == MONDAY
    assert monday_of(late_sunday, "UTC") == date(2026, 11, 16)
    assert slots(MONDAY, 2) == ["2026-W48-1", "2026-W48-2"]
    assert slots(date(2026, 12, 28), 1) == ["2026-W53-1"]


# --- What is said -----------------------------------------------------------------------------------------------------


def a_canary(state: State = State.PENDING_REVIEW, cause: Cause | None = None, oddity: str = "") -> Call:
    need = a_requirement(canary=Canary(agent="desk", oddity=oddity))
    return a_call(1, state, cause=cause, agent="canary", content=a_content(requirement=need))


def test_while_it_waits_its_card_is_that_of_any_call() -> None:
    own = {"canary": True, "agent": "canary", "started_as": "desk"}
    canary, real_call = a_canary(), a_call()
    assert render_card(a_view(canary, run=a_run(**own)), AnyLaw()) == render_card(a_view(real_call), AnyLaw())
    nameless = a_view(canary, run=a_run(**{**own, "started_as": ""}))
    assert origin(nameless) == origin(a_view(real_call, run=a_run(agent="")))


@pytest.mark.parametrize(
    ("state", "cause", "verdict", "said"),
    [
        (
            State.REJECTED,
            Cause.PERSON,
            "reject",
            "This was a test, and Bruno Billing caught it. Nothing would have run.",
        ),
        (
            State.REJECTED,
            Cause.CANARY,
            "approve",
            "This was a test; nothing ran and nothing will. It was approved by Bruno Billing.",
        ),
        (State.EXPIRED, Cause.NOBODY, None, "This was a test; nobody decided in time."),
        (State.REJECTED, Cause.WITHDRAWN, None, "This was a test; it ended before anybody decided."),
    ],
)
def test_afterwards_card_and_thread_say_so_kindly(state: State, cause: Cause, verdict: str | None, said: str) -> None:
    call = a_canary()
    words = [a_decision(call, verdict)] if verdict else []
    ended = decided(call, state, *words, cause=cause)
    assert canary_end(ended) == said
    card = render_card(a_view(ended, run=a_run(canary=True)), AnyLaw())
    assert said in str(card.blocks)
    assert "Ask again" not in str(card.blocks)
    assert said in str(render_outcome(a_pause(ended)).blocks)


def test_what_was_odd_is_told_to_whoever_approved_it() -> None:
    call = a_canary(oddity="The account was opened an hour ago.")
    ended = decided(call, State.REJECTED, a_decision(call), cause=Cause.CANARY)
    assert canary_end(ended).endswith("approved by Bruno Billing. What was odd: The account was opened an hour ago.")
    assert canary_end(decided(a_call(), State.REJECTED, cause=Cause.PERSON)) == canary_end(a_canary()) == ""


def test_with_two_reviewers_the_one_who_caught_it_is_named() -> None:
    call = a_canary()
    first, second = a_decision(call), a_decision(call, "reject", reviewer="U0002", name="Olga")
    assert "and Olga caught it" in canary_end(decided(call, State.REJECTED, first, second, cause=Cause.PERSON))
    both = decided(call, State.REJECTED, first, a_decision(call, reviewer="U0002", name="Olga"), cause=Cause.CANARY)
    assert "approved by Bruno Billing and Olga." in canary_end(both)


# --- How they are counted ---------------------------------------------------------------------------------------------


def a_row(number: int, kind: str, *, canary: bool, **body: str) -> LedgerRow:
    fields = {"type": kind, "run": f"run_{number}", "call": f"call_{number}", "batch": f"batch_{number}", **body}
    fields |= {"canary": "1"} if canary else {}
    return LedgerRow(number, f"{number}-0", number * 60_000, kind, fields, "", fields)


def story(number: int, ended: str, *, canary: bool, name: str = "") -> list[LedgerRow]:
    of = {"canary": canary, "tool": "refund_payments", "version": "1"}
    return [
        a_row(number, "run_started", canary=canary, actor="U9", name="desk"),
        a_row(number, "proposed", **of, state="pending_review"),
        a_row(number, "posted", canary=canary),
        a_row(number, ended, **of, actor="U1" if name else "", name=name),
    ]


def test_canaries_count_nowhere_but_in_their_own_line() -> None:
    rows = [
        *story(1, "approved", canary=False, name="Ana"),
        *story(2, "canary_missed", canary=True, name="Ana"),
        *story(3, "canary_caught", canary=True, name="Ben"),
        *story(4, "canary_caught", canary=True, name="Ben"),
        *story(5, "canary_caught", canary=True, name="Ana"),
        *story(6, "canary_unseen", canary=True),
    ]
    found = report(rows, since=0, until=10**9, zone="UTC")
    assert found.canaries == CanaryRecord(shown=5, found=3, caught=("Ana", "Ben"), approved=1, unseen=1)
    alone = report(rows[:4], since=0, until=10**9, zone="UTC")
    assert not alone.canaries.any
    assert found == replace(alone, canaries=found.canaries)
    assert (found.runs, found.asked, found.approved) == (1, 1, 1)


def test_the_page_tells_who_caught_one_and_names_nobody_else() -> None:
    rows = [*story(1, "canary_missed", canary=True, name="Mia"), *story(2, "canary_caught", canary=True, name="<Ben>")]
    said = page(report(rows, since=0, until=10**9, zone="UTC"))
    assert "Canaries: shown 2, caught 1 (by &lt;Ben&gt;), approved 1, unseen 0." in said
    assert "Mia" not in said
    assert "Canaries" not in page(report([], since=0, until=10**9, zone="UTC"))
    assert told(canary_record(rows)).count("(by") == 1


def test_the_weekly_message_thanks_whoever_caught_one() -> None:
    seen = CanaryRecord(shown=4, found=2, caught=("Ana", "Ben"), approved=1, unseen=1)
    said = str(render_report(a_week(canaries=seen)).blocks)
    assert "4 shown, 2 caught, 1 approved, 1 not decided in time. Thank you for reading closely: Ana and Ben." in said
    nobody = str(render_report(a_week(canaries=CanaryRecord(shown=1, approved=1))).blocks)
    assert "1 shown, 0 caught" in nobody
    assert "Thank you" not in nobody
    assert "Tests of whether" not in str(render_report(a_week()).blocks)


def a_week(**changes: Any) -> WeekNumbers:
    counted = ("since", "until", "runs", "asked", "unasked", "approved", "edited", "rejected", "expired", "waiting")
    fields = {"week": "2026-W48", "zone": "UTC", "budget": 0, "unknown": 0, "median_s": None}
    return WeekNumbers.model_validate({**dict.fromkeys(counted, 0), **fields, **changes})
