"""`vobo doctor` says what does not work and what to do, and never lets a stuck run hide."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import redis
from click.testing import CliRunner, Result

from approvals.__main__ import cli
from approvals.checkup import DRIFT_S, GREAT_DRIFT_S, drift
from approvals.commands.doctor import told_by, without_repeats
from approvals.findings import Level, failure, fine, from_json, to_json, warning, worst
from approvals.store import Store
from approvals.stuck import GRACE_MS, open_runs, stuck_runs
from approvals.vault import new_key
from builders import STATE_KEY, a_call, approve, claim, lease_batch, lease_run, move, owed, paused, start_run

OWN = ("doctor", "--without", "bot", "--without", "worker")


@pytest.fixture
def home(shell: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(shell)
    return shell


def doctor(*words: str) -> Result:
    return CliRunner().invoke(cli, (*OWN, *words), catch_exceptions=False)


def lines(level: Level) -> dict[str, str]:
    """What it says at this level, by what about."""
    return {one.about: str(one) for one in from_json(doctor("--json").output) if one.level is level}


def drained(store: Store) -> None:
    """As if a clock had drained the ledger and a relay had sent what is owed."""
    store.runs.client.delete(store.keys.ledger, store.keys.owed)


def test_where_all_is_well_every_line_says_so_and_the_exit_code_is_0(store: Store, home: Path) -> None:
    paused(store, a_call("call_1"))
    drained(store)
    said = doctor()
    assert said.exit_code == 0, said.output
    assert "appendonly yes, appendfsync always" in said.output
    assert "read the oldest of 1 open runs." in said.output
    assert "1 runs are open, and each has something that will move it." in said.output
    assert STATE_KEY not in said.output
    assert {one["level"] for one in json.loads(doctor("--json").output)} == {"ok"}


def test_warnings_alone_exit_with_1_and_failures_with_2(store: Store, home: Path) -> None:
    store.outbox.owe("alert", "tier:desk")
    said = doctor()
    assert said.exit_code == 1, said.output
    assert "1 matters wait for ops: tier:desk." in said.output
    store.switches.freeze("lea", "refunds look wrong")
    said = doctor()
    assert said.exit_code == 2
    assert "Nothing is executed: frozen by lea: refunds look wrong." in said.output


def test_a_server_that_does_not_answer_is_one_failure_without_its_password(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://:hunter2@127.0.0.1:1/0")
    said = doctor()
    assert said.exit_code == 2
    assert "Redis does not answer at REDIS_URL" in said.output
    assert "hunter2" not in said.output


def test_everything_that_is_missing_is_a_line(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REDIS_URL", "VOBO_STATE_KEYS"):
        monkeypatch.delenv(name)
    found = from_json(doctor("--json").output)
    assert [one.about for one in found] == ["settings", "settings", "settings"]
    assert {one.sentence.split()[0] for one in found} == {"REDIS_URL", "VOBO_STATE_KEYS", "There"}
    assert f"There is no .env in {Path.cwd()}" in found[-1].sentence


def test_a_ledger_that_cannot_be_written_fails(store: Store, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "ledger" not in lines(Level.FAILURE)
    monkeypatch.setenv("VOBO_LEDGER_URL", f"sqlite:///file:{home / 'ledger.db'}?mode=ro&uri=true")
    assert "The ledger cannot be written (OperationalError)" in lines(Level.FAILURE)["ledger"]


def test_looking_at_the_ledger_leaves_nothing_in_it(store: Store, home: Path) -> None:
    doctor()
    size = (home / "ledger.db").stat().st_size
    assert "The ledger can be written (sqlite)." in lines(Level.OK)["ledger"]
    assert (home / "ledger.db").stat().st_size == size


def test_a_key_that_reads_nothing_fails_and_wakes_nobody(
    store: Store, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paused(store, a_call("call_1"))
    monkeypatch.setenv("VOBO_STATE_KEYS", new_key())
    assert "VOBO_STATE_KEYS does not hold" in lines(Level.FAILURE)["keys"]
    assert not [entry for entry in owed(store) if entry.startswith("alert:")]


def test_what_nobody_does_is_named_with_what_to_start(store: Store, home: Path, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    drained(store)
    late = store.now() - 120_000
    redis_client.zadd(store.keys.deadlines, {"decide:batch_a": late})
    redis_client.zadd(store.keys.owed, {"card:batch_a": late})
    redis_client.zadd(store.keys.wakeups, {"execute_batch:batch_a": late})
    found = lines(Level.FAILURE)
    assert found["clock"].startswith("No clock applies deadlines: the oldest has waited 12")
    assert found["bot"].startswith("Messages to Slack are not delivered: the oldest has waited 12")
    assert found["worker"].startswith("Nobody hints workers at what waits: the oldest has waited 12")
    assert "ledger" not in found


def test_a_server_that_nobody_compared_with_the_ledger_executes_nothing(
    store: Store, home: Path, redis_client: redis.Redis
) -> None:
    assert "clock" not in lines(Level.FAILURE)
    redis_client.hset(store.keys.vouched, "server", "the one before")
    assert "was not compared with the ledger since it started. Start a clock" in lines(Level.FAILURE)["clock"]


def in_review(store: Store) -> None:
    paused(store, a_call("call_1"))


def not_posted(store: Store) -> None:
    paused(store, a_call("call_1"), posted=False)


def approved(store: Store) -> None:
    in_review(store)
    approve(store)


def executing(store: Store) -> None:
    approved(store)
    assert store.effects.intend(claim(store, lease_batch(store))).ok


def unknown(store: Store) -> None:
    executing(store)
    assert store.effects.abandon("call_1", token="claim-1", reason="no answer").ok


def ready(store: Store) -> None:
    executing(store)
    assert store.effects.abandon("call_1", token="claim-1", reason="no answer").ok
    assert store.effects.settle("call_1", happened=True, by="U0OPS", reason="seen").ok


def running(store: Store) -> None:
    start_run(store)
    lease_run(store)


@pytest.mark.parametrize(
    "made",
    [start_run, running, in_review, not_posted, approved, executing, unknown, ready],
    ids=lambda made: made.__name__,
)
def test_a_run_is_stuck_once_nothing_will_move_it_whatever_it_waits_for(
    store: Store, home: Path, redis_client: redis.Redis, made: Callable[[Store], object]
) -> None:
    made(store)
    runs = open_runs(store.runs)
    assert [run.id for run in runs] == ["run_1"]
    assert list(stuck_runs(store.runs, runs)) == []
    redis_client.delete(store.keys.wakeups)
    over = store.now() - GRACE_MS - 1
    if redis_client.zcard(store.keys.deadlines):
        members = redis_client.zrange(store.keys.deadlines, 0, -1)
        redis_client.zadd(store.keys.deadlines, dict.fromkeys(members, over))
    if redis_client.hexists(store.keys.run("run_1"), "lease_until"):
        move(redis_client, store.keys.run("run_1"), lease_until=over)
    (found,) = stuck_runs(store.runs, open_runs(store.runs))
    assert found.run == "run_1"
    assert found.since in {None, over}
    said = lines(Level.FAILURE)["runs"]
    assert said.startswith("The run run_1 is ")
    assert "`vobo show run_1` tells its story" in said


def test_a_run_without_any_deadline_is_stuck_and_an_ended_one_is_not(
    store: Store, home: Path, redis_client: redis.Redis
) -> None:
    paused(store, a_call("call_1"))
    redis_client.delete(store.keys.deadlines, store.keys.wakeups)
    assert "it has no deadline" in lines(Level.FAILURE)["runs"]
    move(redis_client, store.keys.run("run_1"), ended_at=1)
    redis_client.hset(store.keys.run("run_1"), "state", "completed")
    assert open_runs(store.runs) == []
    assert "runs" not in lines(Level.FAILURE)


def test_what_settled_itself_or_was_closed_waits_for_nobody(store: Store, home: Path) -> None:
    unknown(store)
    assert store.effects.alert_unknown("call_1").ok
    assert "call:call_1" in lines(Level.WARNING)["dead letters"]
    assert store.effects.settle("call_1", happened=True, by="U0OPS", reason="seen").ok
    assert "dead letters" not in lines(Level.WARNING)
    store.outbox.owe("alert", "budget:run_1")
    assert "budget:run_1" in lines(Level.WARNING)["dead letters"]


@pytest.mark.parametrize(
    ("apart", "level"),
    [
        (0.0, Level.OK),
        (-DRIFT_S + 0.1, Level.OK),
        (DRIFT_S, Level.WARNING),
        (-GREAT_DRIFT_S + 0.1, Level.WARNING),
        (GREAT_DRIFT_S, Level.FAILURE),
    ],
)
def test_clocks_may_differ_by_a_second_or_two(apart: float, level: Level) -> None:
    assert drift("Slack's", 1_000.0, 1_000.0 + apart).level is level


def test_the_worst_finding_decides_and_each_is_said_once() -> None:
    found = [fine("a", "Good."), warning("b", "Hm."), failure("c", "Bad.", "Mend it."), warning("d", "Hm.")]
    assert [worst(found[:n]) for n in range(4)] == [Level.OK, Level.OK, Level.WARNING, Level.FAILURE]
    assert [one.about for one in without_repeats(found)] == ["a", "b", "c"]
    assert from_json(to_json(found)) == found
    assert str(found[2]) == "Bad. Mend it."


def test_a_process_that_says_nothing_about_itself_is_a_failure() -> None:
    (found,) = told_by("json.tool")
    assert (found.level, found.sentence) == (Level.FAILURE, "`python -m json.tool --check` ended without a report.")
    assert os.environ.get("SLACK_BOT_TOKEN") is None
