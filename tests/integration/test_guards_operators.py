"""What only operators, requesters and reminders do: each in its time, once, and about what it is meant for."""

from typing import Any

import pytest
import redis

from approvals.lifecycle import RunState, State
from approvals.models import Claim
from approvals.outcomes import Outcome
from approvals.store import Store
from builders import (
    ANA,
    BEN,
    CHANNEL,
    REQUESTER,
    a_call,
    a_person,
    approve,
    claim,
    events,
    lease_batch,
    lease_run,
    loaded,
    move,
    paused,
    start_run,
    waking,
)
from orphans import nobody_at_work


def unknown(store: Store) -> Claim:
    paused(store, a_call("call_1"))
    approve(store)
    taken = claim(store, lease_batch(store))
    assert store.effects.intend(taken).ok
    assert store.effects.abandon("call_1", token=taken.token, reason="no answer").ok
    assert store.effects.alert_unknown("call_1").ok
    nobody_at_work(store, "call_1")
    return taken


def desired(store: Store, entry: str) -> int:
    found = store.outbox.load(entry)
    return found.desired if found else 0


def mark(store: Store, by: str, *, happened: bool, needed: int) -> Any:
    return store.operators.mark("call_1", happened=happened, by=a_person(by), reason="looked it up", needed=needed)


def test_an_operators_word_about_nothing_is_not_found(store: Store) -> None:
    assert store.operators.ask_provider("nobody", by=a_person(ANA)).outcome is Outcome.NOT_FOUND
    assert mark(store, ANA, happened=True, needed=1).outcome is Outcome.NOT_FOUND
    assert store.operators.close("call:nobody", by=a_person(ANA)).outcome is Outcome.NOT_FOUND
    assert store.batches.on_it("nothing", by=ANA, name="Ana").outcome is Outcome.NOT_FOUND
    assert events(store) == []


def test_only_an_unknown_call_can_be_marked_or_asked_about(store: Store) -> None:
    taken = unknown(store)
    assert store.effects.succeed(taken, receipt="{}").ok
    assert mark(store, ANA, happened=False, needed=1).outcome is Outcome.WRONG_STATE
    assert mark(store, ANA, happened=True, needed=1).outcome is Outcome.WRONG_STATE  # somebody else settled it
    assert store.operators.ask_provider("call_1", by=a_person(ANA)).outcome is Outcome.WRONG_STATE
    assert loaded(store).state is State.SUCCEEDED


def test_a_mark_that_settled_is_repeated_for_the_same_word_of_the_same_person_only(store: Store) -> None:
    unknown(store)
    assert mark(store, ANA, happened=True, needed=1).outcome is Outcome.OK
    assert mark(store, ANA, happened=True, needed=1).outcome is Outcome.REPEATED
    assert mark(store, BEN, happened=True, needed=1).outcome is Outcome.WRONG_STATE
    assert mark(store, ANA, happened=False, needed=1).outcome is Outcome.WRONG_STATE


def test_of_two_words_that_are_needed_one_person_gives_one(store: Store) -> None:
    unknown(store)
    assert mark(store, ANA, happened=True, needed=2).outcome is Outcome.OK
    assert mark(store, ANA, happened=True, needed=2).outcome is Outcome.REPEATED
    assert loaded(store).state is State.UNKNOWN
    assert mark(store, ANA, happened=False, needed=2).outcome is Outcome.OK  # Ana has changed her mind
    assert loaded(store).state is State.UNKNOWN
    assert mark(store, BEN, happened=True, needed=2).outcome is Outcome.OK
    assert loaded(store).state is State.UNKNOWN
    assert mark(store, ANA, happened=True, needed=2).outcome is Outcome.OK
    assert loaded(store).state is State.SUCCEEDED


def test_a_first_word_settles_when_by_now_one_is_enough(store: Store) -> None:
    unknown(store)
    assert mark(store, ANA, happened=True, needed=2).outcome is Outcome.OK
    assert mark(store, ANA, happened=True, needed=1).outcome is Outcome.OK
    assert loaded(store).state is State.SUCCEEDED


def test_a_matter_is_closed_once_until_it_comes_up_again(store: Store) -> None:
    unknown(store)
    before = desired(store, "alert:call:call_1")
    assert store.operators.close("call:call_1", by=a_person(ANA)).outcome is Outcome.OK
    assert desired(store, "alert:call:call_1") == before + 1
    assert store.operators.close("call:call_1", by=a_person(BEN)).outcome is Outcome.REPEATED
    assert desired(store, "alert:call:call_1") == before + 1
    store.outbox.owe("alert", "call:call_1")
    assert store.operators.close("call:call_1", by=a_person(BEN)).outcome is Outcome.OK


def test_an_anchor_is_told_to_ops_once(store: Store) -> None:
    assert store.ledger.anchor(3, "anchor:3").outcome is Outcome.OK
    assert store.ledger.anchor(3, "anchor:3").outcome is Outcome.REPEATED
    assert (store.ledger.anchored(), desired(store, "alert:anchor:3")) == (3, 1)


def test_events_of_one_millisecond_are_told_apart_when_they_leave_the_stream(
    store: Store, redis_client: redis.Redis
) -> None:
    for place in ("5-9", "5-10"):
        redis_client.xadd(store.keys.ledger, {"type": "made-up", "at": "5"}, id=place)
    store.ledger.drop(["5-9", "5-10", "5-2"])
    assert redis_client.hget(store.keys.vouched, "drained") == b"5-10"


@pytest.mark.parametrize("ended", ["stop", "fail"])
def test_an_ended_run_cannot_be_cancelled_any_more(store: Store, ended: str) -> None:
    start_run(store)
    assert getattr(store.runs, ended)(lease_run(store), reason="over").ok
    assert store.runs.cancel("run_1", by=REQUESTER, name="Req").outcome is Outcome.WRONG_STATE
    assert "cancelled" not in events(store)


def test_a_cancelled_run_waits_for_the_effect_at_work_and_ends_once(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    approve(store, "call_1")
    approve(store, "call_2")
    taken = claim(store, lease_batch(store), "call_1")
    assert store.runs.cancel("run_1", by=REQUESTER, name="Req").detail == {"state": "paused"}
    assert loaded(store, "call_2").state is State.REJECTED
    assert store.effects.succeed(taken, receipt="{}").ok
    run = store.runs.load("run_1")
    assert run is not None
    assert run.state is RunState.STOPPED
    assert events(store).count("stopped") == 1


def test_a_paused_run_whose_last_call_is_withdrawn_by_its_cancelling_ends_once(store: Store) -> None:
    paused(store, a_call("call_1"))
    assert store.runs.cancel("run_1", by=REQUESTER, name="Req").detail == {"state": "stopped"}
    assert events(store).count("stopped") == 1


def test_a_run_that_is_driven_is_stopped_at_once_although_a_call_of_its_last_pause_is_unknown(store: Store) -> None:
    unknown(store)
    assert store.effects.answer_unknown("call_1").ok
    lease = lease_run(store, token="second")
    assert store.runs.cancel("run_1", by=REQUESTER, name="Req").detail == {"state": "stopped"}
    assert store.runs.save_turn(lease, state=b"late", turns=2) is False


def test_a_run_without_calls_of_its_own_yet_is_stopped_at_once(store: Store) -> None:
    start_run(store)
    assert store.runs.cancel("run_1", by=REQUESTER, name="Req").detail == {"state": "stopped"}


def test_only_an_opening_gives_a_run_its_thread(store: Store) -> None:
    start_run(store, thread_ts="")
    store.outbox.owe("answer", "run_1", channel=CHANNEL)
    store.outbox.delivered("answer:run_1", version=1, channel=CHANNEL, ts="7.7")
    run = store.runs.load("run_1")
    assert run is not None
    assert run.thread_ts == ""
    store.outbox.delivered("opening:run_1", version=1, channel=CHANNEL, ts="8.8")
    run = store.runs.load("run_1")
    assert run is not None
    assert run.thread_ts == "8.8"


def test_the_provider_is_asked_at_once_when_an_operator_wants_to_know(store: Store) -> None:
    unknown(store)
    store.wakeups.postpone("reconcile_call", "call_1", delay_ms=60_000)
    assert store.operators.ask_provider("call_1", by=a_person(ANA)).outcome is Outcome.OK
    assert "reconcile_call:call_1" in waking(store)
    assert (store.wakeups.peek() or 0) <= store.now()


# Reminders and the next tier.


def due(client: redis.Redis, store: Store, kind: str) -> None:
    client.zadd(store.keys.deadlines, {f"{kind}:batch_a": 1})


def hurry(store: Store, kind: str) -> Outcome:
    verb = store.deadlines.remind if kind == "remind" else store.deadlines.escalate
    return verb("batch_a", users=[ANA], interruptions=12).outcome


def watched(store: Store) -> set[str]:
    return {member.decode() for member in store.runs.client.zrange(store.keys.deadlines, 0, -1)}


@pytest.mark.parametrize("kind", ["remind", "escalate"])
def test_nobody_is_hurried_before_the_time_or_about_nothing(store: Store, redis_client: redis.Redis, kind: str) -> None:
    due(redis_client, store, kind)
    assert hurry(store, kind) is Outcome.NOT_FOUND
    assert watched(store) == set()
    paused(store, a_call("call_1"))
    before = watched(store)
    assert hurry(store, kind) is Outcome.REPEATED
    assert watched(store) == before
    due(redis_client, store, kind)
    assert hurry(store, kind) is Outcome.OK
    assert hurry(store, kind) is Outcome.REPEATED
    assert [event for event in events(store) if event in {"reminded", "escalated"}] == [
        "reminded" if kind == "remind" else "escalated"
    ]


@pytest.mark.parametrize("kind", ["remind", "escalate"])
@pytest.mark.parametrize("why", ["decided", "over"])
def test_nobody_is_hurried_about_what_is_decided_or_over(
    store: Store, redis_client: redis.Redis, kind: str, why: str
) -> None:
    paused(store, a_call("call_1"))
    if why == "decided":
        approve(store)
    else:
        redis_client.zrem(store.keys.deadlines, "escalate:batch_a")
        move(redis_client, store.keys.batch("batch_a"), decide_by=store.now() - 1)
    due(redis_client, store, kind)
    assert hurry(store, kind) is Outcome.REPEATED
    assert not {"reminded", "escalated"} & set(events(store))


def test_the_next_tier_is_added_once_and_not_while_somebody_is_on_it(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    assert store.batches.on_it("batch_a", by=ANA, name="Ana").outcome is Outcome.OK
    assert store.batches.on_it("batch_a", by=ANA, name="Ana").outcome is Outcome.REPEATED
    due(redis_client, store, "escalate")
    assert hurry(store, "escalate") is Outcome.REPEATED
    redis_client.hdel(store.keys.batch("batch_a"), "on_it")
    due(redis_client, store, "escalate")
    assert hurry(store, "escalate") is Outcome.OK
    due(redis_client, store, "escalate")
    assert hurry(store, "escalate") is Outcome.REPEATED
    assert events(store).count("escalated") == 1
