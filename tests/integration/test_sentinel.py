"""A primary that dies in the middle of decisions, with real Sentinels: nothing acknowledged is lost unnoticed."""

import os
import shutil
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import TypeVar

import pytest
import redis

from approvals import replicas
from approvals.drain import drain_once
from approvals.errors import ApprovalsError
from approvals.ledger import Ledger
from approvals.lifecycle import State
from approvals.outcomes import Outcome
from approvals.redis_check import RedisUnreachable, check_server, connect
from approvals.replicas import NotReplicated
from approvals.store import Store
from approvals.vault import Vault
from builders import (
    ANA,
    STATE_KEY,
    TEAM,
    TENANT,
    a_call,
    a_decision,
    a_person,
    approve,
    claim,
    lease_batch,
    loaded,
    paused,
    try_claim,
)
from sentinels import PASSWORD, Trio, sentinels
from stack import until
from tests.integration.desk import Desk

T = TypeVar("T")
CALLS = [f"call_{number}" for number in range(30)]


@pytest.fixture
def place() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="vs-"))
    yield made
    shutil.rmtree(made)


@pytest.fixture
def trio(place: Path) -> Iterator[Trio]:
    with sentinels(place) as made:
        yield made


def opened(url: str) -> Store:
    store = Store.open(connect(url), Vault.from_text(STATE_KEY), tenant=TENANT)
    store.people.set_home_team(TEAM)
    return store


def drain(store: Store, ledger: Ledger) -> None:
    while drain_once(store, ledger):
        continue


def caught_up(store: Store) -> None:
    assert store.runs.client.wait(1, 5000) == 1


def a_ledger(place: Path) -> Ledger:
    return Ledger.open(f"sqlite:///{place / 'ledger.db'}")


class Interrupted(Exception):
    """No OSError: redis-py would try again."""


class Traffic:
    """Reviewers, workers and a clock, each with connections of its own, who go on trying whatever Redis says."""

    def __init__(self, url: str, ledger: Ledger) -> None:
        self.url, self.ledger = url, ledger
        self.acknowledged: set[str] = set()
        self.effects: list[str] = []
        self.noticed: list[str] = []
        self.done = threading.Event()
        jobs = (lambda: self._review(0), lambda: self._review(1), self._work, self._work, self._tick)
        self.threads = [threading.Thread(target=job) for job in jobs]

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        self.done.set()
        for thread in self.threads:
            thread.join(30)

    def _review(self, which: int) -> None:
        store = opened(self.url)
        for key in CALLS[which::2]:
            while key not in self.acknowledged and not self.done.is_set():
                answer = self._tried(lambda key=key: approve(store, key))  # type: ignore[misc]
                if answer and answer.outcome in {Outcome.OK, Outcome.REPEATED}:
                    self.acknowledged.add(key)
            time.sleep(0.02)

    def _work(self) -> None:
        store, token = opened(self.url), f"worker-{threading.get_ident()}"
        while not self.done.is_set():
            for key in CALLS:
                self._tried(lambda key=key: self._take(store, key, token))  # type: ignore[misc]

    def _take(self, store: Store, key: str, token: str) -> None:
        state = loaded(store, key).state
        if state is State.EXECUTING:
            store.effects.unclaim(key)  # refused while the lease lasts, and for good once the intent is written
        if state is not State.APPROVED:
            return
        lease = store.batches.lease(f"batch_{key}", token=token, ttl_ms=1500)
        if lease is None:
            return
        _, taken = try_claim(store, lease, key, people=(ANA,), token=f"{token}-{time.monotonic_ns()}", ttl_ms=1500)
        if taken is None or not store.effects.intend(taken).ok:
            return
        self.effects.append(key)
        for _ in range(200):
            answer = self._tried(lambda: store.effects.succeed(taken, receipt="{}"))
            if answer is not None:
                break

    def _tick(self) -> None:
        store = opened(self.url)
        while not self.done.is_set():
            self._tried(lambda: drain_once(store, self.ledger))
            why = self._tried(store.switches.frozen)
            if why:  # an operator compares the two, and goes on
                self.noticed.append(why)
                self._tried(lambda: store.switches.unfreeze("ops", "reconciled"))
            time.sleep(0.1)

    @staticmethod
    def _tried(step: Callable[[], T]) -> T | None:
        try:
            return step()
        except (redis.RedisError, ApprovalsError):
            time.sleep(0.05)
            return None


def test_a_primary_that_dies_amid_decisions_and_claims_loses_no_decision_and_doubles_no_effect(
    trio: Trio, place: Path
) -> None:
    url, ledger = trio.url("&wait_replicas=1"), a_ledger(place)
    store = opened(url)
    drain(store, ledger)
    for at in range(0, len(CALLS), 5):
        calls = [a_call(key, number=n, batch=f"batch_{key}") for n, key in enumerate(CALLS[at : at + 5], start=1)]
        paused(store, *calls, run=f"run_{at}")
    traffic = Traffic(url, ledger)
    traffic.start()
    try:
        until(lambda: len(traffic.effects) >= 6, "some effects have happened", 30)
        old = trio.primary()
        trio.kill(old)
        new = trio.taken_over(old)
        trio.serve(old, of=new)  # without a replica nothing would be acknowledged
        until(lambda: len(traffic.acknowledged) == len(CALLS), "every decision is acknowledged", 40)
        until(lambda: not _open(store), "every call was tried", 40)
    finally:
        traffic.stop()

    happened = Counter(traffic.effects)
    assert max(happened.values()) == 1, "an effect happened twice"
    for key in CALLS:
        call = loaded(store, key)
        assert {decision.reviewer for decision in call.decisions} == {ANA}, f"the decision on {key} is lost"
        # Where the failover hit between intent and effect, nobody begins again: reconcile or a person finds out.
        assert call.state is State.SUCCEEDED if happened[key] else call.state in {State.EXECUTING, State.UNKNOWN}
    assert len(happened) >= len(CALLS) - 2, "two workers have two effects between intent and receipt at most"
    assert all("older than the ledger" in why for why in traffic.noticed)
    drain(store, ledger)
    assert ledger.verify(TENANT) == []


def _open(store: Store) -> list[str]:
    """Calls that still wait for somebody to begin them."""
    return [key for key in CALLS if loaded(store, key).state in {State.PENDING_REVIEW, State.APPROVED}]


def test_a_replica_without_the_last_writes_freezes_everything_until_an_operator_has_reconciled(
    trio: Trio, place: Path
) -> None:
    store, ledger = opened(trio.url()), a_ledger(place)
    drain(store, ledger)
    paused(store, a_call("call_1"), a_call("call_2", number=2, batch="batch_b"))
    drain(store, ledger)
    caught_up(store)
    trio.cut_off(trio.servers[1])
    approve(store)
    taken = claim(store, lease_batch(store, token="w1"), token="c1")
    assert store.effects.intend(taken).ok
    assert store.effects.succeed(taken, receipt="{}").ok
    drain(store, ledger)

    trio.fail_over()

    assert loaded(store).state is State.PENDING_REVIEW, "it never heard that the call was decided and ran"
    assert approve(store).outcome is Outcome.OK, "people may go on deciding"
    lease = lease_batch(store, token="w2")
    assert try_claim(store, lease, token="c2")[0].outcome is Outcome.FROZEN, "before anybody has compared anything"
    drain(store, ledger)
    assert "Redis is older than the ledger" in (store.switches.frozen() or "")
    assert try_claim(store, lease, token="c2")[0].outcome is Outcome.FROZEN
    store.switches.unfreeze("ops", "settled with the provider")
    drain(store, ledger)
    assert try_claim(store, lease, token="c2")[0].outcome is Outcome.OK


def test_what_no_replica_has_is_not_acknowledged_and_a_repeat_waits_as_well(
    trio: Trio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicas, "WAIT_MS", 300)
    url = f"redis://:{PASSWORD}@127.0.0.1:{trio.servers[0]}/0?wait_replicas=1"
    store = opened(url)
    store.ledger.vouch(store.ledger.server())
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    assert approve(store, "call_2").outcome is Outcome.OK
    replica = trio.processes[trio.servers[1]].pid
    os.kill(replica, signal.SIGSTOP)
    with pytest.raises(NotReplicated, match=r"0 of the 1 replicas"):
        approve(store)
    person = store.people.put(a_person())
    fresh = Store.open(connect(url), Vault.from_text(STATE_KEY), tenant=TENANT)  # a connection that never wrote
    with pytest.raises(NotReplicated):
        fresh.calls.approve("call_1", version=1, decision=a_decision("call_1"), person=person)
    os.kill(replica, signal.SIGCONT)
    assert approve(store).outcome is Outcome.REPEATED

    lease = lease_batch(store)
    os.kill(replica, signal.SIGSTOP)
    assert try_claim(store, lease)[0].outcome is Outcome.FROZEN
    assert loaded(store).state is State.APPROVED, "whoever comes next may take it"
    os.kill(replica, signal.SIGCONT)
    taken = claim(store, lease, token="another")
    os.kill(replica, signal.SIGSTOP)
    with pytest.raises(NotReplicated):
        store.effects.intend(taken)
    os.kill(replica, signal.SIGCONT)


def test_a_primary_that_was_told_to_write_to_no_fewer_replicas_takes_no_part_of_a_decision(trio: Trio) -> None:
    store = opened(trio.url())
    paused(store, a_call("call_1"))
    people = store.people.put(a_person())
    told = len(store.ledger.read())
    trio.at(trio.primary()).config_set("min-replicas-to-write", 2)
    with pytest.raises(redis.ResponseError, match="NOREPLICAS"):
        store.calls.approve("call_1", version=1, decision=a_decision("call_1"), person=people)
    assert (loaded(store).state, len(store.ledger.read())) == (State.PENDING_REVIEW, told)
    trio.at(trio.primary()).config_set("min-replicas-to-write", 1)
    assert approve(store).outcome is Outcome.OK


def test_a_worker_forks_jobs_before_and_after_a_failover_and_follows_the_primary(
    trio: Trio, desk: Desk, tmp_path: Path
) -> None:
    client = connect(trio.url())
    office = Desk(trio.url(), client, desk.notes)
    worker = office.worker()
    try:
        office.queue.enqueue("desk_jobs.note", "before", tenant=TENANT, attempt=1, timeout_s=30)
        until(lambda: "before" in office.notes.read_text(), "a job ran", 20)
        old = trio.primary()
        new = trio.fail_over()
        trio.serve(old, of=old)  # comes back and takes itself for the primary; the Sentinels know better
        office.queue.enqueue("desk_jobs.note", "after", tenant=TENANT, attempt=1, timeout_s=30)
        until(lambda: "after" in office.notes.read_text(), "a job ran on the new primary", 30)
        assert worker.is_alive()
        assert int(client.info("server")["tcp_port"]) == new
        assert office.notes.read_text().count("after") == 1
    finally:
        worker.terminate()
        worker.join(10)
    assert worker.exitcode == 0, "it ends while it waits for jobs"


def test_an_answer_that_nobody_waited_for_is_not_taken_for_the_next(trio: Trio) -> None:
    client, other = connect(trio.url()), connect(trio.url())
    client.set("word", "the right one")

    def interrupt(_signum: int, _frame: FrameType | None) -> None:
        raise Interrupted  # as a job's timeout does, and the end of a worker

    former = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Interrupted):
            client.blpop(["nothing"], 20)
    finally:
        signal.signal(signal.SIGALRM, former)
    other.rpush("nothing", "the wrong one")
    assert client.get("word") == b"the right one"


def test_what_a_failover_could_forget_is_said_at_start_up_without_any_password(trio: Trio) -> None:
    assert any("A FAILOVER MAY FORGET" in said for said in check_server(connect(trio.url())))
    assert not any(
        "FORGET" in said or "REPLICAS" in said for said in check_server(connect(trio.url("&wait_replicas=1")))
    )
    assert any("1 OF 2 REPLICAS" in said for said in check_server(connect(trio.url("&wait_replicas=2"))))
    for sentinel in trio.sentinels:
        trio.kill(sentinel)
    with pytest.raises(RedisUnreachable, match="No Sentinel at REDIS_URL") as away:
        check_server(connect(trio.url()))
    assert "word-of" not in str(away.value)
