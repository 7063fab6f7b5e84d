"""Why nobody knows what became of a call: its time limit, the worker, or what its tool raised by itself."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from rq.timeouts import JobTimeoutException

from approvals.job_time import JobAlarm
from approvals.lifecycle import State
from approvals.queue import JobTimeout
from workshop import Workshop, saying, shipping


async def reads_too_long() -> None:
    raise TimeoutError("read timed out")


async def limits_itself() -> None:
    async with asyncio.timeout(0.01):
        await asyncio.sleep(5)


async def is_cancelled_inside() -> None:
    inner = asyncio.ensure_future(asyncio.sleep(5))
    await asyncio.sleep(0)
    inner.cancel()
    await inner


async def never_answers() -> None:
    await asyncio.sleep(5)


def decided(workshop: Workshop, before_effect: Callable[[], Any]) -> None:
    """Two approved calls of one card; the first does this."""
    effects = iter([before_effect])

    def first() -> Any:
        return next(effects, lambda: None)()

    workshop.shop.before_effect = first
    workshop.script.extend([[shipping(("cup", 3)), shipping(("pot", 3), call_id="c2")], [saying()]])
    workshop.start()
    for call in workshop.calls():
        assert workshop.decide(call).ok


@pytest.mark.parametrize(
    ("effect", "reason"),
    [
        (reads_too_long, "The tool raised TimeoutError."),
        (limits_itself, "The tool raised TimeoutError."),
        (is_cancelled_inside, "The tool raised CancelledError."),
        (never_answers, "It gave no answer within 0.2 seconds."),
    ],
)
def test_the_reason_names_what_happened_and_the_sibling_runs_in_the_same_job(
    workshop: Workshop, effect: Callable[[], Any], reason: str
) -> None:
    workshop.shop.timeout_s = 0.2
    decided(workshop, effect)
    workshop.execute()
    cup, pot = workshop.calls()
    assert (cup.state, cup.reason, pot.state) == (State.UNKNOWN, reason, State.SUCCEEDED)


def test_a_job_that_is_stopped_while_a_tool_runs_says_so_and_ends(workshop: Workshop) -> None:
    def stopped() -> Any:
        job = asyncio.current_task()
        assert job is not None
        asyncio.get_running_loop().call_soon(job.cancel)
        return asyncio.sleep(5)

    decided(workshop, stopped)
    with pytest.raises(asyncio.CancelledError):
        workshop.execute()
    cup, pot = workshop.calls()
    assert (cup.state, cup.reason) == (State.UNKNOWN, "The worker was stopped while it ran.")
    assert pot.state is State.APPROVED


def test_a_tool_that_turns_the_end_of_the_job_into_a_cancellation_ends_the_job(workshop: Workshop) -> None:
    def out_of_time() -> None:
        try:
            time.sleep(30)
        except JobTimeout:
            raise asyncio.CancelledError from None

    decided(workshop, out_of_time)
    with pytest.raises(asyncio.CancelledError), JobAlarm(1, JobTimeoutException):  # type: ignore[no-untyped-call]
        workshop.execute()
    cup, pot = workshop.calls()
    assert (cup.state, cup.reason) == (State.UNKNOWN, "The worker was stopped while it ran.")
    assert pot.state is State.APPROVED
