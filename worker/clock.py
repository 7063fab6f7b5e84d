"""The clock: hints the queue at what wants a worker, applies what is due, drains the ledger. Run any number of it."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog

from approvals.drain import drain_once
from approvals.errors import ApprovalsError
from approvals.ledger import Ledger
from approvals.opening import open_store
from approvals.queue import WakeupQueue
from approvals.store import Store
from policies.law import LawRefused
from worker.assembly import Prepared, prepared

EVERY_S = 1.0
#: After a failed round; Redis or the database may be away for a while.
LONGEST_WAIT_S = 15.0
#: Ends the clock with the process that started it.
WITH_PARENT = "--with-parent"
#: RQ's own limit is a last resort: the engine bounds turns and effects itself.
JOB_TIMEOUT_S = 900

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Clock:
    """One process's part in the clock. `drains` each move some of what waits and say how much they moved."""

    store: Store
    queue: WakeupQueue
    drains: Sequence[Callable[[], int]] = ()
    stop: threading.Event = field(default_factory=threading.Event)

    def tick(self) -> None:
        """One round: everything that is due now. Idempotent, also across processes."""
        for job, argument, attempt in self.store.wakeups.due():
            self.queue.enqueue(
                f"worker.jobs.{job}", argument, tenant=self.store.tenant, attempt=attempt, timeout_s=JOB_TIMEOUT_S
            )
        for member in self.store.deadlines.due():
            self.store.deadlines.apply(member)

    def drain(self) -> None:
        """Move what waits for the ledger, until little is left."""
        for drain in self.drains:
            while drain() and not self.stop.is_set():
                continue

    def run(self) -> None:
        """Tick every second until stopped. Each part goes on when another fails."""
        wait_s = EVERY_S
        while not self.stop.wait(wait_s):
            ticked = self._guarded(self.tick, "tick")
            self._guarded(self.drain, "drain")  # a ledger that is away must not slow deadlines down
            wait_s = EVERY_S if ticked else min(LONGEST_WAIT_S, wait_s * 2)

    def _guarded(self, part: Callable[[], None], name: str) -> bool:
        try:
            part()
        # The boundary of a process that must outlive every outage of what it talks to.
        except Exception as error:  # noqa: BLE001
            _log.warning("clock round failed", part=name, error=type(error).__name__)
            return False
        return True


def build_clock(found: Prepared) -> Clock:
    """A clock for the environment's workspace.

    Raises:
        ApprovalsError: Redis or the ledger cannot be used.
    """
    opened = open_store(found.settings, tenant=found.tenant)
    ledger = Ledger.open(found.settings.ledger_url)
    return Clock(opened.store, opened.queue, drains=(lambda: drain_once(opened.store, ledger),))


def main() -> int:
    """`python -m worker.clock [--check] [--with-parent]`."""
    try:
        clock = build_clock(prepared())
    except (ApprovalsError, LawRefused) as refused:
        sys.stderr.write(f"{refused}\n")
        return 1
    if "--check" in sys.argv[1:]:
        sys.stdout.write("The clock can start.\n")
        return 0
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: clock.stop.set())
    if WITH_PARENT in sys.argv[1:]:
        threading.Thread(target=_stop_when_orphaned, args=(clock, os.getppid()), daemon=True).start()
    clock.run()
    return 0


def _stop_when_orphaned(clock: Clock, parent: int) -> None:
    while not clock.stop.wait(EVERY_S):
        if os.getppid() != parent:
            clock.stop.set()


if __name__ == "__main__":
    sys.exit(main())
