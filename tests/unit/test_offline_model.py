"""A model of a team's own that needs no network: what it is shown, and what it may answer."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from agents import ModelSettings, ModelTracing
from agents.items import TResponseInputItem

from policies.money import eur
from worker.offline import Offline, Wanted, call
from worker.transcript import INTRODUCTION


class Repeats(Offline):
    """Answers whatever it was told to, and keeps what it was shown."""

    def __init__(self, answer: str | Sequence[Wanted] = "Yes.") -> None:
        super().__init__()
        self.answer_with, self.shown = answer, ("", list[Any]())

    def turn(self, request: str, results: Sequence[Any]) -> str | Sequence[Wanted]:
        self.shown = request, [*results]
        return self.answer_with


def put_out(model: Offline, given: str | list[TResponseInputItem]) -> list[Any]:
    response = asyncio.run(
        model.get_response(
            None, given, ModelSettings(), [], None, [], ModelTracing.DISABLED,
            previous_response_id=None, conversation_id=None, prompt=None,
        )
    )  # fmt: skip
    return response.output


def output(call_id: str, text: str) -> TResponseInputItem:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def test_it_is_shown_the_newest_request_and_what_came_after_it() -> None:
    model = Repeats()
    envelope = {"vobo": "envelope/1", "sentence": "EXECUTED."}
    put_out(
        model,
        [
            {"role": "user", "content": "an older one"},
            output("c0", "of before"),
            {"role": "user", "content": [{"type": "input_text", "text": "help C-17"}]},
            output("c1", "C-17 had 1 voucher"),
            output("c2", json.dumps(envelope)),
            output("c3", "17"),
        ],
    )
    assert model.shown == ("help C-17", ["C-17 had 1 voucher", envelope, "17"])


def test_what_was_said_before_in_the_thread_is_no_request() -> None:
    model = Repeats()
    put_out(model, f"{INTRODUCTION}\n[]\n\nThe request now:\nhelp C-17")
    assert model.shown == ("help C-17", [])


def test_it_says_something_or_calls_tools_with_values_that_json_can_hold() -> None:
    (said,) = put_out(Repeats("Done."), "x")
    assert said.content[0].text == "Done."
    first, second = put_out(Repeats([call("pay", amount=eur(25), to="C-17"), call("look")]), "x")
    assert (first.name, json.loads(first.arguments)) == (
        "pay",
        {"amount": {"minor": 2500, "currency": "EUR"}, "to": "C-17"},
    )
    assert (second.name, second.arguments) == ("look", "{}")
    assert first.call_id != second.call_id
    with pytest.raises(TypeError, match="set is no value that JSON can hold"):
        put_out(Repeats([call("pay", to={1})]), "x")
