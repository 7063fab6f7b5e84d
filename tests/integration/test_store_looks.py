"""Looks at the data of a waiting call: asked for, noted, told on the card once, decided by nobody."""

import json

import pytest
import redis

from approvals.drifts import Drift
from approvals.lifecycle import State
from approvals.outcomes import Outcome
from approvals.store import Store
from approvals.vault import BlobTampered
from builders import (
    a_call,
    a_content,
    a_store,
    approve,
    claim,
    edit,
    events,
    lease_batch,
    loaded,
    move,
    paused,
    reject,
    waking,
)

DRIFT = Drift(rows=1, of=2, lines=("pay_1: email ann@example.test -> eve@example.test",))
OTHER = Drift(rows=2, of=2, lines=("pay_1 is gone", "pay_2 is gone"))


@pytest.fixture
def store(redis_client: redis.Redis) -> Store:
    made = a_store(redis_client)
    paused(made, a_call("call_1"))
    return made


def note(store: Store, drift: Drift | None = None, *, failed: bool = False, later_ms: int = 0) -> Outcome:
    """A look that began now, or a little later."""
    version, began = loaded(store).version, store.now() + later_ms
    return store.calls.note_looked("call_1", version=version, began=began, drift=drift, failed=failed).outcome


def cards(store: Store) -> int:
    """How often the card was owed so far."""
    entry = store.outbox.load("card:batch_a")
    assert entry is not None
    return entry.desired


def test_a_look_is_asked_for_at_most_once_a_minute(store: Store, redis_client: redis.Redis) -> None:
    assert store.calls.ask_look("call_1").ok
    assert waking(store) == {"look_again:call_1"}
    store.wakeups.drop("look_again", "call_1")
    assert store.calls.ask_look("call_1").outcome is Outcome.REPEATED
    assert waking(store) == set()
    move(redis_client, store.keys.call("call_1"), look_asked_at=store.now() - 60_000)
    assert store.calls.ask_look("call_1").ok
    assert waking(store) == {"look_again:call_1"}


def test_a_call_that_nobody_knows_is_not_looked_at(store: Store) -> None:
    assert store.calls.ask_look("call_9").outcome is Outcome.NOT_FOUND
    drifted = store.calls.note_looked("call_9", version=1, began=store.now(), drift=DRIFT)
    assert drifted.outcome is Outcome.NOT_FOUND


def test_what_a_look_found_stands_in_the_call_and_changes_nothing_else(store: Store) -> None:
    before = loaded(store)
    assert store.calls.ask_look("call_1").ok
    assert note(store, DRIFT) is Outcome.OK
    call = loaded(store)
    assert (call.drifted, call.look_failed_at) == (DRIFT, None)
    assert call.looked_at
    assert call.model_copy(update={"looked_at": None, "drifted": None}) == before
    assert waking(store) == set(), "the look is done"
    assert approve(store).ok, "the gate decides, not the look"


def test_personal_values_of_a_difference_are_in_redis_and_the_ledger_for_nobody_to_read(
    store: Store, redis_client: redis.Redis
) -> None:
    note(store, DRIFT)
    told = next(fields for _, fields in store.ledger.read() if fields["type"] == "drift_noticed")
    assert (told["call"], told["version"], told["reason"]) == ("call_1", "1", "1 of 2 rows differ.")
    assert b"eve@example.test" not in b"".join(redis_client.hgetall(store.keys.call("call_1")).values())
    assert "eve@example.test" not in json.dumps([fields for _, fields in store.ledger.read()])


def test_a_difference_moved_to_another_call_is_not_believed(store: Store, redis_client: redis.Redis) -> None:
    note(store, DRIFT)
    paused(store, a_call("call_2", batch="batch_b"), run="run_2")
    stolen = redis_client.hget(store.keys.call("call_1"), "drifted")
    redis_client.hset(store.keys.call("call_2"), "drifted", stolen)
    with pytest.raises(BlobTampered):
        store.calls.load("call_2")
    with pytest.raises(BlobTampered):
        store.calls.open("drifted", "call_1", 1, stolen, run="run_2")


def test_the_card_and_the_ledger_hear_of_each_difference_once(store: Store) -> None:
    owed = cards(store)
    for at, (drift, kinds) in enumerate(
        (
            (None, 0),
            (DRIFT, 1),
            (DRIFT, 1),
            (OTHER, 2),
            (None, 3),
            (None, 3),
        )
    ):
        assert note(store, drift, later_ms=at) is Outcome.OK
        assert len([kind for kind in events(store, "call_1") if kind.startswith("drift_")]) == kinds
        assert cards(store) == owed + kinds
    assert events(store, "call_1") == ["proposed", "drift_noticed", "drift_noticed", "drift_over"]
    assert loaded(store).drifted is None


def test_a_failed_look_is_told_once_and_forgets_nothing_that_was_found(store: Store) -> None:
    note(store, DRIFT)
    found, owed = loaded(store), cards(store)
    assert note(store, failed=True, later_ms=1) is Outcome.OK
    failed = loaded(store)
    assert (failed.drifted, failed.looked_at) == (DRIFT, found.looked_at)
    assert failed.look_failed_at
    assert note(store, failed=True, later_ms=2) is Outcome.OK
    assert cards(store) == owed + 1
    assert note(store, DRIFT, later_ms=3) is Outcome.OK
    assert loaded(store).look_failed_at is None
    assert cards(store) == owed + 2
    assert events(store, "call_1").count("drift_noticed") == 1


@pytest.mark.parametrize("failed", [True, False])
def test_a_look_that_began_before_the_last_one_known_comes_too_late(store: Store, failed: bool) -> None:  # noqa: FBT001
    early = store.now() - 10
    note(store, DRIFT, failed=failed)
    before = loaded(store)
    answer = store.calls.note_looked("call_1", version=1, began=early, drift=OTHER)
    assert answer.outcome is Outcome.REPEATED
    assert loaded(store) == before


def test_a_look_at_another_version_is_none(store: Store) -> None:
    answer = store.calls.note_looked("call_1", version=2, began=store.now(), drift=DRIFT)
    assert answer == (Outcome.STALE_VERSION, {"version": "1"})
    assert loaded(store).looked_at is None


def test_an_edit_forgets_what_was_found_and_is_looked_at_when_it_was_checked(store: Store) -> None:
    assert store.calls.ask_look("call_1").ok
    note(store, DRIFT)
    note(store, failed=True, later_ms=1)
    edit(store)
    call = loaded(store)
    assert (call.drifted, call.looked_at, call.look_failed_at) == (None, None, None)
    assert note(store, DRIFT) is Outcome.REFRESHING
    assert store.calls.ask_look("call_1").outcome is Outcome.REFRESHING
    assert loaded(store).drifted is None
    checked = store.calls.refresh("call_1", version=2, content=a_content(), seal="seal-2", drift=True)
    assert checked.ok
    assert note(store, DRIFT) is Outcome.OK
    assert events(store, "call_1").count("drift_noticed") == 2, "it is another version that has drifted"


def test_an_edit_lets_the_look_at_the_version_before_sleep(store: Store) -> None:
    assert store.calls.ask_look("call_1").ok
    edit(store)
    assert waking(store) == {"refresh_call:call_1"}


def test_what_comes_back_from_the_gate_forgets_what_was_found_before(store: Store) -> None:
    note(store, DRIFT)
    note(store, failed=True, later_ms=1)
    approve(store)
    assert loaded(store).drifted == DRIFT, "as it was when it was decided"
    taken = claim(store, lease_batch(store))
    released = store.effects.release(taken, content=a_content(), seal="seal-2", difference=["pay_1 is gone"])
    assert released.ok
    call = loaded(store)
    assert (call.state, call.drifted, call.looked_at, call.look_failed_at) == (State.PENDING_REVIEW, None, None, None)
    assert note(store, DRIFT) is Outcome.OK


def test_a_decided_call_is_not_looked_at_any_more(store: Store) -> None:
    assert store.calls.ask_look("call_1").ok
    reject(store)
    assert "look_again:call_1" not in waking(store)


def test_a_forgotten_run_leaves_no_count_of_its_looks(store: Store, redis_client: redis.Redis) -> None:
    assert store.calls.ask_look("call_1").ok
    assert [job for job, _, _ in store.wakeups.due()] == ["look_again"]
    store.runs.cancel("run_1", by="U0REQ", name="Req")
    store.ledger.drop([event for event, _ in store.ledger.read()])
    redis_client.zadd(store.keys.deadlines, {"retire:run_1": 1})
    assert store.deadlines.apply("retire:run_1").ok
    assert redis_client.hkeys(store.keys.attempts) == []


def test_what_waits_for_a_worker_is_known_by_job_and_argument(store: Store) -> None:
    assert not store.wakeups.wanted("look_again", ["call_1"])
    assert store.calls.ask_look("call_1").ok
    assert store.wakeups.wanted("look_again", ["call_9", "call_1"])
    assert not store.wakeups.wanted("look_again", [])
    assert not store.wakeups.wanted("refresh_call", ["call_1"])
