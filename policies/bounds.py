"""How a person may change an argument before approving it. What bears no bound is read-only."""

from collections import Counter
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin

from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from policies.plain_text import quoted


@dataclass(frozen=True, slots=True)
class AtMostProposed:
    """An amount or whole number that may be lowered, never raised above what was proposed."""


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A whole number that may not be lowered below `least`."""

    least: int


@dataclass(frozen=True, slots=True)
class SubsetOfProposed:
    """A list of which entries may be dropped. `key` names the field that tells entries apart; None: they are keys.

    Proposals that repeat a key are refused: the second entry could not be told from the first.
    """

    key: str | None = None

    def key_of(self, entry: Any) -> str:
        """What tells this entry of the list from the others."""
        return str(getattr(entry, self.key) if self.key else entry)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._no_twins, handler(source))

    def _no_twins(self, entries: list[Any]) -> list[Any]:
        twins = [key for key, times in Counter(map(self.key_of, entries)).items() if times > 1]
        if twins:
            raise ValueError(f"lists {quoted(twins[0])} more than once")
        return entries


@dataclass(frozen=True, slots=True, init=False)
class OneOf:
    """A text that must be one of these, for the model that proposes it and for the person who edits it."""

    values: tuple[str, ...]

    def __init__(self, *values: str) -> None:
        object.__setattr__(self, "values", values)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.literal_schema(list(self.values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text of at most `max` characters that may be rewritten."""

    max: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        if schema["type"] != "str":
            raise TypeError(f"Text(max={self.max}) marks a field that is not text; write Annotated[str, Text(...)].")
        return {**cast("core_schema.StringSchema", schema), "max_length": self.max}


Bound = AtMostProposed | AtLeast | SubsetOfProposed | OneOf | Text


def bounds_of(model: type[BaseModel], name: str) -> tuple[Bound, ...]:
    """The bounds a field was declared with, also where it may be None; empty when it is read-only."""
    field = model.model_fields[name]
    inner = without_none(field.annotation)
    marks = [*field.metadata, *(get_args(inner)[1:] if get_origin(inner) is Annotated else ())]
    return tuple(mark for mark in marks if isinstance(mark, Bound))


def without_none(annotation: Any) -> Any:
    """`X` for `X | None`; any other type as it is."""
    if get_origin(annotation) not in {Union, UnionType}:
        return annotation
    others = [kind for kind in get_args(annotation) if kind is not NoneType]
    return others[0] if len(others) == 1 else annotation
