"""Why a Redis that answers takes no writes, in words for whoever must repair it."""

from typing import NamedTuple

import redis

from approvals.errors import ApprovalsError

#: How the server's refusal begins when it cannot save to its disk. It then refuses even PING.
NO_DISK = "MISCONF"
#: What redis-py has no class for.
_REFUSALS = {
    NO_DISK: (
        "it cannot save to its disk (MISCONF)",
        "Make room on its disk and look at its log; it takes writes again by itself once it could save.",
    ),
    "NOREPLICAS": (
        "too few of its replicas are connected (min-replicas-to-write)",
        "See to the replicas.",
    ),
}
_FULL = (
    "its memory is full (maxmemory)",
    "Raise maxmemory: CONFIG SET works meanwhile; in its configuration as well. Delete nothing by hand.",
)
_REPLICA = (
    "it is a replica (READONLY)",
    "Point REDIS_URL at the primary, or find it through Sentinel (docs/deployment.md).",
)


class Trouble(NamedTuple):
    """What keeps the store from being used, as part of a sentence, and what to do."""

    what: str
    fix: str

    def __str__(self) -> str:
        return f"{self.what[0].upper()}{self.what[1:]}. {self.fix}"


class StoreUnusable(ApprovalsError):
    """A process cannot start, or a command cannot be done, since the store takes no writes. The text says why."""


def refusal(refused: redis.RedisError) -> Trouble:
    """Why a server that answers took no write."""
    if isinstance(refused, redis.OutOfMemoryError):
        why, fix = _FULL
    elif isinstance(refused, redis.ReadOnlyError):
        why, fix = _REPLICA
    else:
        why, fix = _REFUSALS.get(str(refused).partition(" ")[0], (type(refused).__name__, "Its log may say why."))
    return Trouble(f"the store takes no writes: {why}", fix)
