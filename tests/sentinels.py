"""A primary, its replicas and three Sentinels on this machine, each of which can be killed, stopped or cut off."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis

from approvals.valkey_binary import find_binary
from free_ports import free_port
from stack import until

PASSWORD, GUARD, SERVICE = "word-of-the-primary", "word-of-sentinels", "prime"
SENTINELS = 3
DOWN_AFTER_MS = 700
FAILOVER_S = 40.0


@dataclass
class Trio:
    """Servers and Sentinels by port."""

    home: Path
    replicas: int = 1
    processes: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    servers: list[int] = field(default_factory=list)
    sentinels: list[int] = field(default_factory=list)
    binary: Path = field(default_factory=find_binary)

    def start(self) -> None:
        """Start all, and wait until the Sentinels know each other and every replica follows."""
        self.servers = [free_port() for _ in range(1 + self.replicas)]
        for port in self.servers:
            self.serve(port, of=self.servers[0])
        self._until(lambda: self._followers() == self.replicas, "every replica follows")
        self.sentinels = [free_port() for _ in range(SENTINELS)]
        for port in self.sentinels:
            self._watch(port)
        self._until(lambda: all(self._sees_all(port) for port in self.sentinels), "the Sentinels see each other")

    def serve(self, port: int, *, of: int) -> None:
        """Start one server; it follows `of` unless that is itself."""
        place = self.home / str(port)
        place.mkdir(exist_ok=True)
        lines = [
            *self.listening(port),
            "bind 127.0.0.1",
            f"dir {place}",
            f"logfile {self.home / f'{port}.log'}",
            "appendonly yes",
            "appendfsync always",
            'save ""',
            "maxmemory-policy noeviction",
            "repl-diskless-sync-delay 0",
            f"requirepass {PASSWORD}",
            f"masterauth {PASSWORD}",
            *([f"replicaof 127.0.0.1 {of}"] if of != port else []),
        ]
        self._run(port, lines)

    def listening(self, port: int) -> list[str]:
        """The settings of a server or Sentinel that listens at this port."""
        return [f"port {port}"]

    def client(self, port: int, **options: Any) -> redis.Redis:
        """A client of what listens there."""
        made: redis.Redis = redis.Redis(port=port, socket_timeout=2, retry=None, **options)
        return made

    def url(self, options: str = "") -> str:
        """What REDIS_URL is."""
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.sentinels)
        return f"redis+sentinel://:{PASSWORD}@{hosts}/{SERVICE}?sentinel_password={GUARD}{options}"

    def at(self, port: int) -> redis.Redis:
        """A client of one server, straight."""
        return self.client(port, password=PASSWORD)

    def primary(self) -> int:
        """The port of the primary, as the first Sentinel that lives says."""
        told = self._sentinel(self.sentinels[0]).execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE)
        return int(told[1])

    def kill(self, port: int) -> None:
        """kill -9."""
        process = self.processes.pop(port)
        process.kill()
        process.wait(10)

    def fail_over(self) -> int:
        """Kill the primary; the port of the one that took over."""
        old = self.primary()
        self.kill(old)
        return self.taken_over(old)

    def taken_over(self, old: int) -> int:
        """The port of the primary, once it is another one than `old` and says so itself."""
        self._until(lambda: self.primary() != old, "a replica took over")
        new = self.primary()
        self._until(lambda: self.at(new).info("replication")["role"] == "master", "it knows that it is the primary")
        return new

    def follows(self, replica: int) -> None:
        """Wait until this server follows its primary."""
        self._until(lambda: self.at(replica).info("replication")["master_link_status"] == "up", "it follows")

    def cut_off(self, replica: int) -> None:
        """The replica hears nothing more of what is written from now on, though it lives."""
        self.at(replica).config_set("masterauth", "wrong")
        self.at(self.primary()).execute_command("CLIENT", "KILL", "TYPE", "replica")
        self._until(lambda: self.at(replica).info("replication")["master_link_status"] == "down", "it is cut off")

    def stop(self) -> None:
        """End all."""
        for port in list(self.processes):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.processes[port].pid, signal.SIGCONT)
            self.kill(port)

    def _watch(self, port: int) -> None:
        lines = [
            *self.listening(port),
            "bind 127.0.0.1",
            f"dir {self.home}",
            f"logfile {self.home / f'{port}.log'}",
            f"requirepass {GUARD}",
            f"sentinel sentinel-pass {GUARD}",
            f"sentinel monitor {SERVICE} 127.0.0.1 {self.servers[0]} 2",
            f"sentinel auth-pass {SERVICE} {PASSWORD}",
            f"sentinel down-after-milliseconds {SERVICE} {DOWN_AFTER_MS}",
            f"sentinel failover-timeout {SERVICE} 5000",
        ]
        self._run(port, lines, "--sentinel")

    def _run(self, port: int, lines: list[str], *more: str) -> None:
        settings = self.home / f"{port}.conf"
        settings.write_text("\n".join(lines) + "\n")
        self.processes[port] = subprocess.Popen(
            [self.binary, settings, *more], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def _sentinel(self, port: int) -> redis.Redis:
        return self.client(port, password=GUARD, decode_responses=True)

    def _followers(self) -> int:
        info = self.at(self.servers[0]).info("replication")
        return sum(info[f"slave{at}"]["state"] == "online" for at in range(info["connected_slaves"]))

    def _sees_all(self, port: int) -> bool:
        seen = self._sentinel(port).sentinel_masters()[SERVICE]
        return bool(seen["num-other-sentinels"] == SENTINELS - 1 and seen["num-slaves"] == self.replicas)

    def _until(self, look: Callable[[], bool], what: str) -> None:
        def quietly() -> bool:
            with contextlib.suppress(redis.RedisError):
                return look()
            return False

        until(quietly, what, FAILOVER_S, self.home)


@contextmanager
def sentinels(home: Path, *, replicas: int = 1) -> Iterator[Trio]:
    """A whole trio for one test."""
    trio = Trio(home, replicas)
    try:
        trio.start()
        yield trio
    finally:
        trio.stop()
