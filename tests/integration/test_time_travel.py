"""Deadlines are moved, clocks are not: what wins when a click and the end of its time meet, and after long silence."""

import threading
from collections import Counter
from typing import Any

import pytest
import redis

from approvals.lifecycle import Cause, RunState, State
from approvals.outcomes import Answer, Outcome
from approvals.store import Store
from bot.sending import BURST, PER_SECOND
from bot_office import BRUNO, OPS, Office, a_refund, readable
from builders import ANA, a_call, a_decision, a_person, approve, events, loaded, move, paused
from clocks import a_clock
from workshop import a_law

FIRST = "call_000000000001"
DAY = 24 * 3_600_000
ENOUGH_ROUNDS = 5


def due_at(store: Store, client: redis.Redis, batch: str, *, ms: int) -> None:
    """The batch's time ends `ms` from now, in its hash and in the index."""
    at = store.now() + ms
    move(client, store.keys.batch(batch), decide_by=at)
    client.zadd(store.keys.deadlines, {f"decide:{batch}": at})


def test_a_click_two_seconds_before_the_end_counts_and_nothing_expires_later(
    store: Store, redis_client: redis.Redis
) -> None:
    paused(store, a_call("call_1"))
    due_at(store, redis_client, "batch_a", ms=2_000)
    assert approve(store).outcome is Outcome.OK
    due_at(store, redis_client, "batch_a", ms=-1)
    a_clock(store, a_law()).tick()
    assert loaded(store, "call_1").state is State.APPROVED
    assert "expired" not in events(store)


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_a_click_one_second_after_the_end_loses_although_nobody_swept(
    store: Store, redis_client: redis.Redis, verb: str
) -> None:
    paused(store, a_call("call_1"))
    due_at(store, redis_client, "batch_a", ms=-1_000)
    person, word = store.people.put(a_person(ANA)), a_decision("call_1", verb)
    act = store.calls.approve if verb == "approve" else store.calls.reject
    assert act("call_1", version=1, decision=word, person=person).outcome is Outcome.EXPIRED
    assert loaded(store, "call_1").decisions == ()
    assert not {"approved", "rejected"} & set(events(store))
    a_clock(store, a_law()).tick()
    assert (loaded(store, "call_1").state, loaded(store, "call_1").cause) == (State.EXPIRED, Cause.NOBODY)


def test_a_decision_that_was_read_in_time_and_arrives_late_loses(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    due_at(store, redis_client, "batch_a", ms=60_000)
    person, word = store.people.put(a_person(ANA)), a_decision("call_1")
    assert loaded(store, "call_1").state is State.PENDING_REVIEW
    due_at(store, redis_client, "batch_a", ms=0)  # held up on its way, until the very instant
    assert store.calls.approve("call_1", version=1, decision=word, person=person).outcome is Outcome.EXPIRED


def test_clicker_card_and_ledger_say_the_same_after_a_late_click(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    office.card_with(batch, "decide by")
    due_at(office.store, office.client, batch, ms=-1_000)
    office.press(BRUNO, batch, "call.approve")
    office.told(BRUNO, "Too late")
    a_clock(office.store, office.bot.deps.law).tick()
    office.bot.deps.wake.set()
    office.card_with(batch, "nobody decided in time")
    told = events(office.store, FIRST)
    assert "expired" in told
    assert "approved" not in told
    assert "approval_counted" not in told


def test_two_clocks_at_once_expire_each_batch_once(store: Store, redis_client: redis.Redis) -> None:
    for number in range(30):
        paused(store, a_call(f"call_{number}", batch=f"batch_{number}"), run=f"run_{number}")
        due_at(store, redis_client, f"batch_{number}", ms=-1)
    start = threading.Barrier(2)

    def sweep() -> None:
        start.wait()
        a_clock(store, a_law()).tick()

    clocks = [threading.Thread(target=sweep) for _ in range(2)]
    for clock in clocks:
        clock.start()
    for clock in clocks:
        clock.join()
    assert Counter(events(store))["expired"] == 30


def after_a_day(store: Store, client: redis.Redis, batches: int) -> None:
    """Cards that were posted a day ago, and nothing has run since."""
    for number in range(batches):
        paused(store, a_call(f"call_{number}", batch=f"batch_{number}"), run=f"run_{number}")
        posted = store.now() - DAY
        move(client, store.keys.batch(f"batch_{number}"), posted_at=posted, decide_by=posted + 900_000)
        places = {"remind": 450_000, "escalate": 720_000, "decide": 900_000}
        client.zadd(store.keys.deadlines, {f"{kind}:batch_{number}": posted + at for kind, at in places.items()})


def test_after_a_day_of_downtime_every_card_expires_once_in_order_and_no_reminder_is_sent(
    store: Store, redis_client: redis.Redis
) -> None:
    after_a_day(store, redis_client, 1_000)
    clock = a_clock(store, a_law())
    for _ in range(ENOUGH_ROUNDS):
        clock.tick()
    ended = [
        fields["call"]
        for _, fields in store.ledger.read(10_000)
        if fields["type"] == "expired" and fields["cause"] == "nobody decided"
    ]
    assert Counter(Counter(ended).values()) == {1: 1_000}
    assert ended == [f"call_{number}" for number in range(1_000)]
    kinds = {fields["type"] for _, fields in store.ledger.read(10_000)}
    assert not kinds & {"reminded", "escalated"}
    owed = Counter(entry.kind for entry in store.outbox.due(10_000))
    assert owed["alert"] == 1_000
    assert not {"reminder", "direct"} & set(owed)
    assert redis_client.zcard(store.keys.deadlines) == 0
    states = {store.runs.load(f"run_{number}").state for number in (0, 500, 999)}  # type: ignore[union-attr]
    assert states == {RunState.READY}


def test_a_long_list_for_ops_goes_out_at_slacks_pace_and_holds_nobody_else_up(office: Office) -> None:
    for number in range(200):
        office.store.outbox.alarm(f"tool:call_{number}", event="x", reason="r")
    office.bot.deps.wake.set()
    before = office.store.now()
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    office.card_with(batch, "decide by")
    seconds = (office.store.now() - before) / 1000
    posted = [one for one in office.slack.messages(OPS) if "A tool is gone" in readable(one)]
    assert len(posted) <= BURST + (seconds + 1) * PER_SECOND + 1


def test_a_retired_run_leaves_nothing_of_its_reminders(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    redis_client.zadd(store.keys.deadlines, {"remind:batch_a": store.now() - 1})
    assert store.deadlines.remind("batch_a", users=[ANA], interruptions=12).outcome is Outcome.OK
    redis_client.zadd(store.keys.deadlines, {"escalate:batch_a": store.now() - 1})
    assert store.deadlines.escalate("batch_a", users=["U0BEN"], interruptions=12).outcome is Outcome.OK
    assert {"reminder:half:batch_a", "reminder:next:batch_a", f"direct:batch_a:{ANA}", "direct:batch_a:U0BEN"} <= {
        entry.id for entry in store.outbox.due(100)
    }
    assert store.runs.cancel("run_1", by="U0REQ", name="Rosa").ok
    store.ledger.drop([event_id for event_id, _ in store.ledger.read(1000)])
    redis_client.zadd(store.keys.deadlines, {"retire:run_1": store.now() - 1})
    assert store.deadlines.apply("retire:run_1").outcome is Outcome.OK
    assert [key for key in redis_client.scan_iter() if b"batch_a" in key or b"run_1" in key] == []
    assert redis_client.zcard(store.keys.outbox) == 0
    assert redis_client.zcard(store.keys.deadlines) == 0


def test_a_retired_run_leaves_nothing_of_what_ops_was_told_about_its_card(
    store: Store, redis_client: redis.Redis
) -> None:
    paused(store, a_call("call_1"))
    approve(store)
    past = store.now() - 1
    redis_client.hset(store.keys.call("call_1"), "execute_by", past)
    redis_client.zadd(store.keys.deadlines, {"lapse:call_1": past})
    assert store.deadlines.apply("lapse:call_1").ok
    assert "alert:lapse:batch_a" in {entry.id for entry in store.outbox.due(100)}
    assert store.runs.cancel("run_1", by="U0REQ", name="Rosa").ok
    store.ledger.drop([event_id for event_id, _ in store.ledger.read(1000)])
    redis_client.zadd(store.keys.deadlines, {"retire:run_1": store.now() - 1})
    assert store.deadlines.apply("retire:run_1").outcome is Outcome.OK
    assert [key for key in redis_client.scan_iter() if b"batch_a" in key] == []


def test_when_slack_wants_fewer_updates_none_is_tried_before_its_time(office: Office) -> None:
    batches = []
    for number in range(6):
        run, _ = office.start(f"request {number}")
        batches.append(office.pause(run, a_refund(31240, number=number + 1)))
    for batch in batches:
        office.card_with(batch, "decide by")
    office.until(lambda: not office.store.outbox.due(), "nothing is owed")
    office.slack.fault("chat.update", "http", status=429, retry_after=2)
    before = len(office.slack.calls("chat.update"))
    for batch in batches:
        assert office.store.batches.on_it(batch, by=BRUNO, name="Bruno").ok
    office.bot.deps.wake.set()
    for batch in batches:
        office.card_with(batch, "Bruno is on it")
    tried = office.slack.calls("chat.update")[before:]
    assert len(tried) == len(batches) + 1
    assert [call["outcome"] for call in tried].count("ok") == len(batches)


def test_the_end_of_the_time_and_the_click_that_races_it_agree(store: Store, redis_client: redis.Redis) -> None:
    answers: dict[str, Answer] = {}
    for number in range(20):
        key, batch = f"call_{number}", f"batch_{number}"
        paused(store, a_call(key, batch=batch), run=f"run_{number}")
        due_at(store, redis_client, batch, ms=3)
        person, word = store.people.put(a_person(ANA)), a_decision(key)
        start = threading.Barrier(2)

        def click(key: str = key, person: Any = person, word: Any = word, start: threading.Barrier = start) -> None:
            start.wait()
            answers[key] = store.calls.approve(key, version=1, decision=word, person=person)

        def sweep(start: threading.Barrier = start) -> None:
            start.wait()
            a_clock(store, a_law()).tick()

        both = [threading.Thread(target=work) for work in (click, sweep)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        due_at(store, redis_client, batch, ms=-1)
        a_clock(store, a_law()).tick()
        won = answers[key].outcome is Outcome.OK
        assert loaded(store, key).state is (State.APPROVED if won else State.EXPIRED)
