import json
import zlib
from pathlib import Path

import pytest
from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer

from approvals.signed_jobs import ALLOWED_JOBS, JobRefused, SignedJson, job_class_for
from approvals.vault import new_key
from tests.integration.desk import Desk


def test_a_function_off_the_list_cannot_even_be_enqueued(desk: Desk) -> None:
    with pytest.raises(JobRefused, match="not on the list"):
        desk.queue.enqueue("os.system", "id", tenant="T1", attempt=1, timeout_s=60)


def test_the_list_names_the_seven_jobs_of_the_worker() -> None:
    names = {"start_run", "execute_batch", "refresh_call", "reconcile_call", "resume_run", "undo_call", "look_again"}
    assert {f"worker.jobs.{name}" for name in names} == ALLOWED_JOBS


@pytest.mark.parametrize(
    "call",
    [
        ("os.system", None, [], {}),
        ("desk_jobs.planted", None, ["a", "b"], {}),
        ("desk_jobs.note", None, ["a", "b"], {"x": "y"}),
        ("desk_jobs.note", None, ["a"], {}),
        ("desk_jobs.note", None, ["a", {"b": 1}], {}),
        ("note", "desk_jobs", ["a", "b"], {}),
        (["desk_jobs.note"], None, ["a", "b"], {}),
        "nonsense",
    ],
)
def test_even_a_signed_job_runs_only_listed_functions_with_two_texts(desk: Desk, call: object) -> None:
    marker = desk.notes.with_name("marker")
    if isinstance(call, tuple) and call[0] == "os.system":
        call = ("os.system", None, [f"touch {marker}"], {})
    key = desk.plant(SignedJson(desk.vault).dumps(call))

    desk.work_off()

    assert desk.client.hget(key, "status") == b"failed"
    assert not marker.exists()
    assert not desk.notes.read_text()


@pytest.mark.parametrize(
    "call",
    [
        ("os.system", None, ["a", "b"], {}),
        ("desk_jobs.note", "an object", ["a", "b"], {}),
        ("desk_jobs.note", None, ["a", "b"], {"argument": "b"}),
        ("desk_jobs.note", None, ["a", "b", "c"], {}),
    ],
)
def test_a_refusal_comes_before_anything_is_imported(desk: Desk, call: object) -> None:
    signer = SignedJson(desk.vault)
    desk.plant(signer.dumps(call))
    job = job_class_for(Desk.allowed).fetch("planted", connection=desk.client, serializer=signer)

    with pytest.raises(JobRefused, match="Find out who"):
        _ = job.func


def test_an_unsigned_job_is_refused(desk: Desk) -> None:
    plain = Queue("vobo", connection=desk.client, serializer=JSONSerializer)
    key = plain.enqueue_call("desk_jobs.note", args=("a", "b"), job_id="unsigned").key

    desk.work_off()

    assert desk.client.hget(key, "status") == b"failed"
    assert not desk.notes.read_text()


def test_a_pickled_job_is_not_unpickled(desk: Desk, tmp_path: Path) -> None:
    marker = tmp_path / "unpickled"
    bomb = f"cos\nsystem\n(S'touch {marker}'\ntR.".encode()
    key = desk.plant(bomb, meta=bomb.decode(), result=bomb.decode())

    desk.work_off()

    assert desk.client.hget(key, "status") == b"failed"
    assert not marker.exists()


def test_a_job_signed_with_a_foreign_key_is_refused(desk: Desk) -> None:
    desk.queue.enqueue("desk_jobs.note", "run-1", tenant="T1", attempt=1, timeout_s=60)
    key = desk.only_job()

    desk.work_off(new_key())

    assert desk.client.hget(key, "status") == b"failed"
    assert not desk.notes.read_text()


def test_a_job_signed_before_a_key_rotation_still_runs(desk: Desk) -> None:
    desk.queue.enqueue("desk_jobs.note", "run-1", tenant="T1", attempt=1, timeout_s=60)

    desk.work_off(f"{new_key()},{desk.keys}")

    assert desk.notes.read_text() == "run-1 for T1\n"


def test_a_changed_argument_breaks_the_signature(desk: Desk) -> None:
    desk.queue.enqueue("desk_jobs.note", "run-1", tenant="T1", attempt=1, timeout_s=60)
    key = desk.only_job()
    data = zlib.decompress(desk.client.hget(key, "data") or b"")
    desk.client.hset(key, "data", zlib.compress(data.replace(b"run-1", b"run-2")))

    desk.work_off()

    assert desk.client.hget(key, "status") == b"failed"
    assert not desk.notes.read_text()


@pytest.mark.parametrize("job", ["desk_jobs.note", "desk_jobs.fail"])
def test_planted_callbacks_hooks_retries_and_repetitions_are_ignored(desk: Desk, job: str) -> None:
    desk.queue.enqueue(job, "run-1", tenant="T1", attempt=1, timeout_s=60)
    key = desk.only_job()
    desk.client.hset(
        key,
        mapping={
            "success_callback_name": "desk_jobs.planted",
            "failure_callback_name": "desk_jobs.planted",
            "stopped_callback_name": "desk_jobs.planted",
            "webhooks": json.dumps([{"url": "http://127.0.0.1:9/", "job_status": "finished"}]),
            "retries_left": "3",
            "repeats_left": "3",
            "repeat_intervals": "[0]",
            "timeout": "-1",
        },
    )

    desk.work_off()

    assert "PLANTED" not in desk.notes.read_text()
    assert desk.notes.read_text().count("run-1") == (job == "desk_jobs.note")
    assert desk.client.hget(key, "status") == (b"finished" if job == "desk_jobs.note" else b"failed")


def test_a_planted_stopped_callback_is_never_resolved(desk: Desk) -> None:
    desk.queue.enqueue("desk_jobs.note", "run-1", tenant="T1", attempt=1, timeout_s=60)
    key = desk.only_job()
    desk.client.hset(key, mapping={"stopped_callback_name": "os.system", "timeout": "-1"})

    job: Job = job_class_for(Desk.allowed).fetch(
        key.removeprefix("rq:job:"), connection=desk.client, serializer=SignedJson(desk.vault)
    )

    assert job.stopped_callback is None
    assert job.timeout == 180


def test_an_unreadable_hash_is_skipped_and_the_worker_goes_on(desk: Desk) -> None:
    desk.plant(b"x", status="no such status", result_ttl="soon")
    desk.queue.enqueue("desk_jobs.note", "run-1", tenant="T1", attempt=1, timeout_s=60)

    desk.work_off()

    assert desk.notes.read_text() == "run-1 for T1\n"
