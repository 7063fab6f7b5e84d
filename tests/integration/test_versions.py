"""What changed while a run waited: nothing runs, people or ops decide, and the state is kept."""

import json
from typing import Any

import pytest
from agents import Agent, Model
from agents.run_state import CURRENT_SCHEMA_VERSION
from agents.testing import ScriptedModel

from approvals.lifecycle import Cause, RunState, State
from builders import events, owed
from policies.arguments import Arguments
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import rule
from worker.actions import action
from worker.saved import Saved
from workshop import (
    LEA,
    Label,
    Line,
    Ship,
    Stock,
    Workshop,
    a_law,
    find,
    function_call,
    label,
    saying,
    ship,
    shipping,
)


def approved(workshop: Workshop) -> str:
    workshop.script.extend([[shipping(("cup", 3))], [saying("Shipped.")]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call).ok
    return call.key


def deploy(workshop: Workshop, name: str, tools: Any = None) -> None:
    """Another version of the agent."""
    workshop.build = lambda model: Agent(name=name, model=model, tools=(tools or workshop.shop.tools)())


def test_a_renamed_agent_leaves_the_approval_unspent_until_the_former_one_is_deployed_again(workshop: Workshop) -> None:
    key, former = approved(workshop), workshop.build
    deploy(workshop, "new desk")
    workshop.execute()
    workshop.execute()
    assert (workshop.calls()[0].state, workshop.shop.done) == (State.APPROVED, [])
    assert f"alert:tool:{key}" in owed(workshop.store)
    assert events(workshop.store, key).count("tool_gone") == 1
    workshop.build = former
    workshop.execute()
    workshop.advance()
    assert (len(workshop.shop.done), workshop.run().answer) == (1, "Shipped.")


def test_a_renamed_agent_lets_what_nobody_asked_about_wait_as_well(workshop: Workshop) -> None:
    former = workshop.build
    workshop.script.extend([[shipping(("cup", 3)), function_call("label", {"item": "pot"}, call_id="c2")], [saying()]])
    workshop.start()
    shipped, held = workshop.calls()
    assert workshop.decide(shipped, "reject").ok
    deploy(workshop, "new desk")
    workshop.execute()
    assert workshop.calls()[1].state is State.PROPOSED
    assert f"alert:tool:{held.key}" in owed(workshop.store)
    workshop.build = former
    workshop.execute()
    assert [done[0] for done in workshop.shop.done] == ["label"]


def test_an_edit_waits_for_the_agent_that_can_check_it(workshop: Workshop) -> None:
    former = workshop.build
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.edit(call, Ship(lines=[Line(item="cup", count=2)])).ok
    deploy(workshop, "new desk")
    workshop.refresh(call)
    assert workshop.calls()[0].refreshing
    assert f"alert:tool:{call.key}" in owed(workshop.store)
    workshop.build = former
    workshop.refresh(call)
    assert workshop.calls()[0].state is State.APPROVED


def test_a_tool_that_was_taken_away_is_refused_and_told_to_ops_and_to_the_model(workshop: Workshop) -> None:
    key = approved(workshop)
    deploy(workshop, "desk", lambda: workshop.shop.tools()[1:])
    workshop.execute()
    assert (workshop.calls()[0].state, workshop.calls()[0].cause) == (State.REJECTED, Cause.POLICY)
    assert f"alert:tool:{key}" in owed(workshop.store)
    workshop.advance()
    (told,) = workshop.told()
    assert told["sentence"].startswith("NOT executed. Approved by Ana, but: ship is no longer a tool of desk")
    assert workshop.shop.done == []


class ShipByAir(Arguments):
    """Send items away for good."""

    lines: list[Line]
    express: bool = True


def test_a_parameter_that_was_added_goes_back_to_a_person_who_sees_its_default(workshop: Workshop) -> None:
    approved(workshop)
    ran: list[ShipByAir] = []

    async def stock(args: ShipByAir) -> Stock:
        return Stock(owner_of={line.item: "ann" for line in args.lines})

    @action(ShipByAir, check=stock)
    async def ship(ctx: Any, args: ShipByAir) -> None:
        """Send items away for good."""
        ran.append(args)

    def judge(ask: Any, so_far: Any) -> Requirement:
        return Requirement(radius="stock of ann", resources=("cup",)).needs("desk")

    judge.__name__ = "ship"
    workshop.law = a_law([rule(ShipByAir, Stock, risk=Risk.IRREVERSIBLE)(judge), label, find])
    deploy(workshop, "desk", lambda: [ship])
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.version, ran) == (State.PENDING_REVIEW, 2, [])
    assert call.content.previous[0] == "The tool was changed since it was approved."
    assert '"express":true' in call.content.arguments
    assert "express: yes" in call.content.preview.details
    assert workshop.decide(call, by=LEA).ok
    workshop.execute()
    assert [args.express for args in ran] == [True]


def test_a_tool_that_became_read_only_is_not_run_by_the_sdk_at_the_resume(workshop: Workshop) -> None:
    workshop.script.extend([[function_call("label", {"item": "cup"}, call_id="c1")], [saying()]])
    workshop.start()
    workshop.execute()
    assert len(workshop.shop.done) == 1

    def judge(ask: Any, so_far: Any) -> Requirement:
        return Requirement(radius="labels")

    judge.__name__ = "label"
    workshop.law = a_law([ship, rule(Label, risk=Risk.READ_ONLY)(judge), find])
    workshop.build = lambda model: Agent(name="desk", model=model, tools=[workshop.shop.tools()[2]])
    workshop.advance()
    assert (workshop.run().state, len(workshop.shop.done)) == (RunState.COMPLETED, 1)
    assert workshop.told()[0]["status"] == "executed"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"sdk_schema": "9.99", "sdk": "1.0.0"}, "saved by openai-agents 1.0.0 (schema 9.99)"),
        ({"written_by_a_newer": "version"}, "does not read (written_by_a_newer)"),
        ({"format": "vobo.run/2"}, "has the format 'vobo.run/2'"),
        ({"state": {"$schemaVersion": CURRENT_SCHEMA_VERSION}}, "The Agents SDK cannot read the saved run"),
        ({"state": {}}, "The Agents SDK cannot read the saved run"),
        ({"pending": []}, "waits for 0 calls, but 1 came back"),
    ],
)
def test_a_state_of_another_version_is_kept_and_left_to_ops_until_the_right_one_is_deployed(
    workshop: Workshop, change: dict[str, Any], sentence: str
) -> None:
    approved(workshop)
    workshop.execute()
    genuine = workshop.store.runs.load_state("run_1")
    assert genuine is not None
    newer = json.dumps({**json.loads(genuine), **change}).encode()
    put(workshop, newer)
    workshop.advance()
    run = workshop.run()
    assert (run.state, len(workshop.script.calls)) == (RunState.FAILED, 1)
    assert sentence in (run.reason or "")
    assert "alert:run:run_1" in owed(workshop.store)
    kept = workshop.store.runs.load_state("run_1")
    assert kept is not None
    put(workshop, genuine)
    assert workshop.store.runs.requeue("run_1", by=LEA).ok
    workshop.advance()
    assert (workshop.run().answer, len(workshop.shop.done)) == ("Shipped.", 1)


def put(workshop: Workshop, state: bytes) -> None:
    """A state as another version would have written it."""
    saved = workshop.store.keys.saved("run_1")
    revision = int(workshop.client.hget(saved, "revision") or 0)
    workshop.client.hset(saved, "blob", workshop.store.runs.seal("state", "run_1", revision, state))


def test_a_nested_agent_that_was_renamed_does_not_make_its_calls_vanish(workshop: Workshop) -> None:
    inner = ScriptedModel([[shipping(("cup", 3))], [saying("Inner.")]])

    def desk(name: str) -> Any:
        def factory(model: Model) -> Agent[Any]:
            clerk = Agent(name=name, model=inner, tools=workshop.shop.tools())
            return Agent(name="desk", model=model, tools=[clerk.as_tool("ask_clerk", "Ask.")])

        return factory

    workshop.build = desk("clerk")
    workshop.script.extend([[function_call("ask_clerk", {"input": "x"}, call_id="o1")], [saying("Outer.")]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0]).ok
    workshop.execute()
    workshop.build = desk("assistant")
    workshop.advance()
    assert workshop.run().state is RunState.FAILED
    assert "renamed or connected differently" in (workshop.run().reason or "")
    workshop.build = desk("clerk")
    assert workshop.store.runs.requeue("run_1", by=LEA).ok
    workshop.advance()
    assert (workshop.run().answer, len(workshop.shop.done)) == ("Outer.", 1)


def test_the_pending_calls_of_a_checkpoint_are_those_of_its_state(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3)), shipping(("pot", 2), call_id="c2")]])
    workshop.start()
    saved = Saved.read(workshop.store.runs.load_state("run_1"))
    assert sorted(saved.pending) == sorted(call.sdk_id for call in workshop.calls())
    assert saved.sdk_schema == CURRENT_SCHEMA_VERSION
    assert saved.digests["desk/ship"] == workshop.calls()[0].content.tool_schema


def test_a_turn_of_three_hundred_decided_calls_is_paused_run_and_answered_whole(workshop: Workshop) -> None:
    asks = [function_call("label", {"item": f"item-{n}-{'x' * 400}"}, call_id=f"c{n}") for n in range(300)]
    workshop.script.extend([asks, [saying("All labelled.")]])
    workshop.start()
    assert len(workshop.calls()) == 300
    while any(call.state is State.APPROVED for call in workshop.calls()):
        workshop.execute()
    workshop.advance()
    assert (workshop.run().answer, len(workshop.shop.done)) == ("All labelled.", 300)
    assert [told["status"] for told in workshop.told()] == ["executed"] * 300
