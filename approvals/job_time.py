"""The end of a job's time, remembered: tools and libraries that catch every exception swallow it."""

from types import FrameType
from typing import ClassVar

from rq.timeouts import UnixSignalDeathPenalty


class JobAlarm(UnixSignalDeathPenalty):
    """RQ's alarm, which raises wherever the job happens to be. From then on `rang` is true until the job has ended."""

    rang: ClassVar[bool] = False  # a process works on one job at a time

    def handle_death_penalty(self, signum: int, frame: FrameType | None) -> None:
        """The time is over."""
        type(self).rang = True
        super().handle_death_penalty(signum, frame)  # type: ignore[no-untyped-call]

    def cancel_death_penalty(self) -> None:
        """The job has ended."""
        type(self).rang = False
        super().cancel_death_penalty()  # type: ignore[no-untyped-call]


def time_is_over() -> bool:
    """Whether this job has used up its time, even if nobody noticed the exception that said so."""
    return JobAlarm.rang
