"""What every part of the store stands on: one client, its scripts, its keys, the vault."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import redis

from approvals.keys import Keys
from approvals.outcomes import Answer, Outcome
from approvals.row import Row
from approvals.scripts import Argument, Scripts
from approvals.vault import Binding, Vault


@dataclass(frozen=True, slots=True)
class Room:
    """The base of `Runs`, `Batches`, `Calls` and the others. Holds nothing that changes."""

    client: redis.Redis
    scripts: Scripts
    keys: Keys
    vault: Vault
    tenant: str

    def ask(self, script: str, *arguments: Argument) -> Answer:
        """Run one script that answers with an outcome and its details."""
        outcome, *pairs = self.scripts.run(script, *arguments)
        detail = {name.decode(): value.decode() for name, value in zip(pairs[::2], pairs[1::2], strict=True)}
        return Answer(Outcome(outcome.decode()), detail)

    def seal(self, kind: str, subject: str, version: int, plain: str | bytes) -> bytes:
        """Encrypt what only this project may read, bound to its place."""
        data = plain.encode() if isinstance(plain, str) else plain
        return self.vault.seal_blob(data, Binding(self.tenant, kind, subject, version))

    def open(self, kind: str, subject: str, version: int, blob: bytes) -> bytes:
        """Decrypt what `seal` made for the same place.

        Raises:
            BlobTampered: the stored bytes were changed or moved.
            BlobKeyMissing: the key is no longer configured.
        """
        return self.vault.open_blob(blob, Binding(self.tenant, kind, subject, version))

    def row(self, key: str) -> Row:
        """One hash; empty when there is none."""
        fields: Any = self.client.hgetall(key)
        return Row(fields)

    def members(self, key: str) -> list[str]:
        """One list of ids, in order."""
        found: list[Any] = self.client.lrange(key, 0, -1)
        return [member.decode() for member in found]

    def together(self, queue: "Callable[[Any], None]") -> list[Any]:
        """Several reads as one consistent step: `queue` adds them to a transaction."""
        with self.client.pipeline(transaction=True) as pipe:
            queue(pipe)
            return list(pipe.execute())

    def now(self) -> int:
        """The store's clock in milliseconds: the only clock deadlines and leases are judged by."""
        return milliseconds(self.client.time())


def milliseconds(instant: tuple[int, int]) -> int:
    """Seconds and microseconds, as Redis tells the time, in milliseconds."""
    seconds, microseconds = instant
    return seconds * 1000 + microseconds // 1000
