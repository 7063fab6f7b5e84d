"""What time may do, not before it has passed, and only to what still waits for it."""

import pytest
import redis

from approvals.lifecycle import State
from approvals.models import Claim
from approvals.outcomes import Outcome
from approvals.store import Store
from builders import (
    CHANNEL,
    REQUESTER,
    a_call,
    a_content,
    a_requirement,
    an_auto,
    approve,
    claim,
    edit,
    lease_batch,
    loaded,
    move,
    owed,
    paused,
    reject,
    try_claim,
)


def watched(store: Store) -> set[str]:
    """Every deadline at which a call's state may change, due or not."""
    members = {member.decode() for member in store.runs.client.zrange(store.keys.deadlines, 0, -1)}
    return {member for member in members if member.split(":")[0] in {"post", "decide", "lapse", "lease", "unknown"}}


def taken(store: Store) -> Claim:
    paused(store, a_call("call_1"))
    approve(store)
    return claim(store, lease_batch(store))


def unknown(store: Store) -> None:
    held = taken(store)
    assert store.effects.intend(held).ok
    assert store.effects.abandon("call_1", token=held.token, reason="no answer").ok


def test_each_deadline_watches_only_as_long_as_it_can_run_out(store: Store) -> None:
    paused(store, a_call("call_1"), posted=False)
    assert watched(store) == {"post:batch_a"}
    assert store.batches.record_posted("batch_a", channel=CHANNEL, ts="1.1").ok
    assert watched(store) == {"decide:batch_a"}
    approve(store)
    assert watched(store) == {"lapse:call_1"}
    held = claim(store, lease_batch(store))
    assert watched(store) == {"lease:call_1"}
    assert store.effects.intend(held).ok
    assert store.effects.abandon("call_1", token=held.token, reason="no answer").ok
    assert watched(store) == {"unknown:call_1"}
    assert store.effects.settle("call_1", happened=True, by="U0OPS", reason="seen").ok
    assert watched(store) == set()


def test_a_card_posted_after_all_was_decided_has_no_deadline(store: Store) -> None:
    paused(store, a_call("call_1"), posted=False)
    assert store.calls.withdraw("call_1", by="U0REQ").ok
    assert store.batches.record_posted("batch_a", channel=CHANNEL, ts="1.1").ok
    assert watched(store) == set()


@pytest.mark.parametrize("member", ["decide:batch_a", "post:batch_a", "lapse:call_1", "lease:call_1", "unknown:call_1"])
def test_nothing_happens_to_an_undecided_call_before_its_time(store: Store, member: str) -> None:
    paused(store, a_call("call_1"))
    assert store.deadlines.apply(member).outcome in {Outcome.REPEATED, Outcome.WRONG_STATE}
    assert loaded(store).state is State.PENDING_REVIEW


def test_a_card_that_is_not_posted_yet_has_its_whole_hour(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"), posted=False)
    assert store.deadlines.apply("post:batch_a").outcome is Outcome.REPEATED
    assert loaded(store).state is State.PENDING_REVIEW
    move(redis_client, store.keys.batch("batch_a"), post_by=store.now() - 1)
    assert store.deadlines.apply("post:batch_a").outcome is Outcome.OK
    assert loaded(store).state is State.EXPIRED
    assert "alert:batch_a" in owed(store)


def test_a_card_that_was_posted_in_time_does_not_expire_as_unposted(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    move(redis_client, store.keys.batch("batch_a"), post_by=store.now() - 1)
    assert store.deadlines.apply("post:batch_a").outcome is Outcome.REPEATED
    assert loaded(store).state is State.PENDING_REVIEW


def test_an_unposted_card_without_open_calls_is_no_alarm(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"), posted=False)
    assert store.calls.withdraw("call_1", by="U0REQ").ok
    move(redis_client, store.keys.batch("batch_a"), post_by=store.now() - 1)
    assert store.deadlines.apply("post:batch_a").outcome is Outcome.REPEATED
    assert "alert:batch_a" not in owed(store)


def test_an_approval_that_cannot_run_yet_does_not_lapse(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    approve(store, "call_1")
    assert store.deadlines.apply("lapse:call_1").outcome is Outcome.REPEATED
    assert loaded(store, "call_1").state is State.APPROVED


def test_an_approval_does_not_lapse_before_its_time_and_is_watched_on(store: Store) -> None:
    paused(store, a_call("call_1"))
    approve(store)
    assert store.deadlines.apply("lapse:call_1").outcome is Outcome.REPEATED
    assert (loaded(store).state, watched(store)) == (State.APPROVED, {"lapse:call_1"})


def test_a_claimed_call_neither_lapses_nor_loses_a_lease_that_lasts(store: Store, redis_client: redis.Redis) -> None:
    taken(store)
    move(redis_client, store.keys.call("call_1"), execute_by=store.now() - 1)
    assert store.deadlines.apply("lapse:call_1").outcome is Outcome.REPEATED
    assert store.deadlines.apply("lease:call_1").outcome is Outcome.REPEATED
    assert (loaded(store).state, watched(store)) == (State.EXECUTING, {"lease:call_1"})


def test_an_ended_call_loses_no_lease(store: Store, redis_client: redis.Redis) -> None:
    held = taken(store)
    assert store.effects.succeed(held, receipt="{}").ok
    move(redis_client, store.keys.call("call_1"), lease_until=1)
    assert store.deadlines.apply("lease:call_1").outcome is Outcome.REPEATED
    assert loaded(store).state is State.SUCCEEDED


def test_an_unknown_call_is_answered_by_the_clock_only_in_its_time_and_once(
    store: Store, redis_client: redis.Redis
) -> None:
    unknown(store)
    assert store.deadlines.apply("unknown:call_1").outcome is Outcome.REPEATED
    assert (loaded(store).state, store.runs.load("run_1").state) == (State.UNKNOWN, "paused")  # type: ignore[union-attr]
    redis_client.zadd(store.keys.deadlines, {"unknown:call_1": 1})
    assert store.deadlines.apply("unknown:call_1").outcome is Outcome.OK
    assert store.deadlines.apply("unknown:call_1").outcome is Outcome.REPEATED
    assert store.effects.answer_unknown("call_1").outcome is Outcome.REPEATED


def test_an_operator_answers_unknown_before_its_time(store: Store) -> None:
    unknown(store)
    assert store.effects.answer_unknown("call_1").outcome is Outcome.OK
    assert watched(store) == set()


def test_a_deadline_of_a_call_that_is_known_by_now_is_taken_out(store: Store, redis_client: redis.Redis) -> None:
    held = taken(store)
    assert store.effects.succeed(held, receipt="{}").ok
    redis_client.zadd(store.keys.deadlines, {"unknown:call_1": 1})
    assert store.deadlines.apply("unknown:call_1").outcome is Outcome.WRONG_STATE
    assert (loaded(store).state, watched(store)) == (State.SUCCEEDED, set())


def test_a_batch_that_opens_again_gives_an_older_approval_no_more_time(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    approve(store, "call_1")
    approve(store, "call_2")
    lease = lease_batch(store)
    second = claim(store, lease, "call_2")
    assert store.effects.release(second, content=a_content(), seal="seal-2", difference=["gone"]).ok
    soon = store.now() + 5_000
    move(redis_client, store.keys.call("call_1"), execute_by=soon)
    approve(store, "call_2", version=2)
    assert loaded(store, "call_1").execute_by == soon
    assert (loaded(store, "call_2").execute_by or 0) > soon


def test_the_law_in_force_at_an_edit_says_how_long_and_for_how_much(store: Store) -> None:
    counted = a_requirement(counts={"refunds": {"minor": 9900, "currency": "EUR"}})
    paused(store, a_call("call_1"))
    approve(store)
    held = claim(store, lease_batch(store))
    content = a_content(requirement=counted)
    assert store.effects.release(held, content=content, seal="seal-2", difference=["another amount"]).ok
    assert store.runs.counts("run_1") == {("refunds", "EUR"): 9900}


def test_an_edit_does_not_prolong_what_its_siblings_have(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    move(redis_client, store.keys.batch("batch_a"), decide_by=store.now() + 5_000)
    edit(store, "call_1")
    move(redis_client, store.keys.batch("batch_a"), decide_by=store.now() - 1)
    assert store.deadlines.apply("decide:batch_a") == (Outcome.OK, {"expired": "1"})
    assert loaded(store, "call_1").state is State.PENDING_REVIEW
    assert loaded(store, "call_2").state is State.EXPIRED
    assert watched(store) == {"decide:batch_a"}


def test_a_card_is_drawn_again_when_its_calls_may_run_because_another_card_was_decided(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2, batch="batch_b"), barrier="pause")
    approve(store, "call_1")
    shown = store.outbox.load("card:batch_a")
    assert shown is not None
    reject(store, "call_2")
    again = store.outbox.load("card:batch_a")
    assert again is not None
    assert again.desired == shown.desired + 1


def test_a_channel_that_is_learnt_later_is_kept(store: Store) -> None:
    store.outbox.owe("notice", "call_1")
    store.outbox.owe("notice", "call_1", channel="C0PAY")
    entry = store.outbox.load("notice:call_1")
    assert entry is not None
    assert (entry.channel, entry.desired) == ("C0PAY", 2)


def test_a_held_call_that_was_withdrawn_cannot_lapse_any_more(store: Store) -> None:
    held = [an_auto(key, held=True, batch=f"batch_{key}", number=at) for at, key in enumerate(("call_2", "call_3"), 2)]
    paused(store, a_call("call_1"), *held)
    reject(store, "call_1")
    assert watched(store) == {"lapse:call_2", "lapse:call_3"}
    assert store.runs.cancel("run_1", by=REQUESTER, name="Rosa").ok
    assert watched(store) == set()


def test_an_auto_approval_that_came_too_late_lapses_at_the_claim(store: Store, redis_client: redis.Redis) -> None:
    paused(store, an_auto("call_1"))
    lease = lease_batch(store, "batch_auto")
    move(redis_client, store.keys.call("call_1"), execute_by=store.now() - 1)
    assert try_claim(store, lease)[0].outcome is Outcome.LAPSED
    assert loaded(store).state is State.EXPIRED
