"""A database that hangs delays nothing but itself; readiness tells of a clock that hangs; stopping takes seconds."""

import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
import redis
from sqlalchemy import create_engine, text

from approvals.drain import drain_once
from approvals.findings import Level, from_json
from approvals.ledger import Ledger
from approvals.lifecycle import State
from approvals.queue import WakeupQueue, queue_name
from approvals.store import Store
from broken_stores import full
from builders import STATE_KEY, TENANT, a_call, approve, claim, lease_batch, loaded, move, paused, start_run
from free_ports import free_port
from stack import ROOT, until
from tests.integration.ledger_databases import fresh_database
from tests.private_postgres import PrivatePostgres
from worker import assembly
from worker.clock import ENDS_S, STALE_S, Clock, main
from workshop import REVIEWERS


def a_clock(store: Store, **changes: Any) -> Clock:
    return Clock(store, WakeupQueue(store.runs.client, store.runs.vault, queue_name(TENANT)), **changes)


@contextmanager
def at_work(clock: Clock) -> Iterator[threading.Thread]:
    thread = threading.Thread(target=clock.run)
    thread.start()
    try:
        yield thread
    finally:
        clock.stop.set()
        thread.join(2 * ENDS_S)
        assert not thread.is_alive()


@contextmanager
def held_back(url: str) -> Iterator[None]:
    """Somebody's session holds the row that every append needs."""
    engine = create_engine(url)
    with engine.connect() as session:
        session.execute(text("SELECT * FROM ledger_heads FOR UPDATE"))
        yield
        session.rollback()
    engine.dispose()


def waits_for_a_lock(url: str) -> bool:
    engine = create_engine(url)
    with engine.connect() as session:
        found = session.execute(text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).scalar()
    engine.dispose()
    return bool(found)


def test_while_a_session_holds_the_ledger_deadlines_leases_and_wake_ups_are_on_time(
    store: Store, redis_client: redis.Redis, postgres: PrivatePostgres
) -> None:
    url = fresh_database(postgres)
    ledger = Ledger.open(url)
    paused(store, a_call("call_1"), a_call("call_2", batch="batch_b"))
    assert approve(store, "call_2").ok
    claim(store, lease_batch(store, "batch_b"), "call_2")
    assert drain_once(store, ledger)
    clock = a_clock(store, drains=(lambda: drain_once(store, ledger),))
    with at_work(clock), held_back(url):
        store.calls.note("call_1", event="decision_late", person=None, detail="x")
        until(lambda: waits_for_a_lock(url), "the drain hangs", 10)
        redis_client.zadd(store.keys.deadlines, {"decide:batch_a": 0, "lease:call_2": 0})
        move(redis_client, store.keys.batch("batch_a"), decide_by=1)
        move(redis_client, store.keys.call("call_2"), lease_until=1)
        start_run(store, "run_3", thread_ts="3")
        until(lambda: loaded(store).state is State.EXPIRED, "the card expires", 5)
        until(lambda: loaded(store, "call_2").state is State.APPROVED, "the lost lease is noticed", 5)
        until(lambda: "start_run:run_3" in hinted(store), "the new run is hinted at", 5)
        assert store.ledger.read(count=1), "the drain still hangs"
        assert clock.missing() is None
    while drain_once(store, ledger):
        continue
    ledger.engine.dispose()


def hinted(store: Store) -> set[str]:
    """What a worker was hinted at at least once."""
    return {name.decode() for name in store.runs.client.hgetall(store.keys.attempts)}


def test_a_drain_that_hangs_keeps_no_clock_from_ending_within_seconds(store: Store) -> None:
    entered, released = threading.Event(), threading.Event()

    def hangs() -> int:
        entered.set()
        released.wait(60)
        return 0

    clock = a_clock(store, drains=(hangs,))
    with at_work(clock) as thread:
        assert entered.wait(10)
        began = time.monotonic()
        clock.stop.set()
        thread.join(ENDS_S + 2)
        assert not thread.is_alive()
        assert time.monotonic() - began < ENDS_S + 1
        released.set()


def test_what_waits_for_the_ledger_keeps_no_report_and_no_canary_waiting(store: Store) -> None:
    after = threading.Event()

    def away() -> int:
        raise ConnectionError("the database is away")

    def later() -> int:
        after.set()
        return 0

    clock = a_clock(store, drains=(away, later))
    assert not clock.drain()
    assert after.is_set()


def test_one_store_is_used_by_ticks_and_drains_at_once(store: Store, tmp_path: Path) -> None:
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    clock = a_clock(store)
    failed: list[Exception] = []

    def many(part: Callable[[], object]) -> None:
        try:
            for _ in range(50):
                part()
        except Exception as error:  # noqa: BLE001 - whatever it is fails the test
            failed.append(error)

    for number in range(40):
        start_run(store, f"run_{number}", thread_ts=str(number))
    store._room.scripts._registered.clear()  # all register what they use, at the same time
    parts = (clock.tick, lambda: drain_once(store, ledger), store.tallies.read, clock.missing)
    threads = [threading.Thread(target=many, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    while drain_once(store, ledger):
        continue
    rows = ledger.rows(TENANT, types=("run_started",))
    assert len(rows) == 40
    assert clock.queue.waiting() == 40
    ledger.engine.dispose()


def test_a_clock_whose_last_tick_is_old_is_not_ready(store: Store) -> None:
    seconds = [1_000.0]
    clock = a_clock(store, now=lambda: seconds[0])
    seconds[0] += STALE_S
    assert clock.missing() is None
    seconds[0] += 1
    assert clock.missing() == "no deadline and no wake-up was looked at for 31 s"
    clock._ticked()
    assert clock.missing() is None
    seconds[0] += STALE_S + 1
    clock.queue = cast("WakeupQueue", None)  # every tick fails from here on
    assert not clock._ticked()
    assert clock.missing() is not None


@pytest.fixture
def environment(tmp_path: Path, valkey_url: str, store: Store) -> dict[str, str]:
    (tmp_path / "reviewers.toml").write_text(REVIEWERS)
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "REDIS_URL": valkey_url,
        "VOBO_STATE_KEYS": STATE_KEY,
        "VOBO_REVIEWERS": str(tmp_path / "reviewers.toml"),
        "VOBO_LEDGER_URL": f"sqlite:///{tmp_path / 'ledger.db'}",
    }


def started(environment: dict[str, str], tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "worker.clock", *words]
    return subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )


def ready(port: int) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        refused.close()
        return refused.code
    except OSError:
        return 0


def test_a_real_clock_is_ready_and_ends_within_seconds_while_the_database_hangs(
    environment: dict[str, str], tmp_path: Path, store: Store, postgres: PrivatePostgres
) -> None:
    url, port = fresh_database(postgres), free_port()
    ledger = Ledger.open(url)
    start_run(store)
    assert drain_once(store, ledger)
    ledger.engine.dispose()
    extra = {"VOBO_LEDGER_URL": url, "VOBO_HEALTH_PORT": str(port)}
    with held_back(url):
        start_run(store, "run_2", thread_ts="2")
        process = subprocess.Popen([sys.executable, "-m", "worker.clock"], env=environment | extra, cwd=tmp_path)
        try:
            until(lambda: waits_for_a_lock(url), "the drain hangs", 30)
            until(lambda: "start_run:run_2" in hinted(store), "the run is hinted at", 5)
            assert ready(port) == 200
            process.send_signal(signal.SIGTERM)
            assert process.wait(ENDS_S + 5) == 0
        finally:
            process.kill()
            process.wait()


def test_an_unknown_flag_starts_no_clock(environment: dict[str, str], tmp_path: Path) -> None:
    said = started(environment, tmp_path, "--chekc")
    assert said.returncode == 2
    assert "unrecognized arguments: --chekc" in said.stderr


def test_check_says_in_words_or_json_whether_the_clock_could_work(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*words: str, **changes: str) -> tuple[int, str, str]:
        for name, value in {**environment, **changes}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["clock", "--check", *words])
        assembly.prepared.cache_clear()
        try:
            return main(), *capsys.readouterr()
        finally:
            assembly.prepared.cache_clear()

    monkeypatch.chdir(tmp_path)
    assert said() == (0, "The clock can start.\n", "")
    status, told, _ = said("--json")
    assert status == 0
    assert {(one.about, one.level) for one in from_json(told)} == {("redis", Level.OK), ("ledger", Level.OK)}
    broken = {"VOBO_LEDGER_URL": f"sqlite:///{tmp_path}", "VOBO_ANCHOR_KEY": "short"}
    status, told, _ = said("--json", **broken)
    assert status == 1
    assert [one.about for one in from_json(told) if one.level is Level.FAILURE] == ["store", "ledger"]
    status, _, errors = said(**broken)
    assert (status, errors.count("\n")) == (1, 2)


def test_a_clock_that_starts_while_the_store_takes_no_writes_says_so_and_waits_until_it_does(
    environment: dict[str, str], tmp_path: Path, redis_client: redis.Redis
) -> None:
    port, log = free_port(), tmp_path / "clock.log"
    with log.open("wb") as output, full(redis_client):
        process = subprocess.Popen(
            [sys.executable, "-m", "worker.clock"],
            env=environment | {"VOBO_HEALTH_PORT": str(port)},
            cwd=tmp_path,
            stderr=output,
        )
        until(lambda: ready(port) == 503, "it waits", 30)
        assert process.poll() is None
    try:
        until(lambda: ready(port) == 200, "it is at work", 30)
        process.send_signal(signal.SIGTERM)
        assert process.wait(ENDS_S + 5) == 0
    finally:
        process.kill()
        process.wait()
    assert "The store takes no writes: its memory is full (maxmemory)." in log.read_text()
    assert "Traceback" not in log.read_text()
