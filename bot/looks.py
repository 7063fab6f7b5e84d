"""Having the data of a waiting call looked up again while somebody who may decide it reads."""

import time
from collections.abc import Iterable

from approvals.models import Call
from bot.deps import Deps

LOOK = "look_again"
#: A window is filled at once and once more when the looks ended soon; later ones are told by the card.
WAIT_S, STEP_S = 1.0, 0.05


class Looks:
    """The looks that one opening of a window has asked for."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._asked: list[str] = []

    def ask(self, calls: Iterable[Call]) -> None:
        """Ask for a look at each of these, if none was asked for within a minute."""
        for call in calls:
            if self._deps.store.calls.ask_look(call.key).ok:
                self._asked.append(call.key)
                self._deps.nudge(f"worker.jobs.{LOOK}", call.key)

    def done_soon(self) -> bool:
        """Wait a moment for what was asked. False when nothing was, or when it takes longer."""
        until = time.monotonic() + WAIT_S
        while self._asked and time.monotonic() < until:
            if not self._deps.store.wakeups.wanted(LOOK, self._asked):
                self._deps.wake.set()
                return True
            time.sleep(STEP_S)
        return False
