"""Arms steps, kills whoever is to die when one is reached, and starts again what died, as a supervisor would."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import NamedTuple

from approvals import valkey
from kill_points import Step, Victim
from stack import Stack

_POLL_S = 0.01
#: A process that was started so long ago is at work and not still starting.
_GROWN_S = 3.0
_PROCESS = {Victim.BOT: "bot", Victim.CLOCK: "clock", Victim.WORKER: "worker"}


class Hit(NamedTuple):
    """A process waits at an armed step."""

    role: str
    pid: int
    parent: int


class Killer:
    """Watches the steps of one stack from a thread of its own."""

    def __init__(self, stack: Stack, home: Path) -> None:
        self.stack, self.home = stack, home
        self.killed: dict[tuple[str, str], list[Victim]] = {}
        self.failure: BaseException | None = None
        self._orders: dict[tuple[str, str], tuple[Victim, ...]] = {}
        self._store = valkey.ensure_server(stack.home / "valkey")
        self._born = dict.fromkeys(_PROCESS.values(), time.monotonic())
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="killer")
        for name in ("armed", "taken", "hit", "go"):
            (home / name).mkdir(parents=True)

    def __enter__(self) -> "Killer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def arm(self, thread: str, step: Step, victims: tuple[Victim, ...]) -> None:
        """Whoever comes to this step in this thread's run waits until the victims are dead."""
        self._orders[thread, step.name] = victims
        place = self.home / "armed" / step.name
        place.mkdir(exist_ok=True)
        (place / thread).touch()

    def attempts(self) -> list[str]:
        """The idempotency key of every attempt at an effect."""
        log = self.home / "effects.log"
        return log.read_text().splitlines() if log.exists() else []

    def _watch(self) -> None:
        seen: set[str] = set()
        try:
            while not self._stop.wait(_POLL_S):
                for path in sorted((self.home / "hit").iterdir()):
                    if path.name not in seen:
                        seen.add(path.name)
                        self._reached(path)
                self._revive()
        except BaseException as failure:  # noqa: BLE001 - a thread's failure is told by whoever waits for its work
            self.failure = failure

    def _reached(self, path: Path) -> None:
        thread, _, step = path.name.partition("~")
        role, pid, parent = path.read_text().split()
        hit = Hit(role, int(pid), int(parent))
        for victim in self._orders[thread, step]:
            if _PROCESS.get(victim, hit.role) != hit.role:
                self._await_grown(_PROCESS[victim])
            self._kill(victim, hit)
            self.killed.setdefault((thread, step), []).append(victim)
        (self.home / "go" / path.name).touch()

    def _kill(self, victim: Victim, hit: Hit) -> None:
        if victim is Victim.VALKEY:
            os.kill(self._store.pid, signal.SIGKILL)
        elif victim is Victim.HORSE:
            os.kill(hit.pid, signal.SIGKILL)
        elif victim is Victim.PARENT:
            os.kill(hit.parent, signal.SIGKILL)
        elif victim is Victim.WORKER and hit.role == "worker":
            os.kill(hit.parent, signal.SIGKILL)
            os.kill(hit.pid, signal.SIGKILL)
        else:
            self.stack.processes[_PROCESS[victim]].kill()
        if victim is Victim.VALKEY:
            self._store = valkey.ensure_server(self.stack.home / "valkey")

    def _await_grown(self, name: str) -> None:
        """Killing a process that is still starting would show nothing."""
        while time.monotonic() - self._born[name] < _GROWN_S or self.stack.processes[name].poll() is not None:
            self._revive()
            time.sleep(_POLL_S)

    def _revive(self) -> None:
        for name in _PROCESS.values():
            if self.stack.processes[name].poll() is not None:
                self.stack.start(name)
                self._born[name] = time.monotonic()
