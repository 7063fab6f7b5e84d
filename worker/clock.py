"""The clock: hints the queue at what wants a worker, applies what is due, drains the ledger. Run any number of it."""

import argparse
import functools
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

import structlog

from approvals.alert_webhook import AlertWebhook
from approvals.anchoring import Anchoring
from approvals.anchors import Signer
from approvals.awaiting import Start
from approvals.drain import drain_through
from approvals.errors import ApprovalsError
from approvals.findings import report
from approvals.health import Health
from approvals.ledger_door import LedgerDoor
from approvals.logs import configure_logs
from approvals.metrics import Timings, exposed
from approvals.opening import connected, open_store
from approvals.outages import OutageWatch
from approvals.queue import WakeupQueue
from approvals.settings import Settings
from approvals.store import Store
from approvals.usable import require_usable, trouble, why_unusable
from policies.law import Law, LawRefused
from worker.apart import Apart
from worker.assembly import Prepared, prepared
from worker.canaries import CanaryClock
from worker.clock_check import check
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
#: When stopping, so long for what is being done; systemd and the worker that started the clock wait longer. What is cut
#: off is done by the next clock: every step is one script or one transaction.
ENDS_S = 5.0
#: A clock that finished no tick for so long is not ready.
STALE_S = 30.0
#: Ends the clock with the process that started it.
WITH_PARENT = "--with-parent"
#: RQ's own limit is a last resort: the engine bounds turns and effects itself.
JOB_TIMEOUT_S = 900

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Clock:
    """One process's part in the clock. `drains` each move some of what waits and say how much they moved.

    Without a `law` threads are reminded, but nobody directly, and nothing is escalated. `now` tells seconds that never
    go back, and only how old the last tick is: what is due, the store says.
    """

    store: Store
    queue: WakeupQueue
    drains: Sequence[Callable[[], int]] = ()
    law: Law | None = None
    now: Callable[[], float] = time.monotonic
    stop: threading.Event = field(default_factory=threading.Event)
    ticked_at: float = field(init=False)
    _apart: Apart = field(init=False)
    #: How many of the oldest the last round looked at that stay due, when it ended before it had seen all.
    _passed: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.ticked_at = self.now()
        self._apart = Apart(self.store, self.now)

    def tick(self) -> None:
        """One round: everything that is due now. Idempotent, also across processes."""
        for job, argument, attempt in self.store.wakeups.due(again_ms=again_ms(self.queue.waiting())):
            self._apart.do(f"{job}:{argument}", functools.partial(self._hint, job, argument, attempt))
        for _ in range(SWEEPS):
            due = self.store.deadlines.due(SWEEP, skip=self._passed)
            for member in due:
                self._apart.do(member, functools.partial(self._due, member))
            if len(due) < SWEEP or self.stop.is_set():
                self._passed = 0
                return
            # However many cannot be done, those behind them are looked at, in this round or in one of the next.
            self._passed += self.store.deadlines.still_due(due)

    def _hint(self, job: str, argument: str, attempt: int) -> None:
        self.queue.enqueue(
            f"worker.jobs.{job}", argument, tenant=self.store.tenant, attempt=attempt, timeout_s=JOB_TIMEOUT_S
        )

    def _due(self, member: str) -> None:
        kind, _, subject = member.partition(":")
        if kind in KINDS and self.law is not None:
            attend(self.store, self.law, kind, subject)
        elif kind == "escalate":
            self.store.deadlines.drop(kind, subject)
        elif self.store.deadlines.knows(kind):
            self.store.deadlines.apply(member)
        else:
            raise ValueError(f"This version knows no deadline of the kind {kind}.")

    def drain(self) -> bool:
        """Move what waits for the ledger, until little is left; whether all of it went well."""
        went_well = [self._guarded(functools.partial(self._emptied, drain), "drain") for drain in self.drains]
        return all(went_well)

    def run(self) -> None:
        """Tick and drain, each every second in a thread of its own, until stopped: a database that hangs delays no
        deadline. The store may be shared by threads, and nothing else is.
        """
        loops = [
            threading.Thread(target=self._every_second, args=(part,), name=name, daemon=True)
            for name, part in (("ticks", self._ticked), ("drains", self.drain))
        ]
        for loop in loops:
            loop.start()
        self.stop.wait()
        until = self.now() + ENDS_S
        for loop in loops:
            loop.join(max(0.0, until - self.now()))

    def missing(self) -> str | None:
        """What keeps it from working, None when all is well."""
        age_s = self.now() - self.ticked_at
        stale = f"no deadline and no wake-up was looked at for {age_s:.0f} s" if age_s > STALE_S else None
        return why_unusable(self.store) or stale

    def _every_second(self, part: Callable[[], bool]) -> None:
        wait_s = EVERY_S
        while not self.stop.wait(wait_s):
            wait_s = EVERY_S if part() else min(LONGEST_WAIT_S, wait_s * 2)

    def _ticked(self) -> bool:
        went_well = self._guarded(self.tick, "tick")
        if went_well:
            self.ticked_at = self.now()
        return went_well

    def _emptied(self, drain: Callable[[], int]) -> None:
        while drain() and not self.stop.is_set():
            continue

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
    door = LedgerDoor(found.settings.ledger_url, opened.store)
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
    drains: list[Callable[[], int]] = [lambda: drain_through(opened.store, door), anchor]
    drains += [weekly] if wanted else []
    drains += [CanaryClock(opened.store, found.law, opened.store.canaries.draw, opened.store.now)]
    return Clock(opened.store, opened.queue, drains=drains, law=found.law)


def main() -> int:
    """`python -m worker.clock [--check [--json]] [--with-parent PID]`."""
    parser = argparse.ArgumentParser(prog="python -m worker.clock")
    parser.add_argument("--check", action="store_true", help="say what keeps the clock from its work, and end")
    parser.add_argument("--json", action="store_true", help="with --check: a JSON array of level, about, sentence, fix")
    parser.add_argument(WITH_PARENT, type=int, metavar="PID", help="end with this process, which started it")
    asked = parser.parse_args()
    try:
        configure_logs("clock")
        if asked.check:
            return report(check(), as_json=asked.json, well="The clock can start.")
        _work(prepared(), asked.with_parent)
    except (ApprovalsError, LawRefused) as refused:
        sys.stderr.write(f"{refused}\n")
        return 1
    return 0


def _work(found: Prepared, parent: int | None) -> None:
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    store, port = connected(found.settings, tenant=found.tenant), found.settings.health_port
    # Beside a worker it has no health port of its own, as the worker answers there.
    start = Start(found.settings, store, f"the clock of workspace {found.tenant}", port if parent is None else None)
    with closing(store.runs.client):
        start.await_store()
    clock = build_clock(found)
    require_usable(clock.store)
    clock.store.changes.note_start(found.law, found.settings, process="clock")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: clock.stop.set())
    with watched(clock, found.settings, health_port=start.health_port):
        clock.run()


@contextmanager
def watched(clock: Clock, settings: Settings, *, health_port: int | None) -> Iterator[None]:
    """Its health on this port, where there is one, and ops told when the store cannot be used.

    Raises:
        PortTaken: somebody else listens there.
    """
    health = None
    if health_port is not None:
        metrics = exposed(clock.store, Timings())
        health = Health(health_port, clock.missing, settings.health_host, metrics=metrics)
        health.start()
    outages = OutageWatch(
        lambda: trouble(clock.store),
        AlertWebhook(settings.alert_webhook).send,
        f"the clock of workspace {clock.store.tenant}",
    )
    outages.start()
    try:
        yield
    finally:
        outages.stop()
        if health is not None:
            health.stop()


def _end_with(parent: int) -> None:
    """As if somebody had asked for it, whatever the clock is at; also when the parent was gone before this looked."""
    while os.getppid() == parent:
        time.sleep(EVERY_S)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
