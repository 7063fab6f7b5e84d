"""Which values of a proposal a reviewer may change, and how far."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from policies.bounds import AtLeast, AtMostProposed, Bound, OneOf, SubsetOfProposed, Text, bounds_of
from policies.money import Money
from policies.strict_json import step


@dataclass(frozen=True, slots=True, kw_only=True)
class EditField:
    """One input of the edit dialog.

    `pointer` is the JSON pointer of the value; `current` what the input starts with (typed text, or for a subset the
    kept keys); `options` value and label of what can be chosen; `hint` names the bound; `key` is the key of the line
    the field belongs to (its position may differ between versions); `least` and `most` bound a whole number,
    `max_length` is in characters.
    """

    pointer: str
    label: str
    kind: Literal["money", "integer", "text", "choice", "subset"]
    current: str | tuple[str, ...]
    hint: str
    key: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    currency: str | None = None
    least: int | None = None
    most: int | None = None
    max_length: int | None = None


def edit_fields(args: BaseModel) -> tuple[EditField, ...]:
    """Every value of these arguments that a reviewer may change, in the order of declaration."""
    return tuple(_fields(args, "", None))


def _fields(value: BaseModel, at: str, key: str | None) -> Iterator[EditField]:
    for name in type(value).model_fields:
        pointer, current, bounds = step(at, name), getattr(value, name), bounds_of(type(value), name)
        if current is None:  # what was left out cannot be put in
            continue
        subset = next((bound for bound in bounds if isinstance(bound, SubsetOfProposed)), None)
        words = name.replace("_", " ")
        label = f"{key}: {words}" if key else words.capitalize()
        if subset is not None:
            yield _subset(subset, current, pointer, label)
        elif bounds and (field := _scalar(current, pointer, label, key, bounds)):
            yield field
        if _has_fields(current):
            yield from _fields(current, pointer, key)
        elif isinstance(current, list | tuple):
            for index, entry in enumerate(current):
                if _has_fields(entry):
                    yield from _fields(entry, step(pointer, index), subset.key_of(entry) if subset else key)


def _has_fields(value: Any) -> bool:
    return isinstance(value, BaseModel) and not isinstance(value, Money)


def _subset(bound: SubsetOfProposed, entries: Any, pointer: str, label: str) -> EditField:
    keys = tuple(bound.key_of(entry) for entry in entries)
    return EditField(
        pointer=pointer,
        label=label,
        kind="subset",
        current=keys,
        hint="What is not kept is dropped. At least one must stay.",
        options=tuple((key, _line(key, entry)) for key, entry in zip(keys, entries, strict=True)),
    )


def _line(key: str, entry: Any) -> str:
    amounts = [str(value) for _, value in entry if isinstance(value, Money)] if isinstance(entry, BaseModel) else []
    return ", ".join((key, *amounts))


def _scalar(current: Any, pointer: str, label: str, key: str | None, bounds: tuple[Bound, ...]) -> EditField | None:
    """The input of one marked value; None when its bounds say nothing about this kind of value: it is read-only."""
    lowered = any(isinstance(bound, AtMostProposed) for bound in bounds)
    if isinstance(current, Money):
        return _money(current, pointer, label, key) if lowered else None
    if isinstance(current, int) and not isinstance(current, bool):
        return _integer(current, pointer, label, key, bounds)
    for bound in bounds:
        if isinstance(bound, OneOf):
            return EditField(
                pointer=pointer,
                label=label,
                kind="choice",
                current=current,
                hint=f"One of: {', '.join(bound.values)}.",
                key=key,
                options=tuple((value, value.replace("_", " ")) for value in bound.values),
            )
        if isinstance(bound, Text):
            hint = f"At most {bound.max:,} characters."
            return EditField(
                pointer=pointer, label=label, kind="text", current=current, hint=hint, key=key, max_length=bound.max
            )
    return None


def _money(current: Money, pointer: str, label: str, key: str | None) -> EditField:
    return EditField(
        pointer=pointer,
        label=label,
        kind="money",
        current=current.plain,
        hint=f"At most {current}. Type digits only, for example {current.plain}.",
        key=key,
        currency=current.currency,
        most=current.minor,
    )


def _integer(current: int, pointer: str, label: str, key: str | None, bounds: tuple[Bound, ...]) -> EditField | None:
    least = max((bound.least for bound in bounds if isinstance(bound, AtLeast)), default=None)
    most = current if any(isinstance(bound, AtMostProposed) for bound in bounds) else None
    if least is None and most is None:
        return None
    said = [f"at least {least}"] if least is not None else []
    said += [f"at most {most}"] if most is not None else []
    return EditField(
        pointer=pointer,
        label=label,
        kind="integer",
        current=str(current),
        hint=f"A whole number, {' and '.join(said)}.",
        key=key,
        least=least,
        most=most,
    )
