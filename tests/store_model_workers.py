"""The second half of the model in `store_model.py`: what workers and the clock may do to a call."""

from approvals.lifecycle import State
from approvals.outcomes import Outcome
from store_model import LeaseId, ModelCall, ModelRun

CAP_HOLDS = 2  # calls that fit under the cap of the stateful test


class Model(ModelRun):
    """A run with its workers."""

    def holds(self, lease: LeaseId) -> bool:
        batch = self.batches[lease[0]]
        return batch.leased and batch.lease == lease[1:]

    def lease_batch(self, batch: str, token: str) -> Outcome:
        found = self.batches[batch]
        if found.leased and found.lease:
            return Outcome.REPEATED if found.lease[0] == token else Outcome.LEASE_LOST
        if not self.has_work(batch):
            return Outcome.WRONG_STATE
        found.epoch += 1
        found.lease, found.leased = (token, found.epoch), True
        return Outcome.OK

    def finish(self, lease: LeaseId) -> Outcome:
        batch = self.batches[lease[0]]
        if batch.finished_by == lease[1:]:
            return Outcome.REPEATED
        if not self.holds(lease):
            return Outcome.LEASE_LOST
        batch.finished_by, batch.leased, batch.lease = lease[1:], False, None
        return Outcome.OK

    def auto_approve(self, key: str, lease: LeaseId) -> Outcome:
        call = self.calls[key]
        if call.batch != lease[0] or not self.holds(lease):
            return Outcome.LEASE_LOST
        if call.state is State.APPROVED and call.decided_by == "policy":
            return Outcome.REPEATED
        if call.state is not State.PROPOSED or self.waits_for_people(call.pause):
            return Outcome.WRONG_STATE
        call.decided_by, call.execute = "policy", call.execute is not False  # its time does not begin anew
        self.become(call, State.APPROVED)
        return Outcome.OK

    def end_under_lease(self, key: str, lease: LeaseId, before: State, cause: str, reason: str) -> Outcome:
        call = self.calls[key]
        if call.batch != lease[0] or not self.holds(lease):
            return Outcome.LEASE_LOST
        if (call.state, call.cause, call.reason) == (State.REJECTED, cause, reason):
            return Outcome.REPEATED
        if call.state is not before:
            return Outcome.WRONG_STATE
        self.end(call, State.REJECTED, cause, reason)
        return Outcome.OK

    def forbid(self, key: str, lease: LeaseId, reason: str) -> Outcome:
        return self.end_under_lease(key, lease, State.PROPOSED, "policy", reason)

    def refuse(self, key: str, lease: LeaseId, reason: str) -> Outcome:
        return self.end_under_lease(key, lease, State.APPROVED, "cap", reason)

    def claim(self, key: str, lease: LeaseId, token: str, seal: str, sight: str) -> Outcome:  # noqa: PLR0911 - in the order of the script
        call = self.calls[key]
        if self.frozen:
            return Outcome.FROZEN
        if call.batch != lease[0] or not self.holds(lease):
            return Outcome.LEASE_LOST
        if call.state is State.EXECUTING and call.token == token:
            return Outcome.REPEATED
        if call.state is not State.APPROVED or call.execute is None:
            return Outcome.WRONG_STATE
        if not call.execute:
            self.end(call, State.EXPIRED, "lapsed")
            return Outcome.LAPSED
        if self.held_back(call.pause):
            return Outcome.WRONG_STATE
        if call.seal != seal:
            return Outcome.STALE_VERSION
        if call.votes and sight != "fresh":
            return Outcome.STALE_PERSON
        others = [self.calls[other] for other in self.spending() - {key}]
        if len(others) >= CAP_HOLDS:
            sure = [other for other in others if other.state is not State.EXECUTING or other.intended]
            return Outcome.CAP_REACHED if len(sure) >= CAP_HOLDS else Outcome.CAPS_MOVED
        call.token, call.leased, call.intended = token, True, False
        self.become(call, State.EXECUTING)
        return Outcome.OK

    def renew(self, key: str, token: str) -> Outcome:
        call = self.calls[key]
        held = call.state is State.EXECUTING and call.token == token and call.leased
        return Outcome.OK if held else Outcome.LEASE_LOST

    def intend(self, key: str, token: str) -> Outcome:
        call = self.calls[key]
        if self.renew(key, token) is not Outcome.OK:
            return Outcome.LEASE_LOST
        if self.frozen:
            return Outcome.FROZEN
        if call.intended:
            return Outcome.REPEATED
        call.intended = True
        return Outcome.OK

    def succeed(self, key: str, token: str) -> Outcome:
        call = self.calls[key]
        if call.token != token:
            return Outcome.LEASE_LOST
        if call.state is State.SUCCEEDED:
            return Outcome.REPEATED
        if call.state not in {State.EXECUTING, State.UNKNOWN}:
            return Outcome.WRONG_STATE
        self.become(call, State.SUCCEEDED)
        return Outcome.OK

    def fail(self, key: str, token: str) -> Outcome:
        call = self.calls[key]
        if call.token != token:
            return Outcome.LEASE_LOST
        if call.state is State.FAILED:
            return Outcome.REPEATED
        if call.state not in {State.EXECUTING, State.UNKNOWN}:
            return Outcome.WRONG_STATE
        self.become(call, State.FAILED)
        return Outcome.OK

    def abandon(self, key: str, token: str) -> Outcome:
        call = self.calls[key]
        if call.state is State.UNKNOWN and call.token == token:
            return Outcome.REPEATED
        if call.state is not State.EXECUTING or not call.intended:
            return Outcome.WRONG_STATE
        if call.token != token:
            return Outcome.LEASE_LOST
        self.become(call, State.UNKNOWN)
        return Outcome.OK

    def unclaim(self, key: str, token: str) -> Outcome:
        call = self.calls[key]
        if call.state is State.APPROVED and call.last_token == token:
            return Outcome.REPEATED
        if call.state is not State.EXECUTING or call.intended:
            return Outcome.WRONG_STATE
        if call.token != token:
            return Outcome.LEASE_LOST
        self.undo_claim(call)
        return Outcome.OK

    def undo_claim(self, call: ModelCall) -> None:
        call.last_token, call.token, call.leased = call.token, None, False
        self.batches[call.batch].generation += 1
        self.become(call, State.APPROVED)

    def release(self, key: str, token: str, version: int, seal: str) -> Outcome:
        call = self.calls[key]
        if self.sent_back(call, version, seal):
            return Outcome.REPEATED
        if call.state is not State.EXECUTING or call.intended:
            return Outcome.WRONG_STATE
        if call.token != token or version != call.version + 1:
            return Outcome.LEASE_LOST
        return self.send_back(call, version, seal)

    def revoke(self, key: str, lease: LeaseId, seal: str) -> Outcome:
        call = self.calls[key]
        version = call.version if call.seal == seal else call.version + 1
        if call.batch != lease[0] or not self.holds(lease):
            return Outcome.LEASE_LOST
        if self.sent_back(call, version, seal):
            return Outcome.REPEATED
        if call.state is not State.APPROVED:
            return Outcome.WRONG_STATE
        if version != call.version + 1:
            return Outcome.STALE_VERSION
        return self.send_back(call, version, seal)

    def sent_back(self, call: ModelCall, version: int, seal: str) -> bool:
        waits = call.state in {State.PENDING_REVIEW, State.PROPOSED}
        return waits and (call.version, call.seal) == (version, seal)

    def send_back(self, call: ModelCall, version: int, seal: str) -> Outcome:
        batch = self.batches[call.batch]
        if batch.old:
            if call.state is State.EXECUTING:
                self.undo_claim(call)
            self.end(call, State.EXPIRED, "lapsed")
            return Outcome.LAPSED
        batch.generation += 1
        call.votes, call.decided_by, call.execute, call.token, call.leased = {}, None, None, None, False
        call.version, call.seal, call.needed_of[version] = version, seal, call.needed
        if call.carded:
            batch.lasts = True
        self.become(call, State.PENDING_REVIEW if call.carded else State.PROPOSED)
        if not call.carded:
            self.open_batch(batch)
        return Outcome.OK

    def settle(self, key: str, who: str, happened: bool) -> Outcome:  # noqa: FBT001 - as the store's verb names it
        call = self.calls[key]
        state = State.SUCCEEDED if happened else State.FAILED
        if call.state is state and call.settled_by == who:
            return Outcome.REPEATED
        if call.state is not State.UNKNOWN:
            return Outcome.WRONG_STATE
        call.settled_by = who
        self.become(call, state)
        return Outcome.OK

    # The clock: what happens because time passed.

    def expire(self, key: str) -> Outcome:
        due = [call for call in self.asked(self.of_batch(key)) if not self.decidable(call)]
        for call in due:
            self.end(call, State.EXPIRED, "nobody decided")
        return Outcome.OK if due else Outcome.REPEATED

    def unposted(self, key: str) -> Outcome:
        batch = self.batches[key]
        due = [] if batch.posted or not batch.unposted_too_long else self.asked(self.of_batch(key))
        for call in due:
            self.end(call, State.EXPIRED, "could not be posted")
        return Outcome.OK if due else Outcome.REPEATED

    def lapse(self, key: str) -> Outcome:
        call = self.calls[key]
        if call.state not in {State.APPROVED, State.PROPOSED} or call.execute is not False:
            return Outcome.REPEATED
        self.end(call, State.EXPIRED, "lapsed")
        return Outcome.OK

    def lost_lease(self, key: str) -> Outcome:
        call = self.calls[key]
        if call.state is not State.EXECUTING or call.leased:
            return Outcome.REPEATED
        if call.intended:
            self.become(call, State.UNKNOWN)
        else:
            self.undo_claim(call)
        return Outcome.OK

    def answer_unknown(self, key: str) -> Outcome:
        call = self.calls[key]
        if call.state is not State.UNKNOWN or call.answered:
            return Outcome.WRONG_STATE if call.state is not State.UNKNOWN else Outcome.REPEATED
        call.answered = True
        self.no_longer_waited_for(call)
        self.make_ready()
        return Outcome.OK

    def alert_unknown(self, key: str) -> Outcome:
        call = self.calls[key]
        if call.state is not State.UNKNOWN or call.alerted:  # what became of it since needs no alert
            return Outcome.REPEATED
        call.alerted = True
        return Outcome.OK
