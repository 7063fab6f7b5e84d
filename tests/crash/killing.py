"""Arms steps, kills whoever is to die when one is reached, and starts again what died, as a supervisor would."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple, Self

from approvals import valkey
from kill_points import Step, Victim
from stack import COMMANDS, ROOT, Stack

_POLL_S = 0.01
#: A process that was started so long ago is at work and not still starting.
_GROWN_S = 2.5
#: Two workers, so that the dead one is not all there is.
_PROCESSES = {Victim.BOT: ("bot",), Victim.CLOCK: ("clock",), Victim.WORKER: ("worker", "worker-2")}


class Hit(NamedTuple):
    """A process waits at an armed step."""

    role: str
    pid: int
    parent: int


class Killer:
    """Watches the steps of one stack from a thread of its own."""

    def __init__(self, stack: Stack, home: Path) -> None:
        self.stack, self.home = stack, home
        self.killed: dict[tuple[str, str], tuple[Victim, ...]] = {}
        self.failure: BaseException | None = None
        self._orders: dict[tuple[str, str], tuple[Victim, ...]] = {}
        self._store = valkey.ensure_server(stack.home / "valkey")
        self._born: dict[str, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="killer")
        for name in ("armed", "taken", "hit", "go"):
            (home / name).mkdir(parents=True)

    def __enter__(self) -> Self:
        self._start("worker-2")
        self._born = dict.fromkeys(_supervised(), time.monotonic())
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
        waiting: list[Path] = []
        seen: set[str] = set()
        try:
            while not self._stop.wait(_POLL_S):
                fresh = [path for path in (self.home / "hit").iterdir() if path.name not in seen]
                seen.update(path.name for path in fresh)
                waiting = [path for path in (*waiting, *fresh) if not self._reached(path)]
                self._revive()
        except BaseException as failure:  # noqa: BLE001 - a thread's failure is told by whoever waits for its work
            self.failure = failure

    def _reached(self, path: Path) -> bool:
        """Kill the victims and let the process at the step go on, if it still can. False while victims are not up."""
        thread, _, step = path.name.partition("~")
        role, pid, parent = path.read_text().split()
        hit = Hit(role, int(pid), int(parent))
        victims = self._orders[thread, step]
        others = [name for victim in victims if not _is_at_the_step(victim, hit) for name in _PROCESSES[victim]]
        if not all(self._is_grown(name) for name in others):
            return False
        for victim in victims:
            self._kill(victim, hit)
        self.killed[thread, step] = victims
        (self.home / "go" / path.name).touch()
        return True

    def _kill(self, victim: Victim, hit: Hit) -> None:
        if victim is Victim.VALKEY:
            os.kill(self._store.pid, signal.SIGKILL)
            self._store = valkey.ensure_server(self.stack.home / "valkey")
        elif not _is_at_the_step(victim, hit):
            for name in _PROCESSES[victim]:
                self.stack.processes[name].kill()
        else:
            if victim in {Victim.WORKER, Victim.PARENT}:
                os.kill(hit.parent, signal.SIGKILL)
            if victim is not Victim.PARENT:
                os.kill(hit.pid, signal.SIGKILL)

    def _is_grown(self, name: str) -> bool:
        """Killing a process that is still starting would show nothing."""
        return self.stack.processes[name].poll() is None and time.monotonic() - self._born[name] > _GROWN_S

    def _revive(self) -> None:
        for name in _supervised():
            if self.stack.processes[name].poll() is not None:
                self._start(name)
                self._born[name] = time.monotonic()

    def _start(self, name: str) -> None:
        command = [sys.executable, *COMMANDS[name.partition("-")[0]]]
        with (self.stack.home / f"{name}.log").open("ab") as log:
            self.stack.processes[name] = subprocess.Popen(
                command, env=self.stack.env, cwd=ROOT, stdout=log, stderr=log, start_new_session=True
            )


def _supervised() -> list[str]:
    return [name for names in _PROCESSES.values() for name in names]


def _is_at_the_step(victim: Victim, hit: Hit) -> bool:
    """Whether the process at the step, or its parent, is the victim."""
    if victim in {Victim.HORSE, Victim.PARENT, Victim.VALKEY}:
        return True  # the store is nobody's process: it is killed, and started again, at once
    return hit.role in _PROCESSES[victim]
