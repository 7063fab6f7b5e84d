"""When no bot lives, or Slack does not answer it, nobody knows whether those who approved still may."""

import pytest

from approvals.lifecycle import Cause, State
from approvals.models import Call
from builders import move, owed
from clocks import a_clock
from worker.recheck import FRESH_MS
from workshop import ANA, Workshop, saying, shipping


@pytest.fixture
def approved(workshop: Workshop) -> Call:
    """A call that Ana has approved just now, and that no worker has taken yet."""
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call, by=ANA).ok
    return call


def last_look(workshop: Workshop, *, ms_ago: int) -> None:
    store = workshop.store
    move(workshop.client, store.keys.person(ANA), fetched_at=store.now() - ms_ago)


def test_an_approval_runs_within_a_minute_of_the_last_look_at_who_gave_it(workshop: Workshop, approved: Call) -> None:
    last_look(workshop, ms_ago=FRESH_MS - 20_000)
    workshop.execute()
    assert workshop.calls()[0].state is State.SUCCEEDED


def test_later_it_waits_and_runs_once_somebody_has_looked_again(workshop: Workshop, approved: Call) -> None:
    last_look(workshop, ms_ago=FRESH_MS + 1_000)
    workshop.execute()
    assert (workshop.calls()[0].state, workshop.shop.done) == (State.APPROVED, [])
    workshop.see(ANA)
    workshop.execute()
    assert workshop.calls()[0].state is State.SUCCEEDED


def test_when_nobody_looks_it_lapses_without_effect_and_ops_is_told(workshop: Workshop, approved: Call) -> None:
    store, keys = workshop.store, workshop.store.keys
    last_look(workshop, ms_ago=FRESH_MS + 1_000)
    workshop.execute()
    over = store.now() - 1
    move(workshop.client, keys.call(approved.key), execute_by=over)
    workshop.client.zadd(keys.deadlines, {f"lapse:{approved.key}": over})
    a_clock(store, workshop.law).tick()
    (call,) = workshop.calls()
    assert (call.state, call.cause, workshop.shop.done) == (State.EXPIRED, Cause.LAPSED, [])
    assert f"alert:lapse:{call.batch}" in owed(store)
