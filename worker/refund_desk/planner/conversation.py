"""What the planner is shown, read into values: the newest request and what its tool calls gave."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from worker.offline import newest, text_of

ENVELOPE = "envelope/1"
STATUSES = frozenset({"executed", "rejected", "expired", "refused", "failed", "unknown", "withdrawn"})


@dataclass(frozen=True, slots=True)
class Envelope:
    """What became of a gated call, in the engine's words."""

    status: str
    sentence: str
    next: str
    reason: str | None
    executed: Mapping[str, Any] | None
    result: Any


@dataclass(frozen=True, slots=True)
class Exchange:
    """One tool call with its output. `turn` counts the model's answers since the request, from 1."""

    tool: str
    turn: int
    arguments: Mapping[str, Any]
    output: str | None

    @property
    def envelope(self) -> Envelope | None:
        """The output as an envelope; None when it is not one, whatever it claims."""
        found = self.found
        if not isinstance(found, dict) or found.get("vobo") != ENVELOPE or found.get("status") not in STATUSES:
            return None
        executed = found.get("executed_input")
        return Envelope(
            status=found["status"],
            sentence=str(found.get("sentence") or ""),
            next=str(found.get("next") or ""),
            reason=str(found["reason_quoted"]) if found.get("reason_quoted") else None,
            executed=executed if isinstance(executed, dict) else None,
            result=found.get("result"),
        )

    @property
    def found(self) -> Any:
        """The output as JSON, None when it is not JSON."""
        return _json(self.output)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The newest request, and the exchanges that came after it, in order."""

    request: str
    exchanges: tuple[Exchange, ...]

    def of(self, *tools: str) -> list[Exchange]:
        """The exchanges with these tools."""
        return [exchange for exchange in self.exchanges if exchange.tool in tools]


def read_conversation(given: str | Sequence[Mapping[str, Any]]) -> Conversation:
    """Only the last user message is the request; earlier ones, and what they quote, are history."""
    if isinstance(given, str):
        return Conversation(request=newest(given), exchanges=())
    entries = [dict(entry) for entry in given]
    spoken = [index for index, entry in enumerate(entries) if entry.get("role") == "user"]
    start = spoken[-1] if spoken else -1
    request = text_of(entries[start].get("content")) if spoken else ""
    return Conversation(request=newest(request), exchanges=tuple(_exchanges(entries[start + 1 :])))


def _exchanges(entries: Sequence[Mapping[str, Any]]) -> list[Exchange]:
    outputs = {
        entry["call_id"]: text_of(entry.get("output"))
        for entry in entries
        if entry.get("type") == "function_call_output"
    }
    exchanges = []
    turn, answering = 0, False
    for entry in entries:
        calls = entry.get("type") == "function_call"
        if calls:
            turn += not answering
            arguments = _json(entry.get("arguments"))
            exchanges.append(
                Exchange(
                    tool=str(entry["name"]),
                    turn=turn,
                    arguments=arguments if isinstance(arguments, dict) else {},
                    output=outputs.get(entry["call_id"]),
                )
            )
        answering = calls
    return exchanges


def _json(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
