"""Fabricated conversations for the planner's tests: what a model would be shown, turn by turn."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from agents import FunctionTool, ModelSettings, ModelTracing, Tool
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from worker.refund_desk.planner import OfflinePlanner
from worker.refund_desk.tools import all_tools

Output = dict[str, Any] | str


def euros(minor: int) -> dict[str, Any]:
    return {"minor": minor, "currency": "EUR"}


def payment(number: int, minor: int = 9900, customer: int | None = None, **changes: Any) -> dict[str, Any]:
    return {
        "payment_id": f"pay_{number:04}",
        "customer_id": f"cus_{number if customer is None else customer:04}",
        "amount": euros(minor),
        "refunded": euros(0),
        "status": "failed",
        "failure_code": "card_declined",
        "failed_at": "2026-10-23T06:41:00Z",
        "attempts": 1,
        **changes,
    }


def found(*payments: dict[str, Any], day: str | None = "2026-10-23", pages: int = 1) -> dict[str, Any]:
    return {"newest_day": day, "count": len(payments), "page": 1, "pages": pages, "payments": list(payments)}


def envelope(status: str, sentence: str, **changes: Any) -> dict[str, Any]:
    blank = {"decided_by": [], "reason_quoted": None, "requested_input": {}, "executed_input": None, "result": None}
    return {"vobo": "envelope/1", "status": status, "sentence": sentence, "next": "", **blank, **changes}


@dataclass
class Talk:
    """One request, answered by canned tool outputs: by tool name, a list is taken in order."""

    request: str
    outputs: dict[str, Output | list[Output]]
    before: list[dict[str, Any]] = field(default_factory=list)
    tools: list[Tool] = field(default_factory=all_tools)
    turns: list[list[tuple[str, dict[str, Any]]]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def run(self, most: int = 12) -> str:
        """Talk to the end; the last words."""
        items: list[Any] = [*self.before, {"role": "user", "content": self.request}]
        for _ in range(most):
            calls = self._turn(items)
            if not calls:
                return self.said[-1]
            items += [call.model_dump() for call in calls]
            items += [_output_item(call.call_id, self._output(call.name)) for call in calls]
        raise AssertionError(f"the planner did not end after {most} turns: {self.turns}")

    @property
    def proposed(self) -> list[tuple[str, dict[str, Any]]]:
        """Every call of a tool that needs a decision, in order."""
        gated = {tool.name for tool in self.tools if isinstance(tool, FunctionTool) and tool.needs_approval}
        return [call for turn in self.turns for call in turn if call[0] in gated]

    def _turn(self, items: list[Any]) -> list[ResponseFunctionToolCall]:
        response = asyncio.run(
            OfflinePlanner().get_response(
                None,
                items,
                ModelSettings(),
                self.tools,
                None,
                [],
                ModelTracing.DISABLED,
                previous_response_id=None,
                conversation_id=None,
                prompt=None,
            )
        )
        calls = [item for item in response.output if isinstance(item, ResponseFunctionToolCall)]
        for item in response.output:
            if isinstance(item, ResponseOutputMessage):
                self.said += [part.text for part in item.content if isinstance(part, ResponseOutputText)]
        if calls:
            self.turns.append([(call.name, json.loads(call.arguments)) for call in calls])
        return calls

    def _output(self, tool: str) -> str:
        output = self.outputs[tool]
        if isinstance(output, list):
            output = output.pop(0)
        return output if isinstance(output, str) else json.dumps(output)


def _output_item(call_id: str, output: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": output}
