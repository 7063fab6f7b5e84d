"""`vobo doctor` asks every part of a real installation, and says of each what there is."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from free_ports import free_port
from stack import ROOT, Stack


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    made = Stack(tmp_path_factory.mktemp("v"))
    made.prepare()
    made.run("-m", "worker.refund_desk.shop", "load")
    made.start("sandbox")
    yield made
    made.stop()


def doctor(stack: Stack, *arguments: str, cwd: Path = ROOT, **changed: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "approvals", "doctor", *arguments],
        env={**stack.env, **changed},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stdout + done.stderr
    for name in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "VOBO_STATE_KEYS"):
        assert stack.env[name] not in done.stdout + done.stderr
    return done


def test_it_asks_store_bot_and_worker_and_the_exit_code_says_how_it_stands(stack: Stack) -> None:
    assert "Start a clock: python -m worker.clock" in doctor(stack, "--without", "bot", "--without", "worker").stdout
    stack.start("clock")
    done = doctor(stack, "--json")
    for _ in range(20):  # until the clock has compared the server with the ledger
        if done.returncode == 1:
            break
        time.sleep(1)
        done = doctor(stack, "--json")
    found = {one["sentence"]: one["level"] for one in json.loads(done.stdout)}
    assert found["Slack knows SLACK_BOT_TOKEN: workspace T0000HOME, bot UBOT."] == "ok"
    assert found["The ops channel C_OPS can be written to."] == "ok"
    assert found["Every agent can be loaded and gated: default."] == "ok"
    assert set(found.values()) == {"ok", "warning"}, found
    assert done.returncode == 1, "the planner stands in for a model, and there is no second way to ops"


def test_what_the_terminal_sets_over_another_env_file_is_named_and_never_shown(stack: Stack, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        f"REDIS_URL=redis://:of-the-file@store:6379/0\nVOBO_STATE_KEYS={stack.env['VOBO_STATE_KEYS']}\n"
        "SLACK_BOT_TOKEN=xoxb-of-the-file\nVOBO_LANGUAGE=en\n"
    )
    shown = " ".join(doctor(stack, "--without", "bot", "--without", "worker", cwd=tmp_path).stdout.split())
    assert "This terminal sets REDIS_URL, SLACK_BOT_TOKEN, which wins over what .env says." in shown
    assert "`unset REDIS_URL SLACK_BOT_TOKEN`" in shown
    assert "of-the-file" not in shown
    assert "which wins over" not in doctor(stack, "--without", "bot", "--without", "worker").stdout


def test_each_part_is_told_although_another_one_is_broken(stack: Stack) -> None:
    done = doctor(stack, REDIS_URL=f"redis://127.0.0.1:{free_port()}/0", VOBO_AGENT="json:dumps")
    assert done.returncode == 2
    shown = " ".join(done.stdout.split())
    assert shown.count("Redis does not answer at REDIS_URL") == 1, "what all of them miss is said once"
    assert "Slack knows SLACK_BOT_TOKEN" in shown
    assert "The agent factory json:dumps in VOBO_AGENT raised TypeError" in shown
