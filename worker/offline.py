"""A model without a network: a subclass says what is done next. For trying an agent, and for tests of one."""

import json
import secrets
import time
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from agents import Model, ModelResponse, ModelSettings, ModelTracing, Tool, Usage
from agents.items import TResponseInputItem, TResponseOutputItem, TResponseStreamEvent
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from pydantic import BaseModel
from typing_extensions import override

from worker.transcript import INTRODUCTION

_MARK = "\n\nThe request now:\n"


class Wanted(NamedTuple):
    """A tool call that is to be made."""

    tool: str
    arguments: Mapping[str, Any]


def call(tool: str, **arguments: Any) -> Wanted:
    """A call for `Offline.turn` to ask for. Arguments are what JSON can hold, and models such as `eur(25)`."""
    return Wanted(tool, arguments)


def _random_id() -> str:
    return secrets.token_hex(12)


class Played(Model):
    """Plays a language model. Nothing is kept from turn to turn, since each job has a process of its own."""

    #: What it calls itself, wherever a model's name belongs.
    name = "offline"

    def __init__(self, new_id: Callable[[], str] = _random_id, clock: Callable[[], float] = time.time) -> None:
        self._new_id = new_id
        self._clock = clock

    @abstractmethod
    def answer(self, given: str | list[TResponseInputItem], tools: Sequence[Tool]) -> list[TResponseOutputItem]:
        """What the model puts out for this input."""

    def message(self, text: str) -> ResponseOutputMessage:
        """Words."""
        said = ResponseOutputText(annotations=[], text=text, type="output_text", logprobs=[])
        return ResponseOutputMessage(
            id=f"msg_{self._new_id()}", content=[said], role="assistant", status="completed", type="message"
        )

    def call(self, tool: str, arguments: Mapping[str, Any]) -> ResponseFunctionToolCall:
        """A call of a tool."""
        identity = self._new_id()
        return ResponseFunctionToolCall(
            id=f"fc_{identity}",
            call_id=f"call_{identity}",
            name=tool,
            arguments=json.dumps(arguments, default=_plain),
            type="function_call",
            status="completed",
        )

    @override
    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: Any,
        handoffs: list[Any],
        tracing: ModelTracing,
        **_references: Any,
    ) -> ModelResponse:
        """The next turn, from what is in `input` and which tools are at hand."""
        return ModelResponse(output=self.answer(input, tools), usage=Usage(), response_id=f"resp_{self._new_id()}")

    @override
    async def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: Any,
        handoffs: list[Any],
        tracing: ModelTracing,
        **_references: Any,
    ) -> AsyncIterator[TResponseStreamEvent]:
        """The same as one completed event."""
        response = Response(
            id=f"resp_{self._new_id()}",
            created_at=self._clock(),
            model=self.name,
            object="response",
            output=self.answer(input, tools),
            parallel_tool_calls=True,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(response=response, sequence_number=0, type="response.completed")


class Offline(Played):
    """The base of a model of your own for VOBO_OFFLINE: `turn` is all it needs."""

    @abstractmethod
    def turn(self, request: str, results: Sequence[Any]) -> str | Sequence[Wanted]:
        """Calls to make now, or the last words.

        `results` is what the calls made so far gave, in order: the text of a lookup; of a tool that asks, the envelope
        as a dict, whose "sentence" says who decided and what became of it.
        """

    @override
    def answer(self, given: str | list[TResponseInputItem], tools: Sequence[Tool]) -> list[TResponseOutputItem]:
        """As `turn` says, whatever tools are at hand."""
        done = self.turn(*_read(given))
        return [self.message(done)] if isinstance(done, str) else [self.call(one.tool, one.arguments) for one in done]


def newest(text: str) -> str:
    """The request itself: the engine puts what earlier runs of the thread said before it, as one line of JSON."""
    return text.partition(_MARK)[2] if text.startswith(INTRODUCTION) else text


def text_of(content: Any) -> str:
    """The text of a message or of an output, which may come in parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    return "\n".join(str(part["text"]) for part in content if isinstance(part, Mapping) and "text" in part)


def _read(given: str | list[TResponseInputItem]) -> tuple[str, list[Any]]:
    """The newest request, and what the calls after it gave."""
    if isinstance(given, str):
        return newest(given), []
    entries: list[Mapping[str, Any]] = [dict(entry) for entry in given]
    start = max((number for number, entry in enumerate(entries) if entry.get("role") == "user"), default=-1)
    request = newest(text_of(entries[start].get("content"))) if start >= 0 else ""
    outputs = (entry for entry in entries[start + 1 :] if entry.get("type") == "function_call_output")
    return request, [_value(text_of(entry.get("output"))) for entry in outputs]


def _value(text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found if isinstance(found, dict) else text


def _plain(value: object) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} is no value that JSON can hold; write it as text or numbers.")
