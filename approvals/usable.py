"""Whether the store takes writes at this moment, in words for whoever must repair it.

A store whose memory is full, whose disk takes nothing, or that became a replica still answers everything that only
reads. So readiness, `vobo doctor`, metrics and the watch over outages write a key that ends by itself.
"""

from typing import NamedTuple

import redis

from approvals.redis_refusals import StoreUnusable, Trouble, refusal
from approvals.store import Store


class Memory(NamedTuple):
    """Bytes the store uses and may use; `limit` is 0 when it has no maxmemory."""

    used: int
    limit: int

    @property
    def share(self) -> float:
        """How full it is, from 0 to 1; 0 without a limit."""
        return self.used / self.limit if self.limit else 0.0


def trouble(store: Store) -> Trouble | None:
    """Write once; what keeps the store from being used, None when it can be."""
    try:
        store.probe()
    except redis.ResponseError as refused:
        return refusal(refused)
    except Exception as failed:  # noqa: BLE001 - whatever keeps the store from answering is what is asked for here
        return Trouble(
            f"the store does not answer ({type(failed).__name__})",
            "See that Redis runs and can be reached. One whose disk is full may have ended by itself: its log says so.",
        )
    return None


def why_unusable(store: Store) -> str | None:
    """For readiness: a sentence, None when all is well."""
    found = trouble(store)
    return found.what if found else None


def require_usable(store: Store) -> None:
    """For the start of a process, which writes at once.

    Raises:
        StoreUnusable: the store takes no writes.
    """
    found = trouble(store)
    if found is not None:
        raise StoreUnusable(str(found))


def memory(store: Store) -> Memory:
    """How full the store is; raises what redis-py raises when it does not answer."""
    told: dict[str, int] = store.runs.client.info("memory")
    return Memory(int(told["used_memory"]), int(told.get("maxmemory", 0)))
