"""The same saved state, resumed by twenty workers at once: one continuation, and no second effect."""

import asyncio
import threading
from collections.abc import Callable

import pytest
from agents.testing import ModelStep

from approvals.lifecycle import RunState, State
from approvals.models import Call
from worker import runs
from workshop import Workshop, function_call, saying, shipping

AT_ONCE = 20


def at_once(work: Callable[[], None]) -> None:
    """Twenty threads, each with an event loop of its own, set off together; what one raises fails the test."""
    start, raised = threading.Barrier(AT_ONCE), list[BaseException]()

    def one() -> None:
        start.wait(30)
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - handed on to the test
            raised.append(error)

    threads = [threading.Thread(target=one) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert raised == []


def shipped(workshop: Workshop) -> Call:
    """A run whose one call was approved and has had its effect; only its resume is missing."""
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call).ok
    workshop.execute()
    assert (workshop.run().state, len(workshop.shop.done)) == (RunState.READY, 1)
    return call


def test_twenty_workers_that_resume_one_run_continue_it_once(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))], [saying("Shipped.")]])
    shipped(workshop)
    at_once(lambda: asyncio.run(runs.advance(workshop.deps, "run_1")))
    assert (workshop.run().state, workshop.run().answer) == (RunState.COMPLETED, "Shipped.")
    assert len(workshop.script.calls) == 2  # the turn that asked, and one continuation
    assert len(workshop.shop.done) == 1
    (told,) = workshop.told()
    assert told["status"] == "executed"


def test_twenty_workers_that_resume_into_the_next_pause_write_it_once(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))], [shipping(("pot", 2))]])
    shipped(workshop)
    at_once(workshop.advance)
    assert (workshop.run().state, workshop.run().pause) == (RunState.PAUSED, 2)
    (call,) = workshop.calls()
    assert (call.state, len(workshop.shop.done), len(workshop.script.calls)) == (State.PENDING_REVIEW, 1, 2)
    kinds = [event["type"] for event in workshop.store.ledger.of_run("run_1")]
    assert (kinds.count("paused"), kinds.count("proposed"), kinds.count("intended")) == (2, 2, 1)


def test_twenty_workers_on_one_decided_batch_have_one_effect_each_call(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3)), function_call("label", {"item": "pot"}, call_id="c2")], [saying()]])
    workshop.start()
    ship = next(call for call in workshop.calls() if call.tool == "ship")
    assert workshop.decide(ship).ok
    at_once(workshop.execute)
    assert sorted(kind for kind, _, _ in workshop.shop.done) == ["label", "ship"]
    at_once(workshop.advance)
    assert (workshop.run().state, len(workshop.shop.done), len(workshop.script.calls)) == (RunState.COMPLETED, 2, 2)


def test_a_state_put_back_after_a_crash_is_answered_the_same_and_has_no_effect(workshop: Workshop) -> None:
    """Twenty workers lose their segment one after the other; the last one finds everything as it was."""
    away = [ModelStep.raise_error(ConnectionError("the provider is away"))] * AT_ONCE
    workshop.script.extend([[shipping(("cup", 3))], *away])
    workshop.retry_delays_ms = (0,) * (AT_ONCE + 1)
    shipped(workshop)
    for _ in range(AT_ONCE):
        with pytest.raises(ConnectionError):
            workshop.advance()
    workshop.script.extend([[saying("Shipped.")]])
    workshop.advance()
    assert (workshop.run().state, len(workshop.shop.done)) == (RunState.COMPLETED, 1)
    assert [envelope["status"] for envelope in workshop.told()] == ["executed"]
