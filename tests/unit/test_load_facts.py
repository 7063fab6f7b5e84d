"""A rule that wants facts needs somebody who looks them up; else all calls of its tool would ask the strictest tier."""

import itertools
from typing import Any

import pytest
from agents import Agent, function_tool
from agents.testing import ScriptedModel

from policies.arguments import Arguments
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import Facts, Rule, rule
from worker.actions import ActionContext, action
from worker.load import Loaded, build
from worker.refusals import AgentRefused
from worker.watch import Watch


class Ship(Arguments):
    """Send."""

    item: str


class Stock(Facts):
    left: int


async def look_up(args: Ship) -> Stock:
    return Stock(left=1)


def shipping(check: Any = None) -> Any:
    @action(Ship, check=check)
    async def ship(ctx: ActionContext, args: Ship) -> None:
        """Send."""

    return ship


def ruled(facts: type[Facts] | None, risk: Risk = Risk.IRREVERSIBLE) -> dict[str, Rule]:
    def ship(ask: Any, so_far: Any) -> Requirement:
        return Requirement(radius="x")

    return {"ship": rule(Ship, facts, risk=risk)(ship)}


def load(tool: Any, rules: dict[str, Rule]) -> Loaded:
    model = ScriptedModel()
    letters = itertools.cycle("abc")
    watch = Watch(choose=lambda characters: next(letters), turns=0, limit=12)  # noqa: ARG005
    return build(Agent(name="desk", model=model, tools=[tool]), model, rules=rules, watch=watch)


@function_tool(name_override="ship")
def plain(item: str) -> str:
    """Send."""
    return item


@pytest.mark.parametrize("tool", [shipping(), plain])
def test_a_rule_with_facts_that_nobody_looks_up_is_refused(tool: Any) -> None:
    with pytest.raises(AgentRefused) as refused:
        load(tool, ruled(Stock))
    assert str(refused.value).startswith(
        f'The agent "desk": the rule of ship in {__name__} wants the facts Stock, but nothing looks them up, so it'
        " could never judge a call. Write @action(Ship, check=...), an async function that takes the arguments and"
        " returns Stock; or leave the facts out of the rule."
    )


def test_a_rule_whose_facts_are_looked_up_or_that_wants_none_is_taken() -> None:
    taken = [(shipping(look_up), Stock), (shipping(), None), (shipping(), Facts), (plain, None)]
    for tool, facts in taken:
        assert load(tool, ruled(facts)).doors
    assert load(plain, ruled(Stock, Risk.READ_ONLY)).reads == {"ship"}  # such a rule is never applied
