"""Before anybody is woken about an unknown outcome its tool is asked; and nothing that dies in between forgets ops."""

from typing import Any

import pytest
import redis
from agents import Agent

from approvals.lifecycle import State
from approvals.models import Call
from approvals.outcomes import Outcome
from approvals.store import Store
from builders import a_call, approve, claim, events, lease_batch, owed, paused, waking
from clocks import a_clock
from unanswered import unanswered
from worker.actions import CannotTell
from workshop import Workshop

SECOND, MINUTE = 1_000, 60_000


@pytest.fixture
def workshop(store: Store, redis_client: redis.Redis) -> Workshop:
    return Workshop(store, redis_client)


def alerts(workshop: Workshop) -> set[str]:
    return {entry for entry in owed(workshop.store) if entry.startswith("alert:")}


def unknown(workshop: Workshop) -> Call:
    """A call whose effect gave no answer a moment ago."""
    call = unanswered(workshop)
    assert alerts(workshop) == set()
    return call


def due(workshop: Workshop, call: Call) -> float | None:
    found = workshop.client.zscore(workshop.store.keys.deadlines, f"unknown-alert:{call.key}")
    return float(found) if found is not None else None


def move_due(workshop: Workshop, call: Call) -> None:
    workshop.client.zadd(workshop.store.keys.deadlines, {f"unknown-alert:{call.key}": workshop.store.now() - 1})


def test_what_the_tool_finds_wakes_nobody(workshop: Workshop) -> None:
    call = unknown(workshop)
    workshop.shop.found = lambda key: {"parcel": key}
    workshop.reconcile(call)
    assert workshop.calls()[0].state is State.SUCCEEDED
    assert due(workshop, call) is None
    a_clock(workshop.store, workshop.law).tick()
    assert alerts(workshop) == set()
    assert "settled" in events(workshop.store, call.key)


def test_a_tool_that_will_never_tell_has_ops_asked_at_once_and_once(workshop: Workshop) -> None:
    call = unknown(workshop)

    def lost(key: str) -> Any:
        raise CannotTell(key)

    workshop.shop.found = lost
    workshop.reconcile(call)
    assert alerts(workshop) == {f"alert:call:{call.key}"}
    assert due(workshop, call) is None
    assert f"reconcile_call:{call.key}" not in waking(workshop.store)
    workshop.reconcile(call)
    told = workshop.store.outbox.load(f"alert:call:{call.key}")
    assert told
    assert told.desired == 1


def test_a_tool_without_a_reconciliation_has_ops_asked_at_once(workshop: Workshop) -> None:
    call = unknown(workshop)
    tools = workshop.shop.tools()
    tools[0].reconcile = None
    workshop.build = lambda model: Agent(name="desk", instructions="Keep the shop.", model=model, tools=tools)
    workshop.reconcile(call)
    assert alerts(workshop) == {f"alert:call:{call.key}"}


def test_a_provider_that_is_down_is_asked_with_growing_pauses_until_the_limit_asks_ops(workshop: Workshop) -> None:
    call = unknown(workshop)

    def down(key: str) -> Any:
        raise ConnectionError(key)

    workshop.shop.found = down
    pauses = []
    for since in (1 * SECOND, 20 * SECOND, 100 * SECOND, 3_600 * SECOND):
        now = workshop.store.now()
        workshop.client.hset(workshop.store.keys.call(call.key), "claimed_at", now - since)
        workshop.reconcile(call)
        pauses.append(round(((workshop.store.wakeups.peek() or 0) - now) / SECOND))
    assert pauses == [5, 20, 100, 300]
    a_clock(workshop.store, workshop.law).tick()
    assert alerts(workshop) == set()
    move_due(workshop, call)
    for _ in range(3):
        a_clock(workshop.store, workshop.law).tick()
    assert alerts(workshop) == {f"alert:call:{call.key}"}
    assert f"reconcile_call:{call.key}" in waking(workshop.store), "the tool goes on being asked"
    workshop.shop.found = lambda key: {"parcel": key}
    workshop.reconcile(call)
    told = workshop.store.outbox.load(f"alert:call:{call.key}")
    assert told
    assert told.desired == 2, "the message says that it is settled"


def test_a_worker_that_dies_before_it_could_ask_leaves_ops_the_deadline(workshop: Workshop) -> None:
    call = unknown(workshop)
    workshop.store.wakeups.drop("reconcile_call", call.key)  # as if its hint were lost as well
    assert workshop.store.deadlines.apply(f"unknown-alert:{call.key}").outcome is Outcome.REPEATED
    assert alerts(workshop) == set()
    move_due(workshop, call)
    a_clock(workshop.store, workshop.law).tick()
    assert alerts(workshop) == {f"alert:call:{call.key}"}
    assert workshop.store.deadlines.apply(f"unknown-alert:{call.key}").outcome is Outcome.REPEATED


@pytest.mark.parametrize("longest_ms", [0, 480 * SECOND])
def test_the_limit_lies_behind_the_end_of_any_orphan(store: Store, redis_client: redis.Redis, longest_ms: int) -> None:
    paused(store, a_call("call_1"))
    approve(store)
    taken = claim(store, lease_batch(store))
    assert store.effects.intend(taken, longest_ms=longest_ms).ok
    assert store.effects.abandon("call_1", token=taken.token, reason="no answer").ok
    at = redis_client.zscore(store.keys.deadlines, "unknown-alert:call_1")
    call = store.calls.load("call_1")
    assert call
    assert at
    over = (call.claimed_at or 0) + longest_ms + 30 * SECOND
    assert over <= (call.at_work_until or 0) <= over + 5 * SECOND, "from the intent on, which followed the claim"
    assert at == (call.at_work_until or 0) + 3 * MINUTE


def test_ops_is_not_asked_about_what_is_settled_or_gone(workshop: Workshop) -> None:
    call = unknown(workshop)
    assert workshop.store.effects.settle(call.key, happened=True, by="U0LEA", reason="seen").ok
    assert workshop.store.effects.alert_unknown(call.key).outcome is Outcome.WRONG_STATE
    assert workshop.store.effects.alert_unknown("nowhere").outcome is Outcome.NOT_FOUND
    move_due(workshop, call)
    assert workshop.store.deadlines.apply(f"unknown-alert:{call.key}").outcome is Outcome.WRONG_STATE
    assert due(workshop, call) is None
    assert alerts(workshop) == set()
