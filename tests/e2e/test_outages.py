import http.client
import resource
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest

from alert_receiver import receiving
from approvals import valkey
from effects import effects_of
from free_ports import free_port
from reviewing import BRUNO, start
from stack import ROOT, Stack, running, until

PROCESSES = ("bot", "worker", "clock")
#: Longer than the time after which bot and clock tell ops past the store, which is seconds in `tests/impatient`.
AWAY_S = 15.0
IMPATIENT = f"{ROOT / 'tests' / 'impatient'}:{ROOT}"


def ready(port: int) -> tuple[int, str]:
    """What `/readyz` says; 0 when nothing listens."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except OSError:
        return 0, ""
    finally:
        connection.close()


class Watched(Stack):
    """Bot, worker and clock, each with a health port of its own."""

    def start(self, name: str) -> None:
        if name in PROCESSES:
            self.env["VOBO_HEALTH_PORT"] = str(self.health.setdefault(name, free_port()))
        super().start(name)

    def prepare(self) -> None:
        self.health: dict[str, int] = {}
        super().prepare()


def test_while_the_store_is_away_nothing_runs_ops_is_told_and_then_everything_resumes(home: Path) -> None:
    with (
        receiving() as receiver,
        running(home, kind=Watched, extra={"VOBO_ALERT_WEBHOOK": receiver.url, "PYTHONPATH": IMPATIENT}) as stack,
    ):
        assert isinstance(stack, Watched)
        for name in PROCESSES:
            until(lambda name=name: ready(stack.health[name])[0] == 200, f"{name} is ready", 20, home)
        thread = start(stack, "mail the customers whose payment failed yesterday")
        thread.wait_for_cards(1)

        assert valkey.stop_server(home / "valkey")
        gone = time.monotonic()
        for name in PROCESSES:
            until(lambda name=name: ready(stack.health[name])[0] == 503, f"{name} says it is not ready", 20, home)
        assert "the store does not answer" in ready(stack.health["bot"])[1]
        thread.approve(BRUNO, "Mail")
        while time.monotonic() - gone < AWAY_S:
            assert effects_of(stack)["mails"] == []
            time.sleep(0.2)
        assert [name for name in PROCESSES if stack.processes[name].poll() is not None] == [], stack.tails(40)
        until(lambda: len(receiver.heard) == 2, "bot and clock have told ops", 60, home)
        assert all("could not use the store for" in text for text in receiver.heard)
        valkey.ensure_server(home / "valkey")

        for name in PROCESSES:
            until(lambda name=name: ready(stack.health[name])[0] == 200, f"{name} is ready again", 60, home)
        until(lambda: len(receiver.heard) == 4, "bot and clock have told that it is over", 30, home)
        if thread.cards():  # the click of before was refused, unless the store came back while it was being tried
            thread.approve_as_told(BRUNO, "Mail", lambda: len(effects_of(stack)["mails"]) == 36, "36 mails are sent")
        until(lambda: len(effects_of(stack)["mails"]) == 36, "36 mails are sent", 60, home)
        thread.wait_for("stand-in", 60)
        assert len(effects_of(stack)["mails"]) == 36


@pytest.fixture
def no_space_kills_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A write beyond the allowed size fails as on a full disk, instead of killing the server with a signal."""
    monkeypatch.setattr(valkey.subprocess, "Popen", partial(subprocess.Popen, restore_signals=False))


def test_when_the_disk_of_the_store_is_full_nothing_happens_that_is_not_recorded(
    home: Path, no_space_kills_nobody: None
) -> None:
    with running(home, kind=Watched) as stack:
        assert isinstance(stack, Watched)
        thread = start(stack, "mail the customers whose payment failed yesterday")
        thread.wait_for_cards(1)
        server = valkey.ensure_server(home / "valkey")
        log = max((home / "valkey").rglob("*.incr.aof"), key=lambda path: path.stat().st_mtime)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (log.stat().st_size + 2_000, resource.RLIM_INFINITY))
        until(lambda: _ended(server.pid), "the server gives up on a disk that takes no more", 30, home)
        said = (home / "valkey" / "valkey.log").read_text(errors="replace")
        assert "Can't recover from AOF write error" in said
        for name in PROCESSES:
            until(lambda name=name: ready(stack.health[name])[0] == 503, f"{name} says it is not ready", 20, home)
        thread.approve(BRUNO, "Mail")
        time.sleep(2)
        assert effects_of(stack)["mails"] == []

        valkey.ensure_server(home / "valkey")  # there is room again

        for name in PROCESSES:
            until(lambda name=name: ready(stack.health[name])[0] == 200, f"{name} is ready again", 60, home)
        if thread.cards():
            thread.approve_as_told(BRUNO, "Mail", lambda: len(effects_of(stack)["mails"]) == 36, "36 mails are sent")
        until(lambda: len(effects_of(stack)["mails"]) == 36, "36 mails are sent", 60, home)
        thread.wait_for("stand-in", 60)
        assert len(effects_of(stack)["mails"]) == 36


def _ended(pid: int) -> bool:
    """Whether the process is gone; one that nobody waited for counts."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True
