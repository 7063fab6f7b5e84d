import redis

from approvals.store import Store
from builders import (
    LONG,
    a_call,
    an_auto,
    approve,
    claim,
    lease_batch,
    move,
    paused,
    reject,
    waking,
)


def settled(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    approve(store, "call_1")
    reject(store, "call_2")


def test_a_view_is_run_batch_and_calls_at_one_instant(store: Store) -> None:
    settled(store)
    view = store.batches.view("batch_a")
    assert view is not None
    assert (view.run.id, view.batch.id, [call.key for call in view.calls]) == (
        "run_1",
        "batch_a",
        ["call_1", "call_2"],
    )
    assert abs(view.now - store.now()) < 5_000
    assert store.batches.view("nowhere") is None
    assert store.batches.load("nowhere") is None


def test_a_batch_is_leased_once_and_only_when_there_is_something_to_do(store: Store) -> None:
    paused(store, a_call("call_1"))
    assert store.batches.lease("batch_a", token="t", ttl_ms=LONG) is None
    assert store.batches.lease("nowhere", token="t", ttl_ms=LONG) is None
    approve(store)
    lease = lease_batch(store)
    assert (lease.run, lease.epoch, lease.generation) == ("run_1", 1, 1)
    assert store.batches.lease("batch_a", token="other", ttl_ms=LONG) is None
    assert store.batches.lease("batch_a", token=lease.token, ttl_ms=LONG) == lease


def test_a_wakeup_that_has_become_pointless_is_taken_out(store: Store) -> None:
    settled(store)
    store.calls.withdraw("call_1", by="U0REQ")
    assert "execute_batch:batch_a" in waking(store)
    assert store.batches.lease("batch_a", token="t", ttl_ms=LONG) is None
    assert "execute_batch:batch_a" not in waking(store)


def test_a_finished_batch_wakes_nobody(store: Store) -> None:
    settled(store)
    lease = lease_batch(store)
    store.effects.succeed(claim(store, lease), receipt="{}")
    assert store.batches.finish(lease)
    assert store.batches.finish(lease)
    assert waking(store) == {"resume_run:run_1"}


def test_what_is_decided_during_a_lease_is_not_lost_when_it_finishes(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"), an_auto("call_2", number=2), an_auto("call_3", number=3, held=True))
    lease = lease_batch(store, "batch_auto")
    store.effects.succeed(claim(store, lease, "call_2"), receipt="{}")
    reject(store, "call_1")  # the batch's held call becomes judgeable now
    redis_client.zrem(store.keys.wakeups, "execute_batch:batch_auto")  # its wakeup came up and found the lease taken
    assert store.batches.finish(lease)
    assert [wakeup[:2] for wakeup in store.wakeups.due()] == [
        ("execute_batch", "batch_auto"),
    ]


def test_work_left_over_is_taken_up_again_a_little_later(store: Store) -> None:
    settled(store)
    lease = lease_batch(store)
    assert store.batches.finish(lease)
    assert store.wakeups.due() == []
    assert waking(store) == {"execute_batch:batch_a"}
    assert 0 < (store.wakeups.peek() or 0) - store.now() <= 4_000


def test_a_lost_batch_lease_is_taken_over_and_the_old_holder_can_do_nothing(
    store: Store, redis_client: redis.Redis
) -> None:
    settled(store)
    old = lease_batch(store)
    move(redis_client, store.keys.batch("batch_a"), lease_until=store.now())
    assert not store.batches.renew(old, ttl_ms=LONG)
    assert not store.batches.finish(old)
    new = lease_batch(store, token=old.token)
    assert new.epoch == old.epoch + 1
    assert not store.batches.renew(old, ttl_ms=LONG)
    assert store.batches.renew(new, ttl_ms=LONG)
    assert not store.batches.finish(old)
    assert "execute_batch:batch_a" in waking(store)


def test_a_leased_batch_is_not_woken_until_its_lease_is_over(store: Store) -> None:
    settled(store)
    lease = lease_batch(store)
    assert store.wakeups.due() == []
    assert store.batches.renew(lease, ttl_ms=LONG)
    assert (store.wakeups.peek() or 0) > store.now() + LONG - 5_000


def test_waiting_batches_are_those_that_people_or_the_relay_owe(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2, batch="batch_b"), an_auto("call_3", number=3))
    assert sorted(store.batches.waiting()) == ["batch_a", "batch_b"]
    reject(store, "call_2")
    assert store.batches.waiting() == ["batch_a"]
