"""One row of the ledger: what its hash covers, and which parts of it are somebody's."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from approvals.kept import MARK, replaced
from approvals.storable import storable
from policies.strict_json import write_json

GENESIS = "0" * 64
PREFIX = f"{MARK}:"
ERASED = "(erased)"
#: The type of a row that stands for an event which the database refused.
NOT_KEPT = "not_kept"
#: Actors that are nobody.
NOBODY = frozenset({"", "policy"})
#: Events whose reason is counts or settings of ours. Any other may quote what a person typed, a tool answered or the
#: data says, also where the law or a worker wrote it.
OURS = frozenset({"law_changed", "configuration_changed", "drift_noticed", "drift_over", "erased", NOT_KEPT})

#: Characters of a Slack id; they are a dozen.
_SUBJECT = 64

Entropy = Callable[[int], bytes]


class LedgerRow(NamedTuple):
    """One event as it is read: `body` with names and reasons in place, `raw` as it is chained."""

    seq: int
    event_id: str
    at: int
    type: str
    body: dict[str, str]
    hash: str
    raw: dict[str, str]

    @property
    def shown(self) -> dict[str, Any]:
        """What was asked and shown of a version of a call, personal values in place; empty for other events."""
        text = self.body.get("kept", "")
        found: dict[str, Any] = json.loads(text) if text else {}
        return found


class Personal(NamedTuple):
    """A value that can be erased. `kind` is name, reason, shown, event; `subject` the Slack id of whose name it is."""

    hash: str
    kind: str
    subject: str
    salt: str
    value: str


def canonical_body(body: Mapping[str, str]) -> str:
    """RFC 8785 for a body, which holds texts under ASCII names only: there Python's own JSON writes the same."""
    return json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def chained(previous: str, seq: int, event_id: str, canonical: str) -> str:
    """The hash of a row: over the hash before, its number, its id and its canonical body, as one RFC 8785 list."""
    before = json.dumps([previous, str(seq), event_id], separators=(",", ":"))
    return hashlib.sha256(f"{before[:-1]},{canonical}]".encode()).hexdigest()


def salted(salt: str, value: str) -> str:
    """What stands in the chain for a personal value."""
    return hashlib.sha256(f"{salt}\x00{value}".encode("utf-8", "replace")).hexdigest()


def parted(fields: Mapping[str, str], entropy: Entropy) -> tuple[dict[str, str], list[Personal]]:
    """An event's body without personal values, and the values: here an event becomes text that any database takes.

    Nothing that a tool, a model or a person wrote may keep its event from being stored.

    Raises:
        ValueError, TypeError, RecursionError: what it keeps is no document of ours.
    """
    body, apart = {storable(name): storable(text) for name, text in fields.items()}, list[Personal]()

    def put(kind: str, subject: str, value: str) -> str:
        salt = entropy(16).hex()
        clean = storable(value)
        apart.append(Personal(salted(salt, clean), kind, subject[:_SUBJECT], salt, clean))
        return apart[-1].hash

    actor = body.get("actor", "")
    if body.get("name") and actor not in NOBODY and body.get("type") != "run_started":  # there it names the agent
        body["name"] = PREFIX + put("name", actor, body["name"])
    if body.get("reason") and body.get("type") not in OURS:
        body["reason"] = PREFIX + put("reason", "", body["reason"])
    if body.get("kept"):
        document = replaced(
            json.loads(body["kept"]), lambda value: None if value is None else put("shown", "", str(value))
        )
        body["kept"] = storable(write_json(document))  # JSON's escapes may have hidden half a character
    if body.get("type") == NOT_KEPT and body.get("event"):
        body["event"] = PREFIX + put("event", "", body["event"])
    return body, apart


def stand_in(event_id: str, fields: Mapping[str, str], why: str, *, whole: bool) -> dict[str, str]:
    """What is kept in place of an event that the database refused even alone.

    Its text goes beside the chain in ASCII, where it can be erased. When that is refused as well, not even that.
    """
    body = {"type": NOT_KEPT, "at": event_id.partition("-")[0], "reason": f"The database refused this event ({why})."}
    if not whole:
        return body
    names = {name: fields[name] for name in ("run", "call") if name in fields}
    return {**names, **body, "refused": fields.get("type", ""), "event": json.dumps(dict(fields), sort_keys=True)}


def rejoined(raw: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
    """A body with its personal values in place, `(erased)` where they are gone."""
    body = {
        field: values.get(text.removeprefix(PREFIX), ERASED) if text.startswith(PREFIX) else text
        for field, text in raw.items()
    }
    if body.get("kept"):
        document = replaced(json.loads(body["kept"]), lambda digest: values.get(digest, ERASED))
        body["kept"] = write_json(document)
    return body
