"""A law of one or more rules, made from functions, and calls judged by it."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from policies.arguments import Arguments
from policies.budgets import Budgets
from policies.deadlines import Deadlines
from policies.evaluate import Proposal, evaluate
from policies.law import Law
from policies.requirement import Requirement
from policies.reviewers import Reviewers
from policies.risk import Risk
from policies.rule import Ask, NoFacts, Rule, Spend

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
TOML = """
team = "T0000HOME"
strictest = "leads"
ops = ["U0003"]
[tiers.leads]
users = ["U0002", "U0003"]
[tiers.billing]
users = ["U0001", "U0002"]
[people.U0002]
name = "Olga"
limits = { EUR = "250.00" }
"""

Judge = Callable[[Ask[Any, Any], Spend], Requirement]


def a_rule(tool: str, arguments: type[Arguments], judge: Judge) -> Rule:
    """A rule of an irreversible tool without facts."""
    return Rule(tool, arguments, NoFacts, Risk.IRREVERSIBLE, None, judge, "somewhere", "")


def a_law_of(*rules: Rule) -> Law:
    return Law(
        rules={rule.tool: rule for rule in rules},
        reviewers=Reviewers.from_toml(TOML),
        deadlines=Deadlines(),
        budgets=Budgets(),
        version="v1",
    )


def asked(tool: str, args: Arguments | None, **changes: Any) -> Proposal:
    return Proposal("call_1", tool, "desk", args, changes.pop("facts", NoFacts()), **changes)


def judged(law: Law, *calls: Proposal, spent: Mapping[Any, int] | None = None, **before: Any) -> list[Requirement]:
    """`before` are `vetoes`, `corrections` and `edits`."""
    found = {"vetoes": {}, **before}
    return list(evaluate(law, calls, requester="U0005", spent=spent or {}, now=NOON, **found))
