"""When a closed run is forgotten, and what stays because it belongs to another one."""

import pytest
import redis

from approvals.outcomes import Outcome
from approvals.store import Store
from builders import CHANNEL, THREAD, a_call, a_person, lease_run, move, paused, reject, start_run


def ended(store: Store) -> None:
    start_run(store)
    assert store.runs.complete(lease_run(store), answer="done").ok


def drain(store: Store) -> None:
    store.ledger.drop([event for event, _ in store.ledger.read()])


def test_a_run_is_forgotten_only_when_it_has_ended_is_due_and_its_events_are_kept(
    store: Store, redis_client: redis.Redis
) -> None:
    start_run(store)
    redis_client.zadd(store.keys.deadlines, {"retire:run_1": 1})
    drain(store)
    assert store.deadlines.apply("retire:run_1").outcome is Outcome.REPEATED  # it has not ended
    assert store.runs.complete(lease_run(store), answer="done").ok
    drain(store)
    assert store.deadlines.apply("retire:run_1").outcome is Outcome.REPEATED  # not for seven days
    redis_client.zrem(store.keys.deadlines, "retire:run_1")
    assert store.deadlines.apply("retire:run_1").outcome is Outcome.REPEATED  # nobody asked for it
    assert store.runs.load("run_1") is not None
    redis_client.zadd(store.keys.deadlines, {"retire:run_1": 1})
    assert store.deadlines.apply("retire:run_1").outcome is Outcome.OK
    assert store.runs.load("run_1") is None


def test_a_forgotten_run_leaves_none_of_the_messages_about_it_behind(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    reject(store)
    assert store.runs.complete(lease_run(store), answer="done").ok
    about = [f"{kind}:call_1" for kind in ("call", "seal", "tool", "gate", "undo")]
    about += [f"{kind}:run_1" for kind in ("run", "budget", "secret")]
    about += [
        "lapse:batch_a",
        "outbox:card:batch_a",
        "unsent:card:batch_a",
        "outbox:answer:run_1",
        "unsent:notice:call_1",
    ]
    for subject in about:
        store.outbox.alarm(subject, event="noted", reason="for this test", run="run_1")
    drain(store)
    redis_client.zadd(store.keys.deadlines, {"retire:run_1": 1})
    assert store.deadlines.apply("retire:run_1").outcome is Outcome.OK
    assert redis_client.keys(store.keys.entry("alert:*")) == []
    assert store.outbox.due() == []


@pytest.mark.parametrize("kind", ["call", "undo"])
def test_a_run_with_a_contradiction_that_nobody_has_seen_to_is_not_forgotten(
    store: Store, redis_client: redis.Redis, kind: str
) -> None:
    paused(store, a_call("call_1"))
    reject(store)
    assert store.runs.complete(lease_run(store), answer="done").ok
    subject = f"{kind}:call_1"
    redis_client.sadd(store.keys.dead_letters, subject)  # as `contradict` and `finish_undo` do for a call that is final
    store.outbox.alarm(subject, event="noted", reason="for this test", run="run_1")
    drain(store)
    redis_client.zadd(store.keys.deadlines, {"retire:run_1": 1})
    assert store.deadlines.apply("retire:run_1").outcome is Outcome.REPEATED
    assert store.tallies.read().dead_letters == 1
    assert store.outbox.load(f"alert:{subject}") is not None, "perhaps it never reached anybody"
    assert store.deadlines.at("retire:run_1") == pytest.approx(store.now() + 24 * 3_600_000, abs=10_000)
    assert store.operators.close(subject, by=a_person()).ok
    drain(store)
    redis_client.zadd(store.keys.deadlines, {"retire:run_1": 1})
    assert store.deadlines.apply("retire:run_1").outcome is Outcome.OK


def test_who_decided_in_forgotten_runs_only_is_forgotten_with_the_last_of_them(
    store: Store, redis_client: redis.Redis
) -> None:
    for number in (1, 2):
        paused(store, a_call(f"call_{number}", batch=f"batch_{number}"), run=f"run_{number}")
        reject(store, f"call_{number}")
        assert store.runs.complete(lease_run(store, f"run_{number}"), answer="done").ok
    drain(store)
    for number, left in ((1, 1), (2, 0)):
        redis_client.zadd(store.keys.deadlines, {f"retire:run_{number}": 1})
        assert store.deadlines.apply(f"retire:run_{number}").outcome is Outcome.OK
        assert redis_client.scard(store.keys.watched) == left


def test_younger_events_of_others_keep_no_run(store: Store, redis_client: redis.Redis) -> None:
    ended(store)
    drain(store)
    move(redis_client, store.keys.run("run_1"), ended_at=store.now() - 60_000)
    start_run(store, "run_2", thread_ts="9.9")
    redis_client.zadd(store.keys.deadlines, {"retire:run_1": 1})
    assert store.deadlines.apply("retire:run_1").outcome is Outcome.OK


def test_a_thread_is_forgotten_with_its_newest_run_only(store: Store, redis_client: redis.Redis) -> None:
    ended(store)
    start_run(store, "run_2")
    drain(store)
    redis_client.zadd(store.keys.deadlines, {"retire:run_1": 1})
    assert store.deadlines.apply("retire:run_1").outcome is Outcome.OK
    newest = store.runs.newest_in_thread(CHANNEL, THREAD)
    assert newest is not None
    assert newest.id == "run_2"
    assert store.runs.complete(lease_run(store, "run_2"), answer="done").ok
    drain(store)
    redis_client.zadd(store.keys.deadlines, {"retire:run_2": 1})
    assert store.deadlines.apply("retire:run_2").outcome is Outcome.OK
    assert redis_client.keys("*thread:*") == []
