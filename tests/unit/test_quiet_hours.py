"""Whoever sleeps is not woken, what waits is asked all the same, and `vobo policies check` says when all sleep."""

from datetime import UTC, datetime
from typing import Any

import pytest

from policies.budgets import Budgets
from policies.deadlines import Deadlines
from policies.law_problems import notes_of
from policies.notices import Heard, Notice, to_notify
from policies.person import Person
from policies.quiet_hours import QuietHours
from policies.requirement import Requirement
from policies.reviewers import Reviewers, ReviewersRefused, may_decide

BERLIN = "Europe/Berlin"
TOML = """
team = "T0HOME"
strictest = "leads"
ops = ["U9"]
[tiers.billing]
users = ["U1", "U2"]
next = "leads"
[tiers.leads]
users = ["U9"]
[tiers.crowd]
usergroups = ["S1"]
"""


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def hours(**changes: Any) -> QuietHours:
    return QuietHours.model_validate({"for": ["U1"], "from": "22:00", "to": "07:00", "zone": BERLIN, **changes})


@pytest.mark.parametrize(
    ("instant", "quiet"),
    [
        ("2026-01-14 20:59:59", False),
        ("2026-01-14 21:00:00", True),  # 22:00 in Berlin
        ("2026-01-14 23:30:00", True),  # past midnight there
        ("2026-01-15 05:59:59", True),
        ("2026-01-15 06:00:00", False),
        ("2026-07-14 20:00:00", True),  # summer: 22:00 is 20:00 in UTC
        ("2026-07-15 05:00:00", False),
    ],
)
def test_a_night_goes_over_midnight_in_the_persons_own_zone(instant: str, quiet: bool) -> None:  # noqa: FBT001
    assert hours().hold(at(instant), "UTC") is quiet


@pytest.mark.parametrize(
    ("instant", "quiet"),
    [
        ("2026-01-16 22:00:00", True),  # Friday night
        ("2026-01-17 03:00:00", True),  # still the night that began on Friday
        ("2026-01-17 22:00:00", False),  # Saturday night is not named
        ("2026-01-16 03:00:00", False),  # the night that began on Thursday neither
    ],
)
def test_a_weekday_names_the_evening_on_which_a_night_begins(instant: str, quiet: bool) -> None:  # noqa: FBT001
    assert hours(weekdays=[4]).hold(at(instant), "UTC") is quiet


def test_equal_times_are_a_whole_day() -> None:
    weekend = hours(**{"from": "00:00", "to": "00:00", "weekdays": [5, 6], "zone": None})
    held = [day for day in range(12, 19) if weekend.hold(at(f"2026-01-{day} 12:00:00"), "UTC")]
    assert held == [17, 18]
    assert weekend.hold(at("2026-01-18 23:59:59"), "UTC")
    assert not weekend.hold(at("2026-01-19 00:00:00"), "UTC")


def test_the_teams_zone_counts_where_no_other_is_named() -> None:
    night = hours(zone=None)
    assert night.hold(at("2026-01-14 21:30:00"), BERLIN)
    assert not night.hold(at("2026-01-14 21:30:00"), "UTC")


@pytest.mark.parametrize(
    ("begin", "end", "instant", "quiet"),
    [
        # 25 October 2026: at 03:00 summer time Berlin's clocks go back to 02:00, so 02:30 comes at 00:30 and 01:30 UTC.
        ("02:30", "06:00", "2026-10-25 00:29:59", False),
        ("02:30", "06:00", "2026-10-25 00:30:00", True),
        ("02:30", "06:00", "2026-10-25 01:10:00", True),  # 02:10 again: the night goes on
        ("22:00", "02:30", "2026-10-25 00:45:00", True),  # 02:45, but 02:30 comes once more
        ("22:00", "02:30", "2026-10-25 01:29:59", True),
        ("22:00", "02:30", "2026-10-25 01:30:00", False),
        # 29 March 2026: at 02:00 they go forward to 03:00 (01:00 UTC), so 02:30 never comes.
        ("02:30", "06:00", "2026-03-29 00:59:59", False),
        ("02:30", "06:00", "2026-03-29 01:00:00", True),
        ("22:00", "02:30", "2026-03-29 00:59:59", True),
        ("22:00", "02:30", "2026-03-29 01:00:00", False),
    ],
)
def test_a_clock_change_neither_splits_nor_shifts_a_night(
    begin: str,
    end: str,
    instant: str,
    quiet: bool,  # noqa: FBT001
) -> None:
    assert hours(**{"from": begin, "to": end}).hold(at(instant), "UTC") is quiet


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (
            'for = ["U1"]\nfrom = "25:00"\nto = "07:00"',
            'reviewers.toml, quiet_hours.0.from: "25:00" is not a time of day; write for example 22:00.',
        ),
        (
            'for = ["U1"]\nfrom = "22:00+01:00"\nto = "07:00"',
            'reviewers.toml, quiet_hours.0.from: "22:00+01:00" is not a time of day; write for example 22:00.',
        ),
        (
            'for = ["U1"]\nfrom = "22:00"\nto = "07:00"\nzone = "Berlin"',
            "reviewers.toml, quiet_hours.0.zone: Berlin is not a time zone; write for example Europe/Berlin.",
        ),
        (
            'for = ["@ana"]\nfrom = "22:00"\nto = "07:00"',
            'reviewers.toml, quiet_hours.0.for.0: "@ana" is not a Slack user id; ids look like U0123ABCD, not @name.',
        ),
    ],
)
def test_quiet_hours_that_cannot_be_read_are_named(entry: str, sentence: str) -> None:
    with pytest.raises(ReviewersRefused) as refused:
        Reviewers.from_toml(f"{TOML}[[quiet_hours]]\n{entry}\n")
    assert str(refused.value) == sentence


def asleep(*users: str, tier: str = "billing", times: dict[str, int] | None = None, number: int = 1) -> Notice:
    people = Reviewers.from_toml(TOML).model_copy(update={"quiet": users})
    need = Requirement(radius="x", tier=tier, reviewers=number)
    return to_notify(people, Budgets(), need, requester="U5", heard=Heard(times or {}))


@pytest.mark.parametrize(
    ("quiet", "number", "times", "notice"),
    [
        ((), 1, {}, Notice(("U1", "U2"))),
        (("U1",), 1, {}, Notice(("U2",))),  # the sleeper is left in peace
        (("U1", "U2"), 1, {}, Notice((), quiet=True)),  # the card is posted all the same
        (("U1",), 2, {}, Notice(("U2",), quiet=True)),  # one of two is awake: that one is told
        (("U1",), 1, {"U2": 12}, Notice((), quiet=True)),  # one sleeps, one was asked too often
        (("U1",), 1, {"U1": 12, "U2": 12}, Notice()),  # both were asked too often: nobody may be asked any more
    ],
)
def test_who_sleeps_is_not_told_and_what_waits_is_asked_all_the_same(
    quiet: tuple[str, ...], number: int, times: dict[str, int], notice: Notice
) -> None:
    assert asleep(*quiet, number=number, times=times) == notice


def test_a_usergroup_nobody_knows_is_awake_and_a_known_one_is_told_person_by_person() -> None:
    people = Reviewers.from_toml(TOML).model_copy(update={"quiet": ("U3",)})
    need = Requirement(radius="x", tier="crowd")
    heard = Heard({"U4": 12})
    assert to_notify(people, Budgets(), need, requester="U5", heard=heard) == Notice(("S1",))
    known = people.opened({"S1": ("U3", "U4", "U5", "U6")})
    assert to_notify(known, Budgets(), need, requester="U5", heard=heard) == Notice(("U6",))
    assert to_notify(people.opened({"S1": ("U3",)}), Budgets(), need, requester="U5", heard=heard).quiet


def test_who_has_quiet_hours_may_decide_all_the_same() -> None:
    people = Reviewers.from_toml(f'{TOML}[[quiet_hours]]\nfor = ["U1"]\nfrom = "00:00"\nto = "00:00"\n')
    people = people.at(at("2026-01-14 12:00:00"), "UTC")
    assert people.quiet == ("U1",)
    person = Person(user="U1", name="Una", team="T0HOME", fetched_at=1_000)
    need = Requirement(radius="x", tier="billing")
    assert may_decide(people, need, person, requester="U5", clicker_team="T0HOME") is None


def test_the_check_says_when_a_whole_tier_sleeps_and_who_is_asked_then() -> None:
    night = '[[quiet_hours]]\nfor = {who}\nfrom = "22:00"\nto = "07:00"\nweekdays = [1]\n'
    billing = Reviewers.from_toml(TOML + night.replace("{who}", '["U1", "U2"]'))
    leads = Reviewers.from_toml(TOML + night.replace("{who}", '["U9"]'))
    one = Reviewers.from_toml(TOML + night.replace("{who}", '["U1"]'))

    def said(people: Reviewers) -> list[str]:
        return [note for note in notes_of({}, people, Deadlines(zone=BERLIN)) if "quiet" in note]

    assert said(one) == []
    assert said(billing) == [
        (
            "reviewers.toml: everybody of the tier billing has quiet hours at the same time, first on Tuesday at 22:00"
            " (Europe/Berlin); its cards then notify none of them and ask leads at once."
        )
    ]
    assert said(leads) == [
        (
            "reviewers.toml: everybody of the tier leads has quiet hours at the same time, first on Tuesday at 22:00"
            " (Europe/Berlin); its cards then notify none of them and only tell ops."
        )
    ]
