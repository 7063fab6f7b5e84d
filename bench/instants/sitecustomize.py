"""Notes when a click passes each place between the HTTP request and its effect; Python runs this file by itself.

Only in the processes that `bench/click_to_effect.py` starts with this folder on PYTHONPATH. The clock is the machine's
own (CLOCK_MONOTONIC), the same in every process.
"""

import functools
import os
import sys
import time
from collections.abc import Callable
from typing import Any

ROLES = {"bot": "bot", "worker": "worker"}


def _note(name: str) -> None:
    line = f"{time.monotonic_ns()} {name}\n".encode()
    os.write(_LOG, line)


def _wrap(owner: Any, method: str, *, before: str = "", after: str = "") -> None:
    original: Callable[..., Any] = getattr(owner, method)

    @functools.wraps(original)
    def wrapped(*args: Any, **named: Any) -> Any:
        if before:
            _note(before)
        answer = original(*args, **named)
        if after:
            _note(after)
        return answer

    setattr(owner, method, wrapped)


def _in_the_bot() -> None:
    from approvals.calls import Calls  # noqa: PLC0415 - only in the process it is about, here and below
    from approvals.queue import WakeupQueue  # noqa: PLC0415
    from bot import work  # noqa: PLC0415

    _wrap(work, "guarded", before="work begins in the bot")
    _wrap(Calls, "approve", before="who clicked is known", after="decision stored")
    _wrap(WakeupQueue, "nudge", after="job enqueued")


def _in_the_worker() -> None:
    from rq.queue import Queue  # noqa: PLC0415

    from approvals.batches import Batches  # noqa: PLC0415
    from approvals.effects import Effects  # noqa: PLC0415
    from approvals.safe_worker import SafeWorker  # noqa: PLC0415
    from worker import assembly, batches  # noqa: PLC0415
    from worker.refund_desk.shop.database import Shop  # noqa: PLC0415

    _wrap(Queue, "dequeue_any", after="job popped")
    _wrap(SafeWorker, "execute_job", before="job fetched")
    _wrap(SafeWorker, "prepare_execution", after="job noted by RQ")
    _wrap(SafeWorker, "main_work_horse", before="job's process has it")
    _wrap(SafeWorker, "prepare_job_execution", after="RQ is ready")
    _wrap(assembly, "deps_for", before="job's process runs")
    _wrap(batches, "execute", before="store connected")
    _wrap(Batches, "lease", after="batch leased")
    _wrap(Batches, "claimable", before="agent loaded")
    _wrap(Effects, "claim", before="checked", after="claimed")
    _wrap(Effects, "intend", before="looked up again", after="intent stored")
    _wrap(Shop, "once", before="effect")


_ROLE = ROLES.get(sys.orig_argv[2]) if sys.orig_argv[1:2] == ["-m"] else None
if _ROLE and "BENCH_INSTANTS" in os.environ:  # the one side effect, for which this file exists
    _LOG = os.open(os.environ["BENCH_INSTANTS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    {"bot": _in_the_bot, "worker": _in_the_worker}[_ROLE]()
