"""The verbs of people: decisions on calls. One decision wins; silence is none."""

import hmac
from collections.abc import Sequence
from typing import Any

from approvals import codec
from approvals.drifts import Drift, counted
from approvals.kept import kept
from approvals.lifecycle import Cause, State
from approvals.marks import marked
from approvals.models import BatchLease, Call, CallContent, Decision, Person
from approvals.outcomes import Answer, Outcome
from approvals.reading import load_call, load_calls
from approvals.room import Room
from approvals.seal import digest
from approvals.vetoes import sentences


class Calls(Room):
    """Decisions. Every check and every consequence of a verb is in its one script."""

    __slots__ = ()

    def load(self, key: str) -> Call | None:
        """The call, or None."""
        return load_call(self, key)

    def of_pause(self, run_id: str, pause: int) -> list[Call]:
        """All calls of a pause, by number."""
        return load_calls(self, self.members(self.keys.pause_calls(run_id, pause)))

    def states(self, run_id: str, pauses: int) -> list[State]:
        """The states of all calls of a run's pauses. Nothing of them is opened, so none can hide the others."""
        keys = [key for pause in range(1, pauses + 1) for key in self.members(self.keys.pause_calls(run_id, pause))]

        def asked(pipe: Any) -> None:
            for key in keys:
                pipe.hget(self.keys.call(key), "state")

        found = self.together(asked) if keys else []
        return [State(state.decode()) for state in found if state]

    def approve(
        self, key: str, *, version: int, decision: Decision, person: Person, generation: int | None = None
    ) -> Answer:
        """One reviewer's yes to one version; detail: verdict (`approved` or `pending`) and missing.

        `generation`, when given, is the batch's as the reviewer saw it; another one answers STALE_VERSION.
        """
        return self.ask("approve", key, version, *self._signed(key, version, decision, person), generation)

    def reject(
        self, key: str, *, version: int, decision: Decision, person: Person, generation: int | None = None
    ) -> Answer:
        """One reviewer's no, which settles, also while an edit is checked.

        A veto; when a correction is asked for, only after one new proposal.
        """
        call = load_call(self, key)
        if call is None:
            return Answer(Outcome.NOT_FOUND)
        flat = [part for pair in sentences(call, decision) for part in pair]
        signed = self._signed(key, version, decision, person)
        return self.ask("reject", key, version, *signed, generation, decision.reason, decision.correction, *flat)

    def decide_batch(
        self, batch_id: str, *, generation: int, decisions: Sequence[tuple[str, int, Decision]], person: Person
    ) -> list[tuple[str, Answer]]:
        """Decide several calls (key, version, decision) of one card; one answer each, by the same scripts.

        A call that is not of this batch answers NOT_FOUND; an edit WRONG_STATE, since edits go one by one.
        """
        members = set(self.members(self.keys.batch_calls(batch_id)))
        answers: list[tuple[str, Answer]] = []
        for key, version, decision in decisions:
            if key not in members:
                answer = Answer(Outcome.NOT_FOUND)
            elif decision.verdict == "approve":
                answer = self.approve(key, version=version, decision=decision, person=person, generation=generation)
            elif decision.verdict == "reject":
                answer = self.reject(key, version=version, decision=decision, person=person, generation=generation)
            else:
                answer = Answer(Outcome.WRONG_STATE, {"state": "edit"})
            answers.append((key, answer))
        return answers

    def edit(self, key: str, *, version: int, decision: Decision, person: Person, content: CallContent) -> Answer:
        """Make version n+1 of these contents, which nobody can decide until `refresh` has checked it; detail: version.

        The edit is kept as a decision on version n; what will count as the editor's approval of n+1 is recorded
        by the refresh, if it finds no drift.
        """
        approval = self._marked(decision.model_copy(update={"verdict": "approve", "version": version + 1}))
        run = self.run_of(key)
        if not run:
            return Answer(Outcome.NOT_FOUND)
        blob = self.seal(codec.CALL, key, version + 1, content.model_dump_json(), run=run)
        fingerprint = digest({"arguments": content.arguments})
        told = kept(self, key, version + 1, content, run=run, previewed=False)
        extra = (approval.model_dump_json(), fingerprint, blob, told)
        return self.ask("edit", key, version, *self._signed(key, version, decision, person), *extra)

    def refresh(
        self,
        key: str,
        *,
        version: int,
        content: CallContent,
        seal: str,
        drift: bool,
        rejected: str | None = None,
    ) -> Answer:
        """The worker has checked an edit: commit its content and seal; detail: verdict, missing.

        Without drift the editor's approval counts. With drift it is dropped and the editor is told. `rejected` is
        the sentence of a law that forbids the edit.
        """
        run = self.run_of(key)
        if not run:
            return Answer(Outcome.NOT_FOUND)
        blob = self.seal(codec.CALL, key, version, content.model_dump_json(), run=run)
        needed = content.requirement.reviewers
        counts = codec.counts_text(content.requirement)
        law = content.requirement.law
        told = kept(self, key, version, content, run=run)
        return self.ask(
            "refresh", key, version, blob, seal, drift, rejected, needed, counts, law, told, content.requirement.tier
        )

    def ask_look(self, key: str) -> Answer:
        """Have the data of a waiting call looked up again; REPEATED when that was asked for within a minute."""
        return self.ask("ask_look", key)

    def note_looked(
        self, key: str, *, version: int, began: int, drift: Drift | None = None, failed: bool = False
    ) -> Answer:
        """What a look at a waiting call, begun at this instant, found different, or that it failed.

        Changes neither decision nor version. REPEATED when a later look was noted already.
        """
        text, run = drift.model_dump_json() if drift else "", self.run_of(key)
        blob = self.seal(codec.DRIFTED, key, version, text, run=run) if text and run else b""  # a call that is gone
        # Keyed, since a digest of a short line about somebody could be guessed.
        fingerprint = hmac.digest(self.vault.derive_all("drift")[0], text.encode(), "sha256").hex() if text else ""
        return self.ask("note_looked", key, version, began, failed, blob, fingerprint, counted(drift))

    def withdraw(self, key: str, *, by: str) -> Answer:
        """Take back a call that was not claimed yet. Whether `by` may do so is the caller's question."""
        return self.ask("withdraw", key, by)

    def auto_approve(self, key: str, *, lease: BatchLease) -> Answer:
        """A held call, judged again by the law once nobody is asked any more: it may run."""
        return self.ask("auto_approve", key, *_held(lease))

    def forbid(self, key: str, *, lease: BatchLease, reason: str, cause: Cause = Cause.POLICY) -> Answer:
        """A held call, judged again by the law: it may not run."""
        return self.ask("forbid", key, *_held(lease), reason, cause)

    def note(self, key: str, *, event: str, person: Person | None, detail: str) -> None:
        """Put an attempt that was refused into the ledger; changes nothing else."""
        self.ask("note", key, event, person.user if person else None, person.name if person else None, detail)

    def _signed(self, key: str, version: int, decision: Decision, person: Person) -> tuple[str, ...]:
        """The decision under the identity that the snapshot vouches for; it must be about what is being decided."""
        if decision.reviewer != person.user:
            raise ValueError(f"A decision of {decision.reviewer} was handed in by {person.user}; refuse the click.")
        if (decision.call, decision.version) != (key, version):
            raise ValueError(f"A decision on {decision.call} v{decision.version} was handed in for {key} v{version}.")
        word = self._marked(decision).model_dump_json()
        return (person.user, person.name, word, codec.person_text(person))

    def _marked(self, decision: Decision) -> Decision:
        """With its mark, over the words as they are kept: a configured secret among them never is."""
        clean = {field: self.secrets.without(getattr(decision, field) or "") or None for field in ("name", "reason")}
        clean["name"] = clean["name"] or ""
        return marked(self.vault, self.tenant, decision.model_copy(update=clean))


def _held(lease: BatchLease) -> tuple[str, str, int]:
    return (lease.batch, lease.token, lease.epoch)
