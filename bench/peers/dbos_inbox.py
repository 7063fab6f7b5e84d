"""A DBOS workflow that asks and waits with `recv`, as its own example of an agent's inbox does."""

import importlib.metadata
import os
import sys
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
from dbos import DBOS, SetWorkflowID

sys.path.insert(0, str(Path(__file__).resolve().parent))

import scene

WAIT_S = 120
#: With SQLite it looks once a second, for any number of calls; more rounds and rows would say the same.
SLOW_CALLS, SLOW_ROUNDS = 3, 6
TIMED: list[scene.Timed] = []


@DBOS.step()
def ship(_lines: list[dict[str, Any]]) -> str:
    """Send items away for good."""
    TIMED[-1].effect()
    return "shipped"


@DBOS.step()
def think(calls: int) -> list[dict[str, Any]]:
    """The model's turn: what it is given and what it wants."""
    wanted = [{"id": f"call_{number:03d}", "name": "ship", "args": scene.arguments(number)} for number in range(calls)]
    return [{"role": "system", "content": scene.PROMPT}, {"role": "user", "content": scene.REQUEST}, *wanted]


@DBOS.workflow()
def turn(calls: int) -> str:
    """Ask, wait, run what was approved."""
    wanted = think(calls)[2:]
    DBOS.set_event("pending", wanted)
    decisions = DBOS.recv("decisions", timeout_seconds=WAIT_S) or {}
    for call in wanted:
        if decisions.get(call["id"]):
            ship(call["args"]["lines"])
    return scene.DONE


def measured(name: str, calls: int, size: Callable[[], int]) -> scene.Timed:
    """All rounds."""
    timed = scene.Timed(name, calls)
    TIMED.append(timed)
    approved = {f"call_{number:03d}": True for number in range(calls)}
    waiting: dict[str, Any] = {}

    def start(run: str) -> None:
        with SetWorkflowID(run):
            waiting[run] = DBOS.start_workflow(turn, calls)
        if len(DBOS.get_event(run, "pending", timeout_seconds=WAIT_S) or ()) != calls:
            raise RuntimeError("it did not ask for every call")

    def decide(run: str) -> None:
        DBOS.send(run, approved, "decisions")
        waiting.pop(run).get_result()

    rounds, before = scene.ROUNDS[calls] if "SQLite" not in name else SLOW_ROUNDS, size()
    names = [uuid.uuid4().hex for _ in range(rounds)]
    for run in names:
        start(run)
    timed.size = (size() - before) / rounds
    for run in names:
        decide(run)
    timed._effects.clear()  # noqa: SLF001 - those were only weighed
    for run in [uuid.uuid4().hex for _ in range(rounds)]:
        timed.round(lambda run=run: start(run), lambda run=run: decide(run))
    return timed


def main() -> None:
    """PostgreSQL where there is one, and SQLite."""
    found = []
    databases: list[tuple[str, str, Callable[[], int]]] = []
    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "dbos.sqlite"
        databases.append(("DBOS recv, SQLite", f"sqlite:///{path}", lambda: path.stat().st_size))
        if url := os.environ.get("BENCH_POSTGRES"):
            databases.insert(0, ("DBOS recv, PostgreSQL", url, lambda: _postgres_size(url)))
        for name, database, size in databases:
            DBOS(
                config={
                    "name": "bench",
                    "system_database_url": database,
                    "log_level": "ERROR",
                    "run_admin_server": False,
                }
            )
            DBOS.launch()
            calls = (SLOW_CALLS,) if "SQLite" in name else tuple(scene.ROUNDS)
            found += [measured(name, each, size) for each in calls]
            DBOS.destroy()
    scene.tell({"dbos": importlib.metadata.version("dbos")}, found)


def _postgres_size(url: str) -> int:
    with psycopg.connect(url) as own:
        tables = (
            "select coalesce(sum(pg_total_relation_size(relid)), 0) from pg_stat_user_tables where schemaname = 'dbos'"
        )
        row = own.execute(tables).fetchone()
        return int(row[0]) if row else 0


if __name__ == "__main__":
    main()
