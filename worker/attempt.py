"""One attempt at an effect or at an undo: every way out of it is recorded, and none leads to another attempt."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from approvals.job_time import time_is_over
from approvals.models import Call
from approvals.queue import JobTimeout
from approvals.storable import whole_text
from worker.actions import NothingHappened
from worker.presence import Presence
from worker.receipts import keep

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Ends:
    """How an attempt is recorded: why nothing happened, why nobody can tell, or the receipt; and that it goes on."""

    fail: Callable[[str], object]
    abandon: Callable[[str], object]
    succeed: Callable[[str], object]
    stay: Callable[[], object]


async def attempt(effect: Callable[[], Awaitable[str]], ends: Ends, *, what: str, call: Call, timeout_s: float) -> None:
    """Run `effect` once; it returns the receipt as JSON text. `what` names the team's code in what is recorded.

    Raises:
        JobTimeout: the job's time was over; the attempt is recorded before.
        asyncio.CancelledError: likewise.
        Exception: the store stayed away for longer than `keep` tries. The clock makes it unknown then.
    """
    presence = Presence(ends.stay)
    limit = asyncio.timeout(timeout_s)
    try:
        async with limit:
            receipt = await effect()
        _refuse_swallowed(limit)
    except NothingHappened as refused:
        presence.over()
        ends.fail(whole_text(str(refused)))
    # A boundary: this is the team's code. An error says nothing about whether the effect happened.
    except (Exception, asyncio.CancelledError) as error:
        if _stopped(error):
            ends.abandon("The worker was stopped while it ran.")
            raise
        if isinstance(error, TimeoutError) and limit.expired():
            ends.abandon(f"It gave no answer within {timeout_s:g} seconds.")
        else:
            _log.error(f"{what} raised", call=call.key, tool=call.tool, error=type(error).__name__)
            ends.abandon(f"The {what} raised {type(error).__name__}.")
        if time_is_over():
            raise JobTimeout from error
    else:
        presence.over()
        await keep(lambda: ends.succeed(receipt), call=call.key)


def _stopped(error: BaseException) -> bool:
    """Whether the worker was stopped. Code may also be cancelled by what it called itself, which stops nobody else."""
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return time_is_over() or (task is not None and task.cancelling() > 0)
    return isinstance(error, JobTimeout)


def _refuse_swallowed(limit: asyncio.Timeout) -> None:
    """Code that was stopped, caught that and answered all the same: its answer says nothing.

    Raises:
        TimeoutError: its own time was over.
        JobTimeout: the job's was.
    """
    if limit.expired():
        raise TimeoutError
    if time_is_over():
        raise JobTimeout
