"""`python bench/ledger.py [seconds]`: how fast events reach SQL, and what a database that is away costs a decision.

Real Valkey, real PostgreSQL, a clock that drains as in service. Figures, never asserted.
"""

import shutil
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from approvals import valkey  # noqa: E402 - this checkout, wherever it is started from
from approvals.drain import drain_once  # noqa: E402 - as above
from approvals.ledger import Ledger, LedgerUnreachable  # noqa: E402 - as above
from approvals.redis_check import connect  # noqa: E402 - as above
from approvals.store import Store  # noqa: E402 - as above
from builders import TENANT, a_call, a_store, approve, paused  # noqa: E402 - the values of the tests
from private_postgres import PrivatePostgres, private_postgres  # noqa: E402 - as above

RUNS, CALLS = 150, 8
AWAY_S = 60.0


def main() -> None:
    """Drain a backlog into each database; then stop PostgreSQL while people go on deciding."""
    away = float(sys.argv[1]) if sys.argv[1:] else AWAY_S
    data = Path(tempfile.mkdtemp(prefix="vk-"))
    try:
        store = a_store(connect(valkey.ensure_server(data).url))
        with private_postgres() as postgres:
            for name, url in (("SQLite", f"sqlite:///{data / 'ledger.db'}"), ("PostgreSQL", postgres.url("postgres"))):
                store.runs.client.flushall()
                store = a_store(store.runs.client)
                events, took = _backlog(store, Ledger.open(url))
                print(f"{name}: {events:,} events drained in {took:.1f} s, {events / took:,.0f} a second")  # noqa: T201
            _outage(store, postgres, away)
    finally:
        valkey.stop_server(data)
        shutil.rmtree(data)


def _backlog(store: Store, ledger: Ledger) -> tuple[int, float]:
    for run in range(RUNS):
        calls = [a_call(f"call_{run}_{n}", number=n + 1, batch=f"batch_{run}") for n in range(CALLS)]
        paused(store, *calls, run=f"run_{run}")
        for call in calls:
            approve(store, call.key)
    events, began = len(store.ledger.read(1_000_000)), time.monotonic()
    while drain_once(store, ledger):
        continue
    took = time.monotonic() - began
    ledger.engine.dispose()
    return events, took


def _outage(store: Store, postgres: PrivatePostgres, away: float) -> None:
    """Decisions with the database there, then without, then how long the drain takes to catch up."""
    ledger, stop = Ledger.open(postgres.url("postgres")), threading.Event()
    clock = threading.Thread(target=_drain, args=(store, ledger, stop), daemon=True)
    clock.start()
    there = _decide(store, "there", 10.0)
    postgres.stop()
    gone = _decide(store, "gone", away)
    waiting, began = len(store.ledger.read(1_000_000)), time.monotonic()
    postgres.start()
    while store.ledger.read(1):
        time.sleep(0.05)
    caught_up = time.monotonic() - began
    stop.set()
    clock.join(5)
    for name, took in (("there", there), (f"away for {away:.0f} s", gone)):
        print(f"database {name}: a decision takes {_p50(took):.2f} ms, at most {max(took) * 1000:.1f} ms")  # noqa: T201
    problems = ledger.verify(TENANT) or ["none"]
    print(f"{waiting:,} events waited, {caught_up:.1f} s to restart and catch up; problems: {problems}")  # noqa: T201


def _decide(store: Store, name: str, seconds: float) -> list[float]:
    took, until, number = list[float](), time.monotonic() + seconds, 0
    while time.monotonic() < until:
        number += 1
        paused(store, a_call(f"call_{name}_{number}", batch=f"batch_{name}_{number}"), run=f"run_{name}_{number}")
        began = time.monotonic()
        assert approve(store, f"call_{name}_{number}").ok
        took.append(time.monotonic() - began)
        time.sleep(0.02)
    return took


def _drain(store: Store, ledger: Ledger, stop: threading.Event) -> None:
    while not stop.is_set():
        try:
            moved = drain_once(store, ledger)
        except LedgerUnreachable:
            moved = 0
        stop.wait(0 if moved else 0.2)


def _p50(took: list[float]) -> float:
    return statistics.median(took) * 1000


if __name__ == "__main__":
    main()
