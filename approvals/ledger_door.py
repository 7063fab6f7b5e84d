"""The way to the ledger for processes that go on without it: opened when it is first needed, not at the start.

Decisions and effects are in Redis. A database that is away is a sentence in one window, and events wait.
"""

import threading

from approvals.ledger import Ledger


class LedgerDoor:
    """Opens the ledger once; when that fails, again at the next question."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._ledger: Ledger | None = None

    def __call__(self) -> Ledger:
        """The ledger.

        Raises:
            LedgerUnreachable: it cannot be opened now.
        """
        with self._lock:
            if self._ledger is None:
                self._ledger = Ledger.open(self._url)
            return self._ledger
