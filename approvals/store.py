"""The state of record. Both processes read and change it here; neither owns it."""

import secrets
from collections.abc import Callable
from typing import Any, Self

import redis

from approvals.attention import Attention
from approvals.batches import Batches
from approvals.calls import Calls
from approvals.canaries import Canaries
from approvals.caps import Caps
from approvals.changes import Changes
from approvals.deadlines import Deadlines
from approvals.deliveries import Deliveries
from approvals.effects import Effects
from approvals.inbox import Inbox
from approvals.keys import PROBED, Keys
from approvals.known_secrets import NO_SECRETS, KnownSecrets
from approvals.ledger_stream import LedgerStream
from approvals.operators import Operators
from approvals.outbox import Outbox
from approvals.people import People
from approvals.reading_batches import Views
from approvals.room import Room
from approvals.runs import Runs
from approvals.scripts import Scripts
from approvals.switches import Switches
from approvals.tallies import Tallies
from approvals.undos import Undos
from approvals.vault import Vault
from approvals.vetoes import Vetoes
from approvals.wakeups import Wakeups
from approvals.weekly import WeeklyReports

ID_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
ID_LENGTH = 12  # 60 bits
#: So soon a probe is gone again.
PROBE_MS = 10_000


def random_id() -> str:
    """Twelve unpredictable lower-case base32 characters."""
    return "".join(secrets.choice(ID_ALPHABET) for _ in range(ID_LENGTH))


class Store:
    """A façade: each attribute is a room of its own file. Holds no state, so threads may share it."""

    def __init__(self, room: Room, ids: Callable[[], str]) -> None:
        self.tenant = room.tenant
        self.keys = room.keys
        self._room = room
        self._ids = ids
        self.secrets = room.secrets
        parts = (room.client, room.scripts, room.keys, room.vault, room.tenant, room.secrets)
        self.runs = Runs(*parts)
        self.calls = Calls(*parts)
        self.canaries = Canaries(*parts)
        self.batches = Batches(*parts)
        self.effects = Effects(*parts)
        self.undos = Undos(*parts)
        self.operators = Operators(*parts)
        self.outbox = Outbox(*parts)
        self.inbox = Inbox(*parts)
        self.views = Views(*parts)
        self.people = People(*parts)
        self.deadlines = Deadlines(*parts)
        self.deliveries = Deliveries(*parts)
        self.wakeups = Wakeups(*parts)
        self.vetoes = Vetoes(*parts)
        self.attention = Attention(*parts)
        self.caps = Caps(*parts)
        self.ledger = LedgerStream(*parts)
        self.switches = Switches(*parts)
        self.changes = Changes(*parts)
        self.weekly = WeeklyReports(*parts)
        self.tallies = Tallies(*parts)

    @classmethod
    def open(
        cls,
        client: redis.Redis,
        vault: Vault,
        *,
        tenant: str,
        ids: Callable[[], str] = random_id,
        secrets: KnownSecrets = NO_SECRETS,
    ) -> Self:
        """The store of one tenant (a Slack workspace). `ids` gives the random part of new ids; `secrets` stay out.

        Raises:
            BadIdError: the tenant cannot stand in a key.
            ValueError: the client decodes replies, and would garble what is encrypted.
        """
        encoder: Any = client.get_encoder()
        if encoder.decode_responses:
            raise ValueError("The store needs a client with decode_responses=False; make it with redis_check.connect.")
        keys = Keys(tenant)
        return cls(Room(client, Scripts(client, keys.prefix), keys, vault, tenant, secrets), ids)

    def now(self) -> int:
        """The store's clock, in milliseconds."""
        return self._room.now()

    def probe(self) -> None:
        """Write something that ends by itself; raise what redis-py raises when the server does not take it."""
        self._room.client.set(f"{self.keys.prefix}{PROBED}", b"", px=PROBE_MS)

    def new_id(self, prefix: str) -> str:
        """A fresh id that tells what it names: `new_id("call")` is `call_` and twelve characters."""
        return f"{prefix.removesuffix('_')}_{self._ids()}"

    def disconnect(self) -> None:
        """Close the connections that nobody uses now. Whatever comes later makes new ones."""
        self._room.client.connection_pool.disconnect(inuse_connections=False)
