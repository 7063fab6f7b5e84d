"""What the Procfile names, started and ended by honcho as somebody on one machine does it."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from effects import effects_of
from reviewing import BRUNO, start
from stack import ROOT, Stack, until

NAMES = ("bot.1", "clock.1", "worker.1")
LISTENS = "0A"
#: What honcho ends with when it was told to end (128 + SIGTERM).
TOLD_TO_END = 143


def test_the_procfile_starts_everything_and_ends_it_without_a_trace(home: Path) -> None:
    # Each takes a free port for its health: one environment is for all three.
    stack = Stack(home, extra={"VOBO_HEALTH_PORT": "0"})
    stack.prepare()
    stack.run("-m", "worker.refund_desk.shop", "load", "--fresh")
    stack.start("sandbox")
    try:
        with honcho(stack) as (supervisor, log):
            for name in NAMES:
                until(lambda name=name: ready(home, name), f"{name} is ready", 30, home)  # type: ignore[misc]
            thread = start(stack, "mail the customers whose payment failed yesterday")
            thread.wait_for_cards(1)
            thread.approve(BRUNO, "Mail 36 people")
            thread.wait_for("stand-in")
            assert len(effects_of(stack)["mails"]) == 36

            supervisor.send_signal(signal.SIGTERM)
            assert supervisor.wait(15) == TOLD_TO_END
            said = log.read_text()
            stopped = re.findall(r"(\S+) stopped \(rc=", said)
            assert (sorted(stopped), under_honcho(home)) == (list(NAMES), [])
            # honcho kills what has not ended 5 s after the first: each ended by itself, in time.
            assert "SIGKILL" not in said
            assert "Traceback" not in said
    finally:
        stack.stop()


@contextmanager
def honcho(stack: Stack) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """`honcho start` and its log. The Procfile says `python`, as in an activated environment."""
    environment = {**stack.env, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    words = [sys.executable, "-m", "honcho", "start", "-f", str(ROOT / "Procfile"), "-e", os.devnull]
    log = stack.home / "honcho.log"
    with log.open("wb") as file:
        made = subprocess.Popen(
            words, env=environment, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        yield made, log
    finally:
        for pid in under_honcho(stack.home):
            os.kill(pid, signal.SIGKILL)
        made.kill()
        made.wait(10)


def under_honcho(home: Path, name: str = "") -> list[int]:
    """What honcho has started for this store under this name, and whatever that has started; not yet buried counts."""
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            variables = place.read_bytes().split(b"\0")
        except OSError:  # gone meanwhile
            continue
        names = [one for one in variables if one.startswith(f"HONCHO_PROCESS_NAME={name}".encode())]
        if names and any(os.fsencode(home) in one for one in variables):
            found.append(int(place.parent.name))
    return found


def ready(home: Path, name: str) -> bool:
    """Whether `/readyz` says so, on whichever port the process listens."""
    return any(answers(port) for pid in under_honcho(home, name) for port in ports(pid))


def ports(pid: int) -> list[int]:
    """Where a process listens (in Socket Mode for its health alone)."""
    try:
        open_here = {str(entry.readlink()) for entry in Path(f"/proc/{pid}/fd").iterdir()}
        rows = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    except FileNotFoundError:
        return []
    return [int(row[1].split(":")[1], 16) for row in rows if row[3] == LISTENS and f"socket:[{row[9]}]" in open_here]


def answers(port: int) -> bool:
    """Whether `/readyz` is 200."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
