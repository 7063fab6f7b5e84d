"""Who has looked at their Home tab lately, in this process: theirs is shown anew after a decision of their own."""

import threading
import time
from collections.abc import Callable

from bot.home_state import HomeState

#: Seconds after which a tab that was not touched is left alone.
LATELY_S = 900.0


class Visits:
    """Remembers what each tab showed; several wishes to show one anew become one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._shown: dict[str, tuple[float, HomeState]] = {}
        self._wanted: set[str] = set()

    def note(self, user: str, state: HomeState) -> None:
        """This person looks at this page."""
        now = self._clock()
        with self._lock:
            self._shown = {one: seen for one, seen in self._shown.items() if now - seen[0] < LATELY_S}
            self._shown[user] = (now, state)

    def want(self, user: str) -> bool:
        """Whether somebody must now show this person's tab anew: it was looked at lately, and nobody is about to."""
        with self._lock:
            seen = self._shown.get(user)
            if seen is None or self._clock() - seen[0] >= LATELY_S or user in self._wanted:
                return False
            self._wanted.add(user)
            return True

    def take(self, user: str) -> HomeState | None:
        """The page to show anew; wishes that come from now on need another one. None when it is not known any more."""
        with self._lock:
            self._wanted.discard(user)
            seen = self._shown.get(user)
            return seen[1] if seen else None
