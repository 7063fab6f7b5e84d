"""The clock: hints the queue at what wants a worker, applies what is due, drains the ledger. Run any number of it."""

import functools
import os
import secrets
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog

from approvals.anchoring import Anchoring
from approvals.anchors import Signer
from approvals.drain import drain_once
from approvals.errors import ApprovalsError
from approvals.health import Health, PortTaken, silent_store
from approvals.ledger import Ledger
from approvals.ledger_door import LedgerDoor
from approvals.logs import configure_logs
from approvals.metrics import Timings, exposed
from approvals.opening import open_store
from approvals.queue import WakeupQueue
from approvals.store import Store
from policies.law import Law, LawRefused
from worker.assembly import Prepared, prepared
from worker.canaries import CanaryClock
from worker.reminding import KINDS, attend
from worker.weekly import Weekly

EVERY_S = 1.0
#: Deadlines read at once, and how often in one round: after a day of downtime wake-ups still get their turn.
SWEEP = 200
SWEEPS = 10
#: See `again_ms`; the longest is as long as the queue keeps a hint that nobody takes.
AGAIN_MS, PER_WAITING_MS, LONGEST_AGAIN_MS = 4_000, 500, 600_000
#: After a failed round; Redis or the database may be away for a while.
LONGEST_WAIT_S = 15.0
#: Ends the clock with the process that started it.
WITH_PARENT = "--with-parent"
#: RQ's own limit is a last resort: the engine bounds turns and effects itself.
JOB_TIMEOUT_S = 900

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Clock:
    """One process's part in the clock. `drains` each move some of what waits and say how much they moved.

    Without a `law` threads are reminded, but nobody directly, and nothing is escalated.
    """

    store: Store
    queue: WakeupQueue
    drains: Sequence[Callable[[], int]] = ()
    law: Law | None = None
    stop: threading.Event = field(default_factory=threading.Event)

    def tick(self) -> None:
        """One round: everything that is due now. Idempotent, also across processes."""
        for job, argument, attempt in self.store.wakeups.due(again_ms=again_ms(self.queue.waiting())):
            self.queue.enqueue(
                f"worker.jobs.{job}", argument, tenant=self.store.tenant, attempt=attempt, timeout_s=JOB_TIMEOUT_S
            )
        for _ in range(SWEEPS):
            due = self.store.deadlines.due(SWEEP)
            for member in due:
                self._due(member)
            if len(due) < SWEEP or self.stop.is_set():
                return

    def _due(self, member: str) -> None:
        kind, _, subject = member.partition(":")
        if kind in KINDS and self.law is not None:
            attend(self.store, self.law, kind, subject)
        elif kind == "escalate":
            self.store.deadlines.drop(kind, subject)
        else:
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


def again_ms(waiting: int) -> int:
    """When a hint is repeated if nothing came of it, by how many wait before it.

    One that waits is not lost. Repeated all the same, hints would come faster than workers take them, and the queue
    would fill with copies.
    """
    return min(LONGEST_AGAIN_MS, AGAIN_MS + PER_WAITING_MS * waiting)


def build_clock(found: Prepared) -> Clock:
    """A clock for the environment's workspace.

    Raises:
        ApprovalsError: Redis cannot be used.
    """
    opened = open_store(found.settings, tenant=found.tenant)
    door = LedgerDoor(found.settings.ledger_url)
    key = found.settings.anchor_key
    signer = Signer.of(opened.vault, key.get_secret_value() if key else None)

    @functools.cache
    def anchoring() -> Anchoring:
        return Anchoring(opened.store, door(), signer)

    def anchor() -> int:
        return anchoring()()

    weekly = Weekly(opened.store, door, found.law.deadlines.zone, secrets.token_hex(8), opened.store.now)
    ops_channel = found.settings.ops_channel_of(found.law.reviewers)
    wanted = found.settings.weekly_report and ops_channel is not None
    drains: list[Callable[[], int]] = [lambda: drain_once(opened.store, door()), anchor]
    drains += [weekly] if wanted else []
    drains += [CanaryClock(opened.store, found.law, opened.store.canaries.draw, opened.store.now)]
    return Clock(opened.store, opened.queue, drains=drains, law=found.law)


def main() -> int:
    """`python -m worker.clock [--check] [--with-parent]`."""
    try:
        configure_logs("clock")
        found = prepared()
        clock = build_clock(found)
        if "--check" in sys.argv[1:]:
            Ledger.open(found.settings.ledger_url)  # without it the clock goes on, but somebody who asks should know
            sys.stdout.write("The clock can start.\n")
            return 0
    except (ApprovalsError, LawRefused) as refused:
        sys.stderr.write(f"{refused}\n")
        return 1
    clock.store.changes.note_start(found.law, found.settings, process="clock")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: clock.stop.set())
    if WITH_PARENT in sys.argv[1:]:
        threading.Thread(target=_stop_when_orphaned, args=(clock, os.getppid()), daemon=True).start()
    try:
        with watched(clock):
            clock.run()
    except PortTaken as taken:
        sys.stderr.write(f"{taken}\n")
        return 1
    return 0


@contextmanager
def watched(clock: Clock) -> Iterator[None]:
    """Its health on VOBO_HEALTH_PORT, unless it only accompanies a worker, which answers there.

    Raises:
        PortTaken: somebody else listens there.
    """
    settings = prepared().settings
    if settings.health_port is None or WITH_PARENT in sys.argv[1:]:
        yield
        return
    metrics = exposed(clock.store, Timings())
    health = Health(settings.health_port, lambda: silent_store(clock.store), settings.health_host, metrics=metrics)
    health.start()
    try:
        yield
    finally:
        health.stop()


def _stop_when_orphaned(clock: Clock, parent: int) -> None:
    while not clock.stop.wait(EVERY_S):
        if os.getppid() != parent:
            clock.stop.set()


if __name__ == "__main__":
    sys.exit(main())
