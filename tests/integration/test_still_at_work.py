"""A blocking call outlives its tool's time limit: until its process is through with it, "not found" says nothing."""

import asyncio
import threading
import time

import pytest
from agents.testing import function_call

from approvals import at_work
from approvals.lifecycle import State, UndoState
from stack import until
from worker.presence import Presence
from workshop import LEA, Workshop, saying, shipping


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds instead of half a minute."""
    monkeypatch.setattr(at_work, "MARGIN_MS", 100)
    monkeypatch.setattr(at_work, "PRESENT_MS", 600)
    monkeypatch.setitem(Presence.__init__.__kwdefaults__, "every_s", 0.2)


class Blocking:
    """Work in a thread that nobody can stop; it goes on until it may end."""

    def __init__(self) -> None:
        self.began, self.may_end = threading.Event(), threading.Event()

    async def __call__(self) -> None:
        await asyncio.to_thread(self._block)

    def _block(self) -> None:
        self.began.set()
        self.may_end.wait(20)


def test_a_call_is_not_settled_as_not_found_while_its_thread_goes_on(workshop: Workshop) -> None:
    blocking, shop = Blocking(), workshop.shop
    shop.timeout_s, shop.before_effect = 0.2, blocking
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call).ok
    job = threading.Thread(target=workshop.execute)
    job.start()
    try:
        until(lambda: workshop.calls()[0].state is State.UNKNOWN, "its time is over", 10)
        until(lambda: (workshop.calls()[0].at_work_until or 0) < workshop.store.now(), "so is the margin", 10)
        for _ in range(8):
            workshop.reconcile(call)
            assert workshop.calls()[0].state is State.UNKNOWN
            time.sleep(0.15)
    finally:
        blocking.may_end.set()
        job.join(20)
    until(lambda: not workshop.store.effects.present_ms(call.key), "nobody is there any more", 10)
    workshop.reconcile(call)
    assert workshop.calls()[0].state is State.FAILED


def test_an_undo_is_not_offered_again_while_its_thread_goes_on(workshop: Workshop) -> None:
    blocking, shop = Blocking(), workshop.shop
    shop.timeout_s, shop.before_undo = 0.2, blocking
    workshop.script.extend([[function_call("label", {"item": "cup"}, call_id="k")], [saying()]])
    workshop.start()
    workshop.execute()
    (call,) = workshop.calls()
    assert workshop.ask_back(call, by=LEA).ok
    job = threading.Thread(target=workshop.take_back, args=(call,))
    job.start()

    def undo() -> UndoState | None:
        found = workshop.calls()[0].undo
        return found.state if found else None

    try:
        until(lambda: undo() is UndoState.UNKNOWN, "its time is over", 10)
        time.sleep(0.5)
        workshop.take_back(call)
        assert undo() is UndoState.UNKNOWN
    finally:
        blocking.may_end.set()
        job.join(20)
    until(lambda: not workshop.store.effects.present_ms(f"undo:{call.key}"), "nobody is there any more", 10)
    workshop.take_back(call)
    assert undo() is UndoState.FAILED


def test_the_time_limit_counts_from_the_intent_and_not_from_the_claim(workshop: Workshop) -> None:
    shop = workshop.shop
    shop.timeout_s = 0.3
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call).ok
    began: list[int] = []

    async def hangs() -> None:
        began.append(workshop.store.now())
        await asyncio.sleep(5)

    shop.before_effect = hangs
    workshop.execute()
    (call,) = workshop.calls()
    assert call.state is State.UNKNOWN
    assert (call.at_work_until or 0) >= began[0] + 300 + 100 - 50, "what was looked up before took none of its time"


def test_a_worker_that_vanished_is_believed_to_be_there_for_a_while_only(workshop: Workshop) -> None:
    workshop.store.effects.stay("call_gone")
    assert workshop.store.effects.present_ms("call_gone") > 0
    until(lambda: not workshop.store.effects.present_ms("call_gone"), "it is believed no longer", 5)


@pytest.mark.parametrize("of", ["", "undo_"])
def test_what_version_0_1_had_begun_may_be_at_work_as_long_as_it_would_be_today(workshop: Workshop, of: str) -> None:
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    begun = {f"{of}intended": 1, f"{of}claimed_at": 1_000, f"{of}longest_ms": 5_000, "undo_state": "unknown"}
    workshop.client.hset(workshop.store.keys.call(call.key), mapping=begun)
    (call,) = workshop.calls()
    assert call.undo
    until = call.undo.at_work_until if of else call.at_work_until
    assert until == 1_000 + 5_000 + at_work.MARGIN_MS
