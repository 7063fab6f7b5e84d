import re

import pytest
import redis

from approvals.keys import BadIdError
from approvals.lifecycle import Cause, RunState, State
from approvals.outcomes import Outcome
from approvals.store import Store
from builders import (
    CHANNEL,
    LONG,
    REQUESTER,
    THREAD,
    a_call,
    a_content,
    a_pause,
    a_requirement,
    an_auto,
    approve,
    claim,
    events,
    lease_batch,
    lease_run,
    loaded,
    move,
    owed,
    paused,
    reject,
    start_run,
    waking,
)
from policies.money import eur


def test_a_started_run_waits_for_a_worker_and_opens_its_thread(store: Store) -> None:
    assert start_run(store).outcome is Outcome.OK
    run = store.runs.load("run_1")
    assert run is not None
    assert (run.state, run.requester, run.request) == (
        RunState.QUEUED,
        REQUESTER,
        "refund yesterday's failed payments",
    )
    assert waking(store) == {"start_run:run_1"}
    assert owed(store) == {"opening:run_1"}
    assert events(store) == ["run_started"]


def test_a_redelivered_start_changes_nothing(store: Store) -> None:
    start_run(store)
    assert start_run(store, request="something else").outcome is Outcome.REPEATED
    run = store.runs.load("run_1")
    assert run is not None
    assert run.request == "refund yesterday's failed payments"
    assert events(store) == ["run_started"]


def test_an_id_that_could_be_part_of_another_key_is_refused(store: Store) -> None:
    with pytest.raises(BadIdError, match="letters, digits"):
        start_run(store, "run_1:saved")


def test_the_newest_run_of_a_thread_is_the_one_started_last(store: Store) -> None:
    assert store.runs.newest_in_thread(CHANNEL, THREAD) is None
    start_run(store, "run_1")
    start_run(store, "run_2", parent="run_1")
    newest = store.runs.newest_in_thread(CHANNEL, THREAD)
    assert newest is not None
    assert (newest.id, newest.parent) == ("run_2", "run_1")


def test_only_one_worker_drives_a_run(store: Store) -> None:
    start_run(store)
    lease = lease_run(store)
    assert (lease.epoch, lease.resuming) == (1, False)
    assert store.runs.lease("run_1", token="other", ttl_ms=LONG) is None
    assert store.runs.lease("run_1", token="worker-1", ttl_ms=LONG) == lease
    assert store.runs.lease("nowhere", token="other", ttl_ms=LONG) is None


def test_a_lost_lease_is_taken_over_and_the_old_worker_can_write_no_more(
    store: Store, redis_client: redis.Redis
) -> None:
    start_run(store)
    old = lease_run(store)
    move(redis_client, store.keys.run("run_1"), lease_until=store.now())
    assert not store.runs.renew(old, ttl_ms=LONG)
    new = lease_run(store, token="worker-2")
    assert (new.epoch, new.resuming) == (2, False)
    assert not store.runs.save_turn(old, state=b"old", turns=9)
    assert store.runs.complete(old, answer="done").outcome is Outcome.LEASE_LOST
    assert store.runs.pause(old, a_pause(a_call("call_1"))).outcome is Outcome.LEASE_LOST
    assert not store.runs.give_back(old, delay_ms=0)
    assert store.runs.save_turn(new, state=b"new", turns=1)
    assert store.runs.load_state("run_1") == b"new"


def test_the_same_token_with_an_older_epoch_is_fenced(store: Store, redis_client: redis.Redis) -> None:
    start_run(store)
    old = lease_run(store)
    move(redis_client, store.keys.run("run_1"), lease_until=store.now())
    lease_run(store)
    assert not store.runs.save_turn(old, state=b"old", turns=9)


def test_a_state_encrypted_for_another_revision_than_the_next_is_not_kept(store: Store) -> None:
    start_run(store)
    lease = lease_run(store)
    assert store.runs.save_turn(lease, state=b"first", turns=1)
    for revision in (1, 3):
        answer = store.runs.ask("save_turn", "run_1", lease.token, lease.epoch, revision, b"blob", 2)
        assert answer.outcome is Outcome.LEASE_LOST
    assert store.runs.load_state("run_1") == b"first"


def test_another_token_with_the_same_epoch_is_fenced(store: Store) -> None:
    start_run(store)
    foreign = lease_run(store).model_copy(update={"token": "other"})
    assert not store.runs.save_turn(foreign, state=b"foreign", turns=9)
    assert not store.runs.renew(foreign, ttl_ms=LONG)


def test_a_leased_run_does_not_wake_anybody_until_its_lease_is_over(store: Store, redis_client: redis.Redis) -> None:
    start_run(store)
    lease = lease_run(store)
    assert store.wakeups.due() == []
    assert store.runs.renew(lease, ttl_ms=1)
    redis_client.zadd(store.keys.wakeups, {"start_run:run_1": store.now()})  # the millisecond is over
    assert [wakeup[:2] for wakeup in store.wakeups.due()] == [("start_run", "run_1")]


def test_the_state_of_a_turn_is_kept_encrypted(store: Store, redis_client: redis.Redis) -> None:
    start_run(store)
    lease = lease_run(store)
    assert store.runs.load_state("run_1") is None
    assert store.runs.save_turn(lease, state=b"a secret turn", turns=1)
    assert store.runs.save_turn(lease, state=b"a secret turn, and another", turns=2)
    assert store.runs.load_state("run_1") == b"a secret turn, and another"
    run = store.runs.load("run_1")
    assert run is not None
    assert run.turns == 2
    assert b"secret" not in b"".join(redis_client.hgetall(store.keys.saved("run_1")).values())
    assert b"failed payments" not in b"".join(redis_client.hgetall(store.keys.run("run_1")).values())


@pytest.mark.parametrize(
    ("verb", "arguments", "state", "event"),
    [
        ("complete", {"answer": "All done."}, RunState.COMPLETED, "completed"),
        ("stop", {"reason": "budget exhausted", "answer": "Stopped."}, RunState.STOPPED, "stopped"),
        ("fail", {"reason": "the agent's code changed"}, RunState.FAILED, "run_failed"),
    ],
)
def test_a_run_ends_once_and_owes_its_answer(
    store: Store, verb: str, arguments: dict[str, str], state: RunState, event: str
) -> None:
    start_run(store)
    lease = lease_run(store)
    assert getattr(store.runs, verb)(lease, **arguments).outcome is Outcome.OK
    assert getattr(store.runs, verb)(lease, **arguments).outcome is Outcome.REPEATED
    assert store.runs.complete(lease, answer="again").ok == (verb == "complete")
    run = store.runs.load("run_1")
    assert run is not None
    assert (run.state, run.answer, run.reason) == (state, arguments.get("answer"), arguments.get("reason"))
    assert run.ended_at is not None
    assert events(store).count(event) == 1
    assert waking(store) == set()
    assert owed(store) == {"opening:run_1", "answer:run_1"} | ({"alert:run:run_1"} if verb == "fail" else set())
    assert store.runs.lease("run_1", token="t", ttl_ms=LONG) is None


def test_a_run_given_back_is_taken_up_later_in_the_same_place(store: Store) -> None:
    paused(store, a_call("call_1"))
    reject(store)
    lease = lease_run(store)
    assert store.runs.give_back(lease, delay_ms=60_000)
    run = store.runs.load("run_1")
    assert run is not None
    assert run.state is RunState.READY
    assert store.wakeups.due() == []
    assert (store.wakeups.peek() or 0) > store.now() + 50_000
    assert lease_run(store, token="worker-9").resuming


def test_a_failed_run_is_taken_up_again_where_it_was(store: Store) -> None:
    paused(store, a_call("call_1"))
    assert store.runs.requeue("run_1", by="U0OPS") == (Outcome.WRONG_STATE, {"state": "paused"})
    reject(store)
    store.runs.fail(lease_run(store), reason="the provider refused the state")
    assert store.runs.requeue("run_1", by="U0OPS") == (Outcome.OK, {"state": "ready"})
    assert waking(store) == {"resume_run:run_1"}
    lease = lease_run(store)
    assert lease.resuming
    assert store.runs.fail(lease, reason="again").outcome is Outcome.OK


def test_counts_hold_what_had_or_may_have_its_effect_and_nothing_else(store: Store) -> None:
    def counted(euros: int) -> dict[str, object]:
        return {"content": a_content(requirement=a_requirement(counts={"refunds": eur(euros)}))}

    paused(
        store,
        a_call("call_1", **counted(100)),
        a_call("call_2", number=2, **counted(20)),
        a_call("call_3", number=3, batch=None, state=State.REJECTED, cause=Cause.POLICY, **counted(5)),
    )
    assert store.runs.counts("run_1") == {("refunds", "EUR"): 12_000}
    reject(store, "call_2")
    assert store.runs.counts("run_1") == {("refunds", "EUR"): 10_000}
    approve(store, "call_1")
    taken = claim(store, lease_batch(store))
    store.effects.succeed(taken, receipt="{}")
    assert store.runs.counts("run_1") == {("refunds", "EUR"): 10_000}


def test_a_closed_run_is_forgotten_only_when_it_is_old_and_drained(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"), an_auto("call_2", number=2))
    reject(store)
    store.effects.succeed(claim(store, lease_batch(store, "batch_auto"), "call_2"), receipt="{}")
    store.runs.complete(lease_run(store), answer="done")
    assert store.deadlines.apply("retire:run_1").outcome is Outcome.REPEATED
    redis_client.zadd(store.keys.deadlines, {"retire:run_1": 1})
    assert store.deadlines.apply("retire:run_1").outcome is Outcome.REPEATED  # its events are not drained yet
    store.ledger.drop([event_id for event_id, _ in store.ledger.read()])
    redis_client.zadd(store.keys.deadlines, {"retire:run_1": 1})
    assert store.deadlines.apply("retire:run_1").outcome is Outcome.OK
    assert [key for key in redis_client.scan_iter() if re.search(rb"run_1|call_|batch_", key)] == []
    assert owed(store) == set()


def test_a_run_with_an_unsettled_call_is_never_forgotten(store: Store, redis_client: redis.Redis) -> None:
    paused(store, an_auto("call_1"))
    taken = claim(store, lease_batch(store, "batch_auto"))
    store.effects.intend(taken)
    store.effects.abandon("call_1", reason="timeout", token=taken.token)
    store.effects.answer_unknown("call_1")
    store.runs.complete(lease_run(store), answer="done")
    store.ledger.drop([event_id for event_id, _ in store.ledger.read()])
    redis_client.zadd(store.keys.deadlines, {"retire:run_1": 1})
    assert store.deadlines.apply("retire:run_1").outcome is Outcome.REPEATED
    redis_client.srem(store.keys.dead_letters, "call:call_1")  # also when nothing of it waits for ops
    redis_client.zadd(store.keys.deadlines, {"retire:run_1": 1})
    assert store.deadlines.apply("retire:run_1").outcome is Outcome.REPEATED
    assert loaded(store, "call_1").state is State.UNKNOWN


def test_no_key_of_an_open_run_ever_expires(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"), an_auto("call_2", number=2))
    approve(store)
    claim(store, lease_batch(store))
    assert [key for key in redis_client.scan_iter() if redis_client.ttl(key) != -1] == []


def test_a_run_without_a_thread_gets_the_one_its_opening_message_opens(store: Store) -> None:
    store.runs.start("run_1", request="r", requester=REQUESTER, channel=CHANNEL, thread_ts="", agent="")

    store.outbox.delivered("opening:run_1", version=1, channel=CHANNEL, ts="1700000001.000001")

    run = store.runs.load("run_1")
    assert run is not None
    assert run.thread_ts == "1700000001.000001"
    assert store.runs.newest_in_thread(CHANNEL, "1700000001.000001") == run


def test_runs_that_have_no_thread_yet_do_not_share_one(store: Store) -> None:
    store.runs.start("run_1", request="r", requester=REQUESTER, channel=CHANNEL, thread_ts="", agent="")

    assert store.runs.newest_in_thread(CHANNEL, "") is None


def test_a_run_of_a_thread_keeps_it_when_its_opening_is_delivered(store: Store) -> None:
    store.runs.start("run_1", request="r", requester=REQUESTER, channel=CHANNEL, thread_ts=THREAD, agent="")

    store.outbox.delivered("opening:run_1", version=1, channel=CHANNEL, ts="1700000001.000001")

    run = store.runs.load("run_1")
    assert run is not None
    assert run.thread_ts == THREAD
