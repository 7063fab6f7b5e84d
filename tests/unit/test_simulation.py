"""A changed law is replayed with what runs and caps had taken up then, and with what followed a rejection."""

import json
from pathlib import Path

import pytest

from approvals.candidates import candidate
from approvals.recordings import Recorded
from approvals.settings import LawSettings
from approvals.simulation import Replayed, cards, replay
from policies.budgets import Budgets
from policies.law import Law
from policies.requirement import Requirement
from policies.risk import Mode

PEOPLE = """
team = "T0"
strictest = "leads"
[tiers.desk]
users = ["U0ANA"]
[tiers.leads]
users = ["U0LEA"]
"""
RULES = '''
from policies.arguments import Arguments
from policies.money import Money
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import NoFacts, rule

class Pay(Arguments):
    """Pay somebody."""
    to: str
    cents: int

@rule(Pay, risk=Risk.IRREVERSIBLE)
def pay(ask, so_far):
    amount = Money(minor=ask.args.cents, currency="EUR")
    need = Requirement(radius="payments", resources=(ask.args.to,)).counting("paid", amount)
    need = need.spending("a day", {ask.args.to: amount}, limit=Money(minor=10_000, currency="EUR"), window=WINDOW)
    taken = so_far.in_cap("a day", ask.args.to) if WINDOW == "day" else so_far.in_run("paid")
    return need.auto_when(taken.minor + ask.args.cents <= 100, "Small.").needs("desk", because="Much.")
'''
DAY_MS = 24 * 3600 * 1000
AT = 1_750_000_000_000


def law(tmp_path: Path, window: str = "day") -> Law:
    (tmp_path / "rules").mkdir(exist_ok=True)
    (tmp_path / "rules" / "pay.py").write_text(f'WINDOW = "{window}"\n{RULES}')
    (tmp_path / "rules" / "reviewers.toml").write_text(PEOPLE)
    return candidate(str(tmp_path / "rules"), LawSettings(_env_file=None))


def a_payment(  # noqa: PLR0917 - a call is told by all of these
    number: int, cents: int = 80, run: str = "run_1", at: int = AT, was: Requirement | None = None, pause: int = 1
) -> Recorded:
    return Recorded(
        call=f"call_{run}_{pause}_{number}",
        run=run,
        pause=pause,
        number=number,
        at=at,
        tool="pay",
        agent="clerk",
        requester="U0REQ",
        requested=json.dumps({"to": "anna", "cents": cents}),
        facts="{}",
        problem=None,
        requirement=was or Requirement(radius="payments", resources=("anna",)),
        cause=None,
    )


def modes(replayed: list[Replayed]) -> list[Mode]:
    return [one.now.mode for one in replayed]


def test_what_another_run_spent_on_the_same_day_counts_against_a_cap(tmp_path: Path) -> None:
    first, second = a_payment(1), a_payment(1, run="run_2", at=AT + 1000)
    assert modes(replay(law(tmp_path), [second, first], {}, {first.call})) == [Mode.AUTO, Mode.HUMAN]


@pytest.mark.parametrize("change", ["did not run", "the next day"])
def test_what_did_not_run_or_ran_on_another_day_does_not(tmp_path: Path, change: str) -> None:
    first = a_payment(1)
    second = a_payment(1, run="run_2", at=AT + (DAY_MS if change == "the next day" else 1000))
    ran = set() if change == "did not run" else {first.call}
    assert modes(replay(law(tmp_path), [first, second], {}, ran)) == [Mode.AUTO, Mode.AUTO]


def test_what_the_run_spent_before_counts_and_another_runs_spending_does_not(tmp_path: Path) -> None:
    first, other = a_payment(1), a_payment(1, run="run_2", at=AT + 1000)
    later = a_payment(2, at=AT + 2000, pause=2)
    replayed = replay(law(tmp_path, "run"), [first, other, later], {}, {first.call, other.call})
    assert modes(replayed) == [Mode.AUTO, Mode.AUTO, Mode.HUMAN]


def test_what_followed_a_rejection_is_asked_about_under_any_law(tmp_path: Path) -> None:
    followed = Requirement(radius="payments", resources=("anna",), follows=("It follows a refusal: no",))
    (one,) = replay(law(tmp_path), [a_payment(1, was=followed)], {}, set())
    assert one.now.mode is Mode.HUMAN
    assert "It follows a refusal: no" in one.now.reasons


def test_cards_are_counted_within_the_budget_of_each_run() -> None:
    budgets = Budgets(cards_per_run=1, calls_per_card=2)
    asked, silent = Requirement(radius="payments"), Requirement(radius="payments", mode=Mode.AUTO)
    calls = [(a_payment(number), asked) for number in (1, 2, 3)]
    calls += [(a_payment(4), silent), (a_payment(1, run="run_2"), asked)]
    assert cards(budgets, calls) == (2, 1)
    assert cards(Budgets(cards_per_run=3, calls_per_card=8), calls) == (2, 0)
