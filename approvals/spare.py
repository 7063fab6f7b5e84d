"""A process forked ahead of its job, so that nobody who clicked waits for the fork and for code that runs first."""

import contextlib
import os
import select
import signal
from collections.abc import Callable
from typing import NoReturn

#: An order must arrive in one piece, and a pipe promises that up to this many bytes (POSIX, PIPE_BUF).
LONGEST_ORDER = 512
#: What ends a worker. Python runs hooks in Python around a fork, and swallows what a signal's handler raises in one.
ENDING = (signal.SIGINT, signal.SIGTERM)


class Spare:
    """The parent's end of one waiting process. It ends by itself when the parent does."""

    def __init__(self, rehearse: Callable[[], None], obey: Callable[[str], None]) -> None:
        """Fork. The child calls `rehearse`, waits for its order, and then calls `obey` with it, once.

        Raises:
            OSError: this machine has no process, memory or descriptor left for it. All is then as it was before.
        """
        orders, self._orders, self._ready, ready = _two_pipes()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            self.pid = os.fork()
            if self.pid == 0:
                os.close(self._orders)  # or it would keep itself waiting when the parent is gone
                os.close(self._ready)
                _wait(orders, ready, rehearse, obey)
        except OSError:
            self.forget()
            raise
        finally:
            os.close(orders)
            os.close(ready)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    @property
    def rehearses(self) -> bool:
        """It cannot be given its order yet."""
        answered, _, _ = select.select([self._ready], [], [], 0)
        return not answered

    def begin(self, order: str) -> bool:
        """Hand over the one order. False when the process is gone, or the order too long: then it is ended unused."""
        sent = order.encode()
        try:
            begun = len(sent) <= LONGEST_ORDER and os.write(self._orders, sent) == len(sent)
        except BrokenPipeError:
            begun = False
        if begun:
            self.forget()
        else:
            self.dismiss()
        return begun

    def dismiss(self) -> None:
        """End the process; it had no order."""
        self.forget()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)

    def forget(self) -> None:
        """Close this end, in the parent or in another child of it that must not keep the process waiting."""
        os.close(self._orders)
        os.close(self._ready)


def _two_pipes() -> tuple[int, int, int, int]:
    """Both or none; the read end of each comes first."""
    first = os.pipe()
    try:
        return (*first, *os.pipe())
    except OSError:
        for end in first:
            os.close(end)
        raise


def _wait(orders: int, ready: int, rehearse: Callable[[], None], obey: Callable[[str], None]) -> NoReturn:
    """The child's whole life; nothing of the parent's runs when it ends."""
    try:
        os.setpgrp()  # as RQ does: what is sent to the worker's group is not for its jobs
        for number in ENDING:
            signal.signal(number, signal.SIG_DFL)  # the parent's handlers are about the parent's loop
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        with contextlib.suppress(Exception):  # the job meets it again, where somebody is told
            rehearse()
        os.write(ready, b"1")
        order = os.read(orders, LONGEST_ORDER).decode()
        os.close(orders)
        os.close(ready)
        if order:  # otherwise the parent is gone
            obey(order)
    finally:
        os._exit(1)
