"""Code of the team's that only looks, given so much time and no more, whatever it does about being stopped."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, TypeVar

#: So long what was stopped may clean up after itself; then it is left behind, to end with the job's event loop.
CLEANS_UP_S = 1.0
#: The longest one check or preview of a call is waited for when the call is to be asked about.
CHECK_S = 20.0
#: All those of one turn together, well below a job's time; each may still take a moment when this is used up.
TURN_S, MOMENT_S = 180.0, 0.5

T = TypeVar("T")


class NoAnswer(Exception):
    """It gave none; the text says why, as the end of a sentence."""


async def bounded(work: Awaitable[T], *, seconds: float, what: str) -> T:
    """What `work` gives within so many seconds. What it gives later, or on being stopped, counts for nothing.

    It runs in a task of its own: one that swallows its cancellation, or goes on after it, keeps nobody waiting.

    Raises:
        NoAnswer: there was none in time, or it was stopped by something that it had called itself.
        Exception: what `work` raised.
    """
    task = asyncio.ensure_future(work)
    task.add_done_callback(_seen)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    finally:
        task.cancel()  # nothing, once it has ended
    if not done:
        await asyncio.wait({task}, timeout=CLEANS_UP_S)
        raise NoAnswer(f"{what} gave no answer within {seconds:g} seconds")
    if task.cancelled():
        raise NoAnswer(f"{what} raised CancelledError")
    return task.result()


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the checks and previews of one turn are waited for; begins when it is made, in an event loop."""

    until: float = field(default_factory=lambda: asyncio.get_running_loop().time() + TURN_S)

    def seconds(self) -> float:
        """What the next of them may take."""
        return max(MOMENT_S, min(CHECK_S, self.until - asyncio.get_running_loop().time()))


def _seen(task: "asyncio.Future[Any]") -> None:
    """Nobody asks what became of work that was left behind; without this asyncio complains about it."""
    if not task.cancelled():
        task.exception()
