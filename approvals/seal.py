"""The seal: SHA-256 over the canonical form of what a person approves. Published in docs/seal.md."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

import rfc8785

from approvals.errors import ApprovalsError
from policies.number_bounds import MAX_DECIMAL_EXPONENT, MAX_INTEGER_BITS, written_out

SCHEMA = "vobo.seal/1"
SAFE_INTEGER = 2**53 - 1
MAX_DEPTH = 64


class UnsealableError(ApprovalsError):
    """A value has no canonical form. The text names the place and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealFields:
    """Everything one decision covers, in the order of the published schema.

    Mappings hold JSON values; integers of any size and `decimal.Decimal` are allowed inside.
    `resources` is a set: it is sealed sorted, so the order in which a rule lists them does not matter.
    """

    version: int
    tenant: str
    run: str
    call_key: str
    agent: str
    agent_version: str
    tool: str
    tool_schema_digest: str
    arguments: Mapping[str, Any]
    facts: Mapping[str, Any] | None
    precondition: Any
    resources: tuple[str, ...]
    blast_radius: str
    requester: str
    policy_version: str
    requirement: Mapping[str, Any]
    ttl_seconds: int
    idempotency_key: str


def seal(sealed: SealFields) -> str:
    """The seal of one version of a call: 64 lower-case hexadecimal digits.

    Raises:
        UnsealableError: a field holds something that has no canonical form.
    """
    document: dict[str, Any] = {field.name: getattr(sealed, field.name) for field in fields(sealed)}
    document["resources"] = sorted(set(sealed.resources))
    return digest({"schema": SCHEMA, **document})


def short_seal(full: str) -> str:
    """The seal as people compare it: the first eight digits, in two groups (`ab12-cd34`)."""
    return f"{full[:4]}-{full[4:8]}"


def digest(value: Any) -> str:
    """SHA-256 of the canonical form of any JSON value, in hexadecimal (tool schemas, fingerprints)."""
    return hashlib.sha256(canonical(value)).hexdigest()


def canonical(value: Any) -> bytes:
    """RFC 8785 bytes of `value` after tagging what JSON numbers cannot carry exactly.

    Raises:
        UnsealableError: NaN, infinity, lone surrogates, keys that are not text, foreign types, depth.
    """
    return rfc8785.dumps(to_tagged(value))


def to_tagged(value: Any) -> Any:
    """`value` as plain JSON: large integers and decimals become tagged strings, `$` keys are escaped."""
    return _tag(value, "", 0)


def from_tagged(value: Any) -> Any:
    """The inverse of `to_tagged`, for whoever stored the tagged form and needs the values back.

    Raises:
        UnsealableError: the value is not something `to_tagged` writes.
    """
    if isinstance(value, list):
        return [from_tagged(element) for element in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"$int"}:
        return _number(int, value["$int"])
    if set(value) == {"$decimal"}:
        return _number(Decimal, value["$decimal"])
    return {_unescape(key): from_tagged(element) for key, element in value.items()}


def _tag(value: Any, place: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise UnsealableError(f"{_at(place)} is nested more than {MAX_DEPTH} levels deep; flatten it.")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, place)
    if isinstance(value, int | float | Decimal):
        return _numeric(value, place)
    if isinstance(value, Mapping):
        return {_key(key, place): _tag(element, f"{place}/{key}", depth + 1) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [_tag(element, f"{place}/{index}", depth + 1) for index, element in enumerate(value)]
    raise UnsealableError(
        f"{_at(place)} is a {type(value).__name__}; only text, numbers, true, false, null, lists and mappings"
        " can be sealed. Turn it into one of these first."
    )


def _numeric(value: float | Decimal, place: str) -> Any:
    if isinstance(value, Decimal):
        return {"$decimal": _decimal(value, place)}
    if not isinstance(value, int) and not math.isfinite(value):
        raise UnsealableError(f"{_at(place)} is {value}; JSON has no such number. Refuse it where it comes in.")
    if abs(value) > SAFE_INTEGER:  # such a float is whole, and RFC 8785 would write it like an integer
        return {"$int": _large(int(value), place)}
    if isinstance(value, int):
        return int(value)  # an IntEnum is its number
    return value + 0.0  # minus zero plus zero is zero: both look alike to a person and to RFC 8785


def _large(value: int, place: str) -> str:
    if value.bit_length() > MAX_INTEGER_BITS:
        raise UnsealableError(f"{_at(place)} has more than {MAX_INTEGER_BITS} bits; bound it first.")
    return str(value)


def _decimal(value: Decimal, place: str) -> str:
    """Fixed notation with the digits as written: 1.50 stays 1.50, 1E+2 becomes 100, -0.0 becomes 0.0."""
    if not value.is_finite():
        raise UnsealableError(f"{_at(place)} is {value}; a decimal must be finite. Refuse it where it comes in.")
    if not written_out(value):
        raise UnsealableError(f"{_at(place)} has an exponent beyond {MAX_DECIMAL_EXPONENT}; bound it first.")
    return format(value.copy_abs() if value.is_zero() else value, "f")


def _text(value: str, place: str) -> str:
    plain = str.__str__(value)  # a StrEnum is its text
    try:
        plain.encode()
    except UnicodeEncodeError:
        raise UnsealableError(
            f"{_at(place)} holds a lone surrogate (half a character); replace it where the text comes in."
        ) from None
    return plain


def _key(key: Any, place: str) -> str:
    if not isinstance(key, str):
        raise UnsealableError(f"{_at(place)} has the key {key!r}; keys must be text. Convert it first.")
    plain = _text(key, place)
    return f"${plain}" if plain.startswith("$") else plain  # never mistaken for one of our tags


def _unescape(key: str) -> str:
    if not key.startswith("$"):
        return key
    if not key.startswith("$$"):
        raise UnsealableError(f"{key!r} is not a tag of {SCHEMA}; read this with the version that wrote it.")
    return key[1:]


def _number(kind: type[int] | type[Decimal], text: Any) -> int | Decimal:
    try:
        number = kind(text) if isinstance(text, str) else None
    except (ValueError, ArithmeticError):
        number = None
    if number is None or to_tagged(number) not in ({"$int": text}, {"$decimal": text}):
        raise UnsealableError(f"{text!r} is not a number as {SCHEMA} writes it; it was changed after sealing.")
    return number


def _at(place: str) -> str:
    return f"The value at {place!r}" if place else "The value"
