"""Which process takes up what Slack sent, when more than one of them got it."""

import hashlib
import json
import secrets
from typing import Any

from approvals.keys import delivery_key
from approvals.room import Room

#: Longer than a copy can be under way; a person's second press is a delivery of its own.
KEPT_MS = 600_000


class Deliveries(Room):
    """Whoever comes first takes it; the decision itself is guarded by its own verb."""

    __slots__ = ()

    def first(self, *told: str) -> bool:
        """Whether nobody has taken up a delivery that says exactly this."""
        digest = hashlib.sha256(json.dumps(told).encode()).hexdigest()[:40]
        place, token = delivery_key(self.keys.prefix, digest), secrets.token_bytes(12)
        if self.client.set(place, token, nx=True, px=KEPT_MS):
            return True
        kept: Any = self.client.get(place)  # redis-py repeats a command whose answer was lost: then it is our own
        return bool(kept == token)
