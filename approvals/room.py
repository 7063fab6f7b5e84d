"""What every part of the store stands on: one client, its scripts, its keys, the vault."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import redis

from approvals.keys import Keys
from approvals.known_secrets import NO_SECRETS, KnownSecrets
from approvals.outcomes import Answer, Outcome
from approvals.row import Row
from approvals.scripts import Argument, Scripts
from approvals.vault import Binding, BlobKeyMissing, BlobTampered, Vault

#: Kinds of blobs whose subject is a call; the others belong to a run.
_OF_CALLS = frozenset({"call", "receipt", "kept", "undo_receipt", "drifted"})
_ABOUT_CALLS = _OF_CALLS | {"decision"}

#: Kinds that are stored without the secret instead of not at all.
_CLEANED = frozenset({"receipt", "answer", "undo_receipt", "drifted"})


@dataclass(frozen=True, slots=True)
class Room:
    """The base of `Runs`, `Batches`, `Calls` and the others. Holds nothing that changes."""

    client: redis.Redis
    scripts: Scripts
    keys: Keys
    vault: Vault
    tenant: str
    secrets: KnownSecrets = NO_SECRETS

    def ask(self, script: str, *arguments: Argument) -> Answer:
        """Run one script that answers with an outcome and its details. What goes in clear holds no secret."""
        clear = [self.secrets.without(each) if type(each) is str else each for each in arguments]
        outcome, *pairs = self.scripts.run(script, *clear)
        detail = {name.decode(): value.decode() for name, value in zip(pairs[::2], pairs[1::2], strict=True)}
        return Answer(Outcome(outcome.decode()), detail)

    def seal(self, kind: str, subject: str, version: int, plain: str | bytes, *, run: str = "") -> bytes:
        """Encrypt what only this project may read, bound to its place; what is a call's, to the call's run as well.

        A receipt or an answer is kept in any case, with a secret in it replaced: what happened must stay provable.

        Raises:
            SecretRefused: it holds the value of a configured secret.
            ValueError: it is a call's, and no run was named.
        """
        if kind in _OF_CALLS and not run:
            raise ValueError(f"A {kind} is bound to the run of its call; name it.")
        text = plain if isinstance(plain, str) else plain.decode(errors="replace")
        if self.secrets.named_in(text) is not None:
            if kind not in _CLEANED:
                self.secrets.refuse(text, f"The {kind} of {subject}")
            plain = self.secrets.without(text)
        data = plain.encode() if isinstance(plain, str) else plain
        return self.vault.seal_blob(data, self._binding(kind, subject, version, run))

    def open(self, kind: str, subject: str, version: int, blob: bytes, *, run: str = "") -> bytes:
        """Decrypt what `seal` made for the same place. Ops is told about what cannot be opened, whoever reads it.

        Raises:
            BlobTampered: the stored bytes were changed or moved.
            BlobKeyMissing: the key is no longer configured.
        """
        try:
            return self._opened_by_vault(blob, self._binding(kind, subject, version, run))
        except BlobTampered as refused:
            self._alarm("changed", kind, subject, refused)
            raise
        except BlobKeyMissing as refused:
            self._alarm("no_key", kind, subject, refused)
            raise

    def run_of(self, call: str) -> str:
        """The run a call is stored under; empty when there is none."""
        found: Any = self.client.hget(self.keys.call(call), "run")
        return found.decode() if found else ""

    def _opened_by_vault(self, blob: bytes, binding: Binding) -> bytes:
        if binding.kind in _OF_CALLS and not binding.run:
            raise BlobTampered(f"The {binding.kind} of {binding.subject} names no run. Restore it from a backup.")
        return self.vault.open_blob(blob, binding)

    def _binding(self, kind: str, subject: str, version: int, run: str) -> Binding:
        return Binding(self.tenant, kind, subject, version, run if kind in _OF_CALLS else "")

    def tell_of_forgery(self, call: str) -> None:
        """Ops is told once that somebody wrote what looks like a decision on a call, or changed one."""
        self._alarm("changed", "decision", call, BlobTampered("A stored decision was not taken here."))

    def _alarm(self, cause: str, kind: str, subject: str, refused: Exception) -> None:
        run, call = ("", subject) if kind in _ABOUT_CALLS else (subject, "")
        with contextlib.suppress(redis.RedisError):  # whoever reads gets the refusal in any case
            self.ask("alarm", f"blob:{cause}:{kind}:{subject}", f"blob_{cause}", run, call, str(refused))

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
