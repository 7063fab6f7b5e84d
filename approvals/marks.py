"""What proves that a decision came in through this project's own door.

Whoever can write to Redis can write what looks like a decision. They cannot write its mark: an HMAC over everything the
decision says, under a key derived from `VOBO_STATE_KEYS`. A decision without a genuine mark is no decision, wherever it
is read. The instant is the store's and not part of it.
"""

import hashlib
import hmac
import json

from approvals.models import Decision
from approvals.vault import Vault

PURPOSE = "decision"


def marked(vault: Vault, tenant: str, decision: Decision) -> Decision:
    """The decision with its mark, made with the newest key."""
    return decision.model_copy(update={"mark": _mark(vault.derive(PURPOSE), tenant, decision)})


def genuine(vault: Vault, tenant: str, decision: Decision) -> bool:
    """Whether this very decision was marked here, with any of the configured keys."""
    keys = vault.derive_all(PURPOSE)
    return any(hmac.compare_digest(_mark(key, tenant, decision), decision.mark) for key in keys)


def _mark(key: bytes, tenant: str, decision: Decision) -> str:
    said = [
        tenant,
        decision.call,
        decision.version,
        decision.verdict,
        decision.reviewer,
        decision.name,
        decision.reason,
        decision.correction,
    ]
    return hmac.new(key, json.dumps(said).encode(), hashlib.sha256).hexdigest()
