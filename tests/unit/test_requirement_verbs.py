"""The verbs of a rule add up: a later one never makes less of an earlier one."""

from typing import Any

import pytest

from lawbook import a_law_of, a_rule, asked, judged
from policies.arguments import Arguments
from policies.money import MONEY_ENDS, CurrencyMixed, Money, eur
from policies.requirement import STRICTEST_TIER, Requirement, TiersMixed
from policies.risk import Mode

NEED = Requirement(radius="x")
USD = Money(minor=100, currency="USD")
MOST = Money(minor=MONEY_ENDS - 1, currency="EUR")


def test_counting_twice_under_one_label_counts_both() -> None:
    need = NEED.counting("refunds", eur(40)).counting("refunds", eur(2))
    assert need.counts == {"refunds": eur(42)}


class Nothing(Arguments):
    """Nothing."""


def finished(need: Requirement) -> Requirement:
    """What comes of a rule that returns this."""
    law = a_law_of(a_rule("pay", Nothing, lambda ask, so_far: need))  # noqa: ARG005
    (found,) = judged(law, asked("pay", Nothing()))
    return found


@pytest.mark.parametrize(
    ("need", "amount"),
    [
        (NEED.counting("refunds", eur(40)).counting("fees", eur(2)), eur(42)),
        (NEED.worth(eur(7)).counting("refunds", eur(40)).counting("refunds", eur(2)), eur(7)),
        (NEED.counting("refunds", eur(40)).worth(eur(7)).counting("refunds", eur(2)), eur(7)),
        (NEED.counting("refunds", eur(10)).worth(eur(10)).counting("fees", USD), eur(10)),
        (NEED.worth(eur(10)).counting("refunds", eur(10)).counting("fees", eur(5)), eur(10)),
        (NEED.counting("refunds", MOST).counting("fees", eur(5)).worth(eur(7)), eur(7)),
        (NEED, None),
    ],
)
def test_personal_limits_are_compared_with_what_is_counted_unless_worth_was_said(
    need: Requirement, amount: Money | None
) -> None:
    found = finished(need.needs("billing"))
    assert (found.amount, found.tier, found.counts) == (amount, "billing", need.counts)


def test_what_is_counted_beyond_any_amount_asks_the_strictest_tier_as_no_limit_can_be_compared() -> None:
    found = finished(NEED.counting("refunds", MOST).counting("fees", eur(5)).auto_when(True, "Always."))
    why = "Its rule returned nonsense (counts that come to more than any amount), so the strictest tier decides."
    assert (found.mode, found.tier, found.reasons) == (Mode.HUMAN, STRICTEST_TIER, (why,))


def test_one_label_counts_one_currency() -> None:
    with pytest.raises(CurrencyMixed, match="EUR and USD cannot be added"):
        NEED.counting("refunds", eur(40)).counting("refunds", USD)


def test_two_currencies_count_under_two_labels_and_worth_says_what_limits_are_compared_with() -> None:
    both = NEED.counting("refunds in EUR", eur(40)).counting("refunds in USD", USD)

    def mode(need: Requirement) -> tuple[Any, ...]:
        found = finished(need.auto_when(True, "Always."))
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


def test_what_would_run_unasked_names_no_tier_that_is_gone_when_an_edit_makes_it_a_persons() -> None:
    need = Requirement(radius="x", resources=("a",)).auto_when(True, "Always.").needs("gone")
    law = a_law_of(a_rule("pay", Nothing, lambda ask, so_far: need))  # noqa: ARG005
    (found,) = judged(law, asked("pay", Nothing()))
    assert (found.mode, found.reasons) == (Mode.AUTO, ("Always.",))
    (found,) = judged(law, asked("pay", Nothing()), edits={"a": "Ana lowered it."})
    assert (found.mode, found.tier) == (Mode.HUMAN, STRICTEST_TIER)


def test_a_forbidden_call_stays_so_where_its_rule_goes_on() -> None:
    never = NEED.forbid_when(True, "Never.").counting("refunds", eur(40)).needs("support")
    assert never.counting("refunds", USD).needs("billing").mode is Mode.FORBIDDEN
    assert never.counting("refunds", MOST).mode is Mode.FORBIDDEN
