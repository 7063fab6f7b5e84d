"""Tells ops that the store cannot be used: alerts are owed in the store, so this one has to take another way.

Each process watches for itself, as it may be the only one that is cut off.
"""

import logging
import threading
import time
from collections.abc import Callable

from approvals.redis_refusals import Trouble

LOOK_EVERY_S = 5.0
#: A restart, or a failover of Sentinel's, takes less.
TELL_AFTER_S = 60.0
#: A look that hangs must not keep its process from ending.
ENDS_S = 1.0
#: Of an outage of the store.
MEANS = (
    "Until that is repaired nobody can decide anything, and nothing new is executed. Nothing that was recorded is lost;"
    " deadlines run on."
)

_log = logging.getLogger("vobo.outages")


class OutageWatch:
    """Tells once when the store could not be used for a minute, and once when it can be again.

    `look` tries it, `tell` says whether ops has heard it (if not, it is told again at the next look), `who` is the
    process in words, `now` tells seconds that never go back, `what` may be another thing that is looked at, and
    `means` says what it is that cannot be done meanwhile.
    """

    def __init__(
        self,
        look: Callable[[], Trouble | None],
        tell: Callable[[str], bool],
        who: str,
        now: Callable[[], float] = time.monotonic,
        *,
        what: str = "the store",
        means: str = MEANS,
    ) -> None:
        self._look, self._tell, self._who, self._now = look, tell, who, now
        self._what, self._means = what, means
        self._since: float | None = None
        self._noticed = False
        self._owed: str | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="outages", daemon=True)

    def start(self) -> None:
        """Look every few seconds."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join(ENDS_S)

    def round(self) -> None:
        """Look once, and tell what is to be told."""
        began = self._now()  # a look at a server that hangs takes long; that is part of the outage
        found = self._look()
        if found is None:
            self._works()
        else:
            self._fails(found, began)
        if self._owed is not None and self._tell(self._owed):
            self._owed = None

    def _works(self) -> None:
        if self._noticed and self._since is not None:
            lasted = int(self._now() - self._since)
            self._owe(f"vobo: {self._who} can use {self._what} again, after {lasted} s. What is due is done now.")
        self._since, self._noticed = None, False

    def _fails(self, found: Trouble, began: float) -> None:
        if self._since is None:
            self._since = began
        lasted = int(self._now() - self._since)
        if not self._noticed and lasted >= TELL_AFTER_S:
            self._noticed = True
            self._owe(f"vobo: {self._who} could not use {self._what} for {lasted} s. {found} {self._means}")

    def _owe(self, text: str) -> None:
        _log.error("ops is told past the store: %s", text)
        self._owed = text

    def _run(self) -> None:
        while not self._stopping.wait(LOOK_EVERY_S):
            self.round()
