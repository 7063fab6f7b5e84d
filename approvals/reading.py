"""Reading calls, alone or as part of a transaction with other reads."""

from collections.abc import Iterator, Sequence
from typing import Any

from approvals import codec
from approvals.models import Call
from approvals.room import Room
from approvals.row import Row


def queue_calls(room: Room, pipe: Any, keys: Sequence[str]) -> None:
    """Add the reads of these calls to a transaction: two replies each."""
    for key in keys:
        pipe.hgetall(room.keys.call(key))
        pipe.lrange(room.keys.decisions(key), 0, -1)


def take_calls(room: Room, keys: Sequence[str], replies: Sequence[Any]) -> Iterator[Call]:
    """The calls from the replies to `queue_calls`; those that do not exist are left out."""
    for key, row, decisions in zip(keys, replies[::2], replies[1::2], strict=True):
        call = codec.call(room, key, Row(row), decisions)
        if call is not None:
            yield call


def load_calls(room: Room, keys: Sequence[str]) -> list[Call]:
    """These calls, read in one step, in the order asked for."""
    return list(take_calls(room, keys, room.together(lambda pipe: queue_calls(room, pipe, keys)))) if keys else []


def load_call(room: Room, key: str) -> Call | None:
    """One call, or None."""
    return next(iter(load_calls(room, [key])), None)
