"""The RQ worker as this project runs it: no commands from outside, no data in its records, a calm end."""

import contextlib
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import redis
from redis.client import Pipeline
from rq import Queue, Worker
from rq.exceptions import StopRequested
from rq.executions import Execution
from rq.job import Job
from rq.worker import WorkerStatus

from approvals.errors import ApprovalsError
from approvals.job_time import JobAlarm
from approvals.outline import outline
from approvals.spare import Spare

log = logging.getLogger("vobo.queue")


class WorkerLost(ApprovalsError):
    """The work loop ended although nobody asked it to. A supervisor should start the process again."""


class SafeWorker(Worker):
    """Forks one process per job. Differs from RQ's worker where that trusts or tells too much."""

    stop_asked = False
    #: Told the id and the seconds of each job, in the process that outlives them.
    timed: Callable[[str, float], None] | None = None
    #: What a process does that is forked ahead and waits for its job; without it no process is forked ahead.
    rehearse: Callable[[], None] | None = None
    _spare: Spare | None = None
    death_penalty_class = JobAlarm
    #: Seconds between two tries to reach Redis, at most. RQ's minute would keep approved work waiting after an outage.
    max_connection_wait_time = 5.0
    #: Seconds in which an idle worker notices that it was asked to stop, should the exception that says so be lost:
    #: redis-py catches every exception where it counts its own work.
    dequeue_timeout = 5

    def subscribe(self) -> None:
        """Listen to no commands: anybody who may publish could stop workers or kill running effects."""

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Finish the running job, then end."""
        self.stop_asked = True
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        """Say that it is alive, and do not go on waiting for jobs when it was asked to stop."""
        super().heartbeat(timeout, pipeline)
        if self.stop_asked and not self.is_horse and self.get_state() != WorkerStatus.BUSY:
            raise StopRequested

    def setup_work_horse_signals(self) -> None:
        """Survive a SIGTERM sent to the whole process group; the parent waits for the effect in flight."""
        super().setup_work_horse_signals()  # type: ignore[no-untyped-call]
        # A handler, not SIG_IGN: programs that a tool starts would inherit the latter and never end.
        signal.signal(signal.SIGTERM, _carry_on)

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, Queue] | None:
        """Wait for a job, with a process that waits for it too."""
        if timeout is not None:  # RQ's burst would be over before the process is ready
            self._fork_ahead()
        found: tuple[Job, Queue] | None = super().dequeue_job_and_maintain_ttl(timeout, max_idle_time)
        return found

    def fork_work_horse(self, job: Job, queue: Queue) -> None:
        """Give the job to the process that waits, or fork one as RQ does."""
        spare, execution = self._spare, self.execution
        if spare is not None and execution is not None and not spare.rehearses:
            self._spare = None
            if spare.begin(json.dumps([job.id, execution.id])):
                self._horse_pid = spare.pid
                return
        super().fork_work_horse(job, queue)

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        """The life of a job's process."""
        if self._spare is not None:
            self._spare.forget()
        super().main_work_horse(job, queue)

    def teardown(self) -> None:
        """Leave no process behind."""
        if self._spare is not None:
            self._spare.dismiss()
            self._spare = None
        super().teardown()  # type: ignore[no-untyped-call]

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Run one job in a process of its own, and say how long that took."""
        began = time.monotonic()
        super().execute_job(job, queue)
        if self.timed is not None:
            self.timed(job.id, time.monotonic() - began)

    def handle_exception(self, job: Job, *_exc_info: Any) -> None:
        """Log what failed without quoting what it was about."""
        log.error("job %s failed: %s", job.id, outline(sys.exception()))

    def handle_job_failure(self, job: Job, queue: Queue, *args: Any, **kwargs: Any) -> None:
        """Store the outline of the failure: RQ would keep the whole message, in clear, for as long as the job."""
        if (error := sys.exception()) is not None:
            kwargs["exc_string"] = outline(error)
        super().handle_job_failure(job, queue, *args, **kwargs)

    def _fork_ahead(self) -> None:
        """While jobs queue up this would only take their time: the next one is forked at once anyway."""
        if self.rehearse is None or self._spare is not None:
            return
        with contextlib.suppress(redis.RedisError):  # met again, and handled, when RQ asks for a job
            if self.queues[0].count == 0:
                self.get_redis_server_version()  # type: ignore[no-untyped-call]  # kept: nobody asks again
                try:
                    self._spare = Spare(self._rehearsed, self._obey)
                except OSError as failed:  # too many processes, no memory: the job is forked, or tried again, without
                    log.warning("no process could be forked ahead (%s)", failed.strerror)

    def _rehearsed(self) -> None:
        self.connection.ping()
        self.connection.connection_pool.disconnect()  # nobody would keep it alive
        if self.rehearse is not None:
            self.rehearse()

    def _obey(self, order: str) -> None:
        """In the process that waited: be the work-horse of this job, as RQ's SpawnWorker begins one."""
        job_id, execution_id = json.loads(order)
        os.environ |= {"RQ_WORKER_ID": self.name, "RQ_JOB_ID": job_id}
        job = self.job_class.fetch(job_id, connection=self.connection, serializer=self.serializer)
        job.redis_server_version = self.get_redis_server_version()  # type: ignore[no-untyped-call]
        execution = Execution.fetch(execution_id, job_id, connection=self.connection)
        execution._job = job  # noqa: SLF001 - RQ's own way to spare a second look-up
        self.executions = {execution.id: execution}
        self.main_work_horse(job, self.queues[0])


def _carry_on(_signum: int, _frame: FrameType | None) -> None:
    """Nothing to do; the parent decides when to end."""
