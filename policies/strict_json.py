"""JSON read the way a notary reads it: one meaning or none."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python

from policies.number_bounds import MAX_DECIMAL_EXPONENT, MAX_DIGITS, written_out
from policies.plain_text import quoted

MAX_DEPTH = 32
MAX_EXPONENT = 300  # what every reader of JSON can still take as a number
_LONGEST = 4000  # characters of a number, before anything is made of it


class ArgumentsRefused(ValueError):
    """Argument text that has no single meaning or does not fit its tool.

    `field` is the JSON pointer of the place (empty for the whole text); `sentence` says what is wrong there.
    """

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field
        self.sentence = sentence


def read_json(text: str) -> object:
    """The value of a JSON text: integers of any size as int, all other numbers as Decimal, digit for digit.

    Raises:
        ArgumentsRefused: repeated keys however they are spelled, NaN and infinities, numbers out of range, text after
            the end, nothing at all, halves of characters, more than 32 levels.
    """
    if not text.strip():
        raise ArgumentsRefused("", "There are no arguments: the text is blank.")
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_int=_integer, parse_float=_decimal, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        raise ArgumentsRefused("", f"This is not JSON: {error.msg} at character {error.pos + 1}.") from None
    except RecursionError:
        raise _too_deep("") from None
    _check(value, "", 1)
    return value


def write_json(value: object) -> str:
    """Compact JSON with sorted keys that `read_json` reads back equal; decimals keep their digits."""
    if isinstance(value, Mapping):
        pairs = sorted((str(key), element) for key, element in value.items())
        return "{" + ",".join(f"{_text(key)}:{write_json(element)}" for key, element in pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(write_json(element) for element in value) + "]"
    if isinstance(value, set | frozenset):  # in no order of its own, and another one in every process
        return "[" + ",".join(sorted(write_json(element) for element in value)) + "]"
    if isinstance(value, Decimal):
        return str(value)  # JSON's own notation for every finite decimal
    if isinstance(value, bool | int | None):
        return json.dumps(value)
    return _text(value if isinstance(value, str) else to_jsonable_python(value))


def step(pointer: str, name: str | int) -> str:
    """The JSON pointer one step further (RFC 6901)."""
    return f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


class _Wrong(NamedTuple):
    """What stands where a value cannot be read, until its place is known. `what` follows the place."""

    what: str


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        result[key] = _Wrong("is given twice, so nobody can tell which value counts") if key in result else value
    return result


def _integer(text: str) -> int | _Wrong:
    digits = len(text.removeprefix("-"))
    if digits > MAX_DIGITS:
        return _Wrong(f"has {digits} digits; at most {MAX_DIGITS} are read")
    return int(text)


def _decimal(text: str) -> Decimal | _Wrong:
    try:
        number = Decimal(text) if len(text) <= _LONGEST else None
    except ArithmeticError:
        number = None
    if number is None or abs(number.adjusted()) > MAX_EXPONENT:
        return _Wrong(f"is {quoted(text)}, a number out of range")
    if not written_out(number):
        return _Wrong(f"has more decimals than the {MAX_DECIMAL_EXPONENT} that are read")
    return number


def _constant(name: str) -> _Wrong:
    return _Wrong(f"is {name}, which is not a number that JSON knows")


def _check(value: object, pointer: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _too_deep(pointer)
    if isinstance(value, _Wrong):
        raise ArgumentsRefused(pointer, f"{pointer or 'The whole'} {value.what}.")
    if isinstance(value, str):
        _whole_characters(value, pointer)
    elif isinstance(value, dict):
        for key, element in value.items():
            _whole_characters(key, pointer)
            _check(element, step(pointer, key), depth + 1)
    elif isinstance(value, list):
        for index, element in enumerate(value):
            _check(element, step(pointer, index), depth + 1)


def _whole_characters(text: str, pointer: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ArgumentsRefused(pointer, f"{pointer or 'A key'} holds half a character (a lone surrogate).") from None


def _too_deep(pointer: str) -> ArgumentsRefused:
    return ArgumentsRefused(pointer, f"The arguments are nested more than {MAX_DEPTH} levels deep.")
