"""The RQ worker as this project runs it: no commands from outside, no data in its records, a calm end."""

import logging
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from rq import Queue, Worker
from rq.job import Job

from approvals.errors import ApprovalsError
from approvals.job_time import JobAlarm
from approvals.outline import outline

log = logging.getLogger("vobo.queue")


class WorkerLost(ApprovalsError):
    """The work loop ended although nobody asked it to. A supervisor should start the process again."""


class SafeWorker(Worker):
    """Forks one process per job. Differs from RQ's worker where that trusts or tells too much."""

    stop_asked = False
    #: Told the id and the seconds of each job, in the process that outlives them.
    timed: Callable[[str, float], None] | None = None
    death_penalty_class = JobAlarm
    #: Seconds between two tries to reach Redis, at most. RQ's minute would keep approved work waiting after an outage.
    max_connection_wait_time = 5.0

    def subscribe(self) -> None:
        """Listen to no commands: anybody who may publish could stop workers or kill running effects."""

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Finish the running job, then end."""
        self.stop_asked = True
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]

    def setup_work_horse_signals(self) -> None:
        """Survive a SIGTERM sent to the whole process group; the parent waits for the effect in flight."""
        super().setup_work_horse_signals()  # type: ignore[no-untyped-call]
        # A handler, not SIG_IGN: programs that a tool starts would inherit the latter and never end.
        signal.signal(signal.SIGTERM, _carry_on)

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


def _carry_on(_signum: int, _frame: FrameType | None) -> None:
    """Nothing to do; the parent decides when to end."""
