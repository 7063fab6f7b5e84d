"""LangChain's HumanInTheLoopMiddleware over LangGraph's checkpointers, in batched mode (its default)."""

import contextlib
import importlib.metadata
import os
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.tools import tool
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

sys.path.insert(0, str(Path(__file__).resolve().parent))

import scene


class Scripted(BaseChatModel):
    """Proposes so many calls, then ends."""

    calls: int

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, *_args: Any, **_named: Any) -> "Scripted":
        """It knows its tools."""
        return self

    def _generate(self, messages: list[Any], *_args: Any, **_named: Any) -> ChatResult:
        if any(isinstance(message, ToolMessage) for message in messages):
            said = AIMessage(content=scene.DONE)
        else:
            wanted = [
                {"name": "ship", "args": scene.arguments(number), "id": f"call_{number:03d}"}
                for number in range(self.calls)
            ]
            said = AIMessage(content="", tool_calls=wanted)
        return ChatResult(generations=[ChatGeneration(message=said)])


def measured(name: str, calls: int, saver: Any, size: Callable[[], int]) -> scene.Timed:
    """All rounds with this saver."""
    timed = scene.Timed(name, calls)

    @tool
    def ship(lines: list[dict[str, Any]]) -> str:
        """Send items away for good."""
        timed.effect()
        return f"shipped {len(lines)}"

    agent = create_agent(
        model=Scripted(calls=calls),
        tools=[ship],
        system_prompt=scene.PROMPT,
        middleware=[HumanInTheLoopMiddleware(interrupt_on={"ship": True})],
        checkpointer=saver,
    )
    rounds = scene.ROUNDS[calls]

    def config(thread: str) -> Any:
        return {"configurable": {"thread_id": thread}}

    def start(thread: str) -> None:
        found = agent.invoke({"messages": [{"role": "user", "content": scene.REQUEST}]}, config(thread))
        if len(found["__interrupt__"][0].value["action_requests"]) != calls:
            raise RuntimeError("it did not pause for every call")

    before = size()
    for number in range(rounds):
        start(f"waiting-{calls}-{number}")
    timed.size = (size() - before) / rounds
    approved = Command(resume={"decisions": [{"type": "approve"}] * calls})
    for number in range(rounds):
        thread = f"run-{calls}-{number}"
        timed.round(lambda thread=thread: start(thread), lambda thread=thread: agent.invoke(approved, config(thread)))
    return timed


@contextmanager
def sqlite_saver(home: Path) -> Iterator[tuple[Any, Callable[[], int]]]:
    """WAL as the saver sets it up, and SQLite's own default of an fsync with every commit."""
    path = home / "checkpoints.db"
    with contextlib.closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        saver = SqliteSaver(connection)
        saver.setup()

        def size() -> int:
            connection.execute("pragma wal_checkpoint(truncate)")
            return path.stat().st_size

        yield saver, size


@contextmanager
def postgres_saver(url: str) -> Iterator[tuple[Any, Callable[[], int]]]:
    """A server with its defaults: an fsync with every commit."""
    with PostgresSaver.from_conn_string(url) as saver, psycopg.connect(url, autocommit=True) as own:
        saver.setup()

        def size() -> int:
            tables = "select sum(pg_total_relation_size(relid)) from pg_stat_user_tables where relname like 'check%'"
            row = own.execute(tables).fetchone()
            return int(row[0]) if row else 0

        yield saver, size


def main() -> None:
    """Both savers, every number of calls."""
    found = []
    with tempfile.TemporaryDirectory() as home, sqlite_saver(Path(home)) as (saver, size):
        found += [measured("LangChain HITL, SQLite", calls, saver, size) for calls in scene.ROUNDS]
    if url := os.environ.get("BENCH_POSTGRES"):
        with postgres_saver(url) as (saver, size):
            found += [measured("LangChain HITL, PostgreSQL", calls, saver, size) for calls in scene.ROUNDS]
    names = ("langchain", "langgraph", "langgraph-checkpoint-sqlite", "langgraph-checkpoint-postgres")
    scene.tell({name: importlib.metadata.version(name) for name in names}, found)


if __name__ == "__main__":
    main()
