"""Law and settings in the ledger: what changed, noticed by whichever process starts with something new.

The print of what was last in force stands in the store. It holds digests and Slack ids. Digests of settings are keyed,
so that nobody who reads Redis can try out what a password might be.
"""

import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel, SecretStr, TypeAdapter

from approvals.outcomes import Outcome
from approvals.room import Room
from policies.law import Law
from policies.law_print import LawPrint, changed, law_print

PURPOSE = "configuration"
#: Processes that start together take turns; each turn settles one of them.
_TURNS = 8
_PRINTS = TypeAdapter(dict[str, str])
#: Each process of a kind may have its own, and none of them touches what is asked or done.
_OF_ONE_PROCESS = frozenset({"PORT", "VOBO_HEALTH_PORT", "VOBO_HEALTH_HOST"})


class Changes(Room):
    """Written at the start of bot, worker and clock."""

    __slots__ = ()

    def note_start(self, law: Law, settings: BaseModel, *, process: str) -> None:
        """A process of this kind (bot, worker, clock) starts under this law, with these settings."""
        self.note_law(law, process=process)
        self.note_settings(settings, process=process)

    def note_law(self, law: Law, *, process: str) -> bool:
        """Record the law in force, if it is not the last one on record. Returns whether it was recorded."""
        now = law_print(law)
        text = now.model_dump_json()
        for _ in range(_TURNS):
            known = self._known("law")
            before = LawPrint.model_validate_json(known) if known else None
            what = changed(before, now)
            told = f"law {before.version if before else 'none'} -> {now.version}: {'; '.join(what.clauses)}"
            fields = (
                "law_changed",
                "law",
                now.version,
                "cause",
                process,
                "reason",
                told,
                "rules",
                " ".join(what.rules),
            )
            outcome = self.ask("note_change", "law", known, text, *fields).outcome
            if outcome is not Outcome.WRONG_STATE:
                return outcome is Outcome.OK
        return False

    def note_settings(self, settings: BaseModel, *, process: str) -> bool:
        """Record which settings of this kind of process changed, by name. Returns whether something was recorded."""
        keys = self.vault.derive_all(PURPOSE)
        values = dict(_values(settings))
        now = {name: _print(keys[0], name, value) for name, value in values.items()}
        text = _PRINTS.dump_json(now).decode()
        for _ in range(_TURNS):
            known = self._known(f"settings:{process}")
            before = _PRINTS.validate_json(known) if known else {}
            told = (
                "; ".join(_differences(before, values, keys)) if known else f"first on record, {len(values)} settings"
            )
            digest = hashlib.sha256(text.encode()).hexdigest()[:12]
            fields = ("configuration_changed", "cause", process, "reason", told or "keys rotated", "digest", digest)
            outcome = self.ask("note_change", f"settings:{process}", known, text, *fields).outcome
            if outcome is not Outcome.WRONG_STATE:
                return outcome is Outcome.OK
        return False

    def _known(self, subject: str) -> str:
        stored = self.client.hget(self.keys.switches, f"known:{subject}")
        return stored.decode() if isinstance(stored, bytes) else ""


def _values(settings: BaseModel) -> Iterator[tuple[str, str]]:
    """Every setting that is set, by the name of its variable."""
    for field, described in type(settings).model_fields.items():
        value, name = getattr(settings, field), described.alias or field
        if value is not None and name not in _OF_ONE_PROCESS:
            yield name, value.get_secret_value() if isinstance(value, SecretStr) else str(value)


def _print(key: bytes, name: str, value: str) -> str:
    return hmac.new(key, f"{name}\x00{value}".encode(), hashlib.sha256).hexdigest()[:24]


def _differences(before: Mapping[str, str], now: Mapping[str, str], keys: Sequence[bytes]) -> Iterator[str]:
    """Names only. A value is the same when any key that is still configured gives its print."""
    both = set(before) & set(now)
    other = sorted(name for name in both if before[name] not in {_print(key, name, now[name]) for key in keys})
    names = (("changed", other), ("set", sorted(set(now) - set(before))), ("unset", sorted(set(before) - set(now))))
    yield from (f"{words}: {', '.join(found)}" for words, found in names if found)
