"""`python -m worker [--check] [--with-clock]`: works off the queue, one job in one forked process at a time."""

import argparse
import functools
import gc
import sys

from approvals.errors import ApprovalsError
from approvals.findings import report
from approvals.health import Health
from approvals.logs import configure_logs
from approvals.metrics import Timings, exposed, timed_jobs
from approvals.opening import connected
from approvals.queue import build_worker, keep_working, queue_name
from approvals.redis_check import check_server
from approvals.safe_worker import SafeWorker
from approvals.signed_jobs import ALLOWED_JOBS
from approvals.trace_export import start_traces
from approvals.usable import require_usable, why_unusable
from policies.law import LawRefused
from worker import jobs
from worker.assembly import Prepared, prepared
from worker.check import Inspection, check, findings, gated_tools, inspected, notes, undoable_tools
from worker.own_clock import OwnClock, own_clock
from worker.rehearsal import read_scripts, rehearse


def main() -> int:
    """Exit code 0, or 1 after one sentence for each problem."""
    parser = argparse.ArgumentParser(prog="python -m worker")
    parser.add_argument("--check", action="store_true", help="say what keeps the worker from starting, and end")
    parser.add_argument("--with-clock", action="store_true", help="run a clock beside this process as well")
    parser.add_argument("--json", action="store_true", help="with --check: a JSON array of level, about, sentence, fix")
    asked = parser.parse_args()
    try:
        configure_logs("worker")
        if asked.check:
            return report(check(), as_json=asked.json, well="The worker can start.")
        seen = inspected(prepared())
        problems = list(findings(seen))
        for problem in problems:
            sys.stderr.write(f"{problem}\n")
        if problems:
            return 1
        for note in notes(seen):
            sys.stderr.write(f"Note: {note}\n")
        return _work(seen, with_clock=asked.with_clock)
    except (ApprovalsError, LawRefused) as refused:
        sys.stderr.write(f"{refused}\n")
        return 1


def _work(seen: Inspection, *, with_clock: bool) -> int:
    found = seen.found
    store = connected(found.settings, tenant=found.tenant)
    client, vault = store.runs.client, store.runs.vault
    for warning in check_server(client):
        sys.stderr.write(f"Warning: {warning}\n")
    require_usable(store)
    store.switches.set_worker(found.law.version, gated_tools(seen), undoable_tools(seen))
    store.changes.note_start(found.law, found.settings, process="worker")
    sys.stderr.write(f"Working for {found.tenant} with {jobs.__name__}.\n")
    timings = Timings()
    clock = own_clock() if with_clock else None
    health = health_of(found, timings, clock)
    # Before the first fork: the jobs' processes hand their spans over to this one.
    end_traces = start_traces("worker", forks=True)

    def a_worker() -> SafeWorker:
        worker = build_worker(client, vault, queue_name(found.tenant))
        worker.timed = timed_jobs(timings, ALLOWED_JOBS)
        worker.rehearse = functools.partial(rehearse, found)
        return worker

    read_scripts()
    # What is loaded by now stays. A collection inside a job would touch, and so copy, every page of it.
    gc.collect()
    gc.freeze()
    try:
        if clock is not None:
            clock.start()
        keep_working(a_worker)
    finally:
        end_traces()
        if health is not None:
            health.stop()
        if clock is not None:
            clock.stop()
    return 0


def health_of(found: Prepared, timings: Timings, clock: OwnClock | None) -> Health | None:
    """Its health on VOBO_HEALTH_PORT, and that of the clock beside it, over a connection that no job shares.

    Raises:
        PortTaken: somebody else listens there.
    """
    settings = found.settings
    if settings.health_port is None:
        return None
    own = connected(found.settings, tenant=found.tenant)
    metrics = exposed(own, timings)

    def missing() -> str | None:
        return why_unusable(own) or (clock.missing() if clock is not None else None)

    health = Health(settings.health_port, missing, settings.health_host, metrics=metrics)
    health.start()
    return health


if __name__ == "__main__":
    sys.exit(main())
