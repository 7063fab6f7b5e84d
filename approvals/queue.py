"""The queue of wake-up hints. The truth is in the store; a lost or doubled hint costs seconds, never an effect."""

import contextlib
import hashlib
import re
import time
from collections.abc import Callable, Collection
from typing import NamedTuple

import redis
from rq import Queue
from rq.exceptions import DuplicateJobError, StopRequested
from rq.timeouts import BaseTimeoutException

from approvals.safe_worker import SafeWorker, WorkerLost, log
from approvals.signed_jobs import ALLOWED_JOBS, JobRefused, SignedJson, job_class_for
from approvals.vault import Vault

# What a job sees when its time is over. It is an ordinary Exception, so whoever catches broadly must let it pass.
JobTimeout = BaseTimeoutException

MAX_WAITING = 2000  # while no worker runs, the clock keeps hinting; beyond this a hint adds nothing


class Lifetimes(NamedTuple):
    """How long RQ keeps a job's hash, in seconds, while it waits and after it ended."""

    waiting: int
    done: int
    failed: int


CLOCKED = Lifetimes(waiting=600, done=60, failed=24 * 60 * 60)
NUDGED = Lifetimes(waiting=60, done=0, failed=60)  # its id is not counted up, so it must soon be free again

# RQ looks for abandoned work only between two waits of worker_ttl - 15 s, so its default of 420 s means minutes.
WORKER_TTL_S = 60
JOB_MONITORING_S = 15
MAINTENANCE_S = 120

#: A loop that ends by itself sooner than this, so many times in a row, will not do better the next time.
SHORT_S = 10.0
SHORT_LOOPS = 5
AGAIN_S = 1.0


class WakeupQueue:
    """Puts hints on the queue `name`. `client` must not decode responses."""

    def __init__(
        self,
        client: redis.Redis,
        vault: Vault,
        name: str,
        *,
        allowed: Collection[str] = ALLOWED_JOBS,
    ) -> None:
        self._allowed = allowed
        self._queue = _queue(client, vault, name, allowed)

    def enqueue(self, job_name: str, argument: str, *, tenant: str, attempt: int, timeout_s: int) -> bool:
        """Hint that `job_name(argument, tenant)` has work to do; `attempt` counts the caller's repetitions.

        False if this very attempt is known already (waiting, running, or ended within a minute) or if the queue
        is full. Both are fine: the next attempt comes in seconds.

        Raises:
            JobRefused: the worker would refuse this function.
        """
        job_id = _job_id(job_name, argument, tenant, str(attempt))
        return self._put(job_name, (argument, tenant), job_id, timeout_s, CLOCKED)

    def nudge(self, job_name: str, argument: str, *, tenant: str, timeout_s: int) -> bool:
        """The same hint outside the clock's rhythm, as after a settling click.

        At most one nudge per argument waits or runs, and a finished one leaves nothing behind, so that the next
        click can nudge at once. False means that one is on its way, or that the queue is full.

        Raises:
            JobRefused: the worker would refuse this function.
        """
        job_id = _job_id(job_name, argument, tenant, "nudge")
        return self._put(job_name, (argument, tenant), job_id, timeout_s, NUDGED)

    def waiting(self) -> int:
        """How many hints wait; for metrics."""
        return int(self._queue.count)

    def _put(self, job_name: str, arguments: tuple[str, str], job_id: str, timeout_s: int, lives: Lifetimes) -> bool:
        if job_name not in self._allowed:
            raise JobRefused(f"{job_name} is not on the list of jobs; add it to approvals/signed_jobs.py.")
        if self._queue.count >= MAX_WAITING:
            return False
        try:
            self._queue.enqueue_call(
                job_name,
                args=arguments,
                job_id=job_id,
                unique=True,  # also makes a repeat by redis-py harmless: it finds its own job
                timeout=timeout_s,
                ttl=lives.waiting,
                result_ttl=lives.done,
                failure_ttl=lives.failed,
                description=job_id,  # RQ stores and logs it in clear; the default would show the arguments
            )
        except DuplicateJobError:
            return False
        return True


def build_worker(
    client: redis.Redis, vault: Vault, name: str, *, allowed: Collection[str] = ALLOWED_JOBS
) -> SafeWorker:
    """A worker for the one queue `name`. Give it a client of its own: RQ lengthens that client's timeouts.

    Exactly one queue, because RQ loses a job for good when it is killed between two.
    """
    queue = _queue(client, vault, name, allowed)
    worker = SafeWorker(
        [queue],
        connection=client,
        serializer=queue.serializer,
        job_class=queue.job_class,
        worker_ttl=WORKER_TTL_S,
        job_monitoring_interval=JOB_MONITORING_S,
        maintenance_interval=MAINTENANCE_S,
        default_result_ttl=CLOCKED.done,
        log_job_description=False,
    )
    client.connection_pool.disconnect()
    client.connection_pool.reset()  # the pool's old connections, open or not, would keep the short timeout
    return worker


def work_loop(worker: SafeWorker, *, burst: bool = False) -> None:
    """Work until SIGTERM or SIGINT (the running job is finished first), or until the queue is empty if `burst`.

    RQ's scheduler is not started: its process would keep the connection of a killed worker alive, which then
    swallows a job.

    Raises:
        WorkerLost: the loop ended by itself, as RQ does after an outage at a bad moment.
    """
    worker.work(burst=burst, with_scheduler=False, logging_level=None)
    if not burst and not worker.stop_asked:
        raise WorkerLost("The work loop ended by itself; see the log above. Start the worker again.")


def keep_working(build: Callable[[], SafeWorker]) -> None:
    """`work_loop` with a fresh worker whenever it ends by itself: an outage at a bad moment ends RQ's, not ours.

    Raises:
        WorkerLost: it ended at once, several times in a row.
    """
    short = 0
    worker = build()
    while True:
        began = time.monotonic()
        try:
            return work_loop(worker)
        except (WorkerLost, redis.RedisError) as lost:
            short = short + 1 if time.monotonic() - began < SHORT_S else 0
            if short >= SHORT_LOOPS:
                raise WorkerLost("The work loop keeps ending by itself; see the log above.") from lost
            log.warning("the work loop ended (%s); it is taken up again", type(lost).__name__)
        again = _once_the_store_is_back(worker, build)
        if again is None:
            return None
        worker = again


def _once_the_store_is_back(worker: SafeWorker, build: Callable[[], SafeWorker]) -> SafeWorker | None:
    """A fresh worker: building one asks the store, which may go again meanwhile. None when asked to stop."""
    while not worker.stop_asked:
        with contextlib.suppress(redis.RedisError, StopRequested):  # RQ raises the latter where a signal finds us
            time.sleep(AGAIN_S)
            worker.connection.ping()
            return None if worker.stop_asked else build()
    return None


def queue_name(tenant: str) -> str:
    """Each workspace has a queue of its own, so that no worker takes the hints that are meant for another's."""
    return f"vobo-{tenant}"


def _queue(client: redis.Redis, vault: Vault, name: str, allowed: Collection[str]) -> Queue:
    return Queue(name, connection=client, serializer=SignedJson(vault), job_class=job_class_for(allowed))


def _job_id(job_name: str, argument: str, tenant: str, attempt: str) -> str:
    """Readable, deterministic, of the characters RQ allows; told apart by a digest where letters were replaced."""
    readable = "-".join((job_name.rpartition(".")[2], argument, attempt))
    exact = hashlib.sha256(f"{job_name}\x00{argument}\x00{tenant}\x00{attempt}".encode()).hexdigest()[:12]
    return f"{re.sub(r'[^A-Za-z0-9_-]', '_', readable)[:120]}-{exact}"
