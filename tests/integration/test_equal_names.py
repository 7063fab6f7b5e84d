"""Agents used as tools may share a name: each keeps its own tools, calls and envelopes."""

from typing import Any

from agents import Agent, Model
from agents.testing import ScriptedModel

from approvals.lifecycle import RunState
from workshop import Workshop, function_call, saying, shipping


def two_clerks(workshop: Workshop, first: ScriptedModel, second: ScriptedModel) -> None:
    """A desk with two agents as tools, both called clerk; only one of them may label."""

    def factory(model: Model) -> Agent[Any]:
        ship, label, _ = workshop.shop.tools()
        one, other = (
            Agent(name="clerk", model=first, tools=[ship]),
            Agent(name="clerk", model=second, tools=[ship, label]),
        )
        tools = [one.as_tool("ask_one", "Ask one."), other.as_tool("ask_other", "Ask the other.")]
        return Agent(name="desk", model=model, tools=tools)

    workshop.build = factory


def test_parallel_agents_of_one_name_each_get_their_own_envelopes(workshop: Workshop) -> None:
    first = ScriptedModel([[shipping(("cup", 3), call_id="call_0")], [saying("One is done.")]])
    second = ScriptedModel([[shipping(("pan", 2), call_id="call_0")], [saying("Other is done.")]])
    two_clerks(workshop, first, second)
    asks = [
        function_call("ask_one", {"input": "x"}, call_id="o1"),
        function_call("ask_other", {"input": "x"}, call_id="o2"),
    ]
    workshop.script.extend([asks, [saying("Both are done.")]])
    workshop.start()
    assert [call.agent for call in workshop.calls()] == ["clerk", "clerk (2)"]
    shipped, other = workshop.calls()
    assert workshop.decide(shipped).ok
    assert workshop.decide(other, "reject").ok
    workshop.execute()
    workshop.advance()
    assert (workshop.run().state, workshop.run().answer) == (RunState.COMPLETED, "Both are done.")
    assert [done[1] for done in workshop.shop.done] == [{"cup": 3}]
    assert [told["status"] for told in workshop.told(first)] == ["executed"]
    assert [told["status"] for told in workshop.told(second)] == ["rejected"]


def test_agents_of_one_name_that_pause_one_after_the_other_are_told_apart_after_a_restore(workshop: Workshop) -> None:
    first = ScriptedModel([[shipping(("cup", 3))], [saying("One is done.")]])
    second = ScriptedModel([[shipping(("pan", 2))], [saying("Other is done.")]])
    two_clerks(workshop, first, second)
    workshop.script.extend(
        [
            [function_call("ask_other", {"input": "x"}, call_id="o1")],
            [function_call("ask_one", {"input": "x"}, call_id="o2")],
            [saying("Both are done.")],
        ]
    )
    workshop.start()
    seen = []
    for _ in range(2):
        (call,) = workshop.calls()
        seen.append(call.agent)
        assert workshop.decide(call).ok
        workshop.execute()
        workshop.advance()
    assert seen == ["clerk (2)", "clerk"]
    assert workshop.run().answer == "Both are done."
    assert [done[1] for done in workshop.shop.done] == [{"pan": 2}, {"cup": 3}]


def test_a_nested_agent_may_bear_its_callers_name(workshop: Workshop) -> None:
    inner = ScriptedModel([[shipping(("cup", 3))], [saying("Inner.")]])

    def factory(model: Model) -> Agent[Any]:
        clerk = Agent(name="desk", model=inner, tools=workshop.shop.tools())
        return Agent(name="desk", model=model, tools=[clerk.as_tool("ask_clerk", "Ask.")])

    workshop.build = factory
    workshop.script.extend([[function_call("ask_clerk", {"input": "x"}, call_id="o1")], [saying("Outer.")]])
    workshop.start()
    (call,) = workshop.calls()
    assert call.agent == "desk (2)"
    assert workshop.decide(call).ok
    workshop.execute()
    workshop.advance()
    assert workshop.run().answer == "Outer."


def test_an_agent_and_the_one_it_uses_as_a_tool_wait_side_by_side_under_the_same_name_and_ids(
    workshop: Workshop,
) -> None:
    inner = ScriptedModel(
        [[shipping(("pan", 3), call_id="c1"), shipping(("pot", 3), call_id="c2")], [saying("Inner is done.")]]
    )

    def factory(model: Model) -> Agent[Any]:
        clerk = Agent(name="desk", model=inner, tools=workshop.shop.tools())
        return Agent(name="desk", model=model, tools=[clerk.as_tool("ask_clerk", "Ask."), *workshop.shop.tools()])

    workshop.build = factory
    asks = [function_call("ask_clerk", {"input": "x"}, call_id="o1"), shipping(("cup", 3), call_id="c1")]
    workshop.script.extend([asks, [saying("Both are done.")]])
    workshop.start()
    assert len(workshop.calls()) == 3
    for call in workshop.calls():
        assert workshop.decide(call, "reject" if "pot" in call.content.arguments else "approve").ok
    workshop.execute()
    workshop.advance()
    assert (workshop.run().state, workshop.run().answer) == (RunState.COMPLETED, "Both are done.")
    assert sorted(str(done[1]) for done in workshop.shop.done) == ["{'cup': 3}", "{'pan': 3}"]
    assert [told["status"] for told in workshop.told(inner)] == ["executed", "rejected"]
    assert [told["status"] for told in workshop.told()][-1] == "executed"
