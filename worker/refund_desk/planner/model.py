"""The planner as a model of the Agents SDK: no network, no key, one completed event."""

import json
import secrets
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from agents import AgentOutputSchemaBase, Handoff, Model, ModelResponse, ModelSettings, ModelTracing, Tool, Usage
from agents.items import TResponseInputItem, TResponseOutputItem, TResponseStreamEvent
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from typing_extensions import override

from worker.refund_desk.planner.conversation import read_conversation
from worker.refund_desk.planner.plan import next_step
from worker.refund_desk.planner.steps import Say, ToolCall

#: What the planner calls itself, wherever a model's name belongs.
NAME = "offline-planner"


def _random_id() -> str:
    return secrets.token_hex(12)


class OfflinePlanner(Model):
    """A stand-in for a language model that knows the refund desk's tools and nothing else.

    It plans from the request and the tool results it is shown, keeps nothing, and says that it is a stand-in.
    """

    def __init__(self, new_id: Callable[[], str] = _random_id, clock: Callable[[], float] = time.time) -> None:
        self._new_id = new_id
        self._clock = clock

    @override
    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[Handoff],
        tracing: ModelTracing,
        *,
        previous_response_id: str | None,
        conversation_id: str | None,
        prompt: Any,
    ) -> ModelResponse:
        """The next turn, from what is in `input` and which tools are at hand."""
        return ModelResponse(output=self._answer(input, tools), usage=Usage(), response_id=f"resp_{self._new_id()}")

    @override
    async def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[Handoff],
        tracing: ModelTracing,
        *,
        previous_response_id: str | None,
        conversation_id: str | None,
        prompt: Any,
    ) -> AsyncIterator[TResponseStreamEvent]:
        """The same as one completed event."""
        response = Response(
            id=f"resp_{self._new_id()}",
            created_at=self._clock(),
            model=NAME,
            object="response",
            output=self._answer(input, tools),
            parallel_tool_calls=True,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(response=response, sequence_number=0, type="response.completed")

    def _answer(self, given: str | list[TResponseInputItem], tools: Sequence[Tool]) -> list[TResponseOutputItem]:
        step = next_step(read_conversation(given), frozenset(tool.name for tool in tools))
        if isinstance(step, Say):
            return [self._message(step.text)]
        said = [self._message(step.why)] if step.why else []
        return [*said, *(self._call(call) for call in step.calls)]

    def _message(self, text: str) -> ResponseOutputMessage:
        said = ResponseOutputText(annotations=[], text=text, type="output_text", logprobs=[])
        return ResponseOutputMessage(
            id=f"msg_{self._new_id()}", content=[said], role="assistant", status="completed", type="message"
        )

    def _call(self, call: ToolCall) -> ResponseFunctionToolCall:
        identity = self._new_id()
        return ResponseFunctionToolCall(
            id=f"fc_{identity}",
            call_id=f"call_{identity}",
            name=call.tool,
            arguments=json.dumps(call.arguments),
            type="function_call",
            status="completed",
        )
