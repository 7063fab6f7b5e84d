import http.client
import time
from pathlib import Path

from approvals import valkey
from effects import effects_of
from reviewing import BRUNO, start
from stack import Stack, free_port, running, until

PROCESSES = ("bot", "worker", "clock")
AWAY_S = 5.0


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


def test_while_the_store_is_away_nothing_runs_and_readiness_says_so_and_then_everything_resumes(home: Path) -> None:
    with running(home, kind=Watched) as stack:
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
        assert all(stack.processes[name].poll() is None for name in PROCESSES)
        valkey.ensure_server(home / "valkey")

        for name in PROCESSES:
            until(lambda name=name: ready(stack.health[name])[0] == 200, f"{name} is ready again", 60, home)
        if thread.cards():  # the click of before was refused, unless the store came back while it was being tried
            thread.approve(BRUNO, "Mail")
        until(lambda: len(effects_of(stack)["mails"]) == 36, "36 mails are sent", 60, home)
        thread.wait_for("stand-in", 60)
        assert len(effects_of(stack)["mails"]) == 36
