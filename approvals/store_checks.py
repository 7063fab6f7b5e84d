"""What `vobo doctor` and every `--check` say about the store's room: whether it takes writes, its memory, its disk."""

from collections.abc import Iterator

import redis

from approvals.findings import Finding, failure, fine, warning
from approvals.store import Store
from approvals.usable import Memory, memory, trouble

#: From here on somebody should give the store more memory.
NEARLY_FULL = 0.8
_MIB = 1024 * 1024


def store_checks(store: Store) -> Iterator[Finding]:
    """Every finding about its room. Whether it answers at all is not asked here."""
    refused = trouble(store)
    if refused is not None:
        yield failure("redis", str(refused))
    else:
        yield fine("redis", "It takes writes.")
    try:
        yield of_memory(memory(store))
        yield from of_disk(store)
    except redis.RedisError as failed:
        yield failure(
            "redis", f"Redis stopped answering ({type(failed).__name__}).", "Look at its log, then try again."
        )


def of_memory(there: Memory) -> Finding:
    """How full it is. Without a limit nobody refuses writes; the machine kills what grows too large."""
    if not there.limit:
        return fine("redis", f"It uses {_mib(there.used)} of memory; no maxmemory is set.")
    said = f"It uses {_mib(there.used)} of {_mib(there.limit)} (maxmemory): {there.share:.0%}."
    if there.share >= 1:
        return failure("redis", said, "Raise maxmemory: what is full takes no decisions and no new runs.")
    if there.share >= NEARLY_FULL:
        return warning("redis", said, "Raise maxmemory before it is full: it then takes no decisions and no new runs.")
    return fine("redis", said)


def of_disk(store: Store) -> Iterator[Finding]:
    """What Redis says of its last attempts to write to its disk. A user that may not ask that gets no line."""
    told: dict[str, object] = store.runs.client.info("persistence")
    if told.get("aof_enabled") and told.get("aof_last_write_status", "ok") != "ok":
        yield failure(
            "redis",
            "Its last write to the append-only file failed (aof_last_write_status).",
            "Make room on its disk and look at its log.",
        )
    if told.get("rdb_last_bgsave_status", "ok") != "ok":
        yield warning(
            "redis",
            "Its last snapshot failed (rdb_last_bgsave_status).",
            "Make room on its disk, look at its log, then BGSAVE.",
        )


def _mib(size: int) -> str:
    return f"{size / _MIB:,.1f} MiB"
