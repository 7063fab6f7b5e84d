"""Tells the store that an effect may still be at work, after nobody waits for its answer any more.

A blocking call in `asyncio.to_thread` cannot be stopped: it outlives the tool's time limit, and may have its effect
then. The job's event loop is closed only once such threads have ended, and with the process they are gone.
"""

import asyncio
import threading
import time
from collections.abc import Callable

import structlog

#: How often the store is told; it believes it for `approvals.at_work.PRESENT_MS`.
EVERY_S = 10.0
#: How soon it is noticed that the loop is closed.
POLL_S = 1.0

_log = structlog.get_logger(__name__)


class Presence:
    """Calls `tell` every few seconds until `over`, or until the running event loop is closed."""

    def __init__(self, tell: Callable[[], object], *, every_s: float = EVERY_S) -> None:
        self._tell, self._every_s = tell, every_s
        self._loop = asyncio.get_running_loop()
        self._over = threading.Event()
        threading.Thread(target=self._stay, name="presence", daemon=True).start()

    def over(self) -> None:
        """What became of the effect is known."""
        self._over.set()

    def _stay(self) -> None:
        told = time.monotonic()
        while not self._over.wait(min(POLL_S, self._every_s)) and not self._loop.is_closed():
            if time.monotonic() - told < self._every_s:
                continue
            told = time.monotonic()
            try:
                self._tell()
            # A boundary of its own thread: Redis may be away for a moment; it is told again.
            except Exception as error:  # noqa: BLE001
                _log.warning("presence not told", error=type(error).__name__)
