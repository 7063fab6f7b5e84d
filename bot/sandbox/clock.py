"""The workspace's clock: the real one, plus whatever a test has added."""

import time
from collections.abc import Callable


class Clock:
    """Seconds since 1970. `advance` lets triggers and response URLs grow old without waiting."""

    def __init__(self, source: Callable[[], float] = time.time) -> None:
        self._source = source
        self._offset = 0.0

    def now(self) -> float:
        """The workspace's present."""
        return self._source() + self._offset

    def advance(self, seconds: float) -> None:
        """Move every later reading forward."""
        self._offset += seconds
