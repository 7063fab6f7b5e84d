"""A proposal after a reviewer changed it: only where its model says so, and only as far."""

from collections.abc import Mapping
from typing import Any, TypeVar

from policies.arguments import Arguments, ArgumentsRefused, canonical_text, read_arguments
from policies.bounds import AtLeast, AtMostProposed, OneOf, SubsetOfProposed, Text
from policies.difference import difference
from policies.edit_fields import EditField, edit_fields
from policies.strict_json import read_json, write_json
from policies.typed import TypedRefused, read_kept, read_typed

__all__ = [
    "AtLeast",
    "AtMostProposed",
    "EditField",
    "EditRefused",
    "OneOf",
    "SubsetOfProposed",
    "Text",
    "apply_edit",
    "difference",
    "edit_fields",
]

A = TypeVar("A", bound=Arguments)

Typed = Mapping[str, str | tuple[str, ...]]


class EditRefused(ValueError):
    """An edit that cannot be taken; `errors` maps the pointer of each input to a sentence for the person."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__(" ".join(errors.values()))
        self.errors = dict(errors)


def apply_edit(args: A, typed: Typed) -> A:
    """These arguments with what a person typed, by pointer; what is not typed keeps its value.

    Raises:
        EditRefused: with a sentence for each input that cannot be taken; when nothing changed; when nothing is left.
    """
    fields = {field.pointer: field for field in edit_fields(args)}
    errors = {pointer: _read_only(pointer) for pointer in typed if pointer not in fields}
    touched = [field for pointer, field in fields.items() if typed.get(pointer, field.current) != field.current]
    dropped: set[str] = set()
    for field in touched:
        if field.kind == "subset":
            try:
                kept = read_kept(field, typed[field.pointer])
            except TypedRefused as error:
                errors[field.pointer] = str(error)
            else:
                dropped |= {f"{field.pointer}/{at}" for at, key in enumerate(field.current) if key not in kept}
    tree = read_json(canonical_text(args))
    for field in touched:
        if field.kind == "subset" or any(field.pointer.startswith(f"{line}/") for line in dropped):
            continue  # what is typed into a dropped line does not matter
        try:
            _put(tree, field.pointer, read_typed(field, typed[field.pointer]))
        except TypedRefused as error:
            errors[field.pointer] = str(error)
    if errors:
        raise EditRefused(errors)
    for line in dropped:
        _put(tree, line, _DROPPED)
    return _finished(args, _without_dropped(tree), typed)


_DROPPED = object()


def _finished(args: A, tree: Any, typed: Typed) -> A:
    try:
        edited = read_arguments(type(args), write_json(tree))
    except ArgumentsRefused as error:
        raise EditRefused({error.field: error.sentence}) from None
    if edited == args:
        place = next(iter(typed), "")
        raise EditRefused({place: "Nothing was changed. Change a value, or approve the call as it is."})
    return edited


def _read_only(pointer: str) -> str:
    return f"{pointer} cannot be changed. A different value needs a new proposal."


def _put(tree: Any, pointer: str, value: object) -> None:
    """Replace the value at a pointer that is known to exist."""
    *path, last = (name.replace("~1", "/").replace("~0", "~") for name in pointer.split("/")[1:])
    for name in path:
        tree = tree[int(name) if isinstance(tree, list) else name]
    tree[int(last) if isinstance(tree, list) else last] = value


def _without_dropped(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _without_dropped(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_without_dropped(value) for value in tree if value is not _DROPPED]
    return tree
