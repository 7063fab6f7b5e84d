"""A deploy sends SIGTERM to all processes of a group and starts the next ones: nothing is lost, nothing doubled."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from approvals.ledger import Ledger
from approvals.lifecycle import RunState, State
from approvals.redis_check import connect
from approvals.store import Store
from approvals.vault import Vault
from effects import effects_of
from reviewing import BRUNO, CHANNEL, ROSA, Thread
from stack import ROOT, Stack, running, until

TENANT = "T0000HOME"
#: What a supervisor waits before it kills, and more than anything here takes.
GRACE_S = 20.0
#: Who is told to end, and at which step of what it is doing (names of tests/kill_points.py).
STEPS = (
    ("worker", "runs.pause:before", "before the click"),
    ("bot", "slack.post.card:after", "before the click"),
    ("bot", "calls.approve:after", "after it"),
    ("worker", "effects.claim:after", "after it"),
    ("worker", "effects.intend:after", "after it"),
    ("worker", "runs.complete:before", "after it"),
    ("clock", "ledger.append:before", "after it"),
)


class Deploy:
    """A stack whose processes can be made to wait at a named step."""

    def __init__(self, stack: Stack, steps: Path) -> None:
        self.stack, self.steps = stack, steps
        for name in ("armed", "taken", "hit", "go"):
            (steps / name).mkdir(parents=True, exist_ok=True)
        vault = Vault.from_text(stack.env["VOBO_STATE_KEYS"])
        self.store = Store.open(connect(stack.env["REDIS_URL"]), vault, tenant=TENANT)

    def arm(self, thread: str, step: str) -> None:
        """Whoever comes to this step in this thread's run waits there."""
        (self.steps / "armed" / step).mkdir(exist_ok=True)
        (self.steps / "armed" / step / thread).touch()

    def reached(self, thread: str, step: str) -> bool:
        """Whether somebody waits there."""
        return (self.steps / "hit" / f"{thread}~{step}").exists()

    def replace(self, name: str, thread: str, step: str) -> int:
        """End the process as a deploy does, start the next one, let the old one go on; returns its exit code."""
        old: subprocess.Popen[bytes] = self.stack.processes[name]
        os.killpg(old.pid, signal.SIGTERM)
        self.stack.start(name)
        assert old.poll() is None, f"{name} did not finish what it was doing"
        (self.steps / "go" / f"{thread}~{step}").touch()
        return old.wait(GRACE_S)

    def effects(self, thread: Thread) -> dict[str, int]:
        """What one run left behind, in the store, the shop and Slack."""
        run = self.store.runs.newest_in_thread(CHANNEL, thread.ts)
        assert run is not None
        calls = [call for call in self.store.calls.of_pause(run.id, run.pause) if call.state is State.SUCCEEDED]
        keys = {call.idempotency_key for call in calls}
        sent = Counter(row["recipient"] for row in effects_of(self.stack)["mails"] if row["idempotency_key"] in keys)
        metadata = [(message.get("metadata") or {}).get("event_payload") or {} for message in thread.messages()]
        return {
            "runs": int(run.state is RunState.COMPLETED),
            "calls": len(calls),
            "mails": len(sent),
            "twice": sum(times > 1 for times in sent.values()),
            "cards": sum(str(about.get("id")).startswith("card:") for about in metadata),
        }

    def recorded(self, ts: str) -> dict[str, int]:
        """What the ledger says of it, once everything has been moved there."""
        run = self.store.runs.newest_in_thread(CHANNEL, ts)
        assert run is not None
        ledger = Ledger.open(self.stack.env["VOBO_LEDGER_URL"])
        until(lambda: not self.store.ledger.read(1), "the ledger is drained", 30, self.stack.home)
        assert ledger.verify(TENANT) == []
        events = Counter(row.type for row in ledger.rows(TENANT) if row.body.get("run") == run.id)
        return {kind: events[kind] for kind in ("approved", "succeeded", "unknown")}


@pytest.fixture(scope="module")
def deploy() -> Iterator[Deploy]:
    home = Path(tempfile.mkdtemp(prefix="vobo-"))
    law = (ROOT / "policies" / "rules" / "reviewers.toml").read_text()
    (home / "reviewers.toml").write_text(law.replace("interruptions_per_hour = 12", "interruptions_per_hour = 1000"))
    extra = {
        "PYTHONPATH": f"{ROOT / 'tests' / 'crash'}:{ROOT}",
        "KILL_POINTS": str(home / "steps"),
        "KILL_POINTS_TENANT": TENANT,
        "VOBO_REVIEWERS": str(home / "reviewers.toml"),
    }
    with running(home, extra=extra) as stack:
        yield Deploy(stack, home / "steps")
    shutil.rmtree(home, ignore_errors=True)


@pytest.mark.parametrize(("name", "step", "when"), STEPS, ids=[f"{name} at {step}" for name, step, _ in STEPS])
def test_a_process_that_is_told_to_end_finishes_what_it_was_doing(
    deploy: Deploy, name: str, step: str, when: str
) -> None:
    stack, slack = deploy.stack, deploy.stack.slack
    ts = slack.say(ROSA, CHANNEL, f"about {step}")["ts"]
    thread = Thread(stack, ts)
    if when == "before the click":
        deploy.arm(ts, step)
    slack.mention(ROSA, CHANNEL, "mail the customers whose payment failed yesterday", thread_ts=ts)
    if when == "before the click":
        until(lambda: deploy.reached(ts, step), f"{step} is reached", 30, stack.home)
        assert deploy.replace(name, ts, step) == 0
    thread.wait_for_cards(1)
    if when == "after it":
        deploy.arm(ts, step)
    stack.wait_for_bot()
    thread.approve(BRUNO, "Mail")
    if when == "after it":
        until(lambda: deploy.reached(ts, step), f"{step} is reached", 30, stack.home)
        assert deploy.replace(name, ts, step) == 0

    thread.wait_for("stand-in", 60)
    assert deploy.effects(thread) == {"runs": 1, "calls": 1, "mails": 36, "twice": 0, "cards": 1}
    assert deploy.recorded(ts) == {"approved": 1, "succeeded": 1, "unknown": 0}
