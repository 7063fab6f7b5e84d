"""Who may decide is answered the same way at every door, with a sentence for whoever may not."""

from pathlib import Path
from typing import Any

import pytest

from policies import rules
from policies.money import Money, eur
from policies.person import Person
from policies.requirement import Requirement
from policies.reviewers import (
    Reviewers,
    ReviewersRefused,
    describe,
    entitled,
    may_decide,
    may_operate,
    may_start,
)
from policies.risk import Mode

HOME = "T0000HOME"
TOML = Path(rules.__path__[0], "reviewers.toml").read_text(encoding="utf-8")
REVIEWERS = Reviewers.from_toml(TOML)
REFUND = Requirement(radius="refunds in EUR", tier="billing", reviewers=2, amount=eur(4120))
DELETION = Requirement(radius="deletion", tier="ops_leads")


def person(user: str, **changes: Any) -> Person:
    return Person(user=user, name=user, team=HOME).model_copy(update=changes)


def refusal(requirement: Requirement, who: Person, **how: Any) -> str | None:
    asked = {"requester": "U0005", "clicker_team": who.team, **how}
    refused = may_decide(
        how.pop("reviewers", REVIEWERS), requirement, who, **{k: v for k, v in asked.items() if k != "reviewers"}
    )
    return refused.sentence if refused else None


@pytest.mark.parametrize("user", ["U0001", "U0002"])
def test_members_of_the_tier_within_their_limit_may_decide(user: str) -> None:
    assert refusal(REFUND, person(user)) is None


def test_a_usergroup_member_is_judged_by_the_snapshot_of_now() -> None:
    small = REFUND.model_copy(update={"amount": None})
    assert refusal(small, person("U0100", usergroups=("S_BILLING",))) is None
    assert refusal(small, person("U0100")) == "Only billing may decide this, and you are not one of them."


@pytest.mark.parametrize(
    ("who", "sentence"),
    [
        (person("U0001", team="T0000OTHER"), "Only members of the home workspace may do this; you are from another."),
        (person("U0001", stranger=True), "Only members of the home workspace may do this; you are from another."),
        (
            person("U0007", guest=True, usergroups=("S_BILLING",)),
            "Guests may not do this; ask a full member of the workspace.",
        ),
        (
            person("U0006", deactivated=True, usergroups=("S_BILLING",)),
            "This account is deactivated, so it may not do this.",
        ),
        (person("U0001", bot=True), "Apps may not do this; a person must."),
        (person("U0004"), "Only billing may decide this, and you are not one of them."),
        (person("U0005"), "You started this run, so somebody else must decide. You can cancel the run instead."),
        (
            person("U0008"),
            "This comes to 4,120.00 EUR; your limit is 250.00 EUR. You can lower it with Edit, or reject it.",
        ),
        (
            person("U0100", usergroups=("S_BILLING",)),
            "No limit in EUR is set for you, so you cannot approve 4,120.00 EUR. Ask ops to set one.",
        ),
    ],
)
def test_whoever_may_not_decide_is_told_why(who: Person, sentence: str) -> None:
    assert refusal(REFUND, who) == sentence


def test_the_same_user_id_signed_by_another_workspace_is_somebody_else() -> None:
    assert refusal(REFUND, person("U0001"), clicker_team="T0000OTHER") is not None
    assert refusal(REFUND, person("U0001"), clicker_team="") is not None


def test_a_requester_of_the_tier_still_cannot_decide_own_calls() -> None:
    for verdict in ("approve", "edit", "reject"):
        assert refusal(REFUND, person("U0001"), requester="U0001", verdict=verdict) is not None


def test_the_development_switch_lets_the_requester_decide() -> None:
    switched = Reviewers.from_toml(TOML.replace("self_approval = false", "self_approval = true"))
    assert refusal(REFUND, person("U0001"), requester="U0001", reviewers=switched) is None


def test_rejecting_needs_no_limit_but_membership() -> None:
    assert refusal(REFUND, person("U0008"), verdict="reject") is None
    assert refusal(REFUND, person("U0004"), verdict="reject") is not None


def test_a_limit_holds_to_the_cent_and_by_currency() -> None:
    at = REFUND.model_copy(update={"amount": eur(250)})
    over = REFUND.model_copy(update={"amount": Money(minor=25001, currency="EUR")})
    yen = REFUND.model_copy(update={"amount": Money(minor=1, currency="JPY")})
    assert refusal(at, person("U0008")) is None
    assert refusal(over, person("U0008")) is not None
    assert refusal(yen, person("U0001")) is not None


def test_an_unruled_call_goes_to_the_strictest_tier() -> None:
    unruled = Requirement(radius="mystery: no rule")
    assert refusal(unruled, person("U0003")) is None
    assert refusal(unruled, person("U0001")) == "Only ops leads may decide this, and you are not one of them."


def test_an_unknown_tier_and_a_forbidden_call_are_open_to_nobody() -> None:
    assert refusal(REFUND.model_copy(update={"tier": "nobody"}), person("U0001")) is not None
    forbidden = REFUND.model_copy(update={"mode": Mode.FORBIDDEN})
    assert refusal(forbidden, person("U0001")) == "This call is forbidden by policy; nobody can decide it."


def test_after_escalation_the_next_tier_may_decide_too() -> None:
    free = REFUND.model_copy(update={"amount": None})
    assert refusal(free, person("U0003")) is not None
    assert refusal(free, person("U0003"), escalated=True) is None
    assert refusal(free, person("U0001"), escalated=True) is None


def test_those_asked_are_named_without_those_whose_limit_is_too_low() -> None:
    assert describe(REVIEWERS, REFUND) == "billing: Bruno or Olga; two different people"
    small = REFUND.model_copy(update={"amount": eur(50), "reviewers": 1})
    assert describe(REVIEWERS, small) == "billing: Bruno, Olga or Nina"
    assert describe(REVIEWERS, DELETION) == "ops leads: Olga or Omar"
    assert describe(REVIEWERS, REFUND.model_copy(update={"tier": "gone"})) == "gone: nobody; two different people"
    assert entitled(REVIEWERS, REFUND).users == ("U0001", "U0002")
    assert entitled(REVIEWERS, REFUND).usergroups == ("S_BILLING",)


def test_every_full_member_may_start_runs_unless_starters_are_named() -> None:
    assert may_start(REVIEWERS, person("U0005"), clicker_team=HOME) is None
    assert may_start(REVIEWERS, person("U0007", guest=True), clicker_team=HOME) is not None
    assert may_start(REVIEWERS, person("U0005"), clicker_team="T0000OTHER") is not None
    named = Reviewers.from_toml(TOML.replace('# starters = ["U0005"]', 'starters = ["U0005", "S_RELEASE"]'))
    assert may_start(named, person("U0005"), clicker_team=HOME) is None
    assert may_start(named, person("U0004", usergroups=("S_RELEASE",)), clicker_team=HOME) is None
    refused = may_start(named, person("U0001"), clicker_team=HOME)
    assert refused is not None
    assert refused.sentence == "You may not start runs here. Ask ops to add you to the starters."


def test_only_ops_may_operate() -> None:
    assert may_operate(REVIEWERS, person("U0003"), clicker_team=HOME) is None
    assert may_operate(REVIEWERS, person("U0003", deactivated=True), clicker_team=HOME) is not None
    refused = may_operate(REVIEWERS, person("U0001"), clicker_team=HOME)
    assert refused is not None
    assert refused.sentence == "Only ops may do this, and you are not listed in reviewers.toml."


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            '"S_BILLING"',
            '"@billing"',
            (
                'reviewers.toml, tiers.billing.usergroups.0: "@billing" is not a Slack usergroup id;'
                " ids look like S0123ABCD, not @name."
            ),
        ),
        (
            'users = ["U0003", "U0004"]',
            'users = ["bruno"]',
            (
                'reviewers.toml, tiers.release.users.0: "bruno" is not a Slack'
                " user id; ids look like U0123ABCD, not @name."
            ),
        ),
        (
            'EUR = "250.00"',
            'EUR = "2.500"',
            'reviewers.toml, people.U0008.limits: "2.500" has 3 decimals; EUR has 2. Type for example 250.00.',
        ),
        ('EUR = "250.00"', 'EURO = "250.00"', "reviewers.toml, people.U0008.limits: 'EURO' is not a currency."),
        ("[tiers.support]", "[teirs.support]", "reviewers.toml has 'teirs', which nothing reads. Remove or rename it."),
        ('strictest = "ops_leads"', "", "reviewers.toml, strictest: Field required."),
    ],
)
def test_a_file_that_cannot_be_used_says_where(old: str, new: str, sentence: str) -> None:
    assert old in TOML
    with pytest.raises(ReviewersRefused) as refused:
        Reviewers.from_toml(TOML.replace(old, new))
    assert str(refused.value) == sentence


def test_text_that_is_not_toml_is_refused_with_its_place() -> None:
    with pytest.raises(ReviewersRefused, match=r"reviewers\.toml is not valid TOML: .*line 2.*Correct it there"):
        Reviewers.from_toml("ops = []\nteam = T0000HOME\n")
