"""Keeps a lease alive from a thread of its own, so that a tool which blocks the event loop does not lose it."""

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

import structlog

LEASE_MS = 45_000
EVERY_S = 10.0

_log = structlog.get_logger(__name__)


class Heartbeat:
    """Calls `renew` every few seconds while entered. `lost` is set once the lease is gone for good."""

    def __init__(self, renew: Callable[[], bool], *, every_s: float = EVERY_S) -> None:
        self._renew = renew
        self._every_s = every_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self.lost = threading.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(timeout=self._every_s)

    def _beat(self) -> None:
        while not self._stop.wait(self._every_s):
            try:
                held = self._renew()
            # A boundary of its own thread: Redis may be away for a moment; the lease outlives several beats.
            except Exception as error:  # noqa: BLE001
                _log.warning("lease not renewed", error=type(error).__name__)
                continue
            if not held:
                self.lost.set()
                return
