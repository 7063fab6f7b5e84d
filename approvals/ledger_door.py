"""The way to the ledger for processes that go on without it: opened when it is first needed, not at the start.

Decisions and effects are in Redis. A database that is away is a sentence in one window, and events wait.
"""

import threading

from approvals.ledger import Ledger
from approvals.ledger_opening import ledger_of
from approvals.store import Store


class LedgerDoor:
    """Opens the ledger of a store once; when that fails, again at the next question."""

    def __init__(self, url: str, store: Store) -> None:
        self._url = url
        self._store = store
        self._lock = threading.Lock()
        self._ledger: Ledger | None = None

    def __call__(self) -> Ledger:
        """The ledger. It is made only while nothing was handed over to one.

        Raises:
            LedgerUnreachable: it cannot be opened now.
            LedgerDiffers: there is none, or it is not the one that events were handed over to.
        """
        with self._lock:
            if self._ledger is None:
                self._ledger = ledger_of(self._url, self._store)
                return self._ledger
        self._ledger.require(self._store.tenant, self._store.ledger.noted())
        return self._ledger
