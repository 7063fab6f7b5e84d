"""How long people have depends on whether they are at their desks and whether it can be undone."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from lawbook import TOML
from policies.deadlines import LONGEST_S, Deadlines, ttl_seconds
from policies.law import LawRefused, load_law
from policies.risk import Risk

OFFICE = Deadlines(zone="Europe/Berlin", holidays="DE")
IRREVERSIBLE = {"risk": Risk.IRREVERSIBLE, "undo": None}


def at(text: str, zone: str = "Europe/Berlin") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


@pytest.mark.parametrize(
    ("instant", "minutes"),
    [
        ("2026-10-23T09:00", 15),
        ("2026-10-23T17:59:59", 15),
        ("2026-10-23T18:00", 240),
        ("2026-10-23T08:59:59", 240),
        ("2026-10-23T23:30", 240),
        ("2026-10-24T12:00", 240),  # Saturday
        ("2026-12-25T12:00", 240),  # a Friday, and Christmas
        ("2026-10-25T02:30", 240),  # the hour that occurs twice, on a Sunday
    ],
)
def test_people_at_their_desks_have_minutes_others_have_hours(instant: str, minutes: int) -> None:
    assert ttl_seconds(OFFICE, risk=Risk.IRREVERSIBLE, undo=None, now=at(instant)) == minutes * 60


def test_business_hours_are_those_of_the_office_whatever_zone_the_instant_is_in() -> None:
    sydney = at("2026-10-23T20:00", "Australia/Sydney")  # 11:00 in Berlin
    assert ttl_seconds(OFFICE, risk=Risk.IRREVERSIBLE, undo=None, now=sydney) == 900


def test_what_has_an_undo_may_wait_a_day_less_the_time_to_run() -> None:
    seconds = ttl_seconds(OFFICE, risk=Risk.IRREVERSIBLE, undo="Roll back.", now=at("2026-10-23T10:00"))
    assert seconds == 23 * 3600
    assert seconds + OFFICE.lapse_s == LONGEST_S


def test_a_fixed_time_replaces_the_computed_one() -> None:
    demo = Deadlines(ttl_seconds=20)
    assert (
        ttl_seconds(demo, risk=Risk.IRREVERSIBLE, undo="Roll back.", now=datetime(2026, 10, 23, 10, tzinfo=UTC)) == 20
    )


def test_an_instant_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        ttl_seconds(OFFICE, risk=Risk.IRREVERSIBLE, undo=None, now=datetime(2026, 10, 23, 10))  # noqa: DTZ001


@given(
    minutes=st.integers(1, 1440),
    lapse=st.integers(1, 1439),
    fixed=st.none() | st.integers(1, LONGEST_S),
    undo=st.none() | st.just("Undo."),
    hours=st.integers(0, 24 * 400),
)
@settings(max_examples=100)
def test_deciding_and_running_never_take_more_than_a_day(
    minutes: int, lapse: int, fixed: int | None, undo: str | None, hours: int
) -> None:
    deadlines = Deadlines(business_minutes=minutes, outside_minutes=minutes, lapse_minutes=lapse, ttl_seconds=fixed)
    now = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hours)
    seconds = ttl_seconds(deadlines, risk=Risk.IRREVERSIBLE, undo=undo, now=now)
    assert 0 < seconds <= LONGEST_S - deadlines.lapse_s


@pytest.mark.parametrize(
    "wrong",
    [{"zone": "Europe/Atlantis"}, {"holidays": "XX"}, {"opens": "19:00"}, {"opens": "9am"}, {"lapse_minutes": 1440}],
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Deadlines.model_validate(wrong)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('opens = "09:00+01:00"', 'opens: "09:00+01:00" is not a time of day; write for example 22:00.'),
        ('opens = "9:00"', 'opens: "9:00" is not a time of day; write for example 22:00.'),
        ('closes = "24:00"', 'closes: "24:00" is not a time of day; write for example 22:00.'),
        ("weekdays = [7]", "weekdays.0: 7 is not a weekday; Monday is 0 and Sunday is 6."),
        ("weekdays = [1, 2, 3, 4, 5, 6, 7]", "weekdays.6: 7 is not a weekday; Monday is 0 and Sunday is 6."),
    ],
)
def test_hours_that_would_stop_every_call_are_refused_with_what_to_write(line: str, sentence: str) -> None:
    with pytest.raises(LawRefused) as refused:
        load_law(["policies.rules"], f"{TOML}\n[deadlines]\n{line}\n")
    assert str(refused.value) == f"reviewers.toml, deadlines.{sentence}"


def cut(lines: str) -> list[str]:
    """What the notes say about times that are cut."""
    notes = load_law(["policies.rules"], f"{TOML}\n[deadlines]\n{lines}\n").notes()
    return [note.partition(", but with ")[0] for note in notes if ", but with " in note]


def test_a_time_that_holding_cuts_is_noted_where_the_file_made_it_so() -> None:
    assert cut("lapse_minutes = 1439") == [
        "reviewers.toml: business_minutes is 15",
        "reviewers.toml: outside_minutes is 240",
        "reviewers.toml: undo_minutes is 1440",
    ]
    assert cut("outside_minutes = 1400") == ["reviewers.toml: outside_minutes is 1400"]
    assert cut("ttl_seconds = 86400\nlapse_minutes = 1439") == ["reviewers.toml: ttl_seconds is 86400"]
    assert cut('opens = "08:00"') == []  # a day, less the hour in which an approval may run, is what everybody has
