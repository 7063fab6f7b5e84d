"""What a provider said of an outcome that only a person can settle stands in the message ops has."""

from typing import Any

import pytest
import redis

from approvals.lifecycle import State, UndoState
from approvals.models import Call
from approvals.outcomes import Outcome
from approvals.store import Store
from bot.alerts import unknown_alert
from bot.undo_alert import undo_alert
from unanswered import fall, unanswered
from worker.actions import CannotTell
from worker.reconcile import forgot, saying_too
from workshop import Workshop, function_call, saying

FORGOTTEN = (
    "The provider was asked: it does not have it, but it was begun more than 24 hours ago and may be forgotten there."
)


@pytest.fixture
def workshop(store: Store, redis_client: redis.Redis) -> Workshop:
    return Workshop(store, redis_client)


def unknown(workshop: Workshop) -> Call:
    """A call of yesterday whose effect gave no answer, of which ops was told."""
    call = unanswered(workshop)
    workshop.nobody_at_work(call.key)
    long_ago(workshop, call, "claimed_at")
    assert workshop.store.effects.alert_unknown(call.key).ok
    return call


def unknown_undo(workshop: Workshop) -> Call:
    """A call whose undo of yesterday gave no answer, of which ops was told."""
    workshop.script.extend([[function_call("label", {"item": "cup"}, call_id="c1")], [saying()]])
    workshop.start()
    workshop.execute()
    (call,) = workshop.calls()
    workshop.shop.before_undo = fall
    workshop.undo(call)
    workshop.nobody_at_work(call.key)
    long_ago(workshop, call, "undo_at")
    return call


def long_ago(workshop: Workshop, call: Call, begun: str) -> None:
    workshop.client.hset(workshop.store.keys.call(call.key), begun, workshop.store.now() - 25 * 3_600_000)


def cannot_tell(key: str) -> Any:
    raise CannotTell(key)


def owed(workshop: Workshop, subject: str) -> int:
    entry = workshop.store.outbox.load(f"alert:{subject}")
    assert entry
    return entry.desired


def ops_reads(workshop: Workshop) -> str:
    (call,) = workshop.calls()
    message = undo_alert(call, workshop.run()) if call.undo else unknown_alert(call, workshop.run())
    assert message
    return str(message)


def test_ops_reads_that_a_provider_may_have_forgotten_what_it_was_asked_about(workshop: Workshop) -> None:
    call = unknown(workshop)
    workshop.reconcile(call)
    assert (workshop.calls()[0].state, owed(workshop, f"call:{call.key}")) == (State.UNKNOWN, 2)
    assert f"The tool raised ConnectionError. {FORGOTTEN}" in ops_reads(workshop)
    workshop.reconcile(call)
    assert workshop.store.effects.alert_unknown(call.key).outcome is Outcome.REPEATED
    assert owed(workshop, f"call:{call.key}") == 2, "the message says so already"
    workshop.shop.found = cannot_tell
    workshop.reconcile(call)
    assert owed(workshop, f"call:{call.key}") == 3
    assert "The tool raised ConnectionError. The provider was asked: it cannot tell." in ops_reads(workshop)


def test_ops_reads_that_a_provider_may_have_forgotten_an_undo(workshop: Workshop) -> None:
    call = unknown_undo(workshop)
    before = owed(workshop, f"undo:{call.key}")
    workshop.take_back(call)
    (now,) = workshop.calls()
    assert now.undo is not None
    assert (now.undo.state, owed(workshop, f"undo:{call.key}")) == (UndoState.UNKNOWN, before + 1)
    assert f"The undo raised ConnectionError. {FORGOTTEN}" in ops_reads(workshop)
    workshop.take_back(call)
    assert owed(workshop, f"undo:{call.key}") == before + 1, "the message says so already"
    workshop.shop.found_undone = cannot_tell
    workshop.take_back(call)
    assert owed(workshop, f"undo:{call.key}") == before + 2
    assert "The undo raised ConnectionError. The provider was asked: it cannot tell." in ops_reads(workshop)


def test_what_was_said_of_another_attempt_or_of_what_is_settled_is_not_told(workshop: Workshop) -> None:
    call = unknown_undo(workshop)
    undos, (now,) = workshop.store.undos, workshop.calls()
    assert now.undo is not None
    attempt = now.undo.token
    before = owed(workshop, f"undo:{call.key}")
    assert undos.alert_unknown("nowhere", attempt=attempt, reason="Gone.").outcome is Outcome.NOT_FOUND
    assert undos.alert_unknown(call.key, attempt="another", reason="Gone.").outcome is Outcome.WRONG_STATE
    assert undos.settle(now, happened=False, by="U0LEA", name="Lea", reason="seen").ok
    assert undos.alert_unknown(call.key, attempt=attempt, reason="Gone.").outcome is Outcome.WRONG_STATE
    assert owed(workshop, f"undo:{call.key}") == before + 1, "that it is settled"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(86_400, "24 hours"), (3_600, "1 hour"), (5_400, "1.5 hours"), (60, "1 minute"), (90, "1.5 minutes")],
)
def test_how_long_a_provider_remembers_is_said_in_hours_or_minutes(seconds: float, words: str) -> None:
    assert f"begun more than {words} ago" in forgot(seconds)


def test_a_second_answer_of_a_provider_takes_the_place_of_the_first() -> None:
    once = saying_too("the worker was lost", "The provider was asked: it cannot tell.")
    assert once == "the worker was lost. The provider was asked: it cannot tell."
    assert saying_too(once, FORGOTTEN) == f"the worker was lost. {FORGOTTEN}"
    assert saying_too(None, FORGOTTEN) == FORGOTTEN
