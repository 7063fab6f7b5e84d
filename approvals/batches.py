"""The verbs of a batch: posting its card, and the lease under which its approved calls go through the gate."""

from typing import Any

from approvals import codec
from approvals.lifecycle import State
from approvals.models import Batch, BatchLease, BatchView, Call
from approvals.outcomes import Answer
from approvals.reading import load_calls, queue_calls, take_calls
from approvals.room import Room, milliseconds
from approvals.row import Row

#: What is left over (a freeze, approvers whom nobody has looked at of late) is taken up again after so long.
AGAIN_MS = 4_000


class Batches(Room):
    """Calls reviewed together, and their card."""

    __slots__ = ()

    def view(self, batch_id: str) -> BatchView | None:
        """Everything a card is rendered from, read in one step; None when there is no such batch."""
        run_id: Any = self.client.hget(self.keys.batch(batch_id), "run")
        if run_id is None:
            return None
        run_name, keys = run_id.decode(), self._members(batch_id)

        def queue(pipe: Any) -> None:
            pipe.time()
            pipe.hgetall(self.keys.run(run_name))
            pipe.hgetall(self.keys.batch(batch_id))
            queue_calls(self, pipe, keys)

        time, run_row, batch_row, *rest = self.together(queue)
        run = codec.run(self, run_name, Row(run_row))
        if run is None:
            return None
        batch = codec.batch(batch_id, Row(batch_row), keys)
        return BatchView(run=run, batch=batch, calls=tuple(take_calls(self, keys, rest)), now=milliseconds(time))

    def record_posted(self, batch_id: str, *, channel: str, ts: str) -> Answer:
        """The card stands in Slack: the first time, its calls become decidable and their time starts.

        REPEATED for the same message; a card that had to be posted again keeps its first `decide_by`.
        """
        return self.ask("record_posted", batch_id, channel, ts)

    def on_it(self, batch_id: str, *, by: str, name: str) -> Answer:
        """Somebody who may decide looks at it: no escalation. Decides nothing. The last one who says so is named.

        It holds until they have approved all that waits; ALREADY_DECIDED when they have. Until then nobody is reminded
        but the thread.
        """
        return self.ask("on_it", batch_id, by, name)

    def lease(self, batch_id: str, *, token: str, ttl_ms: int) -> BatchLease | None:
        """Take the batch for one worker; None when another holds it or nothing can be run or judged now."""
        answer = self.ask("lease_batch", batch_id, token, ttl_ms)
        if not answer.ok:
            return None
        detail = answer.detail
        return BatchLease(
            batch=batch_id,
            run=detail["run"],
            token=token,
            epoch=int(detail["epoch"]),
            generation=int(detail["generation"]),
            in_vain=int(detail["in_vain"]),
        )

    def renew(self, lease: BatchLease, *, ttl_ms: int) -> bool:
        """Keep the lease for another `ttl_ms` from now. False when it is lost."""
        return self.ask("renew_batch", lease.batch, lease.token, lease.epoch, ttl_ms).ok

    def finish(self, lease: BatchLease, *, in_vain: int = 0, again_ms: int = AGAIN_MS) -> bool:
        """Give the lease back. It is woken at once for what was decided meanwhile, later for what is left over.

        `in_vain` is what the next lease bears, `again_ms` how long what is left over waits for it.
        False when the lease had been lost already.
        """
        return self.ask("finish_batch", lease.batch, lease.token, lease.epoch, lease.generation, in_vain, again_ms).ok

    def claimable(self, batch_id: str) -> list[Call]:
        """Approved calls that may be claimed now, in order."""
        calls = load_calls(self, self._members(batch_id))
        return [call for call in calls if call.state is State.APPROVED and call.execute_by is not None]

    def held(self, batch_id: str) -> list[Call]:
        """Proposed calls of a batch without a card that are to be judged again: the run waits for no others."""
        row = self.row(self.keys.batch(batch_id))
        if not row or row.flag("has_card"):
            return []
        waited: Any = self.client.smembers(self.keys.unanswered(row.text("run"), row.number("pause")))

        def queue(pipe: Any) -> None:
            for key in waited:
                pipe.hget(self.keys.call(key.decode()), "carded")

        if b"1" in self.together(queue):
            return []
        calls = load_calls(self, self._members(batch_id))
        return [call for call in calls if call.state is State.PROPOSED]

    def load(self, batch_id: str) -> Batch | None:
        """The batch alone, or None."""
        row = self.row(self.keys.batch(batch_id))
        return codec.batch(batch_id, row, self._members(batch_id)) if row else None

    def waiting(self) -> list[str]:
        """Batches that wait for a person or for their card, the most urgent first."""
        due: list[Any] = self.client.zrange(self.keys.deadlines, 0, -1)
        members = (member.decode().partition(":") for member in due)
        return [batch for kind, _, batch in members if kind in {"decide", "post"}]

    def _members(self, batch_id: str) -> list[str]:
        return self.members(self.keys.batch_calls(batch_id))
