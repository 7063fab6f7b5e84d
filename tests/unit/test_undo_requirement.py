"""What taking a call back needs: the stricter of what was sealed and what the law asks of it now, on its own."""

from datetime import UTC, datetime
from typing import Any

import pytest

from policies.arguments import Arguments
from policies.evaluate import Proposal
from policies.money import Money, eur
from policies.requirement import STRICTEST_TIER, Requirement
from policies.risk import Mode, Risk
from policies.rule import Ask, NoFacts, Spend, rule
from policies.undoing import people_needed, undo_requirement
from workshop import a_law, find, ship

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
HUMAN = Requirement(radius="labels", tier="desk")
AUTO = Requirement(radius="labels", mode=Mode.AUTO)
FORBIDDEN = Requirement(radius="labels", mode=Mode.FORBIDDEN)


class Label(Arguments):
    """Stick a label on an item."""

    item: str


def need(decided: Requirement, now: Any) -> Requirement:
    """`now` is what the rule returns by now, or a function of what the run took up."""

    def label(ask: Ask[Label, Any], so_far: Spend) -> Requirement:
        found: Requirement = now(so_far) if callable(now) else now
        return found

    law = a_law([ship, rule(Label, risk=Risk.REVERSIBLE, undo="Peel the label off.")(label), find])
    proposal = Proposal("call_1", "label", "desk", Label(item="cup"), NoFacts())
    return undo_requirement(law, decided, proposal, requester="U0REQ", now=NOON)


def asked(found: Requirement) -> tuple[Mode, str, int]:
    return found.mode, found.tier, people_needed(found)


@pytest.mark.parametrize("now", [AUTO, FORBIDDEN])
@pytest.mark.parametrize("decided", [AUTO, HUMAN.needs("desk", reviewers=2)])
def test_a_law_that_asks_nobody_by_now_or_forbids_it_leaves_it_as_it_was_decided(
    decided: Requirement, now: Requirement
) -> None:
    assert need(decided, now) == decided


def test_a_law_that_asks_people_by_now_asks_them_for_what_ran_unasked() -> None:
    assert asked(need(AUTO, HUMAN.needs("desk", reviewers=2))) == (Mode.HUMAN, "desk", 2)
    assert people_needed(AUTO.model_copy(update={"reviewers": 2})) == 1


@pytest.mark.parametrize(("then", "now"), [(2, 1), (1, 2), (2, 2)])
def test_the_higher_number_of_people_holds(then: int, now: int) -> None:
    decided, by_now = HUMAN.needs("desk", reviewers=then), HUMAN.needs("desk", reviewers=now)
    assert people_needed(need(decided, by_now)) == 2


def test_the_tier_of_now_holds_but_the_strictest_stays() -> None:
    assert need(HUMAN, Requirement(radius="labels", tier="leads")).tier == "leads"
    assert need(HUMAN.needs(STRICTEST_TIER), HUMAN).tier == STRICTEST_TIER


@pytest.mark.parametrize("decided", [HUMAN, AUTO])
@pytest.mark.parametrize(
    ("then", "now", "held"),
    [
        (eur(300), eur(20), eur(300)),
        (eur(20), eur(300), eur(300)),
        (eur(300), None, eur(300)),
        (None, eur(300), eur(300)),
        (eur(300), Money(minor=99_900, currency="USD"), eur(300)),
    ],
)
def test_limits_are_held_to_the_higher_amount(
    decided: Requirement, then: Money | None, now: Money | None, held: Money
) -> None:
    found = need(decided.model_copy(update={"amount": then}), HUMAN.model_copy(update={"amount": now}))
    assert found.amount == held


def test_nothing_that_others_took_up_counts() -> None:
    seen: list[int] = []

    def judge(so_far: Spend) -> Requirement:
        seen.append(so_far.in_run("labels").minor)
        return AUTO

    assert need(AUTO, judge) == AUTO
    assert set(seen) == {0}
