"""Everything that is done under a batch's lease needs that very lease: its batch, token, epoch and time."""

from collections.abc import Callable
from typing import Any

import pytest
import redis

from approvals.lifecycle import Cause, State
from approvals.models import BatchLease
from approvals.outcomes import Outcome
from approvals.store import Store
from builders import (
    ANA,
    LONG,
    a_call,
    a_content,
    a_decision,
    a_person,
    an_auto,
    approve,
    claim,
    events,
    lease_batch,
    lease_run,
    loaded,
    move,
    paused,
    reject,
    start_run,
    try_claim,
    waking,
)

NEXT: dict[str, Any] = {"content": a_content(), "seal": "seal-2", "reason": "the law is stricter"}
Verb = Callable[[Store, str, BatchLease], Any]
VERBS: dict[str, Verb] = {
    "auto_approve": lambda store, key, lease: store.calls.auto_approve(key, lease=lease),
    "forbid": lambda store, key, lease: store.calls.forbid(key, lease=lease, reason="no"),
    "claim": lambda store, key, lease: try_claim(store, lease, key)[0],
    "refuse": lambda store, key, lease: store.effects.refuse(key, lease=lease, cause=Cause.CAP, reason="reached"),
    "revoke": lambda store, key, lease: store.effects.revoke(key, lease=lease, **NEXT),
}
HELD = {"auto_approve", "forbid"}


def ready(store: Store, verb: str) -> tuple[str, BatchLease]:
    """A call that the verb fits, and the lease of its batch."""
    if verb in HELD:
        paused(store, a_call("asked"), an_auto("held", held=True, number=2), an_auto("x", held=True, batch="batch_b"))
        reject(store, "asked")
        return "held", lease_batch(store, "batch_auto")
    paused(
        store,
        a_call("asked"),
        a_call("other", number=2, batch="batch_b"),
    )
    approve(store, "asked")
    approve(store, "other")
    return "asked", lease_batch(store, "batch_a")


def without_lease(store: Store, client: redis.Redis, lease: BatchLease, how: str) -> BatchLease:
    """The same lease, spoilt in one way."""
    if how == "over":
        move(client, store.keys.batch(lease.batch), lease_until=store.now() - 1)
        return lease
    if how == "of another batch":
        return lease_batch(store, "batch_b", token="elsewhere")
    changes = {"token": "another"} if how == "another token" else {"epoch": lease.epoch + 1}
    return lease.model_copy(update=changes)


WAYS = ["over", "of another batch", "another token", "another epoch"]


@pytest.mark.parametrize("verb", sorted(VERBS))
@pytest.mark.parametrize("how", WAYS)
def test_nothing_is_done_to_a_call_without_the_lease_of_its_batch(
    store: Store, redis_client: redis.Redis, verb: str, how: str
) -> None:
    key, lease = ready(store, verb)
    spoilt = without_lease(store, redis_client, lease, how)
    before = redis_client.hgetall(store.keys.call(key))
    assert VERBS[verb](store, key, spoilt).outcome is Outcome.LEASE_LOST
    assert redis_client.hgetall(store.keys.call(key)) == before


@pytest.mark.parametrize("how", ["over", "another token", "another epoch"])
def test_a_lost_lease_is_neither_renewed_nor_finished(store: Store, redis_client: redis.Redis, how: str) -> None:
    _, lease = ready(store, "claim")
    spoilt = without_lease(store, redis_client, lease, how)
    assert store.batches.renew(spoilt, ttl_ms=LONG) is False
    assert store.batches.finish(spoilt) is False


def test_an_approved_call_of_a_card_that_is_still_being_decided_is_no_work(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    approve(store, "call_1")
    assert store.batches.lease("batch_a", token="worker", ttl_ms=LONG) is None


def test_a_batch_whose_work_is_done_sleeps_although_its_calls_changed_meanwhile(store: Store) -> None:
    paused(store, a_call("asked"), an_auto("held_1", held=True, number=2), an_auto("held_2", held=True, number=3))
    reject(store, "asked")
    lease = lease_batch(store, "batch_auto")
    for key in ("held_1", "held_2"):
        assert store.calls.auto_approve(key, lease=lease).ok
        assert store.effects.succeed(claim(store, lease, key, token=key), receipt="{}").ok
    assert store.batches.finish(lease)
    assert "execute_batch:batch_auto" not in waking(store)


def test_a_returned_auto_call_wakes_its_batch_at_once_when_nobody_is_asked(store: Store) -> None:
    paused(store, an_auto("call_1"))
    lease = lease_batch(store, "batch_auto")
    taken = claim(store, lease)
    assert store.wakeups.due() == []  # put off while the lease lasts
    assert store.effects.release(taken, content=a_content(), seal="seal-2", difference=["gone"]).ok
    assert [job for job, _, _ in store.wakeups.due()] == ["execute_batch"]


def test_a_run_that_waits_has_no_holder_who_could_speak_for_it(store: Store, redis_client: redis.Redis) -> None:
    start_run(store)
    lease = lease_run(store)
    for state in ("paused", "ready", "queued", "completed"):
        redis_client.hset(store.keys.run("run_1"), "state", state)
        assert store.runs.renew(lease, ttl_ms=LONG) is False
        assert store.runs.save_turn(lease, state=b"one", turns=1) is False
    redis_client.hset(store.keys.run("run_1"), "state", "running")
    assert store.runs.renew(lease, ttl_ms=LONG) is True


@pytest.mark.parametrize("how", ["token", "epoch", "over"])
def test_a_run_is_changed_under_its_own_lease_only(store: Store, redis_client: redis.Redis, how: str) -> None:
    start_run(store)
    lease = lease_run(store)
    if how == "over":
        move(redis_client, store.keys.run("run_1"), lease_until=store.now() - 1)
    changes = {"token": {"token": "another"}, "epoch": {"epoch": lease.epoch + 1}, "over": {}}[how]
    spoilt = lease.model_copy(update=changes)
    assert store.runs.save_turn(spoilt, state=b"one", turns=1) is False
    assert store.runs.renew(spoilt, ttl_ms=LONG) is False
    assert store.runs.give_back(spoilt, delay_ms=0) is False
    assert store.runs.complete(spoilt, answer="done").outcome is Outcome.LEASE_LOST
    assert events(store) == ["run_started"]


@pytest.mark.parametrize("state", ["queued", "ready"])
def test_a_lease_that_somebody_left_behind_does_not_keep_a_waiting_run(
    store: Store, redis_client: redis.Redis, state: str
) -> None:
    start_run(store)
    fields = {"state": state, "token": "gone", "lease_until": str(store.now() + LONG)}
    redis_client.hset(store.keys.run("run_1"), mapping=fields)
    assert store.runs.lease("run_1", token="next", ttl_ms=LONG) is not None


def test_a_card_decides_only_calls_of_its_own(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2, batch="batch_b"))
    person = store.people.put(a_person(ANA))
    decisions = [(key, 1, a_decision(key)) for key in ("call_1", "call_2")]
    generation = store.batches.load("batch_a").generation  # type: ignore[union-attr]
    answers = store.calls.decide_batch("batch_a", generation=generation, decisions=decisions, person=person)
    assert [(key, answer.outcome) for key, answer in answers] == [("call_1", Outcome.OK), ("call_2", Outcome.NOT_FOUND)]
    assert loaded(store, "call_2").state is State.PENDING_REVIEW
