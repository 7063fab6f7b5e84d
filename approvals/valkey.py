"""The embedded Valkey: started on demand, detached, shared by all processes, stopped cleanly."""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from approvals import valkey_binary
from approvals.errors import ApprovalsError
from approvals.valkey_place import POLL_S, Answer, EmbeddedServerError, Place

STOP_TIMEOUT_S = 15.0  # above the server's own shutdown-timeout
LOG_LINES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class EmbeddedServer:
    """A running embedded server."""

    url: str
    pid: int


def server_url(data_dir: Path) -> str:
    """What REDIS_URL would be for the server in `data_dir`, running or not."""
    return "unix://" + quote(str(Place(data_dir.expanduser().resolve()).socket))


def ensure_server(data_dir: Path, *, timeout_s: float = 10) -> EmbeddedServer:
    """The server of `data_dir`, started if it does not run; safe to call from many processes at once.

    The server outlives its starter. One that accepts but stays silent for half of `timeout_s` is taken for hung:
    it is killed and started again, and never are two processes writing the same files.

    Raises:
        EmbeddedServerError: it did not start, or an old one could not be removed with certainty.
        ServerMissing: there is no server binary on this machine.
    """
    place = Place(data_dir.expanduser().resolve())
    deadline = time.monotonic() + timeout_s
    place.prepare()
    with place.start_lock(deadline + timeout_s):
        if _answers(place, timeout_s / 2):
            return _running(place)
        writer = place.writer_lock()
        if writer is None:
            writer = _take_over(place, timeout_s / 2)
        try:
            place.clear_leftovers()
            process = _spawn(place, writer)
        finally:
            os.close(writer)  # the server keeps its own copy of the lock
        _await_ready(place, process, time.monotonic() + timeout_s)
        return _running(place)


def stop_server(data_dir: Path) -> bool:
    """Stop the server of `data_dir` and wait until it is gone; False if none was running.

    Raises:
        EmbeddedServerError: it did not stop; nothing was forced.
    """
    place = Place(data_dir.expanduser().resolve())
    if not place.data.is_dir():
        return False
    with place.start_lock(time.monotonic() + STOP_TIMEOUT_S):
        writer = place.writer_lock()
        ran = writer is None
        if writer is None:
            _signal(place, signal.SIGTERM)
            writer = _await_gone(place, STOP_TIMEOUT_S)
        place.clear_leftovers()
        os.close(writer)
        return ran


def _answers(place: Place, patience_s: float) -> bool:
    """True once the server is ready; False when nobody listens or nobody answers in time."""
    deadline = time.monotonic() + patience_s
    while True:
        answer = place.ping(max(deadline - time.monotonic(), POLL_S))
        if answer is not Answer.BUSY:
            return answer is Answer.READY
        if time.monotonic() > deadline:
            raise EmbeddedServerError(
                f"The server in {place.data} is still loading its files or runs a long script. Try again soon."
            )
        time.sleep(POLL_S)


def _take_over(place: Place, patience_s: float) -> int:
    """The writer lock of a server that lives but does not answer, after making sure that it is gone."""
    if place.ping(POLL_S) is Answer.ABSENT:  # perhaps it is just shutting down
        with contextlib.suppress(EmbeddedServerError):
            return _await_gone(place, patience_s)
    _signal(place, signal.SIGKILL)
    return _await_gone(place, STOP_TIMEOUT_S)


def _known_pid(place: Place) -> int:
    pid = place.server_pid()
    if pid is None:
        raise EmbeddedServerError(
            f"A server holds {place.data}, but its pidfile does not say which process it is."
            " Find it with `ps ax | grep -e valkey-server -e redis-server` and stop it by hand."
        )
    return pid


def _signal(place: Place, signum: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):  # it ended in between, which is what we wanted
        os.kill(_known_pid(place), signum)


def _await_gone(place: Place, patience_s: float) -> int:
    deadline = time.monotonic() + patience_s
    while (writer := place.writer_lock()) is None:
        if time.monotonic() > deadline:
            raise EmbeddedServerError(
                f"The server in {place.data} does not end. Look at {place.log.name} there; if it hangs,"
                " end the process named in valkey.pid by hand."
            )
        time.sleep(POLL_S)
    return writer


def _spawn(place: Place, writer: int) -> subprocess.Popen[bytes]:
    binary = valkey_binary.find_binary()
    place.record_socket()
    place.config.write_text(
        valkey_binary.settings(
            data_dir=place.data,
            socket=place.socket,
            pidfile=place.pidfile,
            log=place.log,
            major=valkey_binary.major_version(binary),
        ),
        encoding="utf-8",
    )
    with place.log.open("ab") as log:
        return subprocess.Popen(  # noqa: S603 - our own binary with our own settings file
            [binary, place.config],
            cwd=place.data,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # neither Ctrl+C nor the end of the starter reaches it
            pass_fds=(writer,),
        )


def _await_ready(place: Place, process: subprocess.Popen[bytes], deadline: float) -> None:
    while place.ping(POLL_S * 5) is not Answer.READY:
        if process.poll() is not None:
            place.clear_leftovers()
            last = place.log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES_SHOWN:]
            raise EmbeddedServerError("The embedded server ended while starting. It said: " + " | ".join(last))
        if time.monotonic() > deadline:
            _let_go(process)
            raise EmbeddedServerError(
                f"The embedded server is not ready yet; it may be loading a large file. See {place.log} and try again."
            )
        time.sleep(POLL_S)
    _let_go(process)


def _let_go(process: subprocess.Popen[bytes]) -> None:
    process.returncode = 0  # it is meant to outlive us; Popen would warn about a child nobody waited for


def _running(place: Place) -> EmbeddedServer:
    return EmbeddedServer(url=server_url(place.data), pid=_known_pid(place))


def main(arguments: list[str] | None = None) -> int:
    """The command line: start, stop, or say the URL of the server in a folder."""
    parser = argparse.ArgumentParser(prog="python -m approvals.valkey", description=main.__doc__)
    parser.add_argument("verb", choices=["start", "stop", "url"])
    parser.add_argument("data_dir", type=Path)
    asked = parser.parse_args(arguments)
    try:
        if asked.verb == "stop":
            said = "stopped" if stop_server(asked.data_dir) else "was not running"
        else:
            said = ensure_server(asked.data_dir).url if asked.verb == "start" else server_url(asked.data_dir)
    except ApprovalsError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{said}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
