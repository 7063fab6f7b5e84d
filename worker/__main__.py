"""`python -m worker [--check] [--with-clock]`: works off the queue, one job in one forked process at a time."""

import argparse
import subprocess
import sys

from approvals.errors import ApprovalsError
from approvals.health import Health, silent_store
from approvals.queue import build_worker, work_loop
from approvals.redis_check import check_server, connect
from approvals.store import Store
from approvals.vault import Vault
from policies.law import LawRefused
from worker import jobs
from worker.assembly import Prepared, prepared
from worker.check import findings, gated_tools, notes
from worker.clock import WITH_PARENT


def main() -> int:
    """Exit code 0, or 1 after one sentence for each problem."""
    parser = argparse.ArgumentParser(prog="python -m worker")
    parser.add_argument("--check", action="store_true", help="say what keeps the worker from starting, and end")
    parser.add_argument("--with-clock", action="store_true", help="run a clock beside this process as well")
    asked = parser.parse_args()
    try:
        found = prepared()
        problems = list(findings(found))
        for problem in problems:
            sys.stderr.write(f"{problem}\n")
        if problems:
            return 1
        for note in notes(found):
            sys.stderr.write(f"Note: {note}\n")
        if asked.check:
            sys.stdout.write("The worker can start.\n")
            return 0
        return _work(found, with_clock=asked.with_clock)
    except (ApprovalsError, LawRefused) as refused:
        sys.stderr.write(f"{refused}\n")
        return 1


def _work(found: Prepared, *, with_clock: bool) -> int:
    client, keys = connect(found.settings.redis_url), found.settings.state_keys.get_secret_value()
    for warning in check_server(client):
        sys.stderr.write(f"Warning: {warning}\n")
    # Imported before the fork, so that a job starts in milliseconds.
    Store.open(client, Vault.from_text(keys), tenant=found.tenant).switches.set_worker(
        found.law.version, gated_tools(found)
    )
    sys.stderr.write(f"Working for {found.tenant} with {jobs.__name__}.\n")
    vault = Vault.from_text(keys)
    # A process and not a thread: a job forked while the clock holds a lock would wait for it for ever.
    clock = subprocess.Popen([sys.executable, "-m", "worker.clock", WITH_PARENT]) if with_clock else None  # noqa: S603
    health = health_of(found, vault)
    try:
        work_loop(build_worker(client, vault))
    finally:
        if health is not None:
            health.stop()
        if clock is not None:
            clock.terminate()
            clock.wait(timeout=10)
    return 0


def health_of(found: Prepared, vault: Vault) -> Health | None:
    """Its health on VOBO_HEALTH_PORT, over a connection that no job shares.

    Raises:
        PortTaken: somebody else listens there.
    """
    if found.settings.health_port is None:
        return None
    own = Store.open(connect(found.settings.redis_url), vault, tenant=found.tenant)
    health = Health(found.settings.health_port, lambda: silent_store(own))
    health.start()
    return health


if __name__ == "__main__":
    sys.exit(main())
