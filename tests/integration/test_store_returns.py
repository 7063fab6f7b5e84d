"""Calls that come back to their reviewers, and calls of which nobody can tell what became of them."""

import pytest
import redis

from approvals.lifecycle import Cause, State
from approvals.models import Batch, BatchLease, Claim
from approvals.outcomes import Answer, Outcome
from approvals.store import Store
from approvals.stuck import open_alerts
from builders import (
    ANA,
    LONG,
    a_call,
    a_content,
    a_pause,
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

CHANGED = '{"payment_id":"pay_1","amount":90}'
HOUR = 3_600_000


def approved(store: Store, *keys: str) -> BatchLease:
    calls = [a_call(key, number=number) for number, key in enumerate(keys or ("call_1",), start=1)]
    paused(store, *calls)
    for call in calls:
        approve(store, call.key)
    return lease_batch(store)


def release(store: Store, taken: Claim) -> Answer:
    return store.effects.release(taken, content=a_content(CHANGED), seal="seal-2", difference=["pay_2 is gone"])


def batch_of(store: Store, batch_id: str = "batch_a") -> Batch:
    batch = store.batches.load(batch_id)
    assert batch is not None
    return batch


def abandoned(store: Store) -> Claim:
    taken = claim(store, approved(store))
    store.effects.intend(taken)
    assert store.effects.abandon("call_1", token=taken.token, reason="timeout").ok
    return taken


def test_a_released_call_is_decided_anew_on_the_same_card(store: Store, redis_client: redis.Redis) -> None:
    lease = approved(store)
    taken = claim(store, lease)
    move(redis_client, store.keys.batch("batch_a"), decide_by=store.now() - 1)
    assert release(store, taken) == (Outcome.OK, {"version": "2", "state": "pending_review"})
    assert release(store, taken) == (Outcome.REPEATED, {"version": "2", "state": "pending_review"})
    call, batch = loaded(store, "call_1"), batch_of(store)
    assert (call.version, call.seal, call.execute_by, call.content.arguments) == (2, "seal-2", None, CHANGED)
    assert call.content.previous == ("pay_2 is gone",)
    assert batch.generation == lease.generation + 1
    assert abs((batch.decide_by or 0) - store.now() - 900_000) < 5_000
    assert redis_client.zscore(store.keys.deadlines, "decide:batch_a") == batch.decide_by
    assert "card:batch_a" in owed(store)
    assert store.effects.intend(taken).outcome is Outcome.LEASE_LOST
    assert approve(store, version=1).outcome is Outcome.STALE_VERSION
    assert approve(store, version=2).detail["verdict"] == "approved"
    assert events(store, "call_1")[-3:] == ["claimed", "released", "approved"]


def test_a_returned_call_does_not_stop_its_siblings(store: Store) -> None:
    lease = approved(store, "call_1", "call_2")
    release(store, claim(store, lease, "call_1", token="c1"))
    assert [call.key for call in store.batches.claimable("batch_a")] == ["call_2"]
    store.effects.succeed(claim(store, lease, "call_2", token="c2"), receipt="{}")
    approve(store, "call_1", version=2)
    assert store.batches.finish(lease)
    assert "execute_batch:batch_a" in waking(store)
    again = lease_batch(store, token="next")
    assert claim(store, again, "call_1", token="c3").version == 2


def test_only_the_claims_holder_releases_and_only_before_the_intent(store: Store) -> None:
    taken = claim(store, approved(store))
    assert release(store, taken.model_copy(update={"token": "other"})).outcome is Outcome.LEASE_LOST
    store.effects.intend(taken)
    assert release(store, taken) == (Outcome.WRONG_STATE, {"state": "executing"})


def test_a_return_without_time_for_another_decision_lapses(store: Store, redis_client: redis.Redis) -> None:
    lease = approved(store)
    taken = claim(store, lease)
    move(redis_client, store.keys.batch("batch_a"), posted_at=store.now() - 24 * HOUR + 660_000)
    assert release(store, taken).outcome is Outcome.LAPSED
    call = loaded(store, "call_1")
    assert (call.state, call.cause) == (State.EXPIRED, Cause.LAPSED)
    assert events(store, "call_1")[-2:] == ["unclaimed", "lapsed"]


def test_the_fresh_time_of_a_return_ends_with_the_24_hours(store: Store, redis_client: redis.Redis) -> None:
    lease = approved(store)
    taken = claim(store, lease)
    posted = store.now() - 24 * HOUR + 900_000
    move(redis_client, store.keys.batch("batch_a"), posted_at=posted)
    assert release(store, taken).outcome is Outcome.OK
    assert batch_of(store).decide_by == posted + 24 * HOUR - 600_000


def test_a_revoked_approval_is_asked_for_again(store: Store) -> None:
    lease = approved(store)
    said = {"content": a_content(CHANGED), "seal": "seal-2", "reason": "U0Ana is no longer a reviewer"}
    assert store.effects.revoke("call_1", lease=lease, **said).outcome is Outcome.OK
    assert store.effects.revoke("call_1", lease=lease, **said).outcome is Outcome.REPEATED
    call = loaded(store, "call_1")
    assert (call.state, call.version, call.content.arguments) == (State.PENDING_REVIEW, 2, CHANGED)
    assert try_claim(store, lease)[0].outcome is Outcome.WRONG_STATE
    assert approve(store, version=2, by=ANA).detail["verdict"] == "approved"
    assert store.effects.revoke("nowhere", lease=lease, **said).outcome is Outcome.NOT_FOUND


def test_an_auto_call_is_judged_again_instead(store: Store) -> None:
    paused(store, an_auto("call_1"))
    lease = lease_batch(store, "batch_auto")
    taken = claim(store, lease)
    assert release(store, taken).detail["state"] == "proposed"
    assert [call.key for call in store.batches.held("batch_auto")] == ["call_1"]
    assert store.batches.finish(lease)
    assert "execute_batch:batch_auto" in waking(store)
    again = lease_batch(store, "batch_auto", token="next")
    assert store.calls.auto_approve("call_1", lease=again).outcome is Outcome.OK
    assert claim(store, again, token="c2").version == 2


def test_a_returned_call_holds_the_autos_of_its_pause_back_again(store: Store) -> None:
    paused(store, a_call("call_1"), an_auto("call_2", number=2, held=True))
    approve(store)
    release(store, claim(store, lease_batch(store)))
    assert store.batches.held("batch_auto") == []
    assert store.batches.lease("batch_auto", token="t", ttl_ms=LONG) is None
    reject(store, version=2)
    assert [call.key for call in store.batches.held("batch_auto")] == ["call_2"]


def test_a_receipt_settles_an_unknown_call_at_any_time(store: Store) -> None:
    taken = abandoned(store)
    assert store.effects.succeed(taken, receipt='{"refund":"re_1"}').outcome is Outcome.OK
    call = loaded(store, "call_1")
    assert (call.state, call.receipt) == (State.SUCCEEDED, '{"refund":"re_1"}')
    assert events(store, "call_1")[-2:] == ["unknown", "settled"]
    assert waking(store) == {"resume_run:run_1", "execute_batch:batch_a"}


def test_the_workers_late_proof_settles_an_unknown_call(store: Store) -> None:
    assert store.effects.fail(abandoned(store), reason="refused at the door").outcome is Outcome.OK
    assert loaded(store, "call_1").state is State.FAILED
    assert events(store, "call_1")[-1] == "settled"


@pytest.mark.parametrize(("happened", "state"), [(True, State.SUCCEEDED), (False, State.FAILED)])
def test_an_operator_settles_what_nobody_could_tell(store: Store, *, happened: bool, state: State) -> None:
    abandoned(store)
    assert store.effects.alert_unknown("call_1").ok
    before = store.outbox.load("alert:call:call_1")
    receipt = '{"seen":true}' if happened else None
    said = {"happened": happened, "by": "U0OPS", "reason": "looked it up", "receipt": receipt}
    assert store.effects.settle("call_1", **said).outcome is Outcome.OK
    assert store.effects.settle("call_1", **said).outcome is Outcome.REPEATED
    assert store.effects.settle("call_1", **{**said, "happened": not happened}).outcome is Outcome.WRONG_STATE
    assert store.effects.settle("nowhere", **said).outcome is Outcome.NOT_FOUND
    call, alert = loaded(store, "call_1"), store.outbox.load("alert:call:call_1")
    assert (call.state, call.receipt) == (state, receipt)
    assert before is not None
    assert alert is not None
    assert alert.desired == before.desired + 1
    assert "resume_run:run_1" in waking(store)


def test_a_receipt_that_contradicts_a_settlement_is_kept_and_told_to_ops(store: Store) -> None:
    taken = abandoned(store)
    assert store.effects.alert_unknown("call_1").ok
    store.effects.settle("call_1", happened=False, by="U0OPS", reason="not there")
    before = store.outbox.load("alert:call:call_1")
    assert store.effects.late_receipt("call_1") is None
    assert store.effects.succeed(taken, receipt='{"refund":"re_9"}') == (Outcome.WRONG_STATE, {"state": "failed"})
    store.effects.succeed(taken, receipt='{"refund":"re_9"}')
    alert = store.outbox.load("alert:call:call_1")
    assert before is not None
    assert alert is not None
    assert loaded(store, "call_1").state is State.FAILED
    assert store.effects.late_receipt("call_1") == '{"refund":"re_9"}'
    assert events(store, "call_1").count("contradicted") == 1
    assert alert.desired == before.desired + 1


def test_what_a_worker_proves_after_an_operator_said_otherwise_changes_nothing_and_ops_is_told_once(
    store: Store,
) -> None:
    taken = abandoned(store)
    assert store.effects.alert_unknown("call_1").ok
    assert store.effects.settle("call_1", happened=True, by="U0OPS", reason="seen there").ok
    before = store.outbox.load("alert:call:call_1")
    for _ in range(2):
        answer = store.effects.fail(taken, reason="the provider refused it")
        assert answer == (Outcome.WRONG_STATE, {"state": "succeeded"})
    call, alert = loaded(store), store.outbox.load("alert:call:call_1")
    assert (call.state, call.contradicted) == (State.SUCCEEDED, State.FAILED)
    assert events(store, "call_1").count("contradicted") == 1
    assert before is not None
    assert alert is not None
    assert alert.desired == before.desired + 1
    assert store.runs.client.sismember(store.keys.dead_letters, "call:call_1")


def test_a_contradiction_stays_with_ops_until_somebody_has_seen_it(store: Store) -> None:
    taken = abandoned(store)
    assert store.effects.settle("call_1", happened=False, by="U0OPS", reason="not there").ok
    store.outbox.owe("alert", "call:call_1")
    assert open_alerts(store.runs) == []
    store.effects.succeed(taken, receipt="{}")
    assert loaded(store).contradicted is State.SUCCEEDED
    assert open_alerts(store.runs) == ["call:call_1"]


def test_a_receipt_that_0_1_kept_beside_a_settlement_is_a_contradiction(store: Store) -> None:
    taken = abandoned(store)
    assert store.effects.settle("call_1", happened=False, by="U0OPS", reason="not there").ok
    store.effects.succeed(taken, receipt="{}")
    store.runs.client.hdel(store.keys.call("call_1"), "late_word")
    assert loaded(store).contradicted is State.SUCCEEDED


def test_a_receipt_of_a_foreign_claim_settles_nothing_and_is_kept(store: Store) -> None:
    taken = abandoned(store)
    assert store.effects.succeed(taken.model_copy(update={"token": "x"}), receipt="{}").outcome is Outcome.LEASE_LOST
    assert loaded(store, "call_1").state is State.UNKNOWN
    assert store.effects.late_receipt("call_1") == "{}"


def test_an_unknown_call_is_answered_after_its_deadline_and_may_be_settled_later(
    store: Store, redis_client: redis.Redis
) -> None:
    taken = abandoned(store)
    assert store.deadlines.apply("unknown:call_1").outcome is Outcome.REPEATED
    redis_client.zadd(store.keys.deadlines, {"unknown:call_1": 1})
    assert store.deadlines.apply("unknown:call_1").outcome is Outcome.OK
    assert store.deadlines.apply("unknown:call_1").outcome is Outcome.REPEATED
    assert loaded(store, "call_1").state is State.UNKNOWN
    assert {"resume_run:run_1"} <= waking(store)
    assert "reconcile_call:call_1" not in waking(store)
    assert "outcome:run_1:1" in owed(store)
    lease = store.runs.lease("run_1", token="t", ttl_ms=LONG)
    assert lease is not None
    store.runs.complete(lease, answer="one refund is unknown")
    assert store.effects.succeed(taken, receipt="{}").outcome is Outcome.OK
    run = store.runs.load("run_1")
    assert run is not None
    assert run.state == "completed"
    assert "resume_run:run_1" not in waking(store)


def test_answering_unknown_by_hand_needs_an_unknown_call(store: Store) -> None:
    lease = approved(store)
    assert store.effects.answer_unknown("call_1") == (Outcome.WRONG_STATE, {"state": "approved"})
    taken = claim(store, lease)
    store.effects.intend(taken)
    store.effects.abandon("call_1", token=taken.token, reason="timeout")
    assert store.effects.answer_unknown("call_1").outcome is Outcome.OK
    assert store.effects.answer_unknown("call_1").outcome is Outcome.REPEATED


def test_a_late_settlement_does_not_resume_a_run_that_waits_in_a_later_pause(store: Store) -> None:
    taken = abandoned(store)
    store.effects.answer_unknown("call_1")
    lease = store.runs.lease("run_1", token="t", ttl_ms=LONG)
    assert lease is not None
    assert store.runs.pause(lease, a_pause(a_call("call_9", batch="batch_9"))).ok
    assert store.effects.succeed(taken, receipt="{}").outcome is Outcome.OK
    run = store.runs.load("run_1")
    assert run is not None
    assert (run.state, run.pause) == ("paused", 2)
    assert "resume_run:run_1" not in waking(store)
    outcome = store.outbox.load("outcome:run_1:1")
    assert outcome is not None
    assert outcome.desired == 2


def test_a_call_that_comes_back_is_told_again_to_those_who_were_told_directly(
    store: Store, redis_client: redis.Redis
) -> None:
    lease = approved(store)
    redis_client.sadd(store.keys.batch_told("batch_a"), "U0BEN")
    taken = claim(store, lease)
    assert "direct:batch_a:U0BEN" not in owed(store)
    assert release(store, taken).ok
    assert "direct:batch_a:U0BEN" in owed(store)
