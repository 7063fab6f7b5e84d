"""The verbs of a rule add up: a later one never makes less of an earlier one."""

from typing import Any

import pytest

from lawbook import a_law_of, a_rule, asked, judged
from policies.arguments import Arguments
from policies.money import CurrencyMixed, Money, eur
from policies.requirement import STRICTEST_TIER, Requirement, TiersMixed
from policies.risk import Mode

NEED = Requirement(radius="x")
USD = Money(minor=100, currency="USD")


def test_counting_twice_under_one_label_counts_both() -> None:
    need = NEED.counting("refunds", eur(40)).counting("refunds", eur(2))
    assert (need.counts, need.amount) == ({"refunds": eur(42)}, eur(42))


def test_personal_limits_are_compared_with_everything_that_is_counted() -> None:
    assert NEED.counting("refunds", eur(40)).counting("fees", eur(2)).amount == eur(42)
    assert NEED.worth(eur(7)).counting("refunds", eur(40)).counting("refunds", eur(2)).amount == eur(7)
    assert NEED.counting("refunds", eur(40)).worth(eur(7)).counting("refunds", eur(2)).amount == eur(7)


def test_one_label_counts_one_currency() -> None:
    with pytest.raises(CurrencyMixed, match="EUR and USD cannot be added"):
        NEED.counting("refunds", eur(40)).counting("refunds", USD)


class Nothing(Arguments):
    """Nothing."""


def test_two_currencies_count_under_two_labels_and_worth_says_what_limits_are_compared_with() -> None:
    both = NEED.counting("refunds in EUR", eur(40)).counting("refunds in USD", USD)

    def mode(need: Requirement) -> tuple[Any, ...]:
        law = a_law_of(a_rule("pay", Nothing, lambda ask, so_far: need.auto_when(True, "Always.")))  # noqa: ARG005
        (found,) = judged(law, asked("pay", Nothing()))
        return found.mode, found.reasons

    assert mode(both.worth(eur(41))) == (Mode.AUTO, ("Always.",))
    why = "Its rule returned nonsense (amounts in EUR and USD without worth), so the strictest tier decides."
    assert mode(both) == (Mode.HUMAN, (why,))


def test_needs_twice_keeps_the_higher_number_and_the_second_look() -> None:
    need = NEED.needs("support", reviewers=2, confirm=True, because="Big.").needs("support", because="Abroad.")
    assert (need.tier, need.reviewers, need.confirm, need.reasons) == ("support", 2, True, ("Big.", "Abroad."))
    assert NEED.needs("support").needs("support", reviewers=3).reviewers == 3
    assert NEED.needs("support", reviewers=2).needs("support", reviewers=0).reviewers == 0  # nonsense stays nonsense


def test_one_requirement_asks_one_tier_or_the_strictest() -> None:
    with pytest.raises(TiersMixed) as refused:
        NEED.needs("support").needs("billing")
    assert str(refused.value) == (
        "A call asks one tier, not both support and billing. Name the stricter one, or a tier of reviewers.toml that"
        " holds the people of both."
    )
    assert NEED.needs("support").needs(STRICTEST_TIER).tier == STRICTEST_TIER
    assert NEED.needs(STRICTEST_TIER).needs("support").tier == STRICTEST_TIER


def test_a_forbidden_call_stays_so_where_its_rule_goes_on() -> None:
    never = NEED.forbid_when(True, "Never.").counting("refunds", eur(40)).needs("support")
    assert never.counting("refunds", USD).needs("billing").mode is Mode.FORBIDDEN
    assert never.counting("refunds", Money(minor=10**15 - 1, currency="EUR")).mode is Mode.FORBIDDEN
