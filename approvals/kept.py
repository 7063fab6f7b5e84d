"""What the ledger keeps of one version of a call: what was asked and shown, personal values apart from the rest.

The text travels in the event. A personal value stands in it as `{"$personal": n}`, the n-th of a list that is encrypted
beside it, so that Redis never holds it in the clear; the drain puts the values into a table of their own.
"""

import base64
import json
from collections.abc import Sequence
from typing import Any

from approvals.masks import Masks, scrubbed
from approvals.models import CallContent
from approvals.room import Room
from approvals.vault import key_id_of
from policies.arguments import ArgumentsRefused, read_json
from policies.strict_json import write_json

KIND = "kept"
MARK = "$personal"
#: Longer arguments are kept as their digest only: the ledger says what was approved, it is no second store.
MOST_CHARACTERS = 60_000


class _Aside:
    """Takes personal values out of a document, one after the other."""

    def __init__(self) -> None:
        self.values: list[str] = []
        self._known: set[str] = set()

    def know(self, value: object) -> None:
        """Take this value out of sentences too."""
        text = value if isinstance(value, str) else write_json(value)
        self._known.add(text)

    @property
    def known(self) -> frozenset[str]:
        """Every value it knows, as text."""
        return frozenset(self._known)

    def put(self, value: object) -> object:
        """The reference that stands for the value; nothing and emptiness are nobody's."""
        if value is None or value == "":
            return value
        self.know(value)
        self.values.append(value if isinstance(value, str) else write_json(value))
        return {MARK: len(self.values) - 1}

    def scrub(self, text: str) -> str:
        """The text without the values that are known so far."""
        return scrubbed(text, self._known)


def kept(room: Room, key: str, version: int, content: CallContent, *, run: str, previewed: bool = True) -> str:
    """The event's text for one version. Without `previewed` only its arguments, for an edit nobody checked yet."""
    aside = _Aside()
    document: dict[str, Any] = {"arguments": _arguments(content, aside)}
    if previewed:
        document.update(_shown(content, aside))
        document.update(_asked(content, aside))
    sealed = room.seal(KIND, key, version, json.dumps(aside.values), run=run) if aside.values else b""
    return write_json({"shown": document, "personal": base64.b64encode(sealed).decode()})


def disclosed(room: Room, key: str, version: int, text: str, *, run: str) -> dict[str, Any]:
    """The document with its personal values in place: `{"$personal": "value"}`.

    Raises:
        BlobTampered: the personal values are not what was written here.
        BlobKeyMissing: their key is no longer configured.
    """
    stored = json.loads(text)
    blob = base64.b64decode(stored["personal"])
    values: list[str] = json.loads(room.open(KIND, key, version, blob, run=run)) if blob else []
    document: dict[str, Any] = replaced(stored["shown"], lambda number: values[number])
    return document


def key_of(text: str) -> str:
    """The public id of the key that an event's text needs; empty when it needs none, or is not ours."""
    try:
        return key_id_of(base64.b64decode(json.loads(text)["personal"]))
    except (ValueError, KeyError, TypeError):
        return ""


def replaced(value: Any, by: Any) -> Any:
    """The document with what stands in each `{"$personal": x}` replaced by `by(x)`."""
    if isinstance(value, dict):
        if set(value) == {MARK}:
            return {MARK: by(value[MARK])}
        return {name: replaced(element, by) for name, element in value.items()}
    if isinstance(value, list):
        return [replaced(element, by) for element in value]
    return value


def masks_of(content: CallContent) -> Masks:
    """What is personal of one version of a call: columns and values of its preview, and its marked arguments."""
    aside = _Aside()
    _arguments(content, aside)
    return content.preview.masks().also(Masks(values=aside.known))


def _arguments(content: CallContent, aside: _Aside) -> object:
    if len(content.arguments) > MOST_CHARACTERS:
        return None
    try:
        parsed = _escaped(read_json(content.arguments))
    except ArgumentsRefused:
        return None
    for pointer in content.personal:
        parsed = _taken(parsed, _steps(pointer), aside)
    return parsed


def _escaped(value: Any) -> Any:
    """Names that a model chose never pass for references of ours."""
    if isinstance(value, dict):
        return {f"${name}" if name.endswith(MARK) else name: _escaped(element) for name, element in value.items()}
    return [_escaped(element) for element in value] if isinstance(value, list) else value


def _steps(pointer: str) -> list[str]:
    return [name.replace("~1", "/").replace("~0", "~") for name in pointer.split("/")[1:]]


def _taken(value: Any, steps: Sequence[str], aside: _Aside) -> Any:
    """A place in one line of a list stands for that place in all of them: an edit may have dropped lines."""
    if not steps:
        return value if isinstance(value, dict) and set(value) == {MARK} else aside.put(value)
    name, rest = steps[0], steps[1:]
    if isinstance(value, list):
        return [_taken(element, rest, aside) for element in value]
    if isinstance(value, dict) and name in value:
        return {**value, name: _taken(value[name], rest, aside)}
    return value


def _shown(content: CallContent, aside: _Aside) -> dict[str, Any]:
    preview = content.preview
    sample = [
        {column: aside.put(value) if column in preview.personal else value for column, value in row.items()}
        for row in preview.sample
    ]
    for row in preview.rows:
        for column in preview.personal:
            aside.know(row.get(column) or "")
    read = [preview.headline, *preview.impact, *(str(value) for row in preview.sample for value in row.values())]
    return {
        "headline": aside.scrub(preview.headline),
        "impact": [aside.scrub(line) for line in preview.impact],
        "columns": list(preview.columns),
        "sample": sample,
        "rows": len(preview.rows or preview.sample),
        "body": aside.put(preview.body),
        "generic": preview.generic,
        "characters": sum(map(len, read)) + len(preview.body or ""),
    }


def _asked(content: CallContent, aside: _Aside) -> dict[str, Any]:
    need = content.requirement
    amount = next(iter(need.counts.values()), need.amount)
    return {
        "resources": list(need.resources),
        "amount": amount.model_dump() if amount else None,
        "mode": need.mode,
        "risk": need.risk,
        "tier": need.tier,
        "reviewers": need.reviewers,
        "undo": need.undo,
        "ttl_s": need.ttl_s,
        "reasons": [aside.scrub(reason) for reason in need.reasons],
        "problem": aside.scrub(content.problem) if content.problem else None,
    }
