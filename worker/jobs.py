"""The jobs of the queue. Their dotted names live in Redis: renaming one strands what is queued.

Each takes what it is about and the tenant, as the queue hands them over, and may be called at any time, any number
of times, by any worker: the store decides whether there is something to do.
"""

from worker import batches, looking, reconcile, refresh, runs, undoing
from worker.assembly import run_job


def start_run(run_id: str, tenant: str) -> None:
    """Drive a new run from its request."""
    run_job(runs.advance, run_id, tenant)


def resume_run(run_id: str, tenant: str) -> None:
    """Drive a run on from its checkpoint; every call of its pause is final."""
    run_job(runs.advance, run_id, tenant)


def execute_batch(batch_id: str, tenant: str) -> None:
    """Take the approved calls of a batch through the gate."""
    run_job(batches.execute, batch_id, tenant)


def refresh_call(key: str, tenant: str) -> None:
    """Check an edited call against the team's data."""
    run_job(refresh.refresh, key, tenant)


def reconcile_call(key: str, tenant: str) -> None:
    """Ask the tool what became of a call."""
    run_job(reconcile.reconcile, key, tenant)


def undo_call(key: str, tenant: str) -> None:
    """Take back what a call did, or find out whether that happened."""
    run_job(undoing.undo, key, tenant)


def look_again(key: str, tenant: str) -> None:
    """Look up again what a waiting call rests on."""
    run_job(looking.look_again, key, tenant)
