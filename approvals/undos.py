"""Taking back what a call did: an effect of its own, with its own key, intent and receipt. At most once for a call."""

from collections.abc import Sequence

from approvals import at_work, codec
from approvals.marks import bears, mark
from approvals.models import Call, Person, UndoClaim
from approvals.outcomes import Answer
from approvals.room import Room
from approvals.seal import digest

SCHEMA = "vobo.undo/1"


def undo_seal(call: Call, *, tenant: str) -> str:
    """What exactly is taken back: this call as it was sealed, and what its tool said it had done.

    Raises:
        UnsealableError: the receipt holds half a character.
    """
    return digest(
        {
            "schema": SCHEMA,
            "tenant": tenant,
            "run": call.run,
            "call_key": call.key,
            "seal": call.seal,
            "receipt": call.receipt,
            "idempotency_key": call.undo_key,
        }
    )


class Undos(Room):
    """From "somebody wants it back" to what became of that. The run is told nothing: it may be over."""

    __slots__ = ()

    def ask_for(self, call: Call, *, person: Person, needed: int) -> Answer:
        """One person's word that this is taken back; detail: state (`asked`, or `wanted` while people are `missing`).

        Whether they may is the caller's question; `needed` is how many people the law asks now. ALREADY_DECIDED names
        who was first; detail: by, name, at, state (`contradicted`: a late receipt says that it was taken back).
        """
        seal, how = undo_seal(call, tenant=self.tenant), call.content.requirement.undo
        word = mark(self.vault, self._word(call.key, seal, person.user))
        who = (person.user, person.name, codec.person_text(person))
        return self.ask("ask_undo", call.key, seal, *who, how, needed, word)

    def voters(self, key: str) -> list[str]:
        """The Slack ids of all who want it back, as far as it counts now. A word that was not taken here is none."""
        row = self.row(self.keys.call(key))
        votes: dict[bytes, bytes] = self.client.hgetall(self.keys.undo_votes(key))  # type: ignore[assignment]
        words = {user.decode(): vote.decode().split(" ")[1:2] for user, vote in votes.items()}
        seal = row.text("undo_seal")
        return sorted(
            user for user, word in words.items() if word and bears(self.vault, self._word(key, seal, user), word[0])
        )

    def _word(self, key: str, seal: str, user: str) -> list[str]:
        return [self.tenant, "undo", key, seal, user]

    def claim(
        self, call: Call, *, token: str, seal: str, ttl_ms: int, people: Sequence[Person], needed: int
    ) -> tuple[Answer, UndoClaim | None]:
        """Take an undo for one attempt; `seal` is what the caller recomputed, `people` fresh snapshots of all voters.

        `needed` is how many the law asks now.

        Refusals, in this order: FROZEN, NOT_FOUND, WRONG_STATE, LAPSED (it failed by this very script),
        STALE_VERSION, STALE_PERSON.
        """
        pairs = [part for person in people for part in (person.user, codec.person_text(person))]
        answer = self.ask("claim_undo", call.key, token, seal, ttl_ms, needed, len(people), *pairs)
        claim = UndoClaim(call=call.key, run=call.run, version=call.version, token=token)
        return answer, claim if answer.ok else None

    def renew(self, claim: UndoClaim, *, ttl_ms: int) -> bool:
        """Keep the claim for another `ttl_ms` from now. False when it is lost."""
        return self.ask("renew_undo", claim.call, claim.token, ttl_ms).ok

    def intend(self, claim: UndoClaim, *, longest_ms: int) -> Answer:
        """The last word before it is tried, for at most `longest_ms`. Whatever it answers but `ok`: it must not be."""
        until_ms = longest_ms + at_work.MARGIN_MS
        return self.ask("intend_undo", claim.call, claim.token, until_ms, at_work.PRESENT_MS)

    def unclaim(self, claim: UndoClaim) -> Answer:
        """Before the intent: asked for as before."""
        return self.ask("unclaim_undo", claim.call, claim.token)

    def refuse(self, key: str, *, seal: str, reason: str) -> Answer:
        """It may not be tried (any more). Nothing happened; whoever may can ask again."""
        return self.ask("refuse_undo", key, seal, reason)

    def succeed(self, claim: UndoClaim, *, receipt: str) -> Answer:
        """It was taken back. Also settles an unknown undo; a receipt is never thrown away."""
        blob = self._receipt(claim.call, claim.version, receipt, run=claim.run)
        return self.ask("finish_undo", claim.call, claim.token, "undone", "", blob)

    def fail(self, claim: UndoClaim, *, reason: str) -> Answer:
        """It provably was not taken back. Also settles an unknown undo."""
        return self.ask("finish_undo", claim.call, claim.token, "failed", reason, None)

    def abandon(self, claim: UndoClaim, *, reason: str) -> Answer:
        """After the intent: nobody can tell. Wakes `undo_call`, which asks the tool, and tells ops."""
        return self.ask("finish_undo", claim.call, claim.token, "unknown", reason, None)

    def settle(
        self,
        call: Call,
        *,
        happened: bool,
        by: str,
        name: str,
        reason: str,
        needed: int = 1,
        receipt: str | None = None,
        attempt: str | None = None,
    ) -> Answer:
        """The tool, or an operator, knows what became of an unknown undo; with `needed` 2 the second word settles.

        The word is about one `attempt` alone, by default the one that `call` was read in. Once there is another, it is
        WRONG_STATE. While a worker may still be at work on it, "not" changes nothing, whoever says it: WRONG_STATE;
        detail: state, at_work_ms (`at_work.left_ms`).
        """
        blob = self._receipt(call.key, call.version, receipt, run=call.run) if receipt else None
        if attempt is None:
            attempt = call.undo.token if call.undo else ""
        said = (happened, by, name, reason, needed, blob, at_work.MARGIN_MS)
        return self.ask("settle_undo", call.key, attempt, *said)

    def alert_unknown(self, key: str, *, attempt: str, reason: str) -> Answer:
        """The tool was asked about this attempt and cannot settle it: ops reads `reason`. REPEATED: it has read it."""
        return self.ask("alert_unknown_undo", key, attempt, reason)

    def ask_provider(self, key: str, *, by: Person) -> Answer:
        """Wake `undo_call` for an unknown undo; WRONG_STATE for any other."""
        return self.ask("ask_undone", key, by.user, by.name)

    def marked(self, key: str) -> tuple[str, str] | None:
        """(name, `undone` or `failed`) of the first of two words about an unknown undo."""
        row = self.row(self.keys.call(key))
        return (row.text("undo_marked_name"), row.text("undo_marked_as")) if row.maybe("undo_marked_as") else None

    def receipt(self, call: Call) -> str | None:
        """What the tool said when it had taken the call back."""
        return self._opened(call, "undo_receipt")

    def late_receipt(self, call: Call) -> str | None:
        """A receipt that came when the undo had ended otherwise, for whoever settles the contradiction."""
        return self._opened(call, "undo_late_receipt")

    def _opened(self, call: Call, field: str) -> str | None:
        blob = self.row(self.keys.call(call.key)).blob(field)
        return self.open(codec.UNDO_RECEIPT, call.key, call.version, blob, run=call.run).decode() if blob else None

    def _receipt(self, key: str, version: int, receipt: str, *, run: str) -> bytes:
        return self.seal(codec.UNDO_RECEIPT, key, version, receipt, run=run)
