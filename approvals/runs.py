"""The verbs of a run: one execution of the agent, paused and resumed."""

from typing import Any, Literal

from pydantic import TypeAdapter

from approvals import codec, tracing
from approvals.keys import checked_id
from approvals.models import PauseView, PauseWrite, Run, RunLease
from approvals.outcomes import Answer, Outcome
from approvals.pause_write import arguments
from approvals.reading import queue_calls, take_calls
from approvals.room import Room, milliseconds
from approvals.row import Row
from policies.money import Money

_COUNTS = TypeAdapter(dict[str, dict[str, Money]])


class Runs(Room):
    """Every change of a run needs its lease, except the first."""

    __slots__ = ()

    def start(
        self,
        run_id: str,
        *,
        request: str,
        requester: str,
        channel: str,
        thread_ts: str,
        agent: str,
        parent: str | None = None,
        barrier: Literal["batch", "pause"] = "batch",
    ) -> Answer:
        """Record a run and wake a worker for it. REPEATED when the id is known, whatever else was passed.

        Raises:
            BadIdError: the id cannot stand in a key.
        """
        text = self.seal(codec.REQUEST, checked_id(run_id), 0, request)
        answer = self.ask("start_run", run_id, text, requester, channel, thread_ts, agent, parent, barrier)
        if answer.outcome is Outcome.OK:
            tracing.begin(run_id)
        return answer

    def lease(self, run_id: str, *, token: str, ttl_ms: int) -> RunLease | None:
        """Take the run for one worker: queued -> running, ready -> resuming, or as it was when a lease expired.

        None when another worker holds it, or when there is nothing to drive (paused, ended, unknown).
        """
        answer = self.ask("lease_run", run_id, token, ttl_ms)
        if not answer.ok:
            return None
        epoch, resuming = int(answer.detail["epoch"]), answer.detail["state"] == "resuming"
        return RunLease(run=run_id, token=token, epoch=epoch, resuming=resuming)

    def renew(self, lease: RunLease, *, ttl_ms: int) -> bool:
        """Keep the lease for another `ttl_ms` from now. False when it is lost."""
        return self.ask("renew_run", lease.run, lease.token, lease.epoch, ttl_ms).ok

    def save_turn(self, lease: RunLease, *, state: bytes, turns: int) -> bool:
        """Keep the state after a turn. False when the lease is lost; the segment must then be thrown away."""
        revision, blob = self._next_state(lease.run, state)
        return self.ask("save_turn", lease.run, lease.token, lease.epoch, revision, blob, turns).ok

    def load(self, run_id: str) -> Run | None:
        """The run, or None."""
        return codec.run(self, run_id, self.row(self.keys.run(run_id)))

    def load_state(self, run_id: str) -> bytes | None:
        """The saved state, decrypted; None when no turn was saved yet."""
        saved = self.row(self.keys.saved(run_id))
        blob = saved.blob("blob")
        return self.open(codec.STATE, run_id, saved.number("revision"), blob) if blob else None

    def pause(self, lease: RunLease, write: PauseWrite) -> Answer:
        """Write a whole pause in one step and end the segment; detail: pause, state (paused or ready).

        A call key that is already stored is refused with WRONG_STATE: an effect belongs to one key for ever.

        Raises:
            PauseMalformedError: calls and batches do not fit each other.
            BadIdError: an id cannot stand in a key.
        """
        revision, blob = self._next_state(lease.run, write.state)
        head = (lease.run, lease.token, lease.epoch, revision, blob, write.turns)
        return self.ask("pause_run", *head, *arguments(self, lease.run, write))

    def complete(self, lease: RunLease, *, answer: str) -> Answer:
        """The agent has finished; its answer is owed to the thread."""
        return self._end("end_run", lease, "completed", "", answer)

    def stop(self, lease: RunLease, *, reason: str, answer: str = "") -> Answer:
        """End the run on purpose (budget, cancelled)."""
        return self._end("end_run", lease, "stopped", reason, answer)

    def fail(self, lease: RunLease, *, reason: str) -> Answer:
        """The run cannot go on by itself: its state is kept, ops is told, `requeue` takes it up again."""
        return self._end("end_run", lease, "failed", reason, "")

    def give_back(self, lease: RunLease, *, delay_ms: int) -> bool:
        """Drop the lease and be woken again after the delay (a provider is down). False when it was lost."""
        return self.ask("give_back_run", lease.run, lease.token, lease.epoch, delay_ms).ok

    def requeue(self, run_id: str, *, by: str) -> Answer:
        """Take a failed run up again where it was; an operator's verb."""
        return self.ask("requeue_run", run_id, by)

    def cancel(self, run_id: str, *, by: str, name: str) -> Answer:
        """Withdraw what was not claimed and end the run, at once or when what is at work has ended; detail: state.

        Whether `by` may do so is the caller's question. WRONG_STATE when the run has ended.
        """
        answer = self.ask("cancel_run", run_id, by, name)
        if answer.outcome is Outcome.OK:
            tracing.mark("run.cancel", run=run_id, state=answer.detail["state"])
        return answer

    def newest_in_thread(self, channel: str, thread_ts: str) -> Run | None:
        """The run started last in this thread."""
        run_id: Any = self.client.get(self.keys.thread(channel, thread_ts))
        return self.load(run_id.decode()) if run_id else None

    def pause_view(self, run_id: str, pause: int) -> PauseView | None:
        """Everything the outcome table of a pause is rendered from, read in one step."""
        keys = self.members(self.keys.pause_calls(run_id, pause))

        def queue(pipe: Any) -> None:
            pipe.time()
            pipe.hgetall(self.keys.run(run_id))
            queue_calls(self, pipe, keys)

        time, run_row, *rest = self.together(queue)
        run = codec.run(self, run_id, Row(run_row))
        if run is None or not keys:
            return None
        return PauseView(run=run, pause=pause, calls=tuple(take_calls(self, keys, rest)), now=milliseconds(time))

    def counts(self, run_id: str) -> dict[tuple[str, str], int]:
        """(label, currency) -> minor units of the run's calls that had, or may still have, their effect."""
        sums: dict[tuple[str, str], int] = {}
        stored: dict[Any, Any] = self.client.hgetall(self.keys.counts(run_id))
        for text in stored.values():
            for label, amount in _COUNTS.validate_json(text)["counts"].items():
                place = (label, amount.currency)
                sums[place] = sums.get(place, 0) + amount.minor
        return sums

    def _next_state(self, run_id: str, state: bytes) -> tuple[int, bytes]:
        """The next revision, and the state encrypted for it: an older state cannot be put in a newer one's place."""
        stored: Any = self.client.hget(self.keys.saved(run_id), "revision")
        revision = int(stored or 0) + 1
        return revision, self.seal(codec.STATE, run_id, revision, state)

    def _end(self, script: str, lease: RunLease, state: str, reason: str, answer: str) -> Answer:
        blob = self.seal(codec.ANSWER, lease.run, 0, answer) if answer else None
        told = self.ask(script, lease.run, lease.token, lease.epoch, state, reason, blob)
        if told.outcome is Outcome.OK:
            tracing.mark("run.outcome", run=lease.run, state=state)
        return told
