"""One continuation, whoever resumes and however often; and turns that are counted across pauses."""

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest
from agents.testing import ModelStep, ScriptedModel

from approvals.lifecycle import RunState, State
from approvals.queue import WakeupQueue, queue_name
from approvals.vault import Vault
from builders import STATE_KEY, TENANT, waking
from worker import batches, runs
from worker.clock import Clock
from workshop import Workshop, function_call, saying, shipping


def settle(workshop: Workshop, verdict: str = "approve") -> None:
    (call,) = workshop.calls()
    assert workshop.decide(call, verdict, correction=True).ok
    workshop.execute()


def test_turns_are_counted_across_pauses_and_end_the_run_before_a_person_is_asked_once_more(workshop: Workshop) -> None:
    limit = workshop.law.budgets.turns_per_run
    finds = [[function_call("find", {"item": "cup"}, call_id=f"f{n}")] for n in range(limit)]
    workshop.script.extend([finds[0], [shipping(("cup", 3))], *finds[1 : limit - 3]])
    workshop.start()
    assert (workshop.run().turns, workshop.run().pause) == (2, 1)
    workshop.script.extend([[shipping(("pot", 3))], [shipping(("pan", 3))]])
    settle(workshop)
    workshop.advance()
    run = workshop.run()
    assert (run.turns, run.pause) == (limit - 1, 2), "a pause costs no turn and gives none back"
    settle(workshop)
    workshop.advance()
    run = workshop.run()
    assert (run.state, run.pause) == (RunState.STOPPED, 2)
    assert f"{limit} model turns" in (run.answer or "")
    assert len(workshop.script.calls) == limit
    assert [done[1] for done in workshop.shop.done] == [{"cup": 3}, {"pot": 3}]


def test_a_turn_that_failed_and_was_repeated_is_not_counted_twice(workshop: Workshop) -> None:
    workshop.script.extend([ModelStep.raise_error(ConnectionError("down")), [shipping(("cup", 3))]])
    with pytest.raises(ConnectionError):
        workshop.start()
    workshop.advance()
    assert workshop.run().turns == 1


def test_two_resumes_at_once_continue_once(workshop: Workshop) -> None:
    inside, go_on = threading.Event(), threading.Event()
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    settle(workshop)

    def slow(call: Any) -> Any:
        inside.set()
        assert go_on.wait(20)
        return ModelStep(output=[saying("Shipped.")])

    workshop.script.extend([ModelStep(responder=slow)])
    first = threading.Thread(target=workshop.advance)
    first.start()
    assert inside.wait(20)
    asyncio.run(runs.advance(workshop.deps, "run_1"))
    go_on.set()
    first.join(20)
    assert (workshop.run().answer, len(workshop.script.calls), len(workshop.shop.done)) == ("Shipped.", 2, 1)


def test_a_worker_that_was_taken_for_lost_cannot_write_what_it_found_out(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    settle(workshop)

    def overtaken(call: Any) -> Any:
        workshop.client.hset(workshop.store.keys.run("run_1"), "lease_until", workshop.store.now() - 1)
        other = Workshop(workshop.store, workshop.client)
        other.shop, other.script = workshop.shop, ScriptedModel([[saying("By the other worker.")]])
        thread = threading.Thread(target=other.advance)
        thread.start()
        thread.join(20)
        return ModelStep(output=[shipping(("pan", 9))])

    workshop.script.extend([ModelStep(responder=overtaken)])
    workshop.advance()
    run = workshop.run()
    assert (run.state, run.answer, run.pause) == (RunState.COMPLETED, "By the other worker.", 1)
    assert len(workshop.shop.done) == 1


@pytest.mark.parametrize("when", ["paused", "completed", "stopped"])
def test_a_job_that_is_delivered_again_does_nothing(workshop: Workshop, when: str) -> None:
    workshop.script.extend([[shipping(("cup", 3))], [saying("Shipped.")]])
    if when == "stopped":
        budgets = workshop.law.budgets.model_copy(update={"turns_per_run": 1})
        workshop.law = replace(workshop.law, budgets=budgets)
    workshop.start()
    if when == "completed":
        settle(workshop)
        workshop.advance()
    before = (workshop.run(), len(workshop.script.calls), len(workshop.shop.done))
    assert before[0].state.value == when
    for _ in range(3):
        workshop.advance()
        for call in workshop.calls() if workshop.run().pause else []:
            asyncio.run(batches.execute(workshop.deps, call.batch or ""))
    assert (workshop.run(), len(workshop.script.calls), len(workshop.shop.done)) == before


def test_a_job_about_something_that_never_was_does_nothing(workshop: Workshop) -> None:
    asyncio.run(runs.advance(workshop.deps, "run_9"))
    asyncio.run(batches.execute(workshop.deps, "batch_9"))
    assert len(workshop.script.calls) == 0


def test_a_ready_run_and_a_claimable_batch_whose_jobs_were_lost_are_found_again(workshop: Workshop) -> None:
    queue = WakeupQueue(workshop.client, Vault.from_text(STATE_KEY), queue_name(TENANT))
    clock = Clock(workshop.store, queue)
    workshop.script.extend([[shipping(("cup", 3))], [saying("Shipped.")]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call).ok
    for work in (f"execute_batch:{call.batch}", "resume_run:run_1"):
        clock.tick()
        assert queue.waiting() == 1
        for name in workshop.client.scan_iter("rq:*"):  # the queue loses everything
            workshop.client.delete(name)
        due = workshop.client.zscore(workshop.store.keys.wakeups, work)
        assert due is not None
        assert due - workshop.store.now() <= 4_000, "asked for again within seconds"
        workshop.client.zadd(workshop.store.keys.wakeups, {work: 0})
        clock.tick()
        assert queue.waiting() == 1
        for name in workshop.client.scan_iter("rq:*"):
            workshop.client.delete(name)
        if work.startswith("execute"):
            workshop.execute()
    workshop.advance()
    assert (workshop.run().answer, waking(workshop.store)) == ("Shipped.", set())
    assert workshop.calls()[0].state is State.SUCCEEDED
