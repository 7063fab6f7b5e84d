import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from effects import effects_of
from reviewing import BRUNO, start
from stack import ROOT, Stack, until

#: What honcho's processes print once they are up.
LINES = ("The bot is up for workspace T0000HOME.", "Working for T0000HOME")


def test_the_procfile_starts_everything_and_ends_it_without_a_trace(home: Path) -> None:
    stack = Stack(home)
    stack.prepare()
    stack.run("-m", "worker.refund_desk.shop", "load", "--fresh")
    stack.start("sandbox")
    # The Procfile says `python`, as in an activated environment.
    environment = {**stack.env, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    with (home / "honcho.log").open("wb") as log:
        honcho = subprocess.Popen(
            [sys.executable, "-m", "honcho", "start", "-f", str(ROOT / "Procfile"), "-e", "/dev/null"],
            env=environment,
            cwd=ROOT,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        said = until(lambda: _said(home), "bot, worker and clock are up", 40, home)
        pids = [int(pid) for pid in re.findall(r"started \(pid=(\d+)\)", said)]
        assert len(pids) == 3
        stack.wait_for_bot()
        thread = start(stack, "mail the customers whose payment failed yesterday")
        thread.wait_for_cards(1)
        thread.approve(BRUNO, "Mail 36 people")
        thread.wait_for("stand-in")
        assert len(effects_of(stack)["mails"]) == 36
        honcho.send_signal(signal.SIGTERM)
        honcho.wait(30)
        assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
        assert "Traceback" not in (home / "honcho.log").read_text()
    finally:
        if honcho.poll() is None:
            os.killpg(honcho.pid, signal.SIGKILL)
            honcho.wait(10)
        stack.stop()


def _said(home: Path) -> str | None:
    said = (home / "honcho.log").read_text()
    return said if all(line in said for line in LINES) and said.count("started (pid=") == 3 else None
