"""A Redis that came back older than the ledger does nothing until a person has compared the two."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from approvals.drain import compare, drain_once
from approvals.ledger import Ledger, LedgerUnreachable
from approvals.lifecycle import State
from approvals.outcomes import Outcome
from approvals.redis_check import connect
from approvals.store import Store
from approvals.switches import must_be_reconciled
from approvals.valkey import ensure_server, stop_server
from approvals.vault import Vault
from builders import (
    STATE_KEY,
    TEAM,
    TENANT,
    a_call,
    a_store,
    approve,
    claim,
    events,
    lease_batch,
    loaded,
    owed,
    paused,
    try_claim,
)
from free_ports import free_port
from sentinels import Trio


class Machine:
    """A real server whose files can be put back to an earlier day, and the ledger beside it."""

    def __init__(self, home: Path) -> None:
        self.data, self.backup = home / "data", home / "backup"
        self.ledger = Ledger.open(f"sqlite:///{home / 'ledger.db'}")

    def start(self) -> Store:
        """The store, not yet compared with the ledger by anybody."""
        store = Store.open(connect(ensure_server(self.data).url), Vault.from_text(STATE_KEY), tenant=TENANT)
        store.people.set_home_team(TEAM)
        return store

    def back_up(self) -> None:
        stop_server(self.data)
        shutil.copytree(self.data, self.backup)

    def roll_back(self) -> None:
        stop_server(self.data)
        shutil.rmtree(self.data)
        shutil.copytree(self.backup, self.data)

    def drain(self, store: Store) -> None:
        while drain_once(store, self.ledger):
            continue


@pytest.fixture
def machine() -> Iterator[Machine]:
    home = Path(tempfile.mkdtemp(prefix="vk-"))
    made = Machine(home)
    try:
        yield made
    finally:
        stop_server(made.data)
        shutil.rmtree(home)


def run_the_effect(store: Store) -> None:
    taken = claim(store, lease_batch(store, token="w1"), token="c1")
    assert store.effects.intend(taken).ok
    assert store.effects.succeed(taken, receipt="{}").ok


def test_an_effect_that_a_rolled_back_store_forgot_is_not_repeated(machine: Machine) -> None:
    store = machine.start()
    machine.drain(store)
    paused(store, a_call("call_1"), a_call("call_2", number=2, batch="batch_b"))
    approve(store)
    machine.drain(store)
    machine.back_up()

    store = machine.start()
    machine.drain(store)
    run_the_effect(store)
    machine.drain(store)
    machine.roll_back()

    store = machine.start()
    assert loaded(store).state is State.APPROVED, "the backup knows nothing of the effect"
    lease = lease_batch(store, token="w2")
    answer, _ = try_claim(store, lease, token="c2")
    assert answer.outcome is Outcome.FROZEN, "claims stop before anybody has compared anything"
    machine.drain(store)
    assert "Redis is older than the ledger" in (store.switches.frozen() or "")
    assert "succeeded" in (store.switches.frozen() or "")
    assert any(entry.startswith("alert:switch:frozen") for entry in owed(store))
    assert try_claim(store, lease, token="c2")[0].outcome is Outcome.FROZEN
    assert approve(store, "call_2").outcome is Outcome.OK, "decisions go on"
    machine.drain(store)
    assert [row.type for row in machine.ledger.rows(TENANT)].count("frozen") == 1
    assert machine.ledger.verify(TENANT) == []

    store.switches.unfreeze("ops", "reconciled")
    machine.drain(store)
    assert store.switches.frozen() is None
    assert try_claim(store, lease, token="c2")[0].outcome is Outcome.OK


def test_a_decision_made_before_the_comparison_does_not_hide_that_the_store_is_older(machine: Machine) -> None:
    store = machine.start()
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    machine.drain(store)
    machine.back_up()
    store = machine.start()
    machine.drain(store)
    approve(store)
    machine.drain(store)
    machine.roll_back()
    store = machine.start()
    approve(store, "call_2")  # writes an event that is newer than all the ledger has
    machine.drain(store)
    assert "Redis is older than the ledger" in (store.switches.frozen() or "")


def test_a_restart_that_lost_nothing_freezes_nothing_and_claims_again_after_the_comparison(machine: Machine) -> None:
    store = machine.start()
    paused(store, a_call("call_1"))
    approve(store)
    machine.drain(store)
    stop_server(machine.data)
    store = machine.start()
    lease = lease_batch(store)
    assert try_claim(store, lease)[0].outcome is Outcome.FROZEN
    machine.drain(store)
    assert store.switches.frozen() is None
    assert try_claim(store, lease)[0].outcome is Outcome.OK


def test_events_that_are_kept_in_both_places_after_a_crash_are_no_rollback(
    redis_client: redis.Redis, tmp_path: Path
) -> None:
    store, ledger = a_store(redis_client), Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    paused(store, a_call("call_1"))
    ledger.append(store.tenant, store.ledger.read())  # the drainer died before it could drop them
    redis_client.hdel(store.keys.vouched, "server")
    compare(store, ledger, store.ledger.server())
    assert store.switches.frozen() is None


def test_an_emptied_store_beside_a_full_ledger_is_frozen(redis_client: redis.Redis, tmp_path: Path) -> None:
    store, ledger = a_store(redis_client), Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    paused(store, a_call("call_1"))
    drain_once(store, ledger)
    redis_client.flushall()
    compare(store, ledger, store.ledger.server())
    assert "Redis is older than the ledger" in (store.switches.frozen() or "")


def test_what_redis_forgets_while_an_operator_has_frozen_is_noted_and_not_lifted_with_it(
    redis_client: redis.Redis, tmp_path: Path
) -> None:
    store, ledger = a_store(redis_client), Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    paused(store, a_call("call_1"))
    drain_once(store, ledger)
    redis_client.flushall()
    store.switches.freeze("olga", "upgrade")
    compare(store, ledger, store.ledger.server())
    upgrade, older = store.switches.freezes()
    assert (upgrade.reason, upgrade.guard, older.guard) == ("upgrade", False, True)
    assert "Redis is older than the ledger" in older.reason
    assert must_be_reconciled(store.switches.freezes())
    assert events(store).count("frozen") == 2


def test_without_a_ledger_to_compare_with_nothing_is_claimed(redis_client: redis.Redis, tmp_path: Path) -> None:
    store, ledger = a_store(redis_client), Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    paused(store, a_call("call_1"))
    approve(store)
    lease = lease_batch(store)
    redis_client.hdel(store.keys.vouched, "server")
    with ledger.engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE ledger_events")
    with pytest.raises(LedgerUnreachable, match="could not be read"):
        drain_once(store, ledger)
    assert try_claim(store, lease)[0].outcome is Outcome.FROZEN


def test_a_server_that_took_over_during_the_comparison_is_not_vouched_for(redis_client: redis.Redis) -> None:
    store = a_store(redis_client)
    redis_client.hdel(store.keys.vouched, "server")
    assert store.ledger.vouch("0" * 40).outcome is Outcome.WRONG_STATE
    assert not store.ledger.vouched(store.ledger.server())
    assert store.ledger.vouch(store.ledger.server()).outcome is Outcome.OK
    assert store.ledger.vouch(store.ledger.server()).outcome is Outcome.REPEATED


@pytest.fixture
def pair() -> Iterator[Trio]:
    """Two servers that nobody watches; the second follows the first."""
    home = Path(tempfile.mkdtemp(prefix="vk-"))
    made = Trio(home)
    made.servers = [free_port(), free_port()]
    try:
        for port in made.servers:
            made.serve(port, of=made.servers[0])
        made.follows(made.servers[1])
        yield made
    finally:
        made.stop()
        shutil.rmtree(home)


def test_a_server_that_took_over_the_older_data_of_another_one_without_a_restart_is_compared_again(
    pair: Trio, tmp_path: Path
) -> None:
    first, second = (pair.at(port) for port in pair.servers)
    store, ledger = a_store(first), Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    paused(store, a_call("call_1"))
    approve(store)
    drain_once(store, ledger)
    first.wait(1, 5_000)
    second.execute_command("REPLICAOF", "NO", "ONE")
    run_the_effect(store)
    drain_once(store, ledger)

    first.execute_command("REPLICAOF", "127.0.0.1", pair.servers[1])
    pair.follows(pair.servers[0])
    first.execute_command("REPLICAOF", "NO", "ONE")

    assert loaded(store).state is State.APPROVED, "it forgot the effect, and is the same process as before"
    lease = lease_batch(store, token="w2")
    assert try_claim(store, lease, token="c2")[0].outcome is Outcome.FROZEN, "before anybody has compared anything"
    assert store.tallies.read().frozen
    drain_once(store, ledger)
    assert "Redis is older than the ledger" in (store.switches.frozen() or "")
    assert try_claim(store, lease, token="c2")[0].outcome is Outcome.FROZEN


def test_older_data_that_is_written_into_a_running_server_is_noticed_once_and_an_operator_has_the_last_word(
    redis_client: redis.Redis, tmp_path: Path
) -> None:
    store, ledger = a_store(redis_client), Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    paused(store, a_call("call_1"))
    approve(store)
    drain_once(store, ledger)
    before = {key: redis_client.dump(key) for key in redis_client.scan_iter()}
    run_the_effect(store)
    drain_once(store, ledger)
    drain_once(store, ledger)
    assert store.switches.frozen() is None

    redis_client.flushdb()
    for key, value in before.items():
        redis_client.restore(key, 0, value)
    compare(store, ledger, store.ledger.server())
    assert "Redis is older than the ledger" in (store.switches.frozen() or "")
    store.switches.unfreeze("ops", "reconciled")
    compare(store, ledger, store.ledger.server())
    assert store.switches.frozen() is None, "what an operator has seen to is not held against the store again"


class Failover:
    """A replica that took over knows nothing of what was claimed last, and was never compared with the ledger."""

    def __init__(self, store: Store, client: redis.Redis, ledger: Ledger) -> None:
        self.store, self.client, self.ledger, self.happened = store, client, ledger, False
        paused(store, a_call("call_1"), a_call("call_2", number=2, batch="batch_b"))
        approve(store)
        drain_once(store, ledger)
        drain_once(store, ledger)
        self.real = type(store.ledger).server
        client.hset(store.keys.vouched, "server", "old:primary")
        self.replica = {key: client.dump(key) for key in client.keys("*")}
        client.hset(store.keys.vouched, "server", self.real(store.ledger))
        run_the_effect(store)

    def happen(self, *_: object, **__: object) -> None:
        if not self.happened:
            self.happened = True
            self.client.flushdb()
            for key, value in self.replica.items():
                self.client.restore(key, 0, value)

    def server(self, stream: Any) -> str:
        return self.real(stream) if self.happened else "old:primary"


@pytest.fixture(params=["before the read", "after the read", "after the append"])
def failover(request: Any, redis_client: redis.Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Failover:
    """One round of the drain in which the failover happens there, and a click right after it."""
    store, ledger = a_store(redis_client), Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    over, stream = Failover(store, redis_client, ledger), type(store.ledger)
    if request.param != "after the append":
        monkeypatch.setattr(stream, "server", lambda self: over.server(self))  # noqa: PLW0108 - only a function is bound
        redis_client.hset(store.keys.vouched, "server", over.real(store.ledger))
    drain_once(store, ledger) if request.param == "before the read" else None
    read, append = stream.read, Ledger.append

    def reading(self: Any, count: int = 500) -> Any:
        if request.param == "before the read" and not over.happened:
            over.happen()
            approve(store, "call_2")
        found = read(self, count)
        if request.param == "after the read":
            over.happen()
        return found

    def appending(self: Any, *arguments: Any) -> int:
        number = append(self, *arguments)
        over.happen()
        return number

    monkeypatch.setattr(stream, "read", reading)
    if request.param == "after the append":
        monkeypatch.setattr(Ledger, "append", appending)
    drain_once(store, ledger)
    assert over.happened
    return over


def test_a_failover_in_the_middle_of_a_round_lets_nothing_be_claimed_that_is_forgotten(failover: Failover) -> None:
    store = failover.store
    lease = store.batches.lease("batch_a", token="w9", ttl_ms=60_000)
    assert lease is not None, "it is approved, and has not run, as far as this server knows"
    assert try_claim(store, lease)[0].outcome is Outcome.FROZEN
    drain_once(store, failover.ledger)
    assert "Redis is older than the ledger" in (store.switches.frozen() or "")
    assert try_claim(store, lease)[0].outcome is Outcome.FROZEN


def test_what_was_drained_late_does_not_move_the_mark_back(redis_client: redis.Redis) -> None:
    store = a_store(redis_client)
    paused(store, a_call("call_1"))
    ids = [event_id for event_id, _ in store.ledger.read()]
    store.ledger.drop(ids[-1:])
    store.ledger.drop(ids[:1])
    assert store.ledger.knows(ids[-1])
    assert events(store) != []
    ms, number = ids[-1].split("-")
    assert not store.ledger.knows(f"{ms}-{int(number) + 1}")
    assert not store.ledger.knows(f"{int(ms) + 1}-0")


def test_a_call_that_somebody_makes_begin_again_in_redis_freezes_everything(
    redis_client: redis.Redis, tmp_path: Path
) -> None:
    store, ledger = a_store(redis_client), Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    approve(store)
    approve(store, "call_2")
    run_the_effect(store)
    drain_once(store, ledger)
    assert store.switches.frozen() is None
    call = store.keys.call("call_1")
    redis_client.hset(call, "state", "approved")
    redis_client.hdel(call, "intended", "token", "ended_at")
    redis_client.hdel(store.keys.batch(loaded(store).batch or ""), "token", "lease_until")
    taken = claim(store, lease_batch(store, token="w2"), token="c2")
    assert store.effects.intend(taken).ok
    drain_once(store, ledger)
    assert "call_1 began a second time" in (store.switches.frozen() or "")
    store.switches.unfreeze("ops", "found out who it was")
    drain_once(store, ledger)
    assert store.switches.frozen() is None
