"""The clock that `python -m worker --with-clock` runs: a process beside the worker, started again when it ends.

A process and not a thread: a job forked while a clock holds a lock would wait for it for ever.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence

import structlog

from worker.clock import WITH_PARENT

#: Between an end and the next start: doubled each time, and at first again once a clock has lived for the longest.
FIRST_PAUSE_S, LONGEST_PAUSE_S = 2.0, 60.0
#: More than a clock takes for ending.
ENDS_S = 10.0

_log = structlog.get_logger(__name__)


class OwnClock:
    """`command` is what it runs; `now` tells seconds that never go back."""

    def __init__(self, command: Sequence[str], now: Callable[[], float] = time.monotonic) -> None:
        self._command, self._now = command, now
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="own clock", daemon=True)

    def start(self) -> None:
        """Run a clock from now on."""
        self._begin()
        self._thread.start()

    def stop(self) -> None:
        """End it, and start none any more."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join()
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(timeout=ENDS_S)
            except subprocess.TimeoutExpired:  # every step of a clock is one script or one transaction
                self._process.kill()
                self._process.wait()

    def missing(self) -> str | None:
        """For readiness: a sentence, None while it runs."""
        alive = self._process is not None and self._process.returncode is None
        return None if alive else "the clock beside this worker has ended; it is started again"

    def _begin(self) -> None:
        self._process = subprocess.Popen(self._command)  # noqa: S603 - this very Python, unless a test says otherwise

    def _run(self) -> None:
        pause_s = FIRST_PAUSE_S
        while (lived_s := self._end()) is not None:
            pause_s = FIRST_PAUSE_S if lived_s >= LONGEST_PAUSE_S else pause_s
            code = self._process.returncode if self._process is not None else None
            _log.error("the clock beside this worker has ended", code=code, again_in_s=pause_s)
            if self._stopping.wait(pause_s):
                return
            pause_s = min(LONGEST_PAUSE_S, pause_s * 2)
            try:
                self._begin()
            except OSError as failed:  # no process, or no memory, is left just now
                _log.error("no clock could be started beside this worker", error=type(failed).__name__)

    def _end(self) -> float | None:
        """Wait for its end; how many seconds it lived, None when it is to be stopped."""
        began = self._now()
        while self._process is not None and self._process.poll() is None:
            if self._stopping.wait(1.0):
                return None
        return self._now() - began


def own_clock() -> OwnClock:
    """The real one. It is told whose it is, since whoever starts it may be gone before it has looked."""
    return OwnClock([sys.executable, "-m", "worker.clock", WITH_PARENT, str(os.getpid())])
