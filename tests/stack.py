"""The whole of vobo on this machine: embedded Valkey, sandbox Slack, bot, worker and clock as real processes."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from approvals import valkey
from approvals.vault import new_key
from bot.sandbox import WorkspaceClient
from free_ports import free_port

T = TypeVar("T")
PR_SET_PDEATHSIG = 1
ROOT = Path(__file__).resolve().parent.parent
COMMANDS = {
    "sandbox": ("-m", "bot.sandbox"),
    "bot": ("-m", "bot"),
    "worker": ("-m", "worker"),
    "clock": ("-m", "worker.clock"),
}


class NotInTime(AssertionError):
    """Something that had to happen did not; the text says what, and where the logs are."""


@dataclass
class Stack:
    """Processes by name, their environment and their logs under `home`."""

    home: Path
    transport: str = "socket"
    extra: dict[str, str] = field(default_factory=dict)
    port: int = 0
    sandbox_args: tuple[str, ...] = ()
    #: Where modules of somebody's own lie, beside the checkout.
    path: Path | None = None
    #: End the processes when this one is gone, however it went. Only where one thread starts them all.
    tied: bool = False
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)

    @property
    def page(self) -> str:
        """Where a person opens the sandbox."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def slack(self) -> WorkspaceClient:
        """The sandbox as a program drives it."""
        return WorkspaceClient(self.page)

    @property
    def shop_url(self) -> str:
        """The sample's database."""
        return f"sqlite:///{self.home / 'shop.db'}"

    def prepare(self) -> None:
        """Start the store and fix the environment that every process gets."""
        self.home.mkdir(parents=True, exist_ok=True)
        server = valkey.ensure_server(self.home / "valkey")
        self.port = self.port or free_port()
        keys = self.home / "state.key"
        if not keys.exists():
            keys.write_text(new_key())
            keys.chmod(0o600)
        kept = {name: value for name, value in os.environ.items() if name in _KEPT}
        self.env = {
            **kept,
            "PYTHONPATH": os.pathsep.join(map(str, filter(None, (ROOT, self.path)))),
            "PYTHONUNBUFFERED": "1",
            "REDIS_URL": server.url,
            "VOBO_STATE_KEYS": keys.read_text(),
            "VOBO_LEDGER_URL": f"sqlite:///{self.home / 'ledger.db'}",
            "VOBO_SHOP_URL": self.shop_url,
            "VOBO_OPS_CHANNEL": "C_OPS",
            "SLACK_API_URL": f"http://127.0.0.1:{self.port}/api/",
            "SLACK_BOT_TOKEN": "xoxb-sandbox",
            **self.extra,
        }
        if self.transport == "socket":
            self.env["SLACK_APP_TOKEN"] = "xapp-sandbox"
        else:
            bot_port = free_port()
            self.env |= {"SLACK_SIGNING_SECRET": "sandbox-signing-secret", "PORT": str(bot_port)}
            deliver = f"http://127.0.0.1:{bot_port}/slack/events"
            self.sandbox_args = ("--deliver-to", deliver, "--signing-secret", "sandbox-signing-secret")

    def run(self, *arguments: str) -> str:
        """Run one of the project's own commands to its end."""
        done = subprocess.run(
            [sys.executable, *arguments],
            env=self.env,
            cwd=self.home,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        if done.returncode:
            raise NotInTime(f"{' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def start(self, name: str) -> None:
        """Start one process; its output goes to `<home>/<name>.log`. `bot2` is another bot, and so on."""
        arguments = [*COMMANDS[name.rstrip("0123456789")]]
        if name == "sandbox":
            arguments += ["--port", str(self.port), *self.sandbox_args]
        with (self.home / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, *arguments],
                env=self.env,
                cwd=self.home,  # no .env is read there: yours may name other rules, or a model that costs money
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_end_with_parent if self.tied else None,  # noqa: PLW1509 - the demo has one thread
            )
        if name == "sandbox":
            until(self._answers, "the sandbox answers", 20, self.home)

    def _answers(self) -> bool:
        return listens(self.port)

    def start_all(self) -> None:
        """Start sandbox, bot, worker and clock, and wait until the bot is connected."""
        for name in COMMANDS:
            self.start(name)
        self.wait_for_bot()

    def wait_for_bot(self) -> None:
        """Wait until what somebody types in the sandbox reaches the bot."""
        if self.transport == "socket":
            until(lambda: self.slack.state()["connections"], "the bot connects", 30, self.home)
        else:
            port = int(self.env["PORT"])
            until(lambda: listens(port), "the bot listens", 30, self.home)

    def kill(self, name: str, how: int = signal.SIGKILL) -> None:
        """Kill a process and everything it started."""
        process = self.processes.pop(name)
        try:
            os.killpg(process.pid, how)
        except ProcessLookupError:
            return
        process.wait(timeout=30)

    def stop(self) -> None:
        """End every process and the store."""
        for name in list(self.processes)[::-1]:
            self.kill(name, signal.SIGTERM if name != "sandbox" else signal.SIGKILL)
        valkey.stop_server(self.home / "valkey")

    def tails(self, lines: int = 15) -> str:
        """The ends of all logs, for a failure's report."""
        return tails(self.home, lines)


#: What the processes keep of the caller's environment; a key or token of yours never reaches the sandbox.
_KEPT = {"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE"}


def tails(home: Path, lines: int = 15) -> str:
    """The ends of all logs under `home`."""
    return "\n".join(
        f"--- {log.name}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
        for log in sorted(home.glob("*.log"))
    )


def _end_with_parent() -> None:
    """In the child: end when whoever started the stack is gone, however it went. Linux only; elsewhere nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def listens(port: int) -> bool:
    """Whether somebody listens on a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def until(look: Callable[[], T], what: str, seconds: float, home: Path | None = None) -> T:
    """Look until there is something to see.

    Raises:
        NotInTime: with what was awaited and the ends of the logs.
    """
    deadline = time.monotonic() + seconds
    while True:
        seen = look()
        if seen:
            return seen
        if time.monotonic() > deadline:
            raise NotInTime(f"waited {seconds:.0f} s, but not: {what}\n{tails(home) if home else ''}")
        time.sleep(0.1)


@contextmanager
def running(home: Path, kind: type[Stack] = Stack, **options: Any) -> Iterator[Stack]:
    """A whole stack for one test."""
    stack = kind(home, **options)
    try:
        stack.prepare()
        stack.run("-m", "worker.refund_desk.shop", "load", "--fresh")
        stack.start_all()
        yield stack
    finally:
        stack.stop()
