"""What a clock cannot do, as what a newer version left behind, keeps nothing else that is due from being done."""

import json

import pytest
import redis
from structlog.testing import capture_logs

from approvals import codec
from approvals.lifecycle import State
from approvals.store import Store
from broken_stores import full
from builders import a_call, approve, claim, events, lease_batch, loaded, move, paused
from clocks import a_clock
from worker import clock as clock_module
from worker.apart import LOGGED_AGAIN_S
from worker.clock import SWEEP, Clock
from workshop import a_law

NEWER = "kind_of_a_newer_version"


def lost_worker(store: Store, client: redis.Redis) -> None:
    """A call whose worker went while its effect ran, which the clock has to notice."""
    paused(store, a_call("call_2", batch="batch_b"), run="run_2")
    assert approve(store, "call_2").ok
    token = claim(store, lease_batch(store, "batch_b"), "call_2")
    assert store.effects.intend(token).ok
    move(client, store.keys.call("call_2"), lease_until=store.now() - 1000)
    client.zadd(store.keys.deadlines, {"lease:call_2": store.now() - 1000})


def of_a_newer_version(store: Store, key: str) -> None:
    """The content of this call gets a field that this version does not know."""
    call = loaded(store, key)
    body = json.loads(call.content.model_dump_json()) | {"of_a_newer_version": 1}
    blob = store.calls.seal(codec.CALL, key, call.version, json.dumps(body), run=call.run)
    store.runs.client.hset(store.keys.call(key), "content", blob)


def impossible(client: redis.Redis, store: Store, count: int) -> None:
    """So many deadlines that nobody here can apply, each older than any other."""
    client.zadd(store.keys.deadlines, {f"{NEWER}:{number}": number + 1 for number in range(count)})


def looked_at(clock: Clock) -> bool:
    return clock._ticked()


@pytest.mark.parametrize("how", ["a newer version", "somebody else"])
def test_a_card_that_cannot_be_read_is_reminded_of_in_its_thread_and_others_are_on_time(
    store: Store, redis_client: redis.Redis, how: str
) -> None:
    paused(store, a_call("call_1"))
    lost_worker(store, redis_client)
    if how == "a newer version":
        of_a_newer_version(store, "call_1")
    else:
        redis_client.hset(store.keys.call("call_1"), "content", "written over")
    redis_client.zadd(store.keys.deadlines, {"remind:batch_a": store.now() - 2000})
    with capture_logs() as logs:
        assert looked_at(a_clock(store, a_law()))
    assert loaded(store, "call_2").state is State.UNKNOWN
    assert "reminded" in events(store)
    assert store.deadlines.at("remind:batch_a") is None
    assert [one for one in logs if one["log_level"] == "error"] == []


def test_a_deadline_that_breaks_is_logged_stays_due_and_keeps_no_other_waiting(
    store: Store, redis_client: redis.Redis
) -> None:
    paused(store, a_call("call_1"))
    lost_worker(store, redis_client)
    redis_client.hset(store.keys.batch("batch_a"), "decide_by", "of another form")
    redis_client.zadd(store.keys.deadlines, {"remind:batch_a": 1, f"{NEWER}:x": 2})
    clock = a_clock(store, a_law())
    with capture_logs() as logs:
        assert [looked_at(clock) for _ in range(3)] == [True] * 3
    assert loaded(store, "call_2").state is State.UNKNOWN
    assert store.deadlines.due() == ["remind:batch_a", f"{NEWER}:x"]
    assert [(one["member"], one["error"]) for one in logs] == [
        ("remind:batch_a", "ValueError"),
        (f"{NEWER}:x", "ValueError"),
    ]
    assert store.tallies.read().deadline_lag_ms > 1000, "whoever watches over the metrics is told"


def test_what_goes_on_failing_is_logged_again_after_a_while(store: Store, redis_client: redis.Redis) -> None:
    seconds = [0.0]
    impossible(redis_client, store, 1)
    clock = Clock(store, a_clock(store, a_law()).queue, law=a_law(), now=lambda: seconds[0])
    with capture_logs() as logs:
        for later in (0.0, LOGGED_AGAIN_S - 1, 1.0):
            seconds[0] += later
            clock.tick()
    assert len(logs) == 2


def test_a_hint_for_a_job_that_this_version_does_not_know_keeps_no_other_waiting(
    store: Store, redis_client: redis.Redis
) -> None:
    lost_worker(store, redis_client)
    redis_client.zadd(store.keys.wakeups, {"newer_job:x": 1})
    clock = a_clock(store, a_law())
    with capture_logs() as logs:
        assert looked_at(clock)
    assert loaded(store, "call_2").state is State.UNKNOWN
    assert [(one["member"], one["error"]) for one in logs] == [("newer_job:x", "JobRefused")]
    assert clock.queue.waiting() == len(redis_client.hgetall(store.keys.attempts)) - 1
    assert redis_client.zscore(store.keys.wakeups, "newer_job:x") > store.now(), "it is not tried again at once"


def test_more_impossible_deadlines_than_one_sweep_takes_hide_none_behind_them(
    store: Store, redis_client: redis.Redis
) -> None:
    lost_worker(store, redis_client)
    impossible(redis_client, store, SWEEP + 20)
    with capture_logs():  # written out, each would take long
        assert looked_at(a_clock(store, a_law()))
    assert loaded(store, "call_2").state is State.UNKNOWN
    assert len(store.deadlines.due(1000)) == SWEEP + 20


def test_more_impossible_deadlines_than_one_round_takes_hide_none_behind_them(
    store: Store, redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock_module, "SWEEP", 5)
    monkeypatch.setattr(clock_module, "SWEEPS", 2)
    impossible(redis_client, store, 23)
    clock = a_clock(store, a_law())
    for again, at in enumerate((store.now(), 0, store.now())):  # behind them, before them
        redis_client.zadd(store.keys.deadlines, {f"post:gone_{again}": at})
        for _ in range(3):
            with capture_logs():
                clock.tick()
        assert store.deadlines.at(f"post:gone_{again}") is None, "within three rounds, and so the next time"
    assert len(store.deadlines.due(100)) == 23


def test_what_was_done_is_not_passed_over(
    store: Store, redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock_module, "SWEEP", 2)
    members = {f"post:gone_{number}": number + 1 for number in range(9)}
    redis_client.zadd(store.keys.deadlines, members)
    a_clock(store, a_law()).tick()
    assert store.deadlines.due() == []


def test_a_store_that_takes_no_writes_is_no_fault_of_what_is_due(store: Store, redis_client: redis.Redis) -> None:
    lost_worker(store, redis_client)
    clock = a_clock(store, a_law())
    redis_client.delete(store.keys.wakeups)
    with full(redis_client), capture_logs() as logs:
        assert not looked_at(clock)
    assert [one["event"] for one in logs] == ["clock round failed"]


@pytest.mark.parametrize("away", [redis.ConnectionError("away"), redis.TimeoutError("slow")])
def test_a_store_that_does_not_answer_ends_the_round(
    store: Store, redis_client: redis.Redis, away: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost_worker(store, redis_client)
    clock = a_clock(store, a_law())

    def gone(*_: object) -> None:
        raise away

    monkeypatch.setattr(Clock, "_due", gone)
    with capture_logs() as logs:
        assert not looked_at(clock)
    assert [one["event"] for one in logs] == ["clock round failed"]
