"""Arguments of a tool: declared once, read strictly, written back digit for digit."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from policies.plain_text import is_hidden, quoted
from policies.strict_json import ArgumentsRefused, read_json, step, write_json
from policies.tool_schema import SchemaRefused, tool_schema

__all__ = [
    "Arguments",
    "ArgumentsRefused",
    "Id",
    "Personal",
    "SchemaRefused",
    "canonical_text",
    "is_personal",
    "personal_pointers",
    "place_of_difference",
    "read_arguments",
    "read_json",
    "tool_schema",
]


class Arguments(BaseModel):
    """What a tool may be asked: the base of every argument model. The docstring of a subclass describes the tool."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


@dataclass(frozen=True, slots=True)
class Personal:
    """Marks a field that is masked on cards and in notifications and readable in the details only."""


def _plain_id(text: str) -> str:
    for char in text:
        if is_hidden(char) or char.isspace():
            raise ValueError(f"is an id, and {quoted(text)} holds a character nobody can see (U+{ord(char):04X})")
    return text


#: An identifier: one to 200 characters, all of them visible, no spaces.
Id = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_plain_id)]

M = TypeVar("M", bound=BaseModel)


def read_arguments(model: type[M], text: str) -> M:
    """The arguments a model sent, or the facts that were stored, as values of `model`.

    Nothing is coerced: no text or boolean where a number belongs, no unknown field, no list instead of an object.

    Raises:
        ArgumentsRefused: with the place and a sentence about the first thing that is wrong.
    """
    parsed = read_json(text)
    if not isinstance(parsed, dict):
        raise ArgumentsRefused("", f"The arguments must be a JSON object with named fields, not {_kind(parsed)}.")
    try:
        # Pydantic would read a decimal through a float; as text it keeps every digit, and `_same_kinds` undoes the
        # side effect that text is then taken for a number.
        value = model.model_validate_json(write_json(_decimals_as_text(parsed)))
    except ValidationError as error:
        raise _refusal(error, parsed) from None
    _same_kinds(parsed, value.model_dump(), "")
    return value


def canonical_text(args: BaseModel) -> str:
    """The arguments as JSON text that reads back equal, big integers and decimals digit for digit."""
    return write_json(args.model_dump())


def place_of_difference(one: str, other: str) -> str:
    """The JSON pointer of the first place where two canonical texts differ; empty when that is the whole."""
    return _place(read_json(one), read_json(other), "")


def is_personal(model: type[BaseModel], name: str) -> bool:
    """Whether a field is marked `Personal`."""
    return any(isinstance(mark, Personal) for mark in model.model_fields[name].metadata)


def personal_pointers(args: BaseModel, at: str = "") -> tuple[str, ...]:
    """The JSON pointers of all fields marked `Personal` in these arguments."""
    found: list[str] = []
    for name in type(args).model_fields:
        pointer = step(at, name)
        if is_personal(type(args), name):
            found.append(pointer)
            continue
        value = getattr(args, name)
        if isinstance(value, BaseModel):
            found.extend(personal_pointers(value, pointer))
        elif isinstance(value, list | tuple):
            for index, element in enumerate(value):
                if isinstance(element, BaseModel):
                    found.extend(personal_pointers(element, step(pointer, index)))
    return tuple(found)


def _place(one: Any, other: Any, pointer: str) -> str:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            if key not in one or key not in other or write_json(one[key]) != write_json(other[key]):
                return _place(one.get(key), other.get(key), step(pointer, key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (before, after) in enumerate(zip(one, other, strict=True)):
            if write_json(before) != write_json(after):
                return _place(before, after, step(pointer, index))
    return pointer


def _decimals_as_text(value: Any) -> Any:
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, dict):
        return {key: _decimals_as_text(element) for key, element in value.items()}
    if isinstance(value, list):
        return [_decimals_as_text(element) for element in value]
    return value


def _same_kinds(parsed: Any, read: Any, pointer: str) -> None:
    """Refuse text that became a number and numbers that became text."""
    if isinstance(parsed, dict) and isinstance(read, dict):
        for key, element in parsed.items():
            _same_kinds(element, read.get(key), step(pointer, key))
    elif isinstance(parsed, list) and isinstance(read, list | tuple):
        for index, (element, other) in enumerate(zip(parsed, read, strict=True)):
            _same_kinds(element, other, step(pointer, index))
    elif isinstance(read, Decimal) and isinstance(parsed, str):
        raise ArgumentsRefused(pointer, f"{pointer} must be a number, not the text {quoted(parsed)}.")
    elif isinstance(parsed, Decimal) and not isinstance(read, Decimal):
        raise ArgumentsRefused(pointer, f"{pointer} must not be a number with decimals; it is {parsed}.")


#: What pydantic calls an error -> how a person says it. `{…}` are pydantic's own numbers.
_SENTENCES = {
    "missing": "is missing",
    "extra_forbidden": "is not a field of this tool",
    "int_type": "must be a whole number, not {kind}",
    "decimal_type": "must be a number, not {kind}",
    "finite_number": "must be a number, not {kind}",
    "string_type": "must be text, not {kind}",
    "bool_type": "must be true or false, not {kind}",
    "list_type": "must be a list, not {kind}",
    "model_type": "must be an object with named fields, not {kind}",
    "literal_error": "must be {expected}, not {kind}",
    "too_short": "must have at least {min_length} entries; it has {actual_length}",
    "too_long": "may have at most {max_length} entries; it has {actual_length}",
    "string_too_short": "must not be empty",
    "string_too_long": "may have at most {max_length} characters",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be below {lt}",
    "date_from_datetime_parsing": "must be a date such as 2026-10-23, not {kind}",
    "date_type": "must be a date such as 2026-10-23, not {kind}",
    "value_error": "{error}",
}


def _refusal(error: ValidationError, parsed: Any) -> ArgumentsRefused:
    first = error.errors(include_url=False)[0]
    pointer, given = "", parsed  # pydantic names what it was given; a person is told what was sent
    for name in first["loc"]:
        pointer = step(pointer, name)
        given = _below(given, name)
    context = dict(first.get("ctx", {}))
    said = _SENTENCES.get(first["type"])
    what = said.format(**context, kind=_kind(given)) if said else first["msg"][:1].lower() + first["msg"][1:]
    return ArgumentsRefused(pointer, f"{pointer or 'The whole'} {what}.")


def _below(value: Any, name: int | str) -> Any:
    if isinstance(value, dict):
        return value.get(str(name))
    return value[name] if isinstance(value, list) and isinstance(name, int) else None


def _kind(value: object) -> str:
    """A value as it is named in a sentence."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    if isinstance(value, int | Decimal):
        return f"the number {str(value)[:40]}"
    return "an object" if isinstance(value, dict) else "a list"
