"""Ports that servers of tests listen on."""

import os
import random
import socket
from itertools import cycle

#: Below those that the system gives to outgoing connections, and one stretch for each process of pytest: between asking
#: for a port and listening on it, nobody else is given the same.
_FIRST, _STRETCH, _STRETCHES = 20_000, 1_000, 12


def free_port() -> int:
    """A port that nobody listens on now and that nobody else here is going to.

    Raises:
        OSError: every one of this process is in use.
    """
    for _ in range(_STRETCH):
        port = next(_mine)
        with socket.socket() as probe:
            probe.setsockopt(
                socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
            )  # as servers do: an old connection is no listener
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError(f"None of the {_STRETCH} ports from {_first} on is free.")


def _stretch() -> int:
    """The worker of pytest-xdist that this is or is started by; otherwise anyone."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    number = int(worker) if worker.isdigit() else random.randrange(_STRETCHES)  # noqa: S311 - no secret
    return _FIRST + number % _STRETCHES * _STRETCH


_first = _stretch()
_begin = random.randrange(_STRETCH)  # noqa: S311 - a process that a test starts shares its stretch
_mine = cycle([_first + (_begin + step) % _STRETCH for step in range(_STRETCH)])
