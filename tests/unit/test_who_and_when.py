"""Stand-ins with dates, who may start which agent, and instants that no clock change moves."""

from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from policies import rules
from policies.deadlines import Deadlines, in_business_hours, ttl_seconds
from policies.law import load_law
from policies.money import Money, eur
from policies.person import Person
from policies.requirement import Requirement
from policies.reviewers import Refusal, Reviewers, ReviewersRefused, may_decide, may_start
from policies.risk import Risk

HOME = "T0000HOME"
TOML = Path(rules.__path__[0], "reviewers.toml").read_text(encoding="utf-8")
AWAY = """
[[standins]]
for = "U0001"
by = "U0100"
from = "2026-12-01"
to = "2026-12-10"
limits = { EUR = "1000.00" }
"""
REVIEWERS = Reviewers.from_toml(TOML + AWAY)
REFUND = Requirement(radius="refunds in EUR", tier="billing", amount=eur(900))


def person(user: str, *groups: str) -> Person:
    return Person(user=user, name=user, team=HOME, usergroups=groups)


def refusal(day: date, requirement: Requirement = REFUND, user: str = "U0100") -> Refusal | None:
    people = REVIEWERS.on(day)
    return may_decide(people, requirement, person(user), requester="U0005", clicker_team=HOME)


@pytest.mark.parametrize(("day", "allowed"), [(30, False), (1, True), (10, True), (11, False)])
def test_a_stand_in_may_decide_from_the_first_to_the_last_day(day: int, allowed: bool) -> None:  # noqa: FBT001
    refused = refusal(date(2026, 11 if day == 30 else 12, day))
    assert (refused is None) is allowed
    if refused:
        assert refused.sentence == "Only billing may decide this, and you are not one of them."


def test_a_stand_in_has_the_limits_of_the_entry_and_else_own_ones() -> None:
    dear = REFUND.model_copy(update={"amount": eur(1001)})
    refused = refusal(date(2026, 12, 5), dear)
    assert refused is not None
    assert refused.sentence == (
        "This comes to 1,001.00 EUR; your limit is 1,000.00 EUR. You can lower it with Edit, or reject it."
    )
    plain = Reviewers.from_toml(TOML + AWAY.replace('limits = { EUR = "1000.00" }', "")).on(date(2026, 12, 5))
    refused = may_decide(plain, REFUND, person("U0100"), requester="U0005", clicker_team=HOME)
    assert refused is not None
    assert refused.sentence == "No limit in EUR is set for you, so you cannot approve 900.00 EUR. Ask ops to set one."


def test_who_is_away_may_still_decide() -> None:
    assert refusal(date(2026, 12, 5), user="U0001") is None


def test_the_day_of_a_stand_in_is_that_of_the_office() -> None:
    law = load_law(["policies.rules"], TOML + AWAY)
    before = datetime(2026, 11, 30, 22, 59, tzinfo=UTC)  # 23:59 in Berlin
    assert law.people_at(before).away == ()
    assert law.people_at(before.replace(hour=23, minute=0)).away == ("U0001",)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            '"2026-12-10"',
            '"2026-11-10"',
            ("reviewers.toml, standins.0: the stand-in for U0001 ends on 2026-11-10, before it begins on 2026-12-01."),
        ),
        ('"U0100"', '"U0001"', "reviewers.toml, standins.0: U0001 cannot stand in for themselves."),
        (
            '"1000.00"',
            '"1.000"',
            'reviewers.toml, standins.U0100.limits: "1.000" has 3 decimals; EUR has 2. Type for example 250.00.',
        ),
    ],
)
def test_a_stand_in_that_cannot_be_is_refused_by_its_place(old: str, new: str, sentence: str) -> None:
    with pytest.raises(ReviewersRefused) as refused:
        Reviewers.from_toml(TOML + AWAY.replace(old, new))
    assert str(refused.value) == sentence


def test_nobody_can_write_into_the_file_who_is_away() -> None:
    with pytest.raises(ReviewersRefused, match=r"reviewers\.toml has 'away', which nothing reads"):
        Reviewers.from_toml('away = ["U0001"]\n' + TOML)


def test_an_agent_may_be_started_by_fewer_people_than_the_others() -> None:
    people = Reviewers.from_toml(TOML + '[agents.release]\nstarters = ["U0004", "S_RELEASE"]\n')
    assert may_start(people, person("U0005"), clicker_team=HOME) is None
    assert may_start(people, person("U0004"), clicker_team=HOME, agent="release") is None
    assert may_start(people, person("U0100", "S_RELEASE"), clicker_team=HOME, agent="release") is None
    refused = may_start(people, person("U0005"), clicker_team=HOME, agent="release")
    assert refused is not None
    assert refused.sentence == "You may not start runs with the agent release. Ask ops to add you to its starters."


def test_an_agent_without_a_name_is_called_default() -> None:
    people = Reviewers.from_toml(TOML + '[agents.default]\nstarters = ["U0004"]\n')
    assert may_start(people, person("U0004"), clicker_team=HOME) is None
    assert may_start(people, person("U0005"), clicker_team=HOME) is not None


def test_who_may_start_an_agent_must_be_a_starter_at_all() -> None:
    text = TOML.replace('# starters = ["U0005"]', 'starters = ["U0005"]')
    people = Reviewers.from_toml(text + '[agents.release]\nstarters = ["U0004", "U0005"]\n')
    assert may_start(people, person("U0004"), clicker_team=HOME, agent="release") is not None
    assert may_start(people, person("U0005"), clicker_team=HOME, agent="release") is None


def instant(text: str, zone: str, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC)


@pytest.mark.parametrize(
    ("zone", "before", "after"),
    [
        ("Europe/Berlin", "2026-10-25T01:30", "2026-10-25T03:30"),  # the hour from 2 to 3 occurs twice
        ("Europe/Berlin", "2026-03-29T01:30", "2026-03-29T03:30"),  # it does not occur
        ("Australia/Sydney", "2026-10-04T01:30", "2026-10-04T03:30"),  # it does not occur
        ("Australia/Sydney", "2026-04-05T01:30", "2026-04-05T03:30"),  # it occurs twice
    ],
)
def test_a_clock_change_neither_lengthens_nor_shortens_the_time_to_decide(zone: str, before: str, after: str) -> None:
    office = Deadlines(zone=zone)
    posted = instant(before, zone)
    seconds = ttl_seconds(office, risk=Risk.IRREVERSIBLE, undo=None, now=posted)
    assert seconds == 4 * 3600
    shown = (instant(after, zone).timestamp() - posted.timestamp()) / 3600
    assert shown in {1.0, 3.0}, "two hours on the wall are one or three"


@pytest.mark.parametrize("fold", [0, 1])
def test_both_hours_that_a_clock_shows_twice_are_business_hours_when_the_file_says_so(fold: int) -> None:
    office = Deadlines(zone="Europe/Berlin", weekdays=(0, 1, 2, 3, 4, 5, 6), opens="02:00", closes="03:00")
    assert in_business_hours(office, instant("2026-10-25T02:30", "Europe/Berlin", fold))
    assert not in_business_hours(office, instant("2026-10-25T03:00", "Europe/Berlin", fold))
    assert not in_business_hours(office, instant("2026-10-25T01:59", "Europe/Berlin", fold))


@pytest.mark.parametrize(
    ("day", "opening_utc"), [("2026-10-23", 7), ("2026-10-26", 8), ("2026-03-27", 8), ("2026-03-30", 7)]
)
def test_an_office_opens_at_nine_on_its_own_wall_before_and_after_the_change(day: str, opening_utc: int) -> None:
    office = Deadlines(zone="Europe/Berlin")
    at = datetime.fromisoformat(f"{day}T{opening_utc:02d}:00").replace(tzinfo=UTC)
    assert in_business_hours(office, at)
    assert not in_business_hours(office, at.replace(hour=opening_utc - 1, minute=59))


def test_sydney_works_while_berlin_sleeps() -> None:
    at = datetime(2026, 10, 23, 0, 30, tzinfo=UTC)
    assert in_business_hours(Deadlines(zone="Australia/Sydney"), at)
    assert not in_business_hours(Deadlines(zone="Europe/Berlin"), at)


OWN = """
[people.U0001]
name = "Bruno"
limits = { EUR = "250.00" }
"""


def lent(*entries: tuple[str, str]) -> Reviewers:
    """Bruno of billing stands in, all December, for these people with these limits (empty: his own)."""
    text = 'team = "T0000HOME"\nstrictest = "leads"\n[tiers.billing]\nusers = ["U0001", "U0002"]\n'
    text += '[tiers.leads]\nusers = ["U0003", "U0004"]\nlimits = { EUR = "1.00" }\n' + OWN
    for absent, limit in entries:
        text += f'[[standins]]\nfor = "{absent}"\nby = "U0001"\nfrom = "2026-12-01"\nto = "2026-12-31"\n'
        text += f'limits = {{ EUR = "{limit}" }}\n' if limit else ""
    return Reviewers.from_toml(text).on(date(2026, 12, 5))


def limits(people: Reviewers) -> tuple[Money | None, Money | None]:
    """What Bruno may decide in billing and in leads."""
    tiers = people.tiers
    return people.limit_of("U0001", [tiers["billing"]], "EUR"), people.limit_of("U0001", [tiers["leads"]], "EUR")


def test_the_limits_of_a_stand_in_hold_in_the_tiers_of_whom_they_stand_in_for() -> None:
    assert limits(lent(("U0003", "5000.00"))) == (eur(250), eur(5000))
    assert limits(lent(("U0003", "5000.00"), ("U0002", "100.00"))) == (eur(250), eur(5000))
    assert limits(lent(("U0003", "5000.00"), ("U0002", "400.00"))) == (eur(400), eur(5000))
    assert limits(lent(("U0003", "100.00"))) == (eur(250), eur(100))


def test_of_two_entries_for_one_tier_the_higher_limit_holds() -> None:
    assert limits(lent(("U0003", "5000.00"), ("U0004", "100.00"))) == (eur(250), eur(5000))
    assert limits(lent(("U0003", "100.00"), ("U0004", ""))) == (eur(250), eur(250))


def test_what_a_stand_in_is_lent_cannot_be_written_into_a_tier() -> None:
    with pytest.raises(ReviewersRefused, match=r"tiers\.billing\.lent"):
        Reviewers.from_toml(TOML.replace("[tiers.billing]", "[tiers.billing]\nlent = {}"))
