"""Whatever a model asks for, read and judged as the worker does it, becomes screens that Slack takes."""

import asyncio
import json
from typing import Any

import pytest
from agents import Agent, FunctionTool
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from approvals.lifecycle import State
from approvals.models import Call, CallContent
from block_rules import assert_message
from bot.blocks import MESSAGE_TEXT, text_length
from bot.cards import render_card
from bot.details import detail_pages
from bot.edit_modal import edit_modal
from bot.modals import details_modal
from bot.outcome import render_outcome
from bot.review_modal import Reviewed, review_modal, review_sure_modal
from bot_builders import NOW, AnyLaw, a_call, a_pause, a_view
from every_modal import PLACE
from every_screen import assert_slack_takes
from policies.arguments import read_arguments
from policies.edits import edit_fields
from policies.law import Law
from policies.risk import Mode
from worker.door import Door
from worker.judging import described, judge, look
from workshop import Ship, Shop, a_law, ship

#: Unicode as it is, and what Slack, JSON or a terminal makes something of.
_SIGNS = st.sampled_from(
    "<>!@#&|*_~`:/\\\"'{}[] \n\t⟨⟩\u202e\u200b\u2066\U000e0041\x1b\x00\ufe0f\u3164"
) | st.characters(codec="utf-8")
_WORDS = st.text(_SIGNS, max_size=40)
_LONG = st.builds(
    lambda piece, times: (piece * times)[:100_000], st.text(_SIGNS, min_size=1, max_size=8), st.integers(1, 9_000)
)
_LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _WORDS | _LONG
_JSON = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_WORDS, inner, max_size=4), max_leaves=12
)
_UNDECLARED = st.dictionaries(_WORDS, _JSON, max_size=5).map(lambda value: json.dumps(value, ensure_ascii=False))
_NONSENSE = _WORDS | st.just('{"a":' * 2_000) | st.just("[" * 2_000) | st.just('{"amount":NaN}') | st.just("")
ITEMS = [f"item-{number}" for number in range(100)]
_LINES = st.lists(st.tuples(st.sampled_from([*ITEMS, "", "<!channel>"]), st.integers(-3, 200)), max_size=100)
_SHIPPED = _LINES.map(lambda lines: json.dumps({"lines": [{"item": item, "count": count} for item, count in lines]}))


async def _nothing(*_: Any) -> str:
    return ""


def a_door(name: str, *, declared: bool) -> Door:
    """A tool of the workshop with its rule, or one that nobody declared."""
    shop = Shop(owners=dict.fromkeys(ITEMS, "ann"), stock=dict.fromkeys(ITEMS, 200))
    tools = {tool.name: tool for tool in shop.tools()}
    schema = {"type": "object", "properties": {}, "additionalProperties": True}
    plain = FunctionTool(name, "", schema, _nothing, strict_json_schema=False)
    tool = tools["ship"] if declared else plain
    return Door(Agent(name="desk", tools=[tool]), tool, ship if declared else None, "schema")


def judged(law: Law, turn: list[tuple[Door, str]]) -> list[CallContent]:
    """The contents of these calls, by the functions that the worker calls at a pause."""

    async def all_of_them() -> list[CallContent]:
        looked = [await look(f"call_{at}", door, raw, requester="U0005") for at, (door, raw) in enumerate(turn)]
        needs = judge(law, looked, requester="U0005", spent={}, vetoes={}, now_ms=NOW)
        return [await described(one, need, agent_version="1") for one, need in zip(looked, needs, strict=True)]

    return asyncio.run(all_of_them())


def screens(calls: list[Call]) -> None:
    """Card, settled card, outcome, review, edit and every page of the details, each taken by Slack."""
    radius = calls[0].content.requirement.radius
    assert_slack_takes(render_card(a_view(*calls, radius=radius), AnyLaw()))
    ended = [call.model_copy(update={"state": State.UNKNOWN, "reason": call.content.reason}) for call in calls]
    assert_slack_takes(render_card(a_view(*ended, radius=radius), AnyLaw()))
    assert_slack_takes(render_outcome(a_pause(*ended)))
    assert_slack_takes(review_modal(a_view(*calls, radius=radius), PLACE, AnyLaw()))
    chosen = [Reviewed(call.key, approve=True, reason=None) for call in calls]
    assert_slack_takes(review_sure_modal(a_view(*calls, radius=radius), chosen, PLACE, AnyLaw()))
    for page in range(len(detail_pages(calls[0]))):
        assert_slack_takes(details_modal(calls[0], PLACE.model_copy(update={"page": page})))


@pytest.fixture(scope="module")
def law() -> Law:
    return a_law()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(st.tuples(_UNDECLARED | _NONSENSE, _WORDS), min_size=1, max_size=8), _WORDS | _LONG)
def test_calls_of_tools_that_nobody_declared_become_screens(
    law: Law, asked: list[tuple[str, str]], reason: str
) -> None:
    contents = judged(law, [(a_door(name or "tool", declared=False), raw) for raw, name in asked])
    calls = [
        a_call(number, content=content.model_copy(update={"reason": reason}), tool=asked[number - 1][1] or "tool")
        for number, content in enumerate(contents, start=1)
    ]
    assert all(call.content.requirement.mode is not Mode.AUTO for call in calls), "nobody declared it: never unasked"
    screens(calls)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(_SHIPPED, min_size=1, max_size=8))
def test_calls_of_a_declared_tool_become_screens_and_what_can_be_edited_an_edit_window(
    law: Law, asked: list[str]
) -> None:
    contents = judged(law, [(a_door("ship", declared=True), raw) for raw in asked])
    calls = [a_call(number, content=content, tool="ship") for number, content in enumerate(contents, start=1)]
    screens(calls)
    for content in contents:
        if content.arguments != "{}":
            assert_slack_takes(edit_modal(edit_fields(read_arguments(Ship, content.arguments)), PLACE, 1))


def test_eight_calls_of_a_hundred_lines_make_one_card(law: Law) -> None:
    raw = json.dumps({"lines": [{"item": item, "count": 50} for item in ITEMS]})
    contents = judged(law, [(a_door("ship", declared=True), raw)] * 8)
    assert {(content.problem, content.requirement.mode) for content in contents} == {(None, Mode.HUMAN)}
    calls = [a_call(number, content=content, tool="ship") for number, content in enumerate(contents, start=1)]
    card = render_card(a_view(*calls), AnyLaw())
    assert_message(card)
    assert text_length(card.blocks) < MESSAGE_TEXT
    screens(calls)


def test_deep_nesting_is_refused_before_it_is_shown_and_still_shown_as_refused(law: Law) -> None:
    deep = '{"a":' * 5_000 + "1" + "}" * 5_000
    (content,) = judged(law, [(a_door("tool", declared=False), deep)])
    assert content.problem
    screens([a_call(content=content)])
