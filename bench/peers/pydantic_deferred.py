"""Pydantic-AI's deferred tools. It brings no store: the message history is kept in a table of SQLite."""

import contextlib
import importlib.metadata
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

sys.path.insert(0, str(Path(__file__).resolve().parent))

import scene


class Kept:
    """Histories of paused runs by id; an fsync with every commit, as with the other systems."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.connection = sqlite3.connect(path)
        self.connection.execute("pragma journal_mode=wal")
        self.connection.execute("pragma synchronous=full")
        self.connection.execute("create table if not exists paused (id text primary key, history blob)")

    def put(self, run: str, history: bytes) -> None:
        """Keep it."""
        with self.connection:
            self.connection.execute("insert into paused values (?, ?)", (run, history))

    def take(self, run: str) -> bytes:
        """Read it."""
        (history,) = self.connection.execute("select history from paused where id = ?", (run,)).fetchone()
        return bytes(history)

    def size(self) -> int:
        """Bytes on disk."""
        self.connection.execute("pragma wal_checkpoint(truncate)")
        return self._path.stat().st_size


def measured(kept: Kept, calls: int) -> scene.Timed:
    """All rounds."""
    timed = scene.Timed("Pydantic-AI deferred tools, SQLite", calls)

    def model(messages: list[Any], _info: Any) -> ModelResponse:
        if any(isinstance(part, ToolReturnPart) for message in messages for part in message.parts):
            return ModelResponse(parts=[TextPart(scene.DONE)])
        wanted = [ToolCallPart("ship", scene.arguments(number), f"call_{number:03d}") for number in range(calls)]
        return ModelResponse(parts=wanted)

    agent = Agent(FunctionModel(model), output_type=[str, DeferredToolRequests], system_prompt=scene.PROMPT)

    @agent.tool_plain(requires_approval=True)
    def ship(lines: list[dict[str, Any]]) -> str:
        """Send items away for good."""
        timed.effect()
        return f"shipped {len(lines)}"

    def start(run: str) -> None:
        result = agent.run_sync(scene.REQUEST)
        if len(result.output.approvals) != calls:
            raise RuntimeError("it did not pause for every call")
        kept.put(run, result.all_messages_json())

    def decide(run: str) -> None:
        history = ModelMessagesTypeAdapter.validate_json(kept.take(run))
        approved = DeferredToolResults(approvals={f"call_{number:03d}": True for number in range(calls)})
        agent.run_sync(message_history=history, deferred_tool_results=approved)

    rounds, before = scene.ROUNDS[calls], kept.size()
    for number in range(rounds):
        start(f"waiting-{calls}-{number}")
    timed.size = (kept.size() - before) / rounds
    for number in range(rounds):
        run = f"run-{calls}-{number}"
        timed.round(lambda run=run: start(run), lambda run=run: decide(run))
    return timed


def main() -> None:
    """Every number of calls."""
    with tempfile.TemporaryDirectory() as home:
        kept = Kept(Path(home) / "paused.db")
        with contextlib.closing(kept.connection):
            found = [measured(kept, calls) for calls in scene.ROUNDS]
    scene.tell({"pydantic-ai-slim": importlib.metadata.version("pydantic-ai-slim")}, found)


if __name__ == "__main__":
    main()
