"""Jobs that come at the wrong moment, and the last look before a saved run goes on."""

import asyncio
import time
from typing import Any

import pytest
from agents import Agent, Model

from approvals.lifecycle import Cause, RunState, State, UndoState
from approvals.models import Call
from approvals.pause_write import PauseMalformedError
from builders import a_call, a_pause, waking
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import rule
from unanswered import unanswered
from worker.bounded import Patience
from worker.pause import Asked, pause_write
from worker.runs import SegmentDiscarded, _turn
from worker.saved import ResumeRefused, Saved
from workshop import (
    Label,
    Line,
    Ship,
    Workshop,
    a_law,
    find,
    function_call,
    saying,
    ship,
    shipping,
)


@pytest.fixture
def unknown(workshop: Workshop) -> Call:
    """A call whose effect gave no answer; no orphan can be at work any more."""
    call = unanswered(workshop)
    workshop.nobody_at_work(call.key)
    begun(workshop, call, hours=23)
    return call


def begun(workshop: Workshop, call: Call, *, hours: int) -> None:
    """It was claimed so long ago."""
    workshop.client.hset(workshop.store.keys.call(call.key), "claimed_at", workshop.store.now() - hours * 3_600_000)


def test_nobody_asks_the_provider_about_what_is_known(workshop: Workshop, unknown: Call) -> None:
    asked: list[str] = []
    workshop.shop.found = asked.append
    workshop.reconcile(unknown)
    assert workshop.calls()[0].state is State.FAILED
    workshop.reconcile(unknown)
    assert asked == [unknown.idempotency_key]


def test_not_found_says_nothing_once_the_provider_may_have_forgotten(workshop: Workshop, unknown: Call) -> None:
    begun(workshop, unknown, hours=25)
    workshop.reconcile(unknown)
    assert workshop.calls()[0].state is State.UNKNOWN
    assert f"reconcile_call:{unknown.key}" not in waking(workshop.store)
    workshop.shop.remembers_s = None
    workshop.reconcile(unknown)
    assert workshop.calls()[0].state is State.FAILED


def test_not_found_says_nothing_of_an_undo_once_the_provider_may_have_forgotten(workshop: Workshop) -> None:
    workshop.script.extend([[function_call("label", {"item": "cup"}, call_id="c1")], [saying()]])
    workshop.start()
    workshop.execute()
    (call,) = workshop.calls()

    def fall() -> None:
        raise ConnectionError("reset")

    workshop.shop.before_undo = fall
    workshop.undo(call)
    workshop.nobody_at_work(call.key)
    workshop.shop.remembers_s = 0.01
    time.sleep(0.02)
    workshop.take_back(call)
    undo = workshop.calls()[0].undo
    assert undo is not None
    assert undo.state is UndoState.UNKNOWN
    assert f"undo_call:{call.key}" not in waking(workshop.store)


def test_a_provider_that_is_down_is_asked_again_later(workshop: Workshop, unknown: Call) -> None:
    def down(key: str) -> Any:
        raise ConnectionError(f"nobody looked for {key}")

    workshop.shop.found = down
    workshop.reconcile(unknown)
    assert workshop.calls()[0].state is State.UNKNOWN
    assert f"reconcile_call:{unknown.key}" in waking(workshop.store)
    assert (workshop.store.wakeups.peek() or 0) > workshop.store.now() + 200_000


def test_a_tool_that_takes_other_arguments_now_cannot_tell_what_became_of_an_old_call(
    workshop: Workshop, unknown: Call
) -> None:
    blob = workshop.store.calls.load(unknown.key)
    assert blob is not None
    content = blob.content.model_copy(update={"arguments": '{"parcels":1}'})
    sealed = workshop.store.calls.seal("call", unknown.key, unknown.version, content.model_dump_json(), run=unknown.run)
    workshop.client.hset(workshop.store.keys.call(unknown.key), "content", sealed)
    workshop.reconcile(unknown)
    assert workshop.calls()[0].state is State.UNKNOWN
    assert f"reconcile_call:{unknown.key}" not in waking(workshop.store)


def test_a_check_that_nobody_waits_for_looks_at_nothing(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    (call,) = workshop.calls()
    looks: list[str] = []

    class Stock(dict[str, int]):
        def __getitem__(self, item: str) -> int:
            looks.append(item)
            return super().__getitem__(item)

    workshop.shop.stock = Stock(workshop.shop.stock)
    workshop.refresh(call)
    assert looks == []
    assert workshop.edit(call, Ship(lines=[Line(item="cup", count=2)])).ok
    workshop.refresh(call)
    assert looks == ["cup"]
    workshop.refresh(call)
    assert looks == ["cup"]


def test_an_edit_of_a_tool_that_was_taken_away_is_refused(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.edit(call, Ship(lines=[Line(item="cup", count=2)])).ok
    workshop.build = lambda model: Agent(name="desk", model=model, tools=workshop.shop.tools()[1:])
    workshop.refresh(call)
    (call,) = workshop.calls()
    assert (call.state, call.cause) == (State.REJECTED, Cause.POLICY)


def test_a_worker_that_lost_its_run_asks_the_model_nothing_more(workshop: Workshop) -> None:
    class Owners(dict[str, str]):
        def get(self, item: str, default: Any = None) -> Any:
            workshop.client.hset(workshop.store.keys.run("run_1"), "token", "another-worker")
            return super().get(item, default)

    workshop.shop.owners = Owners(workshop.shop.owners)
    workshop.script.extend([[function_call("find", {"item": "cup"}, call_id="c1")], [saying("Found.")]])
    workshop.start()
    assert len(workshop.script.calls) == 1
    assert workshop.run().state is RunState.RUNNING


@pytest.mark.parametrize("flag", ["failed", "spent"])
def test_a_turn_in_which_a_model_call_failed_is_thrown_away_whatever_came_of_it(workshop: Workshop, flag: str) -> None:
    workshop.script.extend([[saying("A made-up answer.")]])

    async def turn() -> Any:
        deps = workshop.deps
        watch = deps.watch()
        async with deps.loaded("default", watch) as loaded:
            setattr(watch, flag, True)
            return await _turn(loaded, "ship it", workshop.run(), watch)

    workshop.store.runs.start(
        "run_1", request="x", requester="U0REQ", channel="C0PAY", thread_ts="1.1", agent="default"
    )
    with pytest.raises(SegmentDiscarded):
        asyncio.run(turn())


def test_a_run_without_a_saved_state_cannot_be_restored(workshop: Workshop) -> None:
    async def restore() -> Any:
        async with workshop.deps.loaded("default", workshop.deps.watch()) as loaded:
            return await Saved().restored(loaded)

    with pytest.raises(ResumeRefused, match="no saved state"):
        asyncio.run(restore())


def test_a_paused_run_whose_state_is_gone_does_not_begin_anew(workshop: Workshop) -> None:
    unasked = function_call("label", {"item": "cup"}, call_id="c0")
    workshop.script.extend([[unasked], [shipping(("cup", 3))], [unasked], [saying()]])
    workshop.start()
    workshop.execute()
    workshop.advance()
    assert (workshop.run().pause, len(workshop.shop.done)) == (2, 1)
    assert workshop.decide(workshop.calls()[0], "reject").ok
    workshop.client.delete(workshop.store.keys.saved("run_1"))
    workshop.advance()
    run = workshop.run()
    assert (run.state, run.pause, len(workshop.script.calls)) == (RunState.FAILED, 2, 2)
    assert "The saved state of the run is gone" in (run.reason or "")


def test_another_first_agent_of_the_same_team_does_not_take_a_run_over(workshop: Workshop) -> None:
    first = ["desk"]

    def team(model: Model) -> Agent[Any]:
        desk: Agent[Any] = Agent(name="desk", model=model, tools=workshop.shop.tools())
        clerk: Agent[Any] = Agent(name="clerk", model=model, tools=workshop.shop.tools(), handoffs=[desk])
        desk.handoffs = [clerk]
        return {"desk": desk, "clerk": clerk}[first[0]]

    workshop.build = team
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0], "reject").ok
    first[0] = "clerk"
    workshop.advance()
    assert workshop.run().state is RunState.FAILED
    first[0] = "desk"
    assert workshop.store.runs.requeue("run_1", by="U0OPS").ok
    workshop.advance()
    assert workshop.run().state is RunState.COMPLETED


def test_the_shortest_time_of_any_call_counts_for_the_whole_card(workshop: Workshop) -> None:
    """What can be undone may wait a day; what cannot, not that long."""

    def ship_it(ask: Any, so_far: Any) -> Requirement:
        return Requirement(radius="the shelf", resources=("cup",)).needs("desk")

    def label_it(ask: Any, so_far: Any) -> Requirement:
        return Requirement(radius="the shelf", resources=("pot",)).needs("desk")

    ship_it.__name__, label_it.__name__ = "ship", "label"
    undoable = rule(Label, risk=Risk.IRREVERSIBLE, undo="Peel the label off.")(label_it)
    workshop.law = a_law([rule(Ship, ship.facts, risk=Risk.IRREVERSIBLE)(ship_it), undoable, find])
    workshop.script.extend([[shipping(("cup", 3)), function_call("label", {"item": "pot"}, call_id="c2")]])
    workshop.start()
    calls = workshop.calls()
    times = {call.content.requirement.ttl_s for call in calls}
    (name,) = {call.batch for call in calls}
    batch = workshop.store.batches.load(name or "")
    assert batch is not None
    assert len(times) == 2
    assert batch.ttl_s == min(times)


def test_a_pause_lists_each_batch_once(workshop: Workshop) -> None:
    write = a_pause(a_call("call_1"))
    empty = write.batches[0].model_copy(update={"id": "empty", "calls": ()})
    twice = write.model_copy(update={"batches": (*write.batches, empty, empty)})
    assert workshop.store.runs.start(
        "run_1", request="x", requester="U0REQ", channel="C0PAY", thread_ts="1.1", agent="default"
    ).ok
    lease = workshop.store.runs.lease("run_1", token="worker", ttl_ms=60_000)
    assert lease is not None
    with pytest.raises(PauseMalformedError, match="twice"):
        workshop.store.runs.pause(lease, twice)


def test_a_tool_that_was_not_loaded_as_gated_stops_the_pause(workshop: Workshop) -> None:
    workshop.store.runs.start(
        "run_1", request="x", requester="U0REQ", channel="C0PAY", thread_ts="1.1", agent="default"
    )

    async def pause() -> Any:
        deps = workshop.deps
        watch = deps.watch()
        stray = Asked("abcdefgh1", "desk", "made_up", "{}")
        async with deps.loaded("default", watch) as loaded:
            return await pause_write(
                deps, loaded, workshop.run(), [stray], Saved(), watch=watch, read=(), patience=Patience()
            )

    with pytest.raises(ResumeRefused, match="made_up"):
        asyncio.run(pause())
