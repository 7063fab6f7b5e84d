import asyncio
import random
from typing import Any

import pytest
from agents import ModelSettings, ModelTracing
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from openai.types.responses import ResponseCompletedEvent, ResponseFunctionToolCall

from worker.defuse import defuse
from worker.model import LAST_WORD, WatchedModel
from worker.watch import TurnsSpent, Watch, is_call_id


def a_watch(**changes: Any) -> Watch:
    return Watch(**{"choose": random.Random(1).choice, "turns": 0, "limit": 12, **changes})  # noqa: S311


def answer(script: ScriptedModel, watch: Watch, *, nested: bool = False, streamed: bool = False) -> list[Any]:
    model = WatchedModel(script, watch, agent="desk", nested=nested, gated=frozenset({"ship"}))
    arguments = (None, "go", ModelSettings(tool_choice="required"), ["a tool"], None, ["a handoff"])
    references = {"previous_response_id": None, "conversation_id": None, "prompt": None}

    async def once() -> list[Any]:
        if not streamed:
            return (await model.get_response(*arguments, ModelTracing.DISABLED, **references)).output
        events = [event async for event in model.stream_response(*arguments, ModelTracing.DISABLED, **references)]
        assert [type(event) for event in events] == [ResponseCompletedEvent]
        return list(events[0].response.output)

    return asyncio.run(once())


@pytest.mark.parametrize("streamed", [False, True])
def test_every_call_gets_an_id_of_nine_letters_and_digits_that_was_issued_here(streamed: bool) -> None:  # noqa: FBT001
    watch = a_watch()
    calls = [function_call("ship", {}, call_id="call_0"), function_call("find", {}, call_id="call_0")]
    output = answer(ScriptedModel([calls]), watch, streamed=streamed)
    ids = [item.call_id for item in output]
    assert len(set(ids)) == 2
    assert all(is_call_id(each) for each in ids)
    assert set(ids) == watch.issued


@pytest.mark.parametrize("text", [None, "", "call_0", "abcdefgh", "abcdefghij", "abcdefgh-", "abcdefghé"])
def test_other_shapes_are_no_ids_of_ours(text: str | None) -> None:
    assert not is_call_id(text)


def test_an_id_is_never_issued_twice_even_when_chance_repeats_itself() -> None:
    rolls = iter("aaaaaaaaa" + "aaaaaaaaa" + "bbbbbbbbb")
    watch = a_watch(choose=lambda characters: next(rolls))  # noqa: ARG005
    assert [watch.new_id(), watch.new_id()] == ["aaaaaaaaa", "bbbbbbbbb"]


def test_arguments_are_passed_on_untouched_when_they_are_readable() -> None:
    raw = '{"b":1.50,"a":"\\u00e9"}'
    watch = a_watch()
    (call,) = answer(ScriptedModel([[function_call("ship", raw, call_id="x")]]), watch)
    assert call.arguments == raw
    assert watch.malformed == {}


def test_half_characters_are_made_harmless_and_remembered_as_they_were() -> None:
    raw = '{"to":"\\ud83d"}'
    watch = a_watch()
    (call,) = answer(ScriptedModel([[function_call("ship", raw, call_id="x")]]), watch)
    call.arguments.encode()
    assert "\\ud83d" not in call.arguments
    original, sentence = watch.malformed[call.call_id]
    assert original == raw
    assert "half a character" in sentence


@pytest.mark.parametrize("raw", ["[" * 100_000, '{"n":' + "9" * 10_000 + "}", '{"a":{"a":' * 20_000])
def test_what_the_sdk_could_not_parse_without_falling_over_is_emptied(raw: str) -> None:
    harmless, sentence = defuse(raw)
    assert len(harmless) <= len(raw)
    assert sentence is not None


@pytest.mark.parametrize("raw", ["not json", '{"a":NaN}', '{"a":1,"a":2}', ""])
def test_text_that_is_only_invalid_stays_as_it_is_and_is_named(raw: str) -> None:
    harmless, sentence = defuse(raw)
    assert harmless == raw or raw not in {"not json", ""}
    assert sentence is not None


def test_calls_beyond_what_a_nested_turn_may_ask_are_marked() -> None:
    watch = a_watch()
    calls = [function_call("ship", {"n": n}, call_id=f"c{n}") for n in range(9)]
    reads = [function_call("find", {"n": n}, call_id=f"f{n}") for n in range(9)]
    output = answer(ScriptedModel([[*calls, *reads]]), watch, nested=True)
    assert watch.surplus == {output[8].call_id}


def test_parallel_nested_agents_share_the_room_for_waiting_calls() -> None:
    watch = a_watch()
    first = ScriptedModel([[function_call("ship", {"n": n}, call_id=f"c{n}") for n in range(5)]])
    second = ScriptedModel([[function_call("ship", {"n": n}, call_id=f"c{n}") for n in range(5)]])
    answer(first, watch, nested=True)
    output = answer(second, watch, nested=True)
    assert watch.surplus == {item.call_id for item in output[3:]}


def test_surplus_calls_get_arguments_that_cannot_interrupt() -> None:
    watch = a_watch()
    calls = [function_call("ship", "not json", call_id=f"c{n}") for n in range(9)]
    output = answer(ScriptedModel([calls]), watch, nested=True)
    assert [item.arguments for item in output] == ["not json"] * 8 + ["{}"]


def test_a_root_turn_takes_up_three_hundred_calls() -> None:
    watch = a_watch()
    output = answer(ScriptedModel([[function_call("ship", {"n": n}, call_id=f"c{n}") for n in range(302)]]), watch)
    assert watch.surplus == {item.call_id for item in output[300:]}


def test_a_model_call_that_raised_is_remembered_whatever_becomes_of_the_error() -> None:
    watch = a_watch()
    with pytest.raises(ConnectionError):
        answer(ScriptedModel([ModelStep.raise_error(ConnectionError("down"))]), watch)
    assert watch.failed


def test_turns_that_are_used_up_are_refused_before_the_model_is_called() -> None:
    watch, script = a_watch(turns=12), ScriptedModel([[assistant_message("x")]])
    with pytest.raises(TurnsSpent):
        answer(script, watch)
    assert (watch.spent, len(script.calls)) == (True, 0)


def test_the_last_word_has_no_tools_and_no_calls() -> None:
    watch, script = a_watch(last=True), ScriptedModel([[function_call("ship", {}, call_id="c1")]])
    (message,) = answer(script, watch)
    assert message.content[0].text == LAST_WORD
    assert script.last_call is not None
    assert (script.last_call.tools, script.last_call.handoffs) == ([], [])
    assert script.last_call.model_settings.tool_choice is None


def test_what_the_model_said_beside_its_calls_is_kept_for_the_reviewer() -> None:
    watch = a_watch()
    steps = [[assistant_message("Because they asked."), function_call("ship", {}, call_id="c1")]]
    output = answer(ScriptedModel(steps), watch)
    (call,) = [item for item in output if isinstance(item, ResponseFunctionToolCall)]
    assert watch.said[call.call_id] == "Because they asked."
