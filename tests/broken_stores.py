"""A real server that answers and takes no writes, in each way that happens."""

import resource
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import redis

#: Room that is left below maxmemory would let small writes through.
_BELOW = 100_000


@contextmanager
def full(client: redis.Redis) -> Iterator[None]:
    """Its memory is full: maxmemory is reached, and nothing may be evicted."""
    used = int(client.info("memory")["used_memory"])
    client.config_set("maxmemory", used - _BELOW)
    try:
        yield
    finally:
        client.config_set("maxmemory", 0)


@contextmanager
def a_replica(client: redis.Redis) -> Iterator[None]:
    """Another server is the primary now."""
    client.replicaof("127.0.0.1", 1)
    try:
        yield
    finally:
        client.replicaof("NO", "ONE")


@contextmanager
def without_replicas(client: redis.Redis) -> Iterator[None]:
    """It takes no writes without a replica, and has none."""
    client.config_set("min-replicas-to-write", 1)
    try:
        yield
    finally:
        client.config_set("min-replicas-to-write", 0)


@contextmanager
def unable_to_save(client: redis.Redis) -> Iterator[None]:
    """Its snapshots fail, as on a full disk. The server must have been started so that no signal ends it then."""
    pid = int(client.info("server")["process_id"])
    client.config_set("appendonly", "no")
    client.config_set("save", "3600 1")
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    try:
        client.set("something", "to save")
        client.bgsave()
        _until(lambda: client.info("persistence")["rdb_last_bgsave_status"] == "err")
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
        client.config_set("save", "")
        client.bgsave()
        _until(lambda: client.info("persistence")["rdb_last_bgsave_status"] == "ok")
        client.config_set("appendonly", "yes")
        _until(lambda: _idle(client.info("persistence")))  # it would refuse to end before its file is written


WAYS: dict[str, Callable[[redis.Redis], AbstractContextManager[None]]] = {
    "memory is full": full,
    "it is a replica": a_replica,
    "too few of its replicas": without_replicas,
    "cannot save to its disk": unable_to_save,
}


def _idle(told: dict[str, object]) -> bool:
    return not told["aof_rewrite_in_progress"] and not told["aof_rewrite_scheduled"]


def _until(look: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not look():
        assert time.monotonic() < deadline
        time.sleep(0.05)
