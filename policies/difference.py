"""What changed between two versions of a proposal, in sentences."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import BaseModel

from policies.arguments import is_personal
from policies.bounds import SubsetOfProposed, bounds_of
from policies.money import Money
from policies.plain_text import quoted

#: Longer texts are named by their lengths; their words are in the details.
SHOWN_CHARACTERS = 60


class Change(NamedTuple):
    """One sentence about a change. `line` is the key of the line it is about; None when it is about the whole."""

    line: str | None
    sentence: str


def difference(old: BaseModel, new: BaseModel) -> tuple[str, ...]:
    """One sentence per change, such as `pay_0009: 312.40 EUR -> 250.00 EUR` and `pay_0012 dropped`.

    It goes to cards, notifications, the model and the ledger: a field marked `Personal` only changed, whatever it was
    and is now, and a line whose key is personal is named by its place.
    """
    return tuple(change.sentence for change in changes(old, new))


def changes(old: BaseModel, new: BaseModel) -> Iterator[Change]:
    """The same, each with the line it is about."""
    return _changes(old, new, _At())


class _At(NamedTuple):
    """Where a change is: in the line `key`, which a sentence calls `shown`. Both are empty outside of lines."""

    key: str | None = None
    shown: str = ""

    def said(self, words: str, what: str, *, apart: str = ": ") -> Change:
        """A sentence about the field that is called `words`; without words about the line itself."""
        return Change(self.key, f"{' '.join(part for part in (self.shown, words) if part)}{apart}{what}")


def _changes(old: BaseModel, new: BaseModel, at: _At) -> Iterator[Change]:
    for name in type(old).model_fields:
        before, after = getattr(old, name), getattr(new, name)
        subset = next((bound for bound in bounds_of(type(old), name) if isinstance(bound, SubsetOfProposed)), None)
        words, personal = name.replace("_", " "), is_personal(type(old), name)
        if before == after:
            continue
        if subset is not None:
            yield from _lines(subset, before or (), after or (), words, personal=personal)
        elif personal:
            yield at.said(words, "changed", apart=" ")
        elif isinstance(before, Money):
            yield at.said("" if at.shown else words, f"{before} -> {after}")
        elif isinstance(before, BaseModel) and isinstance(after, type(before)):
            yield from _changes(before, after, at)
        elif isinstance(before, str) and isinstance(after, str):
            yield at.said(words, _texts(before, after))
        else:
            yield at.said(words, f"{_plain(before)} -> {_plain(after)}")


def _lines(subset: SubsetOfProposed, before: Any, after: Any, words: str, *, personal: bool) -> Iterator[Change]:
    """What became of each line; of lines that are personal as a whole only that they changed."""

    def at(number: int, entry: Any) -> _At:
        hidden = personal or (subset.key is not None and is_personal(type(entry), subset.key))
        key = subset.key_of(entry)
        return _At(key, f"entry {number} of {words}" if hidden else key)

    kept = {subset.key_of(entry): entry for entry in after}
    for number, entry in enumerate(before, start=1):
        now, place = kept.get(subset.key_of(entry)), at(number, entry)
        if now is None:
            yield place.said("", "dropped", apart=" ")
        elif personal and entry != now:
            yield place.said("", "changed", apart=" ")
        elif isinstance(entry, BaseModel):
            yield from _changes(entry, now, place)
    proposed = {subset.key_of(entry) for entry in before}
    for number, entry in enumerate(after, start=1):
        if subset.key_of(entry) not in proposed:
            yield at(number, entry).said("", "added", apart=" ")


def _texts(before: str, after: str) -> str:
    if max(len(before), len(after)) > SHOWN_CHARACTERS:
        return f"rewritten ({len(before):,} -> {len(after):,} characters)"
    return f"{quoted(before)} -> {quoted(after)}"


def _plain(value: Any) -> str:
    return f"{len(value)} entries" if isinstance(value, list | tuple | dict) else str(value)
