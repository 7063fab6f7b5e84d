"""What goes wrong during a soak: processes die at random and are started again; and what is measured meanwhile."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Self

from redis.exceptions import RedisError

from approvals import valkey
from approvals.redis_check import connect
from stack import COMMANDS, ROOT, Stack, tails

#: Two of what may run several times, so that one is there while the other is dead.
SUPERVISED = ("bot", "worker", "worker-2", "clock", "clock-2")
EVERY_S = (3.0, 9.0)
VALKEY = "valkey"
SAMPLE_S = 5.0


@dataclass(frozen=True, slots=True)
class Sample:
    """Bytes by process at one instant (seconds since the start), and what the store holds."""

    at: float
    rss: dict[str, int]
    used: int
    born: dict[str, float]


@dataclass
class Trouble:
    """Kills one of the processes every few seconds, all of them sooner or later, and revives what is dead."""

    stack: Stack
    chance: random.Random
    kills: Counter[str] = field(default_factory=Counter)
    samples: list[Sample] = field(default_factory=list)
    failure: BaseException | None = None

    def __enter__(self) -> Self:
        self._calm, self._stop = threading.Event(), threading.Event()
        self._began = time.monotonic()
        self._born = dict.fromkeys(SUPERVISED, 0.0)
        for name in SUPERVISED:
            if name not in self.stack.processes:
                self._start(name)
        self._store = valkey.ensure_server(self.stack.home / "valkey")
        self._thread = threading.Thread(target=self._run, name="trouble")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def calm(self) -> None:
        """No further kills. What is dead is revived as before."""
        self._calm.set()

    def _run(self) -> None:
        kill_at, sample_at = self._next(), 0.0
        try:
            while not self._stop.wait(0.1):
                self._revive()
                if time.monotonic() > kill_at and not self._calm.is_set():
                    self._kill(self.chance.choice((*SUPERVISED, VALKEY)))
                    kill_at = self._next()
                if time.monotonic() > sample_at:
                    self._sample()
                    sample_at = time.monotonic() + SAMPLE_S
        except BaseException as failure:  # noqa: BLE001 - a thread's failure is told by whoever waits for its work
            self.failure = failure

    def _next(self) -> float:
        return time.monotonic() + self.chance.uniform(*EVERY_S)

    def _kill(self, name: str) -> None:
        if name == VALKEY:
            os.kill(self._store.pid, signal.SIGKILL)
            self._store = valkey.ensure_server(self.stack.home / "valkey")
        elif self.chance.random() < 0.5:  # noqa: PLR2004 - a parent whose job lives on, or the whole group
            self.stack.processes[name].kill()
        else:
            os.killpg(self.stack.processes[name].pid, signal.SIGKILL)
        self.kills[name] += 1

    def _revive(self) -> None:
        for name in SUPERVISED:
            if self.stack.processes[name].poll() is not None:
                self._start(name)

    def _start(self, name: str) -> None:
        command = [sys.executable, *COMMANDS[name.partition("-")[0]]]
        with (self.stack.home / f"{name}.log").open("ab") as log:
            self.stack.processes[name] = subprocess.Popen(  # noqa: S603 - ours
                command, env=self.stack.env, cwd=ROOT, stdout=log, stderr=log, start_new_session=True
            )
        self._born[name] = time.monotonic() - self._began

    def _sample(self) -> None:
        rss = {name: _rss(self.stack.processes[name].pid) for name in (*SUPERVISED, "sandbox")}
        try:
            told: Any = connect(self.stack.env["REDIS_URL"]).info("memory")
        except RedisError:
            return
        self.samples.append(Sample(time.monotonic() - self._began, rss, int(told["used_memory"]), dict(self._born)))

    def told(self) -> str:
        """The kills, and the ends of the logs when something failed."""
        kills = ", ".join(f"{name} {number} times" for name, number in sorted(self.kills.items()))
        killed = f"Killed with SIGKILL: {kills}." if kills else "Nothing was killed."
        return killed + (f"\n{tails(self.stack.home)}" if self.failure else "")


def _rss(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as pages:  # noqa: PTH123 - a path would say no more
            return int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (FileNotFoundError, ProcessLookupError):
        return 0


def slope(points: list[tuple[float, float]]) -> float:
    """The least squares slope; 0 for fewer than two points."""
    if len(points) < 2:  # noqa: PLR2004 - a line needs two
        return 0.0
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0
