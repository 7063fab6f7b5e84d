"""Who may take back what a call did."""

from pathlib import Path

import pytest

import policies
from policies.authority import may_decide, may_undo
from policies.money import eur
from policies.person import Person
from policies.requirement import Requirement
from policies.reviewers import Reviewers
from policies.risk import Mode

TEAM = "T0000HOME"
PEOPLE = Reviewers.from_toml((Path(policies.__file__).parent / "rules" / "reviewers.toml").read_text())
BRUNO, OLGA, OMAR, ROSA, NINA = "U0001", "U0002", "U0003", "U0005", "U0008"
DECIDED = Requirement(radius="refunds in EUR", tier="billing", amount=eur(300), undo="Pay it back.")
UNASKED = DECIDED.model_copy(update={"mode": Mode.AUTO, "amount": None})


def refused(user: str, need: Requirement, *, requester: str = ROSA, team: str = TEAM, **who: bool) -> str | None:
    person = Person(user=user, name=user, team=team, **who)
    refusal = may_undo(PEOPLE, need, person, requester=requester, clicker_team=team)
    return refusal.cause if refusal else None


@pytest.mark.parametrize("need", [DECIDED, UNASKED])
@pytest.mark.parametrize("user", [BRUNO, OLGA, OMAR, NINA, ROSA, "U0099"])
def test_whoever_may_approve_a_call_may_take_it_back(user: str, need: Requirement) -> None:
    person = Person(user=user, name=user, team=TEAM)
    allowed = may_decide(PEOPLE, need, person, requester=ROSA, clicker_team=TEAM) is None
    own_unasked = user == ROSA and need is UNASKED
    assert (refused(user, need) is None) is (allowed or own_unasked)


def test_what_people_decided_is_not_taken_back_by_who_asked_for_it() -> None:
    assert refused(ROSA, DECIDED) == "requester"
    assert refused(BRUNO, DECIDED, requester=BRUNO) == "requester"


def test_what_ran_unasked_is_taken_back_by_who_asked_for_it_while_they_are_a_member() -> None:
    assert refused(ROSA, UNASKED) is None
    assert refused(ROSA, UNASKED, guest=True) == "guest"
    assert refused(ROSA, UNASKED, deactivated=True) == "deactivated"
    assert refused(ROSA, UNASKED, team="T0OTHER") == "elsewhere"


def test_limits_and_tiers_hold_for_an_undo_too() -> None:
    assert refused(NINA, DECIDED) == "over_limit"
    assert refused("U0004", DECIDED) == "not_in_tier"


def test_after_an_escalation_the_next_tier_may_take_it_back_too() -> None:
    omar = Person(user=OMAR, name="Omar", team=TEAM)
    need = DECIDED.model_copy(update={"amount": None})
    assert may_undo(PEOPLE, need, omar, requester=ROSA, clicker_team=TEAM) is not None
    assert may_undo(PEOPLE, need, omar, requester=ROSA, clicker_team=TEAM, escalated=True) is None
