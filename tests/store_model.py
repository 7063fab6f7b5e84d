"""What the store promises about calls and batches, told again in plain Python, without Redis, Lua or a clock.

The stateful test asks both for every verb. Time is a flag here: it is over, or it is not.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from approvals.lifecycle import FINAL, State
from approvals.outcomes import Outcome

LeaseId = tuple[str, str, int]  # batch, token, epoch


@dataclass
class ModelCall:
    """One call. `execute` is None before it may be claimed, then whether its time to be executed lasts."""

    key: str
    batch: str
    pause: int
    carded: bool
    state: State
    needed: int
    seal: str
    version: int = 1
    votes: dict[str, str] = field(default_factory=dict)
    decided_by: str | None = None
    refreshing: bool = False
    being_checked: bool = False  # the two more minutes that an edit gives
    edit: tuple[str, int, str] | None = None  # by, from version, arguments
    execute: bool | None = None
    token: str | None = None
    last_token: str | None = None
    leased: bool = False
    intended: bool = False
    cause: str | None = None
    reason: str | None = None
    settled_by: str | None = None
    answered: bool = False
    alerted: bool = False
    needed_of: dict[int, int] = field(default_factory=dict)


@dataclass
class ModelBatch:
    """One batch. `lasts`: its calls may still be decided. `old`: posted so long ago that nobody may be asked again."""

    key: str
    pause: int
    carded: bool
    posted: bool = False
    unposted_too_long: bool = False
    lasts: bool = True
    old: bool = False
    lease: tuple[str, int] | None = None
    leased: bool = False
    epoch: int = 0
    finished_by: tuple[str, int] | None = None
    generation: int = 0


@dataclass
class ModelRun:
    """A run with all its pauses, and the switches."""

    barrier: str
    requester: str
    pause: int = 0
    state: str = "queued"
    frozen: bool = False
    calls: dict[str, ModelCall] = field(default_factory=dict)
    batches: dict[str, ModelBatch] = field(default_factory=dict)

    # What follows from the states alone.

    def of_batch(self, batch: str) -> list[ModelCall]:
        return [call for call in self.calls.values() if call.batch == batch]

    def asked(self, calls: Iterable[ModelCall]) -> list[ModelCall]:
        return [call for call in calls if call.state is State.PENDING_REVIEW]

    def pause_open(self, pause: int) -> bool:
        return bool(self.asked(call for call in self.calls.values() if call.pause == pause))

    def unanswered(self, pause: int) -> set[str]:
        return {
            call.key
            for call in self.calls.values()
            if call.pause == pause and call.state not in FINAL and not call.answered
        }

    def waits_for_people(self, pause: int) -> bool:
        """Whether the run still waits for any call of this pause that people were asked about."""
        return any(self.calls[key].carded for key in self.unanswered(pause))

    def held_back(self, pause: int) -> bool:
        return self.barrier == "pause" and self.pause_open(pause)

    def has_work(self, batch: str) -> bool:
        pause = self.batches[batch].pause
        judged, held = not self.waits_for_people(pause), self.held_back(pause)
        return any(
            (call.state is State.APPROVED and call.execute is not None and not held)
            or (call.state is State.PROPOSED and judged)
            for call in self.of_batch(batch)
        )

    def spending(self) -> set[str]:
        holds = {State.EXECUTING, State.SUCCEEDED, State.UNKNOWN}
        return {call.key for call in self.calls.values() if call.state in holds}

    def decidable(self, call: ModelCall) -> bool:
        return self.batches[call.batch].lasts or call.being_checked

    # What one change brings with it.

    def paused(self, calls: list[ModelCall], batches: list[ModelBatch]) -> None:
        self.pause, self.state = self.pause + 1, "paused"
        self.batches.update({batch.key: batch for batch in batches})
        self.calls.update({call.key: call for call in calls})
        for call in calls:
            call.needed_of[1] = call.needed
        self.settle_pause(self.pause)
        self.make_ready()

    def settle_pause(self, pause: int) -> None:
        if self.held_back(pause):
            return
        for batch in self.batches.values():
            if batch.pause == pause and not self.asked(self.of_batch(batch.key)):
                self.open_batch(batch)

    def open_batch(self, batch: ModelBatch) -> None:
        may = {State.APPROVED} if self.waits_for_people(batch.pause) else {State.APPROVED, State.PROPOSED}
        opened = [call for call in self.of_batch(batch.key) if call.state in may and call.execute is None]
        for call in opened:
            call.execute = True
        batch.generation += bool(opened)

    def make_ready(self) -> None:
        if self.state == "paused" and not self.unanswered(self.pause):
            self.state = "ready"

    def become(self, call: ModelCall, state: State) -> None:
        was, call.state = call.state, state
        if was is State.PENDING_REVIEW and state is not was:
            call.refreshing = call.being_checked = False
            if not self.asked(self.of_batch(call.batch)):
                self.settle_pause(call.pause)
        elif state in FINAL:
            self.no_longer_waited_for(call)
        self.make_ready()

    def no_longer_waited_for(self, call: ModelCall) -> None:
        if call.carded and not self.waits_for_people(call.pause):
            self.settle_pause(call.pause)

    def end(self, call: ModelCall, state: State, cause: str, reason: str = "") -> None:
        call.cause, call.reason = cause, reason
        self.become(call, state)

    # People.

    def post(self, key: str) -> Outcome:
        batch = self.batches[key]
        if batch.posted:
            return Outcome.REPEATED
        batch.posted = batch.lasts = True
        return Outcome.OK

    def refusal(self, call: ModelCall, version: int, who: str, verdict: str, sight: str) -> Outcome | None:
        vote = call.votes.get(who)
        if vote and version == call.version:
            return Outcome.REPEATED if vote == verdict else Outcome.ALREADY_DECIDED
        if call.state is not State.PENDING_REVIEW:
            if call.decided_by:
                return Outcome.ALREADY_DECIDED
            return Outcome.EXPIRED if call.state is State.EXPIRED else Outcome.NOT_PENDING
        checks = (
            (not self.batches[call.batch].posted, Outcome.NOT_POSTED),
            (version != call.version, Outcome.STALE_VERSION),
            (not self.decidable(call), Outcome.EXPIRED),
            (call.refreshing and verdict != "reject", Outcome.REFRESHING),
            (sight != "fresh", Outcome.STALE_PERSON),
            (who == self.requester, Outcome.REQUESTER),
        )
        return next((outcome for fails, outcome in checks if fails), None)

    def approve(self, key: str, version: int, who: str, sight: str) -> Outcome:
        call = self.calls[key]
        no = self.refusal(call, version, who, "approve", sight)
        if no is None:
            self.count(call, who)
        return no or Outcome.OK

    def count(self, call: ModelCall, who: str) -> None:
        call.votes[who] = "approve"
        if len(call.votes) >= call.needed:
            call.decided_by = who
            self.become(call, State.APPROVED)

    def reject(self, key: str, version: int, who: str, sight: str) -> Outcome:
        call = self.calls[key]
        no = self.refusal(call, version, who, "reject", sight)
        if no is None:
            call.votes[who], call.decided_by = "reject", who
            self.end(call, State.REJECTED, "person")
        return no or Outcome.OK

    def edit(self, key: str, version: int, who: str, sight: str, arguments: str) -> Outcome:
        call = self.calls[key]
        if call.edit == (who, version, arguments):
            return Outcome.REPEATED
        no = self.refusal(call, version, who, "edit", sight)
        if no is None:
            call.edit, call.votes, call.version, call.seal = (who, version, arguments), {}, version + 1, ""
            call.refreshing = call.being_checked = True
        return no or Outcome.OK

    def refresh(self, key: str, version: int, seal: str, found: str, needed: int) -> Outcome:
        call = self.calls[key]
        if (call.version, call.seal) == (version, seal) and not call.refreshing and call.edit:
            return Outcome.REPEATED
        if call.state is not State.PENDING_REVIEW or not call.refreshing:
            return Outcome.WRONG_STATE
        if call.version != version:
            return Outcome.STALE_VERSION
        if not self.decidable(call):
            return Outcome.EXPIRED
        call.seal, call.needed, call.refreshing, call.needed_of[version] = seal, needed, False, needed
        if found == "forbidden":
            self.end(call, State.REJECTED, "policy")
        elif found == "nothing" and call.edit:
            self.count(call, call.edit[0])
        return Outcome.OK

    def withdraw(self, key: str, who: str) -> Outcome:
        call = self.calls[key]
        if (call.state, call.cause, call.decided_by) == (State.REJECTED, "withdrawn", who):
            return Outcome.REPEATED
        if call.state not in {State.PROPOSED, State.PENDING_REVIEW, State.APPROVED}:
            return Outcome.WRONG_STATE
        call.decided_by = who
        self.end(call, State.REJECTED, "withdrawn")
        return Outcome.OK
