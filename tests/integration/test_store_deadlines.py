import threading

import pytest
import redis

from approvals.lifecycle import Cause, State
from approvals.models import Batch
from approvals.outcomes import Outcome
from approvals.store import Store
from builders import (
    CHANNEL,
    a_call,
    an_auto,
    approve,
    claim,
    events,
    lease_batch,
    loaded,
    move,
    owed,
    paused,
    reject,
    try_claim,
    waking,
)

HOUR = 3_600_000


def let_pass(store: Store, client: redis.Redis, member: str) -> None:
    """The deadline is over, in its index and wherever its verb looks."""
    over = store.now() - 1
    kind, _, subject = member.partition(":")
    client.zadd(store.keys.deadlines, {member: over})
    if kind in {"decide", "post"}:
        move(client, store.keys.batch(subject), **{f"{kind}_by": over})
    else:
        move(client, store.keys.call(subject), **{"lapse": {"execute_by": over}, "lease": {"lease_until": over}}[kind])


def batch_of(store: Store) -> Batch:
    batch = store.batches.load("batch_a")
    assert batch is not None
    return batch


def test_nothing_is_due_before_its_time(store: Store) -> None:
    paused(store, a_call("call_1"))
    assert store.deadlines.due() == []
    assert store.deadlines.apply("decide:batch_a").outcome is Outcome.REPEATED
    assert loaded(store, "call_1").state is State.PENDING_REVIEW


def test_the_time_to_decide_starts_when_the_card_is_posted(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"), posted=False)
    answer = store.batches.record_posted("batch_a", channel=CHANNEL, ts="1.1")
    batch = batch_of(store)
    assert answer == (Outcome.OK, {"decide_by": str(batch.decide_by)})
    assert batch.decide_by == (batch.posted_at or 0) + 900_000
    assert (batch.channel, batch.ts) == (CHANNEL, "1.1")
    assert redis_client.zrange(store.keys.deadlines, 0, -1) == [
        b"remind:batch_a",
        b"escalate:batch_a",
        b"decide:batch_a",
    ]
    assert store.batches.record_posted("batch_a", channel=CHANNEL, ts="1.1").outcome is Outcome.REPEATED
    assert store.batches.record_posted("nowhere", channel=CHANNEL, ts="1.1").outcome is Outcome.NOT_FOUND
    assert events(store).count("posted") == 1


def test_a_card_posted_again_keeps_its_first_decide_by(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    move(redis_client, store.keys.batch("batch_a"), posted_at=1, decide_by=900_001)
    store.batches.record_posted("batch_a", channel=CHANNEL, ts="2.2")
    batch = batch_of(store)
    assert (batch.ts, batch.posted_at, batch.decide_by) == ("2.2", 1, 900_001)


def test_time_to_decide_and_to_run_end_24_hours_after_the_posting(store: Store) -> None:
    paused(store, a_call("call_1"), ttl_s=24 * 3600, lapse_s=1800)
    batch = batch_of(store)
    assert batch.decide_by == (batch.posted_at or 0) + 24 * HOUR - HOUR // 2


def test_expiry_of_a_batch_leaves_decided_calls_alone_and_is_nobodys_decision(
    store: Store, redis_client: redis.Redis
) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2), a_call("call_3", number=3))
    approve(store, "call_1")
    reject(store, "call_2")
    let_pass(store, redis_client, "decide:batch_a")
    assert store.deadlines.due() == ["decide:batch_a"]
    assert store.deadlines.apply("decide:batch_a") == (Outcome.OK, {"expired": "1"})
    states = [(call.state, call.cause) for call in store.calls.of_pause("run_1", 1)]
    assert states == [(State.APPROVED, None), (State.REJECTED, Cause.PERSON), (State.EXPIRED, Cause.NOBODY)]
    assert waking(store) == {"execute_batch:batch_a"}
    assert "alert:batch_a" in owed(store)
    assert list(store.vetoes.of_thread(CHANNEL, "1700000000.000100")) == ["refund_payments|pay_1"]
    assert store.deadlines.apply("decide:batch_a").outcome is Outcome.REPEATED
    assert store.deadlines.due() == []


def test_a_decided_batch_has_no_deadline_any_more(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    reject(store)
    assert redis_client.zrange(store.keys.deadlines, 0, -1) == []


@pytest.mark.parametrize("seconds", [1, 7, 900, 4 * 3600, 23 * 3600])
def test_people_are_reminded_at_half_of_their_time_and_the_next_tier_comes_at_four_fifths(
    seconds: int, store: Store, redis_client: redis.Redis
) -> None:
    paused(store, a_call("call_1"), ttl_s=seconds, lapse_s=3600)
    batch, ms = batch_of(store), seconds * 1000
    assert batch.posted_at is not None
    assert batch.decide_by == batch.posted_at + ms
    due = {kind: redis_client.zscore(store.keys.deadlines, f"{kind}:batch_a") for kind in ("remind", "escalate")}
    assert due == {"remind": batch.posted_at + ms // 2, "escalate": batch.posted_at + ms * 4 // 5}


def test_what_could_not_be_posted_within_the_hour_expires_and_ops_is_told(
    store: Store, redis_client: redis.Redis
) -> None:
    paused(store, a_call("call_1"), posted=False)
    score = redis_client.zscore(store.keys.deadlines, "post:batch_a") or 0
    assert abs(score - store.now() - HOUR) < 5_000
    assert store.deadlines.apply("post:batch_a").outcome is Outcome.REPEATED
    let_pass(store, redis_client, "post:batch_a")
    assert store.deadlines.apply("post:batch_a") == (Outcome.OK, {"expired": "1"})
    assert store.deadlines.apply("post:batch_a").outcome is Outcome.REPEATED
    assert loaded(store, "call_1").cause is Cause.UNPOSTED
    assert "alert:batch_a" in owed(store)
    assert approve(store).outcome is Outcome.EXPIRED


def test_an_unused_approval_lapses(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    approve(store)
    assert store.deadlines.apply("lapse:call_1").outcome is Outcome.REPEATED
    let_pass(store, redis_client, "lapse:call_1")
    assert store.deadlines.apply("lapse:call_1").outcome is Outcome.OK
    assert store.deadlines.apply("lapse:call_1").outcome is Outcome.REPEATED
    assert (loaded(store, "call_1").state, loaded(store, "call_1").cause) == (State.EXPIRED, Cause.LAPSED)
    assert "resume_run:run_1" in waking(store)


def test_when_what_people_approved_lapses_ops_is_told_once_for_its_card(
    store: Store, redis_client: redis.Redis
) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2), an_auto("call_3", number=3))
    for key in ("call_1", "call_2"):
        approve(store, key)
    assert "alert:lapse:batch_a" not in owed(store)
    for key in ("call_1", "call_2", "call_3"):
        let_pass(store, redis_client, f"lapse:{key}")
        assert store.deadlines.apply(f"lapse:{key}").ok
    assert [entry for entry in owed(store) if entry.startswith("alert:")] == ["alert:lapse:batch_a"]


def test_a_claim_that_comes_too_late_tells_ops_as_well(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    approve(store)
    lease = lease_batch(store)
    let_pass(store, redis_client, "lapse:call_1")
    assert try_claim(store, lease)[0].outcome is Outcome.LAPSED
    assert "alert:lapse:batch_a" in owed(store)


def test_a_claimed_call_does_not_lapse(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    approve(store)
    claim(store, lease_batch(store))
    let_pass(store, redis_client, "lapse:call_1")
    assert store.deadlines.apply("lapse:call_1").outcome is Outcome.REPEATED
    assert loaded(store, "call_1").state is State.EXECUTING


def test_a_lease_lost_before_the_intent_gives_the_call_back_and_wakes_its_batch(
    store: Store, redis_client: redis.Redis
) -> None:
    paused(store, a_call("call_1"))
    approve(store)
    lease = lease_batch(store)
    claim(store, lease)
    generation = batch_of(store).generation
    let_pass(store, redis_client, "lease:call_1")
    assert store.deadlines.due() == ["lease:call_1"]
    assert store.deadlines.apply("lease:call_1").outcome is Outcome.OK
    assert store.deadlines.apply("lease:call_1").outcome is Outcome.REPEATED
    assert loaded(store, "call_1").state is State.APPROVED
    assert batch_of(store).generation == generation + 1
    assert ("execute_batch", "batch_a") in [wakeup[:2] for wakeup in store.wakeups.due()]
    assert redis_client.zscore(store.keys.deadlines, "lapse:call_1") == loaded(store, "call_1").execute_by
    assert try_claim(store, lease, token="again")[0].outcome is Outcome.OK


def test_a_lease_lost_after_the_intent_is_never_dispatched_again(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    approve(store)
    lease = lease_batch(store)
    store.effects.intend(claim(store, lease))
    let_pass(store, redis_client, "lease:call_1")
    assert store.deadlines.apply("lease:call_1").outcome is Outcome.OK
    assert loaded(store, "call_1").state is State.UNKNOWN
    assert store.batches.claimable("batch_a") == []
    assert try_claim(store, lease, token="again")[0].outcome is Outcome.WRONG_STATE
    assert "reconcile_call:call_1" in waking(store)
    assert events(store, "call_1")[-1] == "unknown"


def test_a_member_that_is_no_deadline_is_not_found_and_forgotten_subjects_are_cleared(
    store: Store, redis_client: redis.Redis
) -> None:
    assert store.deadlines.apply("tea:time").outcome is Outcome.NOT_FOUND
    members = ["post:x", "decide:x", "lapse:x", "lease:x", "retire:x"]
    redis_client.zadd(store.keys.deadlines, dict.fromkeys(members, 1))
    assert sorted(store.deadlines.due()) == sorted(members)
    assert {store.deadlines.apply(member).outcome for member in members} == {Outcome.NOT_FOUND}
    assert store.deadlines.due() == []


def test_several_clocks_at_once_expire_every_call_once(store: Store, redis_client: redis.Redis) -> None:
    calls = [a_call(f"call_{n}", number=n, batch=f"batch_{n // 4}") for n in range(40)]
    paused(store, *calls, an_auto("auto", number=99, held=True))
    for n in range(10):
        let_pass(store, redis_client, f"decide:batch_{n}")
    start, expired = threading.Barrier(4), []

    def sweep() -> None:
        start.wait()
        answers = [store.deadlines.apply(member) for member in store.deadlines.due()]
        expired.extend(int(answer.detail.get("expired", "0")) for answer in answers)

    clocks = [threading.Thread(target=sweep) for _ in range(4)]
    for clock in clocks:
        clock.start()
    for clock in clocks:
        clock.join()
    assert sum(expired) == 40
    assert events(store).count("expired") == 40
    assert waking(store) == {"execute_batch:batch_auto"}
