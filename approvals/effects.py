"""The verbs of the gate: one claim, one intent, one receipt for each effect."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from approvals import at_work, codec
from approvals.caps import is_over, reservations
from approvals.kept import kept
from approvals.lifecycle import Cause
from approvals.models import BatchLease, CallContent, Claim, Person
from approvals.outcomes import Answer, Outcome
from approvals.reading import load_call
from approvals.replicas import NotReplicated
from approvals.room import Room

NOTHING_READ: Mapping[str, int] = MappingProxyType({})


class Effects(Room):
    """From approved to what happened. A claim's token fences every later word about it."""

    __slots__ = ()

    def claim(
        self,
        key: str,
        *,
        lease: BatchLease,
        token: str,
        seal: str,
        ttl_ms: int,
        people: Sequence[Person],
        day: str,
        read: Mapping[str, int] = NOTHING_READ,
    ) -> tuple[Answer, Claim | None]:
        """Take one approved call for one execution, reserving its caps.

        `seal` is what the caller recomputed, `people` the fresh snapshots of all who approved, `day` the day that
        daily caps count in, `read` what the judgement behind it was told that others hold of caps, by place.
        Refusals, in this order: FROZEN, LEASE_LOST, WRONG_STATE, LAPSED (the call is expired by this very script),
        STALE_VERSION, STALE_PERSON, CAPS_MOVED (judge it again: others have taken, or what is in the way is held by a
        call that is only looked at and may never run), CAP_REACHED. While replicas are missing it is FROZEN as well.

        Raises:
            CurrencyMixed: a rule limits one currency and spends another.
        """
        call = load_call(self, key)
        if call is None:
            return Answer(Outcome.NOT_FOUND), None
        if any(is_over(place, day) for place in read):
            return Answer(Outcome.CAPS_MOVED), None
        takes = list(reservations(self.keys, call.content.requirement, run=call.run, day=day))
        try:
            answer = self.ask(
                "claim",
                key,
                *_held(lease),
                token,
                seal,
                call.version,
                ttl_ms,
                len(people),
                *(part for person in people for part in (person.user, codec.person_text(person))),
                len(read),
                *(part for place in read.items() for part in place),
                len(takes),
                *(part for take in takes for part in take),
            )
        except NotReplicated:
            self.unclaim(key, token=token)  # nothing was begun; it is tried again until the replicas are back
            return Answer(Outcome.FROZEN), None
        if not answer.ok:
            return answer, None
        until, version = int(answer.detail["lease_until"]), int(answer.detail["version"])
        return answer, Claim(call=key, run=call.run, batch=lease.batch, token=token, version=version, lease_until=until)

    def intend(self, claim: Claim, *, longest_ms: int = 0) -> Answer:
        """The last word before the effect: from now on only a receipt, a proof or a person can end the call.

        `longest_ms` is how long the tool may take: for so long, and a little more, it may be at work whatever becomes
        of its worker. LEASE_LOST or FROZEN: the effect must not happen.
        """
        until_ms = longest_ms + at_work.MARGIN_MS
        return self.ask("intend", claim.call, claim.token, until_ms, at_work.PRESENT_MS)

    def stay(self, subject: str) -> None:
        """Whoever runs the effect of this call, or of `undo:call`, is still there."""
        self.client.set(self.keys.at_work(subject), "1", px=at_work.PRESENT_MS)

    def present_ms(self, subject: str) -> int:
        """For how long it must be believed that somebody is there; 0 when nobody is."""
        left: Any = self.client.pttl(self.keys.at_work(subject))
        return max(0, int(left))

    def renew(self, claim: Claim, *, ttl_ms: int) -> bool:
        """Keep the claim for another `ttl_ms` from now. False when it is lost."""
        return self.ask("renew_call", claim.call, claim.token, ttl_ms).ok

    def unclaim(self, key: str, *, token: str | None = None) -> Answer:
        """Before the intent: back to approved, the cap given back. Without a token only once the lease is over.

        As long as the batch is held, nothing is woken: giving its lease back does that.
        """
        return self.ask("unclaim", key, token)

    def succeed(self, claim: Claim, *, receipt: str) -> Answer:
        """The effect happened. Also settles an unknown call; a receipt is never thrown away.

        WRONG_STATE when the call was settled otherwise: the receipt is kept beside it and ops is told.
        """
        blob = self._receipt(claim.call, claim.version, receipt, claim.run)
        return self.ask("succeed", claim.call, claim.token, blob, claim.version)

    def late_receipt(self, key: str) -> str | None:
        """A receipt that came when the call had ended otherwise, for whoever settles the contradiction."""
        row = self.row(self.keys.call(key))
        blob = row.blob("late_receipt")
        if blob is None:
            return None
        return self.open(codec.RECEIPT, key, row.number("late_version"), blob, run=row.text("run")).decode()

    def fail(self, claim: Claim, *, reason: str) -> Answer:
        """The effect provably did not happen; the cap is given back. Also settles an unknown call."""
        return self.ask("fail", claim.call, claim.token, reason)

    def abandon(self, key: str, *, token: str | None = None, reason: str) -> Answer:
        """After the intent: nobody can tell. Wakes `reconcile_call`; sets the instants when ops, and the run, are told.

        Without a token only once the lease is over.
        """
        return self.ask("abandon", key, token, reason)

    def release(self, claim: Claim, *, content: CallContent, seal: str, difference: Sequence[str]) -> Answer:
        """Drift found before the intent: the next version goes back to review, or is judged again if nobody was asked.

        LAPSED when the 24 hours leave no time for another decision: the call is expired.
        """
        told = content if content.previous else content.model_copy(update={"previous": tuple(difference)})
        version = claim.version + 1
        return self.ask(
            "release",
            claim.call,
            claim.token,
            "; ".join(difference),
            *self._next(claim.call, version, told, seal, claim.run),
        )

    def refuse(self, key: str, *, lease: BatchLease, cause: Cause, reason: str) -> Answer:
        """Approved, but not runnable (a cap, the law): ends the call without a veto."""
        return self.ask("refuse", key, *_held(lease), cause, reason)

    def revoke(self, key: str, *, lease: BatchLease, content: CallContent, seal: str, reason: str) -> Answer:
        """An approval no longer carries (authority, law or schema changed): the next version goes back to review.

        LAPSED as for `release`.
        """
        call = load_call(self, key)
        if call is None:
            return Answer(Outcome.NOT_FOUND)
        version = call.version if call.seal == seal else call.version + 1  # sent twice: the same next version
        return self.ask("revoke", key, *_held(lease), reason, *self._next(key, version, content, seal, call.run))

    def settle(self, key: str, *, happened: bool, by: str, reason: str, receipt: str | None = None) -> Answer:
        """Somebody, or the tool's `reconcile`, knows what became of an unknown call."""
        call = load_call(self, key)
        if call is None:
            return Answer(Outcome.NOT_FOUND)
        blob = self._receipt(key, call.version, receipt, call.run) if receipt else None
        return self.ask("settle", key, happened, by, reason, blob)

    def alert_unknown(self, key: str, *, reason: str = "") -> Answer:
        """The tool cannot tell what became of an unknown call, so ops is asked now. REPEATED: it was already.

        With another `reason` than before, which says what the provider said, ops is told again.
        """
        return self.ask("alert_unknown", key, False, reason)

    def answer_unknown(self, key: str) -> Answer:
        """Let the run go on with the answer "unknown"; the call stays unknown until it is settled."""
        return self.ask("answer_unknown", key, False)

    def _receipt(self, key: str, version: int, receipt: str, run: str) -> bytes:
        return self.seal(codec.RECEIPT, key, version, receipt, run=run)

    def _next(self, key: str, version: int, content: CallContent, seal: str, run: str) -> tuple[str | int | bytes, ...]:
        blob = self.seal(codec.CALL, key, version, content.model_dump_json(), run=run)
        return (
            version,
            blob,
            seal,
            content.requirement.reviewers,
            codec.counts_text(content.requirement),
            content.requirement.law,
            kept(self, key, version, content, run=run),
            content.requirement.tier,
        )


def _held(lease: BatchLease) -> tuple[str, str, int]:
    return (lease.batch, lease.token, lease.epoch)
