"""What proves that a decision came in through this project's own door.

Whoever can write to Redis can write what looks like a decision. They cannot write its mark: an HMAC over everything the
decision says, under a key derived from `VOBO_STATE_KEYS`. A decision without a genuine mark is no decision, wherever it
is read. The instant is the store's and not part of it.
"""

import hashlib
import hmac
import json
from collections.abc import Sequence

from approvals.models import Decision
from approvals.vault import Vault

PURPOSE = "decision"


def mark(vault: Vault, said: Sequence[str | int | bool | None]) -> str:
    """The mark of somebody's word, made with the newest key."""
    return _mark(vault.derive(PURPOSE), said)


def bears(vault: Vault, said: Sequence[str | int | bool | None], found: str) -> bool:
    """Whether this is the mark of that very word, under any of the configured keys."""
    return any(hmac.compare_digest(_mark(key, said), found) for key in vault.derive_all(PURPOSE))


def marked(vault: Vault, tenant: str, decision: Decision) -> Decision:
    """The decision with its mark, made with the newest key."""
    return decision.model_copy(update={"mark": mark(vault, _said(tenant, decision))})


def genuine(vault: Vault, tenant: str, decision: Decision) -> bool:
    """Whether this very decision was marked here, with any of the configured keys."""
    return bears(vault, _said(tenant, decision), decision.mark)


def marked_by(vault: Vault, tenant: str, decision: Decision) -> str:
    """The public id of the key this decision was marked with, in hex; empty when it was not marked here."""
    said = _said(tenant, decision)
    keys = zip(vault.key_ids, vault.derive_all(PURPOSE), strict=True)
    return next((name for name, key in keys if hmac.compare_digest(_mark(key, said), decision.mark)), "")


def _said(tenant: str, decision: Decision) -> list[str | int | bool | None]:
    return [
        tenant,
        decision.call,
        decision.version,
        decision.verdict,
        decision.reviewer,
        decision.name,
        decision.reason,
        decision.correction,
    ]


def _mark(key: bytes, said: Sequence[str | int | bool | None]) -> str:
    return hmac.new(key, json.dumps(list(said)).encode(), hashlib.sha256).hexdigest()
