"""What no rule could judge: a person of the strictest tier within the own limit, and what was forbidden stays so."""

from typing import Any

import pytest

from lawbook import TOML, a_law_of, a_rule, asked, judged
from policies.arguments import Arguments
from policies.money import Money, eur
from policies.person import Person
from policies.requirement import STRICTEST_TIER, Requirement
from policies.reviewers import Reviewers, may_decide
from policies.risk import Mode
from policies.rule import Facts

HUGE = Money(minor=10**15 - 1, currency="EUR")


class Line(Arguments):
    amount: Money


class Pay(Arguments):
    """Pay somebody."""

    fee: Money | None = None
    lines: list[Line] = []
    by_day: dict[str, Money] = {}


def usd(units: int) -> Money:
    return Money(minor=units * 100, currency="USD")


def need_of(outcome: Any, args: Arguments, **changes: Any) -> Requirement:
    """What a call needs whose rule raises or returns this."""

    def judge(ask: Any, so_far: Any) -> Requirement:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome  # type: ignore[no-any-return]

    (need,) = judged(a_law_of(a_rule("pay", Pay, judge)), asked("pay", args, **changes))
    return need


class Known(Facts):
    known: bool


@pytest.mark.parametrize("outcome", [KeyError("x"), None, Requirement(radius=" ", mode=Mode.AUTO)])
def test_personal_limits_hold_for_money_whose_rule_failed(outcome: Any) -> None:
    args = Pay(fee=eur(1), lines=[Line(amount=eur(20)), Line(amount=eur(300))], by_day={"mon": eur(4000)})
    need = need_of(outcome, args)
    assert (need.mode, need.tier, need.reviewers, need.amount) == (Mode.HUMAN, STRICTEST_TIER, 1, eur(4321))
    people = Reviewers.from_toml(TOML)
    for user in ("U0002", "U0003"):  # a limit that is too low, and none
        who = Person(user=user, name=user, team="T0000HOME")
        refused = may_decide(people, need, who, requester="U0005", clicker_team="T0000HOME")
        assert refused is not None
        assert refused.cause == "over_limit"


def test_personal_limits_hold_for_money_whose_data_was_not_looked_up() -> None:
    args = Pay(fee=eur(300))
    assert need_of(None, args, problem="The check failed.", kind="facts").amount == eur(300)
    assert need_of(KeyError("x"), Pay()).amount is None


def test_nobodys_limit_can_be_compared_with_two_currencies_so_nobody_may_approve_them() -> None:
    need = need_of(KeyError("x"), Pay(fee=usd(1), lines=[Line(amount=eur(1))]))
    assert (need.mode, need.amount) == (Mode.FORBIDDEN, None)
    assert need.reasons == (
        "Its rule failed (KeyError).",
        "Its amounts are in EUR and USD, which no personal limit can be compared with, so nobody may approve it.",
    )


def test_more_money_than_any_amount_is_nobodys_to_approve() -> None:
    need = need_of(KeyError("x"), Pay(fee=HUGE, lines=[Line(amount=eur(1))]))
    assert need.mode is Mode.FORBIDDEN
    assert need.reasons[1] == "Its amounts come to more than any amount here, so nobody may approve it."


@pytest.mark.parametrize(
    "update",
    [
        {"radius": " "},
        {"reviewers": 0},
        {"reasons": ("Never.", 5, "half \ud800")},
        {"resources": 7},
        {"mode": "forbidden", "counts": None},
    ],
)
def test_what_a_rule_forbids_stays_forbidden_whatever_else_is_wrong_with_it(update: dict[str, Any]) -> None:
    never = Requirement(radius="x").forbid_when(True, "Never.").model_copy(update=update)
    need = need_of(never, Pay(fee=eur(1)))
    assert (need.mode, need.reasons[0]) == (Mode.FORBIDDEN, "Never.")
    assert need.reasons[1].startswith("Its rule returned nonsense besides (")
    assert len(need.reasons) == 2


def test_a_forbidden_call_with_a_cap_of_two_currencies_stays_forbidden() -> None:
    never = Requirement(radius="x").forbid_when(True, "Never.").spending("day", {"all": usd(1)}, limit=eur(1))
    assert need_of(never, Pay()).mode is Mode.FORBIDDEN
