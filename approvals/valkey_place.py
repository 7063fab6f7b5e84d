"""The files of an embedded server, the locks on them, and what can be known about its process."""

import contextlib
import fcntl
import hashlib
import json
import os
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from approvals.errors import ApprovalsError

MAX_SOCKET_PATH = 100  # bytes; the kernel's sun_path holds 108 on Linux and 104 on macOS
POLL_S = 0.02
SERVER_NAMES = ("valkey-server", "redis-server")


class EmbeddedServerError(ApprovalsError):
    """The embedded server could not be started or stopped safely."""


class Answer(Enum):
    """What the socket says to a PING."""

    READY = "ready"
    BUSY = "busy"  # it talks, but is loading its files or running a script
    SILENT = "silent"  # it accepts, but says nothing
    ABSENT = "absent"  # nobody listens


@dataclass(frozen=True, slots=True)
class Place:
    """Where one embedded server keeps everything."""

    data: Path

    @property
    def pidfile(self) -> Path:
        """Written by the server; says whom to signal, never whether it lives."""
        return self.data / "valkey.pid"

    @property
    def log(self) -> Path:
        """The server's log."""
        return self.data / "valkey.log"

    @property
    def config(self) -> Path:
        """The settings of the last start."""
        return self.data / "valkey.conf"

    @property
    def socket(self) -> Path:
        """The socket of the last start if there was one (TMPDIR may differ between processes), else the next."""
        with contextlib.suppress(FileNotFoundError, ValueError):
            owner, recorded = json.loads((self.data / "valkey.socket.json").read_text(encoding="utf-8"))
            if owner == str(self.data):  # else the folder is a copy of another one
                return Path(recorded)
        direct = self.data / "valkey.sock"
        if len(os.fsencode(direct)) <= MAX_SOCKET_PATH:
            return direct
        name = hashlib.sha256(os.fsencode(self.data)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"vobo-{os.getuid()}" / f"{name}.sock"

    def prepare(self) -> None:
        """Make the folders, readable by nobody else.

        Raises:
            EmbeddedServerError: a folder belongs to somebody else, or no short enough path exists.
        """
        for folder in (self.data, self.socket.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = folder.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
                raise EmbeddedServerError(f"{folder} is not a folder of this user; remove it or choose another.")
            folder.chmod(0o700)
        if len(os.fsencode(self.socket)) > MAX_SOCKET_PATH:
            raise EmbeddedServerError("The paths of data and temporary folder are both too long; set TMPDIR shorter.")

    def record_socket(self) -> None:
        """Keep the chosen socket path beside the data."""
        record = json.dumps([str(self.data), str(self.socket)])
        (self.data / "valkey.socket.json").write_text(record, encoding="utf-8")

    def clear_leftovers(self) -> None:
        """Remove what a killed server left behind. Only while its lock is held by us."""
        for leftover in (self.socket, self.pidfile):
            leftover.unlink(missing_ok=True)

    @contextlib.contextmanager
    def start_lock(self, deadline: float) -> Iterator[None]:
        """One starter or stopper at a time; the kernel releases it when its holder dies.

        Raises:
            EmbeddedServerError: somebody else held it until `deadline` (monotonic seconds).
        """
        descriptor = _open(self.data / "start.lock")
        try:
            while not _try_lock(descriptor):
                if time.monotonic() > deadline:
                    raise EmbeddedServerError(f"Somebody else is starting the server in {self.data}; try again.")
                time.sleep(POLL_S)
            yield
        finally:
            os.close(descriptor)

    def writer_lock(self) -> int | None:
        """A descriptor of the lock that a server holds for as long as it lives, or None while one does.

        The server inherits the descriptor and keeps it open without knowing, so the kernel itself
        vouches that the old process is gone, whatever happened to its pidfile.
        """
        descriptor = _open(self.data / "writer.lock")
        if _try_lock(descriptor):
            return descriptor
        os.close(descriptor)
        return None

    def server_pid(self) -> int | None:
        """The process the pidfile names, if it is a server that works in this folder."""
        try:
            pid = int(self.pidfile.read_text())
        except (FileNotFoundError, ValueError):
            return None
        return pid if pid > 1 and _is_our_server(pid, self.data) else None

    def ping(self, timeout_s: float) -> Answer:
        """Ask the socket whether somebody works there."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(timeout_s)
            try:
                client.connect(str(self.socket))
                client.sendall(b"PING\r\n")
                said = client.recv(64)
            except (FileNotFoundError, ConnectionError):
                return Answer.ABSENT
            except (TimeoutError, BlockingIOError):  # a full backlog also means that nobody accepts
                return Answer.SILENT
        if not said:
            return Answer.ABSENT
        return Answer.READY if said.startswith(b"+PONG") else Answer.BUSY


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_our_server(pid: int, data: Path) -> bool:
    process = Path("/proc") / str(pid)
    if not Path("/proc/self").exists():
        return _is_our_server_by_ps(pid, data)
    try:
        name = (process / "comm").read_text().strip()
        return name in SERVER_NAMES and (process / "cwd").samefile(data)
    except OSError:
        return False


def _is_our_server_by_ps(pid: int, data: Path) -> bool:
    """Where there is no /proc (macOS): the command line names the settings file or the socket in the folder."""
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    said = subprocess.run(  # noqa: S603 - fixed program, numeric argument
        ["/bin/ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout
    return any(name in said for name in SERVER_NAMES) and any(
        str(path) in said for path in (Place(data).config, Place(data).socket)
    )
