"""What people decide and what is about to happen is on a replica before anybody rests on it.

A primary answers before its replicas have heard. If it dies just then, a replica takes over that never heard; and what
the ledger had not taken yet, about a second's worth, is then missing without anybody noticing. With `wait_replicas=N`
in REDIS_URL the scripts below count as done once N replicas have them.
"""

from collections.abc import Sequence
from typing import Any

import redis
from redis.commands.core import Script
from redis.exceptions import NoScriptError

from approvals.errors import ApprovalsError
from approvals.keys import WAITED

#: Longer than a replica needs, shorter than anybody's patience.
WAIT_MS = 2_000

#: Verbs whose answer somebody acts on outside of the store: a person was told, a card is posted, an effect begins. What
#: comes after an effect need not wait: its intent is enough for nobody to begin it again.
AWAITED = frozenset(
    {
        "approve",
        "ask_undo",
        "cancel_run",
        "claim",  # so that missing replicas are noticed before the intent, which cannot be taken back
        "claim_undo",
        "edit",
        "freeze",
        "intend",
        "intend_undo",
        "mark_call",
        "pause_run",
        "refresh",
        "reject",
        "requeue_run",
        "settle",
        "settle_undo",
        "start_run",
    }
)


class NotReplicated(ApprovalsError):
    """The primary has it, too few replicas do. Repeating the verb doubles nothing and waits again."""


class ReplicatedRedis(redis.Redis):
    """A client that knows how many replicas a decision needs; 0 for the primary alone."""

    replicas: int = 0


def wanted(client: redis.Redis, name: str) -> int:
    """How many replicas must have what the script `name` writes."""
    return client.replicas if isinstance(client, ReplicatedRedis) and name in AWAITED else 0


def run_awaited(client: redis.Redis, script: Script, prefix: str, arguments: Sequence[bytes], replicas: int) -> Any:
    """Run a script and wait, on the same connection, until so many replicas have everything written until then.

    Raises:
        NotReplicated: too few have it after `WAIT_MS`.
    """
    reply, noted, copies = _once(client, script, prefix, arguments, replicas)
    if isinstance(reply, NoScriptError):  # restarted, or another server took over
        client.script_load(script.script)
        reply, noted, copies = _once(client, script, prefix, arguments, replicas)
    for answer in (reply, noted, copies):
        if isinstance(answer, Exception):
            raise answer
    if copies < replicas:
        raise NotReplicated(
            f"{copies} of the {replicas} replicas that wait_replicas in REDIS_URL asks for have this within"
            f" {WAIT_MS / 1000:g} s. It is on the primary alone. See to the replicas, then repeat it."
        )
    return reply


def _once(client: redis.Redis, script: Script, prefix: str, arguments: Sequence[bytes], replicas: int) -> list[Any]:
    with client.pipeline(transaction=False) as pipe:
        pipe.evalsha(script.sha, 1, prefix, *arguments)
        # WAIT asks about the last write of its own connection, and a repeated verb writes nothing.
        pipe.set(f"{prefix}{WAITED}", b"")
        pipe.execute_command("WAIT", replicas, WAIT_MS)  # type: ignore[no-untyped-call]
        return list(pipe.execute(raise_on_error=False))
