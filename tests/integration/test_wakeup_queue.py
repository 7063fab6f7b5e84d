import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import redis
from rq.exceptions import StopRequested
from rq.worker import WorkerStatus

from approvals.queue import MAX_WAITING, SHORT_LOOPS, JobTimeout, WorkerLost, build_worker, keep_working, work_loop
from approvals.redis_check import connect
from approvals.safe_worker import SafeWorker, outline
from approvals.signed_jobs import JobRefused
from tests.integration.desk import QUEUE, Desk


def wait_for(condition: Callable[[], object], *, seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.02)


def test_an_allowed_job_runs_once_with_argument_and_tenant(desk: Desk) -> None:
    assert desk.queue.enqueue("desk_jobs.note", "run-1", tenant="T1", attempt=1, timeout_s=60)
    key = desk.only_job()

    desk.work_off()

    assert desk.notes.read_text() == "run-1 for T1\n"
    assert desk.client.hget(key, "status") == b"finished"
    assert 0 < desk.client.ttl(key) <= 60


def test_neither_arguments_nor_results_are_readable_beside_the_signed_data(desk: Desk) -> None:
    desk.queue.enqueue("desk_jobs.note", "run-1", tenant="T-secret", attempt=1, timeout_s=60)
    key = desk.only_job()
    desk.work_off()

    stored = desk.client.hgetall(key)
    del stored[b"data"]
    assert b"T-secret" not in repr(stored).encode()
    assert "result" not in stored
    assert "return_value" not in desk.results(key)


def test_the_same_attempt_waits_once_and_the_next_one_is_another_hint(desk: Desk) -> None:
    def hint(attempt: int) -> bool:
        return desk.queue.enqueue("desk_jobs.note", "run-1", tenant="T1", attempt=attempt, timeout_s=60)

    assert [hint(1), hint(1), hint(2)] == [True, False, True]
    assert desk.queue.waiting() == 2


@pytest.mark.parametrize(("one", "other"), [("a.b", "a_b"), ("run:1", "run/1"), ("ü", "ö")])
def test_arguments_that_look_alike_after_cleaning_stay_apart(desk: Desk, one: str, other: str) -> None:
    for argument in (one, other):
        assert desk.queue.enqueue("desk_jobs.note", argument, tenant="T1", attempt=1, timeout_s=60)


def test_two_tenants_do_not_swallow_each_others_hints(desk: Desk) -> None:
    for tenant in ("T1", "T2"):
        assert desk.queue.enqueue("desk_jobs.note", "run-1", tenant=tenant, attempt=1, timeout_s=60)


def test_a_finished_nudge_can_be_followed_at_once(desk: Desk) -> None:
    assert desk.queue.nudge("desk_jobs.note", "b1", tenant="T1", timeout_s=60)
    assert not desk.queue.nudge("desk_jobs.note", "b1", tenant="T1", timeout_s=60)
    desk.work_off()
    assert desk.queue.nudge("desk_jobs.note", "b1", tenant="T1", timeout_s=60)


def test_hints_do_not_pile_up_without_end(desk: Desk) -> None:
    desk.client.rpush("rq:queue:vobo", *(f"old-{number}" for number in range(MAX_WAITING)))

    assert not desk.queue.enqueue("desk_jobs.note", "run-1", tenant="T1", attempt=1, timeout_s=60)
    assert not list(desk.client.scan_iter("rq:job:*"))


def test_a_waiting_hint_expires_and_its_leftover_id_does_no_harm(desk: Desk) -> None:
    desk.queue.enqueue("desk_jobs.note", "run-1", tenant="T1", attempt=1, timeout_s=60)
    key = desk.only_job()
    assert 0 < desk.client.ttl(key) <= 600
    desk.client.delete(key)

    desk.work_off()

    assert desk.queue.waiting() == 0
    assert not desk.notes.read_text()


def test_a_failure_is_stored_for_a_day_without_what_it_quoted(desk: Desk) -> None:
    desk.queue.enqueue("desk_jobs.fail", "run-1", tenant="T1", attempt=1, timeout_s=60)
    key = desk.only_job()

    desk.work_off()

    assert desk.client.hget(key, "status") == b"failed"
    assert 60 < desk.client.ttl(key) <= 24 * 60 * 60
    assert desk.results(key)["exc_string"].startswith("ValueError at ")
    assert "4242" not in desk.results(key)["exc_string"]


def test_the_outline_keeps_types_and_our_own_sentences_only() -> None:
    def broken() -> None:
        try:
            {}["4242"]
        except KeyError as error:
            raise JobRefused("Ask ops.") from error

    with pytest.raises(JobRefused) as caught:
        broken()
    said = outline(caught.value)

    assert "JobRefused: Ask ops." in said
    assert "KeyError" in said
    assert "4242" not in said


def test_a_job_is_told_when_its_time_is_over(desk: Desk) -> None:
    desk.queue.enqueue("desk_jobs.overrun", "run-1", tenant="T1", attempt=1, timeout_s=1)
    key = desk.only_job()

    desk.work_off()

    assert desk.notes.read_text() == "time is over\n"
    assert desk.client.hget(key, "status") == b"failed"
    assert issubclass(JobTimeout, Exception)


def test_sigterm_lets_the_running_job_finish_even_when_the_job_gets_it_too(desk: Desk) -> None:
    desk.queue.enqueue("desk_jobs.slow", "run-1", tenant="T1", attempt=1, timeout_s=60)
    worker = desk.worker()
    assert worker.pid is not None
    wait_for(lambda: "began" in desk.notes.read_text())
    [horse] = Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()

    os.kill(worker.pid, signal.SIGTERM)
    os.kill(int(horse), signal.SIGTERM)
    worker.join(10)

    assert worker.exitcode == 0
    assert desk.notes.read_text() == "began\nended\n"


def test_an_idle_worker_ends_on_sigterm_and_ignores_published_commands(desk: Desk) -> None:
    worker = desk.worker()
    assert worker.pid is not None
    wait_for(lambda: desk.client.scard("rq:workers") == 1)
    [key] = desk.client.smembers("rq:workers")
    wait_for(lambda: desk.client.hget(key, "state") == b"idle")
    channel = f"rq:pubsub:{key.decode().removeprefix('rq:worker:')}"

    heard = desk.client.publish(channel, json.dumps({"command": "shutdown"}))
    os.kill(worker.pid, signal.SIGTERM)
    worker.join(10)

    assert heard == 0
    assert worker.exitcode == 0


@contextmanager
def signals_restored() -> Iterator[None]:
    """RQ leaves its own handlers in place."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_request_to_stop_that_got_lost_is_obeyed_at_the_next_heartbeat_unless_a_job_runs(desk: Desk) -> None:
    worker = build_worker(connect(desk.url), desk.vault, QUEUE)
    worker.register_birth()
    worker.heartbeat()
    with signals_restored(), suppress(StopRequested):  # as redis-py drops what is raised while it counts
        worker.set_state(WorkerStatus.IDLE)
        worker.request_stop(signal.SIGTERM, None)

    worker.set_state(WorkerStatus.BUSY)
    worker.heartbeat()
    worker.set_state(WorkerStatus.IDLE)
    with pytest.raises(StopRequested):
        worker.heartbeat()


def test_a_loop_that_ends_by_itself_is_not_mistaken_for_a_calm_end(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = build_worker(connect(desk.url), desk.vault, QUEUE, allowed=Desk.allowed)
    worker.check_for_suspension = lambda _burst: desk.client.execute_command("NO SUCH COMMAND")
    with signals_restored(), pytest.raises(WorkerLost, match="Start the worker again"):
        work_loop(worker)


def test_an_idle_worker_waits_as_long_as_the_queue_does_even_when_its_client_was_used_before(desk: Desk) -> None:
    client = connect(desk.url)
    client.ping()

    worker = build_worker(client, desk.vault, QUEUE, allowed=Desk.allowed)

    connection = client.connection_pool.get_connection()
    assert connection.socket_timeout > worker.dequeue_timeout
    client.connection_pool.release(connection)


@pytest.mark.parametrize("broken_at", ["check_for_suspension", "register_death"])
def test_a_loop_that_ended_by_itself_is_taken_up_again(desk: Desk, broken_at: str) -> None:
    broken = build_worker(connect(desk.url), desk.vault, QUEUE, allowed=Desk.allowed)
    broken.check_for_suspension = lambda _burst: desk.client.execute_command("NO SUCH COMMAND")
    setattr(broken, broken_at, lambda *_: desk.client.execute_command("NO SUCH COMMAND"))
    sound = build_worker(connect(desk.url), desk.vault, QUEUE, allowed=Desk.allowed)
    sound.check_for_suspension = lambda _burst: os.kill(os.getpid(), signal.SIGTERM)
    workers = [broken, sound]
    with signals_restored():
        keep_working(lambda: workers.pop(0))
    assert workers == []
    assert sound.stop_asked


def test_a_store_that_goes_again_while_a_worker_is_built_is_waited_for_once_more(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("approvals.queue.AGAIN_S", 0)
    broken = build_worker(connect(desk.url), desk.vault, QUEUE, allowed=Desk.allowed)
    broken.check_for_suspension = lambda _burst: desk.client.execute_command("NO SUCH COMMAND")
    sound = build_worker(connect(desk.url), desk.vault, QUEUE, allowed=Desk.allowed)
    sound.check_for_suspension = lambda _burst: os.kill(os.getpid(), signal.SIGTERM)
    turns: list[SafeWorker | Exception] = [broken, redis.ConnectionError("gone again"), sound]

    def build() -> SafeWorker:
        turn = turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        return turn

    with signals_restored():
        keep_working(build)
    assert turns == []


def test_a_loop_that_always_ends_at_once_is_given_up(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("approvals.queue.AGAIN_S", 0)
    built: list[SafeWorker] = []

    def build() -> SafeWorker:
        built.append(build_worker(connect(desk.url), desk.vault, QUEUE, allowed=Desk.allowed))
        built[-1].check_for_suspension = lambda _burst: desk.client.execute_command("NO SUCH COMMAND")
        return built[-1]

    with signals_restored(), pytest.raises(WorkerLost, match="keeps ending by itself"):
        keep_working(build)
    assert len(built) == SHORT_LOOPS


def test_who_waits_for_the_store_ends_when_asked_to(desk: Desk) -> None:
    worker = build_worker(connect(desk.url), desk.vault, QUEUE, allowed=Desk.allowed)
    worker.check_for_suspension = lambda _burst: desk.client.execute_command("NO SUCH COMMAND")
    worker.connection.ping = lambda: os.kill(os.getpid(), signal.SIGTERM)
    with signals_restored():
        keep_working(lambda: worker)
    assert worker.stop_asked
