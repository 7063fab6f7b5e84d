"""`python -m worker --with-clock`: one clock for as long as the worker lives, and none that outlives it."""

import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from free_ports import free_port
from stack import Stack, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes under /proc")


@pytest.fixture
def stack(home: Path) -> Iterator[Stack]:
    made = Stack(home)
    made.prepare()
    made.run("-m", "worker.refund_desk.shop", "load")
    yield made
    made.stop()


def clocks(stack: Stack) -> list[int]:
    """The clocks of this stack, whoever is their parent by now."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command, environ = (process / "cmdline").read_bytes(), (process / "environ").read_bytes()
        except OSError:
            continue
        if b"worker.clock" in command and str(stack.home).encode() in environ:
            found.append(int(process.name))
    return found


@contextmanager
def working(stack: Stack, port: int) -> Iterator[subprocess.Popen[bytes]]:
    with (stack.home / "worker.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "worker", "--with-clock"],
            env={**stack.env, "VOBO_HEALTH_PORT": str(port)},
            cwd=stack.home,
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def ready(port: int) -> str:
    """What `/readyz` says; empty while nobody answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as missing:
        return missing.read().decode()
    except OSError:
        return ""


def test_a_worker_that_cannot_start_leaves_no_clock_behind(stack: Stack) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with working(stack, taken.getsockname()[1]) as worker:
            assert worker.wait(30) == 1
    assert clocks(stack) == []


def test_a_clock_that_dies_is_told_and_started_again_and_ends_with_its_worker(stack: Stack) -> None:
    port = free_port()
    with working(stack, port) as worker:
        until(lambda: ready(port) == "ok\n" and clocks(stack), "worker and clock are up", 30, stack.home)
        (first,) = clocks(stack)
        os.kill(first, signal.SIGKILL)
        until(lambda: "the clock beside this worker has ended" in ready(port), "it is told", 30, stack.home)
        until(lambda: ready(port) == "ok\n" and clocks(stack), "another one is up", 30, stack.home)
        assert clocks(stack) != [first]
        os.kill(worker.pid, signal.SIGKILL)
        until(lambda: not clocks(stack), "it ends with its worker", 30, stack.home)


def test_a_clock_whose_worker_was_gone_before_it_looked_ends_at_once(stack: Stack) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    orphan = subprocess.Popen(
        [sys.executable, "-m", "worker.clock", "--with-parent", str(gone.pid)], env=stack.env, cwd=stack.home
    )
    try:
        assert orphan.wait(20) in {0, -signal.SIGTERM}
    finally:
        orphan.kill()
