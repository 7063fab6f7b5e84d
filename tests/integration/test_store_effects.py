import redis

from approvals.lifecycle import Cause, State
from approvals.models import Batch, BatchLease, Claim
from approvals.outcomes import Outcome
from approvals.store import Store
from builders import (
    ANA,
    BEN,
    LONG,
    a_call,
    a_person,
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


def approved(store: Store, *calls: object, **changes: object) -> BatchLease:
    """Approved calls of one batch (by default `call_1`), and the batch's lease."""
    paused(store, *(calls or (a_call("call_1"),)), **changes)
    for key in store.batches.view("batch_a").batch.calls:
        approve(store, key)
    return lease_batch(store)


def intended(store: Store, lease: BatchLease) -> Claim:
    taken = claim(store, lease)
    assert store.effects.intend(taken).outcome is Outcome.OK
    return taken


def loaded_batch(store: Store) -> Batch:
    batch = store.batches.load("batch_a")
    assert batch is not None
    return batch


def test_claim_intent_receipt_is_the_way_of_an_effect(store: Store) -> None:
    lease = approved(store)
    answer, taken = try_claim(store, lease)
    assert answer.outcome is Outcome.OK
    assert taken is not None
    assert loaded(store, "call_1").state is State.EXECUTING
    assert store.effects.intend(taken).outcome is Outcome.OK
    assert loaded(store, "call_1").intended
    assert store.effects.succeed(taken, receipt='{"refund":"re_1"}').outcome is Outcome.OK
    call = loaded(store, "call_1")
    assert (call.state, call.receipt) == (State.SUCCEEDED, '{"refund":"re_1"}')
    assert events(store, "call_1") == ["proposed", "approved", "claimed", "intended", "succeeded"]
    assert "resume_run:run_1" in waking(store)


def test_every_verb_of_the_gate_may_be_repeated(store: Store) -> None:
    lease = approved(store)
    first = try_claim(store, lease)
    assert try_claim(store, lease) == (first[0]._replace(outcome=Outcome.REPEATED), first[1])
    taken = claim(store, lease)
    store.effects.intend(taken)
    assert store.effects.intend(taken).outcome is Outcome.REPEATED
    store.effects.succeed(taken, receipt="{}")
    assert store.effects.succeed(taken, receipt="{}").outcome is Outcome.REPEATED
    assert events(store, "call_1") == ["proposed", "approved", "claimed", "intended", "succeeded"]


def test_a_call_is_claimed_once(store: Store) -> None:
    lease = approved(store)
    claim(store, lease)
    assert try_claim(store, lease, token="claim-2") == ((Outcome.WRONG_STATE, {"state": "executing"}), None)
    assert try_claim(store, lease, "call_1")[0].outcome is Outcome.REPEATED


def test_an_approved_call_whose_batch_is_not_settled_cannot_be_claimed(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    approve(store, "call_1")
    redis_client.hset(
        store.keys.batch("batch_a"), mapping={"token": "t", "epoch": "1", "lease_until": str(store.now() + LONG)}
    )
    lease = BatchLease(batch="batch_a", run="run_1", token="t", epoch=1, generation=0)
    assert try_claim(store, lease)[0] == (Outcome.WRONG_STATE, {"state": "approved"})


def test_a_claim_needs_the_lease_of_its_own_batch(store: Store, redis_client: redis.Redis) -> None:
    lease = approved(store)
    assert try_claim(store, lease.model_copy(update={"epoch": 9}))[0].outcome is Outcome.LEASE_LOST
    assert try_claim(store, lease.model_copy(update={"token": "other"}))[0].outcome is Outcome.LEASE_LOST
    assert try_claim(store, lease.model_copy(update={"batch": "batch_b"}))[0].outcome is Outcome.LEASE_LOST
    move(redis_client, store.keys.batch("batch_a"), lease_until=store.now())
    assert try_claim(store, lease)[0].outcome is Outcome.LEASE_LOST
    assert loaded(store, "call_1").state is State.APPROVED


def test_the_lease_of_one_batch_claims_nothing_of_another(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2, batch="batch_b"))
    approve(store, "call_1")
    approve(store, "call_2")
    other = lease_batch(store, "batch_b")
    assert try_claim(store, other, "call_1")[0].outcome is Outcome.LEASE_LOST
    assert try_claim(store, other, "call_2")[0].outcome is Outcome.OK


def test_nothing_is_claimed_after_its_execute_by(store: Store, redis_client: redis.Redis) -> None:
    lease = approved(store)
    move(redis_client, store.keys.call("call_1"), execute_by=store.now())
    answer, taken = try_claim(store, lease)
    assert (answer.outcome, taken) == (Outcome.LAPSED, None)
    call = loaded(store, "call_1")
    assert (call.state, call.cause) == (State.EXPIRED, Cause.LAPSED)
    assert events(store, "call_1")[-1] == "lapsed"


def test_nothing_is_claimed_under_another_seal_than_the_stored_one(store: Store) -> None:
    lease = approved(store)
    assert try_claim(store, lease, seal="seal-tampered")[0] == (Outcome.STALE_VERSION, {"version": "1"})
    assert loaded(store, "call_1").state is State.APPROVED


def test_nothing_is_claimed_unless_every_approver_is_still_there(store: Store, redis_client: redis.Redis) -> None:
    lease = approved(store)
    assert try_claim(store, lease, people=[BEN])[0] == (Outcome.STALE_PERSON, {"user": ANA})
    left = store.people.put(a_person(ANA, deactivated=True))
    assert store.effects.claim(
        "call_1", lease=lease, token="t", seal="seal-call_1-1", ttl_ms=LONG, people=[left], day="d"
    ) == ((Outcome.STALE_PERSON, {"user": ANA}), None)
    seen = store.people.put(a_person(ANA))
    move(redis_client, store.keys.person(ANA), fetched_at=store.now() - 61_000)
    answer, _ = store.effects.claim(
        "call_1", lease=lease, token="t", seal="seal-call_1-1", ttl_ms=LONG, people=[seen], day="d"
    )
    assert answer.outcome is Outcome.STALE_PERSON


def test_an_approval_that_is_not_in_the_store_is_none(store: Store, redis_client: redis.Redis) -> None:
    lease = approved(store)
    redis_client.delete(store.keys.votes("call_1"))
    assert try_claim(store, lease)[0].outcome is Outcome.WRONG_STATE


def test_a_freeze_stops_claims_and_intents_but_no_decision_and_no_receipt(store: Store) -> None:
    lease = approved(store, a_call("call_1"), a_call("call_2", number=2))
    first = claim(store, lease, "call_1")
    assert store.switches.freeze("U0OPS", "restored from a backup").outcome is Outcome.OK
    assert try_claim(store, lease, "call_2", token="claim-2")[0].outcome is Outcome.FROZEN
    assert store.effects.intend(first).outcome is Outcome.FROZEN
    assert store.effects.unclaim("call_1", token=first.token).outcome is Outcome.OK
    assert store.batches.finish(lease)
    assert "execute_batch:batch_a" in waking(store)  # taken up again by itself after the freeze
    paused(store, a_call("call_3", batch="batch_c"), run="run_2")
    assert approve(store, "call_3").outcome is Outcome.OK
    store.switches.unfreeze("U0OPS")
    assert claim(store, lease_batch(store, token="next"), "call_1", token="claim-3")


def test_an_intent_after_the_lease_is_refused(store: Store, redis_client: redis.Redis) -> None:
    taken = claim(store, approved(store))
    move(redis_client, store.keys.call("call_1"), lease_until=store.now())
    assert store.effects.intend(taken).outcome is Outcome.LEASE_LOST
    assert not store.effects.renew(taken, ttl_ms=LONG)
    assert not loaded(store, "call_1").intended


def test_an_intent_under_another_token_is_refused(store: Store) -> None:
    foreign = claim(store, approved(store)).model_copy(update={"token": "other"})
    assert store.effects.intend(foreign).outcome is Outcome.LEASE_LOST
    assert not store.effects.renew(foreign, ttl_ms=LONG)
    assert not loaded(store, "call_1").intended


def test_a_renewed_claim_is_not_lost(store: Store, redis_client: redis.Redis) -> None:
    taken = claim(store, approved(store))
    assert store.effects.renew(taken, ttl_ms=LONG)
    redis_client.zadd(store.keys.deadlines, {"lease:call_1": 1})
    assert store.deadlines.apply("lease:call_1").outcome is Outcome.REPEATED
    assert loaded(store, "call_1").state is State.EXECUTING
    assert (redis_client.zscore(store.keys.deadlines, "lease:call_1") or 0) > store.now()


def test_an_effect_that_provably_did_not_happen_failed(store: Store) -> None:
    taken = intended(store, approved(store))
    assert store.effects.fail(taken, reason="the card has expired").outcome is Outcome.OK
    assert store.effects.fail(taken, reason="the card has expired").outcome is Outcome.REPEATED
    assert loaded(store, "call_1").reason == "the card has expired"
    assert store.effects.fail(taken.model_copy(update={"token": "x"}), reason="r").outcome is Outcome.LEASE_LOST


def test_nobody_can_tell_wakes_reconcile_before_ops_and_keeps_the_run_waiting(
    store: Store, redis_client: redis.Redis
) -> None:
    taken = intended(store, approved(store))
    assert store.effects.abandon("call_1", token=taken.token, reason="timeout").outcome is Outcome.OK
    assert store.effects.abandon("call_1", token=taken.token, reason="timeout").outcome is Outcome.REPEATED
    assert loaded(store, "call_1").state is State.UNKNOWN
    assert "reconcile_call:call_1" in waking(store)
    assert "resume_run:run_1" not in waking(store)
    assert "card:batch_a" in owed(store)
    assert "alert:call:call_1" not in owed(store)
    posted = loaded_batch(store).posted_at or 0
    assert redis_client.zscore(store.keys.deadlines, "unknown:call_1") == posted + 25 * 3_600_000


def test_without_its_token_a_claim_is_undone_only_once_its_lease_is_over(
    store: Store, redis_client: redis.Redis
) -> None:
    taken = claim(store, approved(store))
    assert store.effects.unclaim("call_1").outcome is Outcome.LEASE_LOST
    assert store.effects.abandon("call_1", reason="r") == (Outcome.WRONG_STATE, {"state": "executing"})
    store.effects.intend(taken)
    assert store.effects.abandon("call_1", reason="r").outcome is Outcome.LEASE_LOST
    assert store.effects.unclaim("call_1", token=taken.token).outcome is Outcome.WRONG_STATE
    move(redis_client, store.keys.call("call_1"), lease_until=store.now())
    assert store.effects.abandon("call_1", reason="r").outcome is Outcome.OK


def test_unclaim_gives_the_same_answer_twice_and_the_call_can_be_claimed_again(store: Store) -> None:
    lease = approved(store)
    taken = claim(store, lease)
    assert store.effects.unclaim("call_1", token=taken.token).outcome is Outcome.OK
    assert store.effects.unclaim("call_1", token=taken.token).outcome is Outcome.REPEATED
    assert store.effects.intend(taken).outcome is Outcome.LEASE_LOST
    assert claim(store, lease, token="claim-2")


def test_an_approved_call_that_cannot_run_is_refused_without_a_veto(store: Store) -> None:
    lease = approved(store)
    refused = {"lease": lease, "cause": Cause.CAP, "reason": "the day's cap is reached"}
    assert store.effects.refuse("call_1", **refused).outcome is Outcome.OK
    assert store.effects.refuse("call_1", **refused).outcome is Outcome.REPEATED
    call = loaded(store, "call_1")
    assert (call.state, call.cause, call.reason) == (State.REJECTED, Cause.CAP, "the day's cap is reached")
    assert store.vetoes.of_thread("C0PAY", "1700000000.000100") == {}
    lost = lease.model_copy(update={"epoch": 5})
    assert store.effects.refuse("call_1", **{**refused, "lease": lost}).outcome is Outcome.LEASE_LOST


def test_an_auto_call_goes_the_same_way_without_any_person(store: Store) -> None:
    paused(store, an_auto("call_1", held=True), a_call("call_2", number=2))
    reject(store, "call_2")
    lease = lease_batch(store, "batch_auto")
    assert store.calls.auto_approve("call_1", lease=lease).outcome is Outcome.OK
    assert store.calls.auto_approve("call_1", lease=lease).outcome is Outcome.REPEATED
    assert [call.key for call in store.batches.claimable("batch_auto")] == ["call_1"]
    assert claim(store, lease, people=())


def test_a_held_call_judged_again_may_be_forbidden(store: Store) -> None:
    paused(store, an_auto("call_1", held=True))
    lease = lease_batch(store, "batch_auto")
    said = {"reason": "the sum is over the limit now", "cause": Cause.POLICY}
    assert store.calls.forbid("call_1", lease=lease, **said).outcome is Outcome.OK
    assert store.calls.forbid("call_1", lease=lease, **said).outcome is Outcome.REPEATED
    assert "resume_run:run_1" in waking(store)


def test_a_held_call_is_not_judged_while_people_of_its_pause_are_asked(store: Store, redis_client: redis.Redis) -> None:
    paused(store, an_auto("call_1", held=True), a_call("call_2", number=2))
    redis_client.hset(
        store.keys.batch("batch_auto"), mapping={"token": "t", "epoch": "1", "lease_until": str(store.now() + LONG)}
    )
    lease = BatchLease(batch="batch_auto", run="run_1", token="t", epoch=1, generation=0)
    assert store.calls.auto_approve("call_1", lease=lease) == (Outcome.WRONG_STATE, {"state": "proposed"})
