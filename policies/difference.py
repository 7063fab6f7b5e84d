"""What changed between two versions of a proposal, in sentences."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from policies.bounds import SubsetOfProposed, bounds_of
from policies.money import Money
from policies.plain_text import quoted

#: Longer texts are named by their lengths; their words are in the details.
SHOWN_CHARACTERS = 60


def difference(old: BaseModel, new: BaseModel) -> tuple[str, ...]:
    """One sentence per change, such as `pay_0009: 312.40 EUR -> 250.00 EUR` and `pay_0012 dropped`."""
    return tuple(_changes(old, new, ""))


def _changes(old: BaseModel, new: BaseModel, key: str) -> Iterator[str]:
    for name in type(old).model_fields:
        before, after = getattr(old, name), getattr(new, name)
        subset = next((bound for bound in bounds_of(type(old), name) if isinstance(bound, SubsetOfProposed)), None)
        words = name.replace("_", " ")
        if before == after:
            continue
        if subset is not None:
            yield from _lines(subset, before, after)
        elif isinstance(before, Money):
            yield f"{key or words}: {before} -> {after}"
        elif isinstance(before, BaseModel) and isinstance(after, type(before)):
            yield from _changes(before, after, key)
        elif isinstance(before, str) and isinstance(after, str):
            yield f"{f'{key} {words}' if key else words}: {_texts(before, after)}"
        else:
            yield f"{f'{key} {words}' if key else words}: {_plain(before)} -> {_plain(after)}"


def _lines(subset: SubsetOfProposed, before: Any, after: Any) -> Iterator[str]:
    kept = {subset.key_of(entry): entry for entry in after}
    for entry in before:
        key = subset.key_of(entry)
        if key not in kept:
            yield f"{key} dropped"
        elif isinstance(entry, BaseModel):
            yield from _changes(entry, kept[key], key)
    proposed = {subset.key_of(entry) for entry in before}
    yield from (f"{key} added" for key in kept if key not in proposed)


def _texts(before: str, after: str) -> str:
    if max(len(before), len(after)) > SHOWN_CHARACTERS:
        return f"rewritten ({len(before):,} -> {len(after):,} characters)"
    return f"{quoted(before)} -> {quoted(after)}"


def _plain(value: Any) -> str:
    return f"{len(value)} entries" if isinstance(value, list | tuple) else str(value)
