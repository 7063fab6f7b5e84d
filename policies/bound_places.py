"""Bounds that stand where they do nothing: found when a tool is declared, since no reviewer could tell."""

from collections.abc import Collection, Iterator
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel

from policies.bounds import AtLeast, AtMostProposed, Bound, OneOf, SubsetOfProposed, Text, without_none
from policies.money import Money

#: What each bound marks, as a declaration says it and as Python knows it.
_MARKS: dict[type[Any], tuple[str, tuple[type[Any], ...]]] = {
    AtMostProposed: ("Money or int", (Money, int)),
    AtLeast: ("int", (int,)),
    OneOf: ("str", (str,)),
    Text: ("str", (str,)),
    SubsetOfProposed: ("a list", (list, tuple)),
}


def misplaced_bounds(model: type[BaseModel]) -> Iterator[str]:
    """One sentence for each bound in a model, or a model within it, that could not be edited."""
    for found in dict.fromkeys(_models(model, set())):
        for name, field in found.model_fields.items():
            where = f"{found.__name__}.{name}"
            for bound in _bounds(field.metadata):
                yield from _wrong(where, bound, field.annotation)
            marked, inner = _taken_apart(without_none(field.annotation))
            if marked is not field.annotation:
                for bound in _bounds(inner):
                    yield from _wrong(where, bound, marked)
            for bound in _deeper(marked):
                yield (
                    f"{where} bears {type(bound).__name__} inside another type, where nobody could edit it. Give the"
                    " entries a model with a field that bears it, or take the bound out."
                )


def _wrong(where: str, bound: Bound, annotation: Any) -> Iterator[str]:
    name, (words, kinds) = type(bound).__name__, _MARKS[type(bound)]
    base, _ = _taken_apart(without_none(annotation))
    if base is not annotation and not isinstance(bound, AtMostProposed | AtLeast):  # those two read no None themselves
        yield f"{where} may be None; write Annotated[..., {name}(...)] | None, with None outside."
    base, _ = _taken_apart(_plain(base))
    kind = str if get_origin(base) is Literal else get_origin(base) or base
    if not isinstance(kind, type) or not issubclass(kind, kinds) or kind is bool:
        yield (
            f"{where} bears {name}, which marks {words} only, so nobody could edit it. Declare it so, or take the bound"
            " out."
        )


def _taken_apart(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type and what it is annotated with."""
    if get_origin(annotation) is Annotated:
        base, *marks = get_args(annotation)
        return base, tuple(marks)
    return annotation, ()


def _plain(annotation: Any) -> Any:
    """The type behind the names that `NewType` gives it, which is what its values are."""
    while (named := getattr(annotation, "__supertype__", None)) is not None:
        annotation = named
    return annotation


def _bounds(marks: Collection[Any]) -> list[Bound]:
    return [mark for mark in marks if isinstance(mark, Bound)]


def _deeper(annotation: Any) -> Iterator[Bound]:
    plain, marks = _taken_apart(_plain(annotation))
    if plain is not annotation:
        yield from _bounds(marks)
    for inner in get_args(plain):
        base, marks = _taken_apart(inner)
        yield from _bounds(marks)
        yield from _deeper(base)


def _models(annotation: Any, seen: set[Any]) -> Iterator[type[BaseModel]]:
    annotation = _plain(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation in seen:
            return
        seen.add(annotation)
        yield annotation
        for field in annotation.model_fields.values():
            yield from _models(field.annotation, seen)
    for inner in get_args(annotation):
        yield from _models(inner, seen)
