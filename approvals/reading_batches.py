"""Reading several batches at once: all in two steps, however many."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from approvals import codec
from approvals.errors import ApprovalsError
from approvals.models import BatchView, Call, Run
from approvals.reading import queue_calls, take_calls
from approvals.room import Room, milliseconds
from approvals.row import Row


class Post(NamedTuple):
    """Where the card of a batch stands in Slack."""

    channel: str
    ts: str
    thread_ts: str


class Views(Room):
    """Batches and calls as somebody reads them who looks at many. What cannot be read is left out, and ops is told."""

    __slots__ = ()

    def of(self, batches: Sequence[str]) -> list[BatchView]:
        """What cards of these batches are rendered from, in this order."""
        with self.client.pipeline(transaction=False) as pipe:
            for batch in batches:
                pipe.hget(self.keys.batch(batch), "run")
                pipe.lrange(self.keys.batch_calls(batch), 0, -1)
            found = pipe.execute()
        there = [
            (batch, run.decode(), [key.decode() for key in keys])
            for batch, run, keys in zip(batches, found[::2], found[1::2], strict=True)
            if run is not None
        ]

        runs = list(dict.fromkeys(run for _, run, _ in there))

        def queue(pipe: Any) -> None:
            pipe.time()
            for run in runs:
                pipe.hgetall(self.keys.run(run))
            for batch, _, keys in there:
                pipe.hgetall(self.keys.batch(batch))
                queue_calls(self, pipe, keys)

        time, *rest = self.together(queue)
        known = {run: self._run(run, row) for run, row in zip(runs, rest, strict=False)}
        rest = rest[len(runs) :]
        views = []
        for batch, run, keys in there:
            rows, rest = rest[: 1 + 2 * len(keys)], rest[1 + 2 * len(keys) :]
            calls = self._calls(keys, rows[1:])
            asked = known[run]
            if asked is not None and calls is not None:
                row = codec.batch(batch, Row(rows[0]), keys)
                views.append(BatchView(run=asked, batch=row, calls=calls, now=milliseconds(time)))
        return views

    def _run(self, run: str, row: Any) -> Run | None:
        try:
            return codec.run(self, run, Row(row))
        except ApprovalsError:  # tampered with, or its key is gone: `Room.open` has told ops
            return None

    def _calls(self, keys: list[str], rows: list[Any]) -> tuple[Call, ...] | None:
        try:
            return tuple(take_calls(self, keys, rows))
        except ApprovalsError:  # as above
            return None

    def calls(self, keys: Sequence[str]) -> list[Call]:
        """These calls, in this order."""
        rows = self.together(lambda pipe: queue_calls(self, pipe, keys))
        found = (self._calls([key], rows[2 * at : 2 * at + 2]) for at, key in enumerate(keys))
        return [call for one in found if one for call in one]

    def posts(self, batches: Sequence[str]) -> dict[str, Post]:
        """Where the cards of these batches stand, as far as they do."""
        with self.client.pipeline(transaction=False) as pipe:
            for batch in batches:
                pipe.hmget(self.keys.batch(batch), "channel", "ts", "run")
            found = [[part.decode() if part else "" for part in row] for row in pipe.execute()]
            for _, _, run in found:
                pipe.hget(self.keys.run(run), "thread_ts")
            threads = [(thread or b"").decode() for thread in pipe.execute()]
        return {
            batch: Post(channel, ts, thread)
            for batch, (channel, ts, _), thread in zip(batches, found, threads, strict=True)
            if channel and ts
        }
