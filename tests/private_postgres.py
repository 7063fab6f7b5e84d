"""A PostgreSQL of a test session's own, from the packages of the system, on a Unix socket."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: initdb refuses to run as root; Debian's package brings this user.
OWNER = "postgres"
PR_SET_PDEATHSIG = 1
PATIENCE_S = 60
MISSING = "The ledger is tested on PostgreSQL too. Install one with: sudo apt-get install postgresql"


def binaries() -> Path:
    """Where the newest installed server's programs are.

    Raises:
        AssertionError: there is none. The gate never skips.
    """
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    assert found or on_path, MISSING
    return found[-1].parent if found else Path(str(on_path)).parent


@dataclass
class PrivatePostgres:
    """A server under `home`, owned by whoever may run one. It ends with the process that started it."""

    home: Path
    rights: dict[str, Any]
    process: "subprocess.Popen[bytes] | None" = None

    def url(self, name: str) -> str:
        """The SQLAlchemy URL of one of its databases."""
        return f"postgresql+psycopg://{OWNER}@/{name}?host={self.home}"

    def start(self) -> None:
        """Wait until it answers."""
        settings = ("listen_addresses=", f"unix_socket_directories={self.home}", "shared_buffers=16MB")
        command = [binaries() / "postgres", "-D", self.home / "data"]
        with (self.home / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *(part for setting in settings for part in ("-c", setting))],
                stdout=log,
                stderr=log,
                preexec_fn=_end_with_parent,  # noqa: PLW1509 - called before any thread of a test
                **self.rights,
            )
        until = time.monotonic() + PATIENCE_S
        while not self._answers():
            assert time.monotonic() < until, (self.home / "log").read_text()
            time.sleep(0.1)

    def stop(self) -> None:
        """As a crash would: nobody is asked to finish."""
        assert self.process is not None
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(PATIENCE_S)

    def _answers(self) -> bool:
        asked = [str(binaries() / "pg_isready"), "-q", "-h", str(self.home)]
        return subprocess.run(asked, check=False, **self.rights).returncode == 0


def _end_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)


@contextmanager
def private_postgres() -> Iterator[PrivatePostgres]:
    """A running server, gone afterwards."""
    home = Path(tempfile.mkdtemp(prefix="pg-"))  # short: a socket path holds about a hundred bytes
    rights: dict[str, Any] = {}
    if os.geteuid() == 0:
        shutil.chown(home, OWNER)
        rights = {"user": OWNER, "cwd": home}
    server = PrivatePostgres(home, rights)
    command = [str(binaries() / "initdb"), "--no-sync", "--auth=trust", f"--username={OWNER}", "--encoding=UTF8", "-D"]
    made = subprocess.run([*command, str(home / "data")], capture_output=True, text=True, check=False, **rights)
    assert made.returncode == 0, made.stdout + made.stderr
    try:
        server.start()
        yield server
    finally:
        if server.process is not None:
            server.stop()
        shutil.rmtree(home, ignore_errors=True)
