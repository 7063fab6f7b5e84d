"""The process that is forked ahead of its job: it must never run nothing, run twice, or outlive its worker."""

import errno
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

import pytest

from approvals.spare import LONGEST_ORDER, Spare
from tests.integration.desk import Desk
from tests.integration.test_wakeup_queue import wait_for


def children(worker: ForkProcess) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    """A process that ended and was not waited for counts as ended."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


class Rehearsal:
    """Writes whose process has rehearsed."""

    def __init__(self, notes: Path) -> None:
        self._notes = notes

    def __call__(self) -> None:
        with self._notes.open("a") as notes:
            notes.write(f"{os.getpid()}\n")

    def done(self) -> list[int]:
        return [int(pid) for pid in self._notes.read_text().split()] if self._notes.exists() else []


@pytest.fixture
def rehearsal(tmp_path: Path) -> Rehearsal:
    return Rehearsal(tmp_path / "rehearsed")


@contextmanager
def stopped(worker: ForkProcess) -> Iterator[ForkProcess]:
    try:
        yield worker
    finally:
        if worker.is_alive():
            worker.terminate()
        worker.join(10)
        assert worker.exitcode is not None


def ask_who(desk: Desk, number: int) -> int:
    """Which process runs the job."""
    before = len(desk.notes.read_text().split()) if desk.notes.exists() else 0
    assert desk.queue.enqueue("desk_jobs.who", f"run-{number}", tenant="T1", attempt=1, timeout_s=60)
    wait_for(lambda: desk.notes.exists() and len(desk.notes.read_text().split()) > before)
    return int(desk.notes.read_text().split()[-1])


def waiting(worker: ForkProcess, rehearsal: Rehearsal, rounds: int = 1) -> int:
    wait_for(lambda: len(rehearsal.done()) == rounds)
    time.sleep(0.1)  # it has rehearsed and now says so
    assert children(worker) == [rehearsal.done()[-1]]
    return rehearsal.done()[-1]


def test_a_job_runs_in_the_process_that_waits_and_each_job_in_another_one(desk: Desk, rehearsal: Rehearsal) -> None:
    with stopped(desk.worker(rehearse=rehearsal)) as worker:
        first = waiting(worker, rehearsal)
        assert ask_who(desk, 1) == first
        second = waiting(worker, rehearsal, rounds=2)
        assert ask_who(desk, 2) == second

    assert first != second
    assert not is_alive(first)
    assert len(desk.notes.read_text().split()) == 2


def test_a_job_is_finished_in_the_queue_as_any_other(desk: Desk, rehearsal: Rehearsal) -> None:
    with stopped(desk.worker(rehearse=rehearsal)) as worker:
        waiting(worker, rehearsal)
        ask_who(desk, 1)
        key = desk.only_job()
        wait_for(lambda: desk.client.hget(key, "status") == b"finished")
        wait_for(lambda: not list(desk.client.scan_iter("rq:execution:*")))

    assert not desk.client.exists("rq:queue:vobo:intermediate")


def test_a_job_that_fails_is_recorded_without_what_it_was_about(desk: Desk, rehearsal: Rehearsal) -> None:
    with stopped(desk.worker(rehearse=rehearsal)) as worker:
        waiting(worker, rehearsal)
        desk.queue.enqueue("desk_jobs.fail", "cus_1", tenant="T1", attempt=1, timeout_s=60)
        key = desk.only_job()
        wait_for(lambda: desk.client.hget(key, "status") == b"failed")

    assert desk.results(key)["exc_string"].startswith("ValueError at ")
    assert "4242" not in desk.results(key)["exc_string"]


def test_a_job_is_told_that_its_time_is_over(desk: Desk, rehearsal: Rehearsal) -> None:
    with stopped(desk.worker(rehearse=rehearsal)) as worker:
        waiting(worker, rehearsal)
        desk.queue.enqueue("desk_jobs.overrun", "run-1", tenant="T1", attempt=1, timeout_s=1)
        wait_for(lambda: desk.notes.exists() and desk.notes.read_text() == "time is over\n")


def test_when_the_waiting_process_was_killed_the_job_runs_once_in_a_new_one(desk: Desk, rehearsal: Rehearsal) -> None:
    with stopped(desk.worker(rehearse=rehearsal)) as worker:
        killed = waiting(worker, rehearsal)
        os.kill(killed, signal.SIGKILL)
        wait_for(lambda: not is_alive(killed))
        ran = ask_who(desk, 1)

    assert ran != killed
    assert desk.notes.read_text().split() == [str(ran)]


def test_nobody_waits_for_a_rehearsal_that_does_not_end(desk: Desk) -> None:
    with stopped(desk.worker(rehearse=lambda: time.sleep(60))) as worker:
        wait_for(lambda: len(children(worker)) == 1)
        [stuck] = children(worker)
        assert ask_who(desk, 1) != stuck
        assert ask_who(desk, 2) != stuck
        assert is_alive(stuck), "it is kept for a later job"

    assert not is_alive(stuck)


def test_a_rehearsal_that_fails_does_not_keep_its_process_from_working(desk: Desk, rehearsal: Rehearsal) -> None:
    def fails() -> None:
        rehearsal()
        raise ValueError("the shop is closed")

    with stopped(desk.worker(rehearse=fails)) as worker:
        spare = waiting(worker, rehearsal)
        assert ask_who(desk, 1) == spare


def test_while_jobs_queue_up_no_process_is_forked_ahead(desk: Desk, rehearsal: Rehearsal) -> None:
    for number in range(5):
        desk.queue.enqueue("desk_jobs.who", f"run-{number}", tenant="T1", attempt=1, timeout_s=60)

    with stopped(desk.worker(rehearse=rehearsal)) as worker:
        wait_for(lambda: desk.notes.exists() and len(desk.notes.read_text().split()) == 5)
        waiting(worker, rehearsal)

    assert not set(map(str, rehearsal.done())) & set(desk.notes.read_text().split())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_waiting_process_ends_with_its_worker(desk: Desk, rehearsal: Rehearsal, number: signal.Signals) -> None:
    worker = desk.worker(rehearse=rehearsal)
    spare = waiting(worker, rehearsal)
    assert worker.pid is not None

    os.kill(worker.pid, number)
    worker.join(10)

    wait_for(lambda: not is_alive(spare))


def test_it_ends_with_its_worker_even_while_another_job_goes_on(desk: Desk) -> None:
    """The job's process was forked while the other one waited, and so holds a copy of all that the worker held."""
    worker = desk.worker(rehearse=lambda: time.sleep(1.0))  # so the job cannot be given to it
    assert worker.pid is not None
    wait_for(lambda: len(children(worker)) == 1)
    [spare] = children(worker)
    desk.queue.enqueue("desk_jobs.slow", "run-1", tenant="T1", attempt=1, timeout_s=60)
    wait_for(lambda: desk.notes.exists() and "began" in desk.notes.read_text())

    os.kill(worker.pid, signal.SIGKILL)

    wait_for(lambda: not is_alive(spare))
    assert "ended" not in desk.notes.read_text(), "the job goes on"
    wait_for(lambda: "ended" in desk.notes.read_text())
    worker.join(10)


def test_sigterm_lets_a_job_in_it_finish_even_when_the_job_gets_it_too(desk: Desk, rehearsal: Rehearsal) -> None:
    worker = desk.worker(rehearse=rehearsal)
    spare = waiting(worker, rehearsal)
    assert worker.pid is not None
    desk.queue.enqueue("desk_jobs.slow", "run-1", tenant="T1", attempt=1, timeout_s=60)
    wait_for(lambda: desk.notes.exists() and "began" in desk.notes.read_text())

    os.kill(worker.pid, signal.SIGTERM)
    os.kill(spare, signal.SIGTERM)
    worker.join(10)

    assert worker.exitcode == 0
    assert desk.notes.read_text() == "began\nended\n"


def test_an_order_that_would_arrive_in_pieces_is_not_given() -> None:
    spare = Spare(lambda: None, lambda _: None)
    wait_for(lambda: not spare.rehearses)

    assert not spare.begin("x" * (LONGEST_ORDER + 1))
    assert not is_alive(spare.pid)


class Shortage:
    """While it lasts, no process but the test's own can fork."""

    def __init__(self, forks_refused: int) -> None:
        self._left = multiprocessing.Value("i", forks_refused)
        self._here, self._fork = os.getpid(), os.fork

    def __call__(self) -> int:
        with self._left.get_lock():
            if os.getpid() != self._here and self._left.value > 0:
                self._left.value -= 1
                raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
        return self._fork()

    @property
    def is_over(self) -> bool:
        return self._left.value == 0


def held() -> tuple[set[Path], set[signal.Signals]]:
    """The open descriptors, and the signals that are held back."""
    return set(Path("/proc/self/fd").iterdir()), signal.pthread_sigmask(signal.SIG_BLOCK, [])


@pytest.mark.parametrize("call", ["fork", "pipe"])
def test_a_fork_that_fails_leaves_nothing_open_and_no_signal_held_back(
    call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [os.pipe] if call == "pipe" else []

    def fails() -> Any:
        if answers:
            return answers.pop()()
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    before = held()
    with monkeypatch.context() as patched:
        patched.setattr(os, call, fails)
        with pytest.raises(OSError, match="temporarily unavailable"):
            Spare(lambda: None, lambda _: None)

    assert held() == before


def test_without_a_process_forked_ahead_the_job_is_forked_as_before(
    desk: Desk, rehearsal: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    shortage = Shortage(1)
    monkeypatch.setattr(os, "fork", shortage)
    with stopped(desk.worker(rehearse=rehearsal)) as worker:
        wait_for(lambda: shortage.is_over)
        ran = ask_who(desk, 1)
        next_one = waiting(worker, rehearsal)
        assert ask_who(desk, 2) == next_one

    assert ran not in rehearsal.done()
    assert worker.exitcode == 0, "it still heard that it was to end"


def test_a_job_that_cannot_be_forked_is_run_at_its_next_hint_by_the_same_worker(
    desk: Desk, rehearsal: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    shortage = Shortage(2)  # the one ahead of the job, and the job's own
    monkeypatch.setattr(os, "fork", shortage)
    with stopped(desk.worker(rehearse=rehearsal)) as worker:
        assert desk.queue.enqueue("desk_jobs.who", "run-1", tenant="T1", attempt=1, timeout_s=60)
        wait_for(lambda: shortage.is_over)
        assert desk.queue.enqueue("desk_jobs.who", "run-1", tenant="T1", attempt=2, timeout_s=60)  # as the clock does
        wait_for(lambda: len(desk.notes.read_text().split()) == 1)
        assert worker.is_alive()

    assert worker.exitcode == 0
