"""Wraps the model of every agent: fresh call ids, harmless arguments, marked surplus, one completed event."""

import dataclasses
import time
from collections.abc import AsyncIterator
from typing import Any

from agents import Model, ModelResponse, ModelSettings, ModelTracing
from agents.items import TResponseOutputItem, TResponseStreamEvent
from agents.retry import ModelRetryAdvice, ModelRetryAdviceRequest
from agents.usage import Usage
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseUsage,
)
from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails
from typing_extensions import override

from approvals.storable import whole_text
from policies.arguments import ArgumentsRefused, read_json
from worker.defuse import NOTHING, defuse
from worker.watch import TurnsSpent, Watch

LAST_WORD = "The approval budget of this run is exhausted, so I stopped here."


class WatchedModel(Model):
    """`inner`, seen by `watch`, for the agent of this label. `gated` names its tools that the SDK must not run."""

    def __init__(self, inner: Model, watch: Watch, *, agent: str, nested: bool, gated: frozenset[str]) -> None:
        self._inner = inner
        self._watch = watch
        self._agent = agent
        self._nested = nested
        self._gated = gated

    @override
    async def get_response(
        self,
        system_instructions: Any,
        input: Any,
        model_settings: ModelSettings,
        tools: list[Any],
        output_schema: Any,
        handoffs: list[Any],
        tracing: ModelTracing,
        **references: Any,
    ) -> ModelResponse:
        """One model call, counted, its output rewritten.

        Raises:
            TurnsSpent: the run may not make another one.
        """
        self._watch.begin_turn()
        if self._watch.last:
            tools, handoffs = [], []
            model_settings = dataclasses.replace(model_settings, tool_choice=None, parallel_tool_calls=None)
        try:
            response = await self._inner.get_response(
                system_instructions, input, model_settings, tools, output_schema, handoffs, tracing, **references
            )
        except BaseException:
            # An agent used as a tool may turn this into an answer; the flag outlives whatever the SDK makes of it.
            self._watch.failed = True
            raise
        return dataclasses.replace(response, output=self._rewritten(response.output))

    @override
    async def stream_response(
        self,
        system_instructions: Any,
        input: Any,
        model_settings: ModelSettings,
        tools: list[Any],
        output_schema: Any,
        handoffs: list[Any],
        tracing: ModelTracing,
        **references: Any,
    ) -> AsyncIterator[TResponseStreamEvent]:
        """The whole answer as one completed event: original ids cannot leak through events of single items."""
        response = await self.get_response(
            system_instructions, input, model_settings, tools, output_schema, handoffs, tracing, **references
        )
        yield _completed(response)

    def get_retry_advice(self, request: ModelRetryAdviceRequest) -> ModelRetryAdvice | None:
        """What the provider's adapter says; never for a spent turn budget."""
        return None if isinstance(request.error, TurnsSpent) else self._inner.get_retry_advice(request)

    async def close(self) -> None:
        """Release what the inner model holds."""
        await self._inner.close()

    def _rewritten(self, output: list[TResponseOutputItem]) -> list[TResponseOutputItem]:
        if self._watch.last:
            output = [item for item in output if not isinstance(item, ResponseFunctionToolCall)]
            return output if any(isinstance(item, ResponseOutputMessage) for item in output) else [_message(LAST_WORD)]
        said = "\n".join(text for item in output for text in _texts(item)).strip()
        fresh = [self._fresh(item, said) if isinstance(item, ResponseFunctionToolCall) else item for item in output]
        gated = [
            item.call_id for item in fresh if isinstance(item, ResponseFunctionToolCall) and item.name in self._gated
        ]
        surplus = self._watch.admit(gated, nested=self._nested)
        return [_readable(item) if getattr(item, "call_id", None) in surplus else item for item in fresh]

    def _fresh(self, call: ResponseFunctionToolCall, said: str) -> ResponseFunctionToolCall:
        call_id = self._watch.new_id()
        if self._watch.secrets.named_in(call.arguments) is not None:
            self._watch.withheld.add(call_id)
            call = call.model_copy(update={"arguments": NOTHING})
        arguments, wrong = defuse(call.arguments)
        if wrong is not None:
            self._watch.malformed[call_id] = (call.arguments, wrong)
        self._watch.asked_by[call_id] = self._agent
        self._watch.said[call_id] = whole_text(said)
        return call.model_copy(update={"call_id": call_id, "arguments": arguments, "name": whole_text(call.name)})


def _readable(call: Any) -> Any:
    """A surplus call as the SDK will run it into its refusal: arguments it cannot read would interrupt instead."""
    try:
        readable = isinstance(read_json(call.arguments), dict)
    except ArgumentsRefused:
        readable = False
    return call if readable else call.model_copy(update={"arguments": NOTHING})


def _texts(item: TResponseOutputItem) -> list[str]:
    if not isinstance(item, ResponseOutputMessage):
        return []
    return [part.text for part in item.content if isinstance(part, ResponseOutputText)]


def _message(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(id="msg_last", type="message", role="assistant", status="completed", content=[part])


def _completed(response: ModelResponse) -> ResponseCompletedEvent:
    whole = Response(
        id=response.response_id or "resp",
        created_at=time.time(),
        model="vobo",
        object="response",
        output=response.output,
        tool_choice="auto",
        tools=[],
        parallel_tool_calls=True,
        status="completed",
        usage=_usage(response.usage),
    )
    return ResponseCompletedEvent(type="response.completed", response=whole, sequence_number=0)


def _usage(usage: Usage) -> ResponseUsage:
    return ResponseUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.total_tokens,
        input_tokens_details=InputTokensDetails(cached_tokens=0, cache_write_tokens=0),
        output_tokens_details=OutputTokensDetails(reasoning_tokens=0),
    )
