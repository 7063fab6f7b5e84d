"""Amounts that may be asked about and that nobody may approve are found in the law, before a card says "nobody"."""

from pathlib import Path

import pytest

from policies import rules
from policies.arguments import Arguments
from policies.law import load_law
from policies.limit_gaps import limit_gaps, open_amounts
from policies.money import Money, eur
from policies.requirement import Requirement
from policies.reviewers import Reviewers
from policies.risk import Risk
from policies.rule import Ask, NoFacts, Rule, Spend, rule

MOST = eur(900)


class Pay(Arguments):
    """Pay somebody."""

    amount: Money


@rule(Pay, risk=Risk.IRREVERSIBLE)
def bounded(ask: Ask[Pay, NoFacts], so_far: Spend) -> Requirement:
    amount = ask.args.amount
    need = Requirement(radius="pay").worth(amount).forbid_when(amount > MOST, "Too much.")
    return need.needs("desk", reviewers=2 if amount > eur(100) else 1)


@rule(Pay, risk=Risk.IRREVERSIBLE)
def spelled(ask: Ask[Pay, NoFacts], so_far: Spend) -> Requirement:
    need = Requirement(radius="pay").counting("paid", ask.args.amount)
    return need.forbid_when(ask.args.amount >= eur(400), "Too much.").needs("desk")


@rule(Pay, risk=Risk.IRREVERSIBLE)
def endless(ask: Ask[Pay, NoFacts], so_far: Spend) -> Requirement:
    return Requirement(radius="pay").worth(ask.args.amount).needs("desk", reviewers=2)


@rule(Pay, risk=Risk.IRREVERSIBLE)
def by_size(ask: Ask[Pay, NoFacts], so_far: Spend) -> Requirement:
    amount = ask.args.amount
    need = Requirement(radius="pay").worth(amount).forbid_when(amount > MOST, "Too much.")
    return need.needs("desk" if amount < eur(100) else "leads")


@rule(Pay, risk=Risk.IRREVERSIBLE)
def of_no_worth(ask: Ask[Pay, NoFacts], so_far: Spend) -> Requirement:
    return Requirement(radius="pay").forbid_when(ask.args.amount > MOST, "Too much.").needs("desk", reviewers=2)


def people(*limits: str, desk: str = "", leads: str = "") -> Reviewers:
    """The desk's people with these limits, none where it is empty, and one lead with the limit `leads`."""
    users = [f"U{number}" for number in range(len(limits))]
    own = "".join(
        f'[people.{user}]\nname = "{user}"\nlimits = {{ EUR = "{limit}" }}\n'
        for user, limit in zip([*users, "U9"], [*limits, leads], strict=True)
        if limit
    )
    return Reviewers.from_toml(
        f'team = "T0HOME"\nstrictest = "desk"\nops = ["U0"]\n[tiers.desk]\nusers = {users}\n{desk}\n'
        f'[tiers.leads]\nusers = ["U9"]\n{own}'
    )


def gaps(judged: Rule, reviewers: Reviewers) -> list[str]:
    return [*limit_gaps({judged.tool: judged}, reviewers)]


def test_two_must_approve_and_only_one_of_them_may_so_much() -> None:
    (told,) = gaps(bounded, people("900.00", "250.00", "100.00"))
    assert told == (
        f"The rule of bounded in {__name__} lets up to 900.00 EUR be asked, but two people of desk may approve"
        " 250.00 EUR at most. Raise limits in reviewers.toml, or lower what the rule lets be asked."
    )
    assert gaps(bounded, people("900.00", "1000.00", "100.00")) == []


def test_an_amount_spelled_out_and_counted_is_read_as_well() -> None:
    (told,) = gaps(spelled, people("399.99"))
    assert "lets up to 400.00 EUR be asked, but one person of desk may approve 399.99 EUR at most." in told
    assert gaps(spelled, people("400.00")) == []


def test_where_too_few_have_a_limit_nobody_may_approve_anything() -> None:
    (told,) = gaps(bounded, people("900.00", ""))
    assert "but not even two people of desk have a limit in EUR." in told


@pytest.mark.parametrize(
    ("desk", "told"),
    [
        ('next = "leads"', 0),  # after the escalation the lead may decide as well
        ('usergroups = ["S0"]\nlimits = { EUR = "900.00" }', 0),  # any member of the group
        ('usergroups = ["S0"]', 0),  # the lead may be one of them
        ('usergroups = ["S0"]\nlimits = { EUR = "100.00" }', 0),
        ("", 1),
    ],
)
def test_everybody_who_may_come_to_decide_counts(desk: str, told: int) -> None:
    assert len(gaps(bounded, people("900.00", "100.00", desk=desk, leads="900.00"))) == told


def test_a_group_reaches_as_high_as_its_limit() -> None:
    (told,) = gaps(bounded, people("100.00", desk='usergroups = ["S0"]\nlimits = { EUR = "300.00" }'))
    assert "may approve 300.00 EUR at most" in told


def test_a_large_amount_that_goes_to_another_tier_is_no_gap() -> None:
    assert gaps(by_size, people("100.00", leads="900.00")) == []
    (told,) = gaps(by_size, people("100.00", leads="800.00"))
    assert "one person of leads may approve 800.00 EUR at most" in told


def test_a_rule_that_names_no_amount_is_held_against_no_limit() -> None:
    assert gaps(of_no_worth, people("")) == []
    assert [*open_amounts({"of_no_worth": of_no_worth}, people(""))] == []


def test_a_rule_without_a_highest_amount_says_where_limits_end_and_is_no_gap() -> None:
    assert gaps(endless, people("900.00", "250.00")) == []
    (told,) = open_amounts({"endless": endless}, people("900.00", "250.00"))
    assert "names no highest amount, but two people of desk may approve 250.00 EUR at most." in told
    (told,) = open_amounts({"endless": endless}, people("", ""))
    assert "too few of those it asks have one. Name limits in reviewers.toml." in told
    assert [*open_amounts({"bounded": bounded}, people("", ""))] == []


def test_the_sample_has_no_gap() -> None:
    text = Path(rules.__path__[0], "reviewers.toml").read_text(encoding="utf-8")
    law = load_law(["policies.rules"], text)
    assert (law.gaps(), law.notes()) == ((), ())
    lower = load_law(["policies.rules"], text.replace('"5000.00"', '"1000.00"'))
    assert len(lower.gaps()) == 1
    assert lower.gaps() == lower.notes()
