"""Taking back what a call did: an effect of its own, with its own key, intent and receipt. At most once for a call."""

from collections.abc import Sequence
from typing import Any

from approvals import codec
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

    def ask_for(self, call: Call, *, person: Person) -> Answer:
        """One person's word that this is taken back; detail: state (`asked`, or `wanted` while people are `missing`).

        Whether they may is the caller's question. ALREADY_DECIDED names who was first; detail: by, name, at, state.
        """
        seal, how = undo_seal(call, tenant=self.tenant), call.content.requirement.undo
        return self.ask("ask_undo", call.key, seal, person.user, person.name, codec.person_text(person), how)

    def voters(self, key: str) -> list[str]:
        """The Slack ids of all who want it back, as far as it counts now."""
        found: list[Any] = self.client.hkeys(self.keys.undo_votes(key))
        return sorted(user.decode() for user in found)

    def claim(
        self, call: Call, *, token: str, seal: str, ttl_ms: int, people: Sequence[Person]
    ) -> tuple[Answer, UndoClaim | None]:
        """Take an undo for one attempt; `seal` is what the caller recomputed, `people` fresh snapshots of all voters.

        Refusals, in this order: FROZEN, NOT_FOUND, WRONG_STATE, LAPSED (it failed by this very script),
        STALE_VERSION, STALE_PERSON.
        """
        pairs = [part for person in people for part in (person.user, codec.person_text(person))]
        answer = self.ask("claim_undo", call.key, token, seal, ttl_ms, len(people), *pairs)
        return answer, UndoClaim(call=call.key, version=call.version, token=token) if answer.ok else None

    def renew(self, claim: UndoClaim, *, ttl_ms: int) -> bool:
        """Keep the claim for another `ttl_ms` from now. False when it is lost."""
        return self.ask("renew_undo", claim.call, claim.token, ttl_ms).ok

    def intend(self, claim: UndoClaim, *, longest_ms: int) -> Answer:
        """The last word before it is tried, for at most `longest_ms`. LEASE_LOST or FROZEN: it must not be."""
        return self.ask("intend_undo", claim.call, claim.token, longest_ms)

    def unclaim(self, claim: UndoClaim) -> Answer:
        """Before the intent: asked for as before."""
        return self.ask("unclaim_undo", claim.call, claim.token)

    def refuse(self, key: str, *, seal: str, reason: str) -> Answer:
        """It may not be tried (any more). Nothing happened; whoever may can ask again."""
        return self.ask("refuse_undo", key, seal, reason)

    def succeed(self, claim: UndoClaim, *, receipt: str) -> Answer:
        """It was taken back. Also settles an unknown undo; a receipt is never thrown away."""
        blob = self._receipt(claim.call, claim.version, receipt)
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
    ) -> Answer:
        """The tool, or an operator, knows what became of an unknown undo; with `needed` 2 the second word settles."""
        blob = self._receipt(call.key, call.version, receipt) if receipt else None
        return self.ask("settle_undo", call.key, happened, by, name, reason, needed, blob)

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
        return self.open(codec.UNDO_RECEIPT, call.key, call.version, blob).decode() if blob else None

    def _receipt(self, key: str, version: int, receipt: str) -> bytes:
        return self.seal(codec.UNDO_RECEIPT, key, version, receipt)
