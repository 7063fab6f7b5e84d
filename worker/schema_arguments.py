"""Arguments of a tool that has a JSON schema and no argument model, read as strictly as the schema allows."""

import copy
import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from jsonschema import Draft202012Validator, TypeChecker
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend

from policies.arguments import ArgumentsRefused, read_json
from policies.strict_json import step

#: Keywords with schemas: of another place than the one described, and of more about the same place.
_BELOW = ("properties", "patternProperties", "prefixItems", "items", "additionalProperties")
_SAME = ("$defs", "definitions", "dependentSchemas", "allOf", "anyOf", "oneOf", "if", "then", "else")
_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_DECIMAL = re.compile(r"Decimal\('([^']*)'\)")
_LOSES = "is {number}, of which the tool would not get every digit; give it fewer, or as text where it takes text"


def read_by_schema(raw: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments that fit a JSON schema, with the defaults it would fill in made visible.

    Raises:
        ArgumentsRefused: naming the first field that does not fit, that the schema does not know of and that the tool
            would therefore never see, or whose number the tool would not get digit for digit.
    """
    value = read_json(raw)
    if not isinstance(value, dict):
        raise ArgumentsRefused("", "The arguments must be a JSON object with named fields.")
    for error in _validator(_closed(_exact(schema), schema)).iter_errors(value):
        pointer = ""
        for name in error.absolute_path:
            pointer = step(pointer, name)
        raise ArgumentsRefused(pointer, f"{pointer or 'The whole'} {_what(error)}.")
    _no_digit_lost(value, "")
    defaults = {
        name: copy.deepcopy(field["default"])
        for name, field in schema.get("properties", {}).items()
        if isinstance(field, dict) and "default" in field and name not in value
    }
    return {**value, **defaults}


def _what(error: ValidationError) -> str:
    if error.validator == "type" and error.validator_value == "number" and _is_number(error.instance):
        return _LOSES.format(number=str(error.instance)[:40])
    if error.validator == "unevaluatedProperties":
        return f"has a field that the tool does not take: {error.message[:200]}"
    message = _DECIMAL.sub(r"\g<1>", error.message)
    return f"does not fit: {message[:200]}"


def _validator(schema: dict[str, Any]) -> Validator:
    checker: TypeChecker = Draft202012Validator.TYPE_CHECKER.redefine("number", lambda _, found: _survives(found))
    own = {"multipleOf": _multiple_of}
    made: Validator = extend(Draft202012Validator, own, type_checker=checker)(schema)  # type: ignore[no-untyped-call]
    return made


def _multiple_of(validator: Validator, of: Any, found: Any, _: Any) -> Iterator[ValidationError]:
    """In fractions, since the digits of a decimal's quotient come to an end."""
    if validator.is_type(found, "number") and (Fraction(found) / Fraction(of)).denominator != 1:
        yield ValidationError(f"{found} is not a multiple of {of}")


def _exact(schema: Any) -> Any:
    """The schema with the decimals that it was written in, as the arguments are read: a float is near them only."""
    if isinstance(schema, dict):
        return {name: _exact(inner) for name, inner in schema.items()}
    if isinstance(schema, list):
        return [_exact(inner) for inner in schema]
    return Decimal(repr(schema)) if isinstance(schema, float) else schema


def _closed(schema: Any, root: dict[str, Any], *, same: bool = False) -> Any:
    """The schema, refusing names that it neither lists nor leaves open wherever it describes an object's fields.

    `same`: it says more about a place that another schema closes, which knows the names of both.
    """
    if not isinstance(schema, dict):
        return schema
    closed = dict(schema)
    for name in (*_BELOW, *_SAME):
        close = partial(_closed, root=root, same=name in _SAME)
        found = schema.get(name)
        if isinstance(found, list):
            closed[name] = [close(child) for child in found]
        elif isinstance(found, dict) and name in _BY_NAME:
            closed[name] = {key: close(child) for key, child in found.items()}
        elif isinstance(found, dict):
            closed[name] = close(found)
    if not same and _names_fields(schema, root):
        closed.setdefault("unevaluatedProperties", False)
    return closed


def _names_fields(schema: Any, root: dict[str, Any]) -> bool:
    """Whether a schema, or one that says more about the same place, lists the fields of an object."""
    if not isinstance(schema, dict):
        return False
    if "properties" in schema:
        return True
    parts = [part for name in ("allOf", "anyOf", "oneOf") for part in schema.get(name) or ()]
    parts += [schema.get(name) for name in ("if", "then", "else")]
    if "$ref" in schema:
        parts.append(_referred(str(schema["$ref"]), root))
    return any(_names_fields(part, root) for part in parts)


def _referred(reference: str, root: dict[str, Any]) -> Any:
    """The schema at a place of this one; None for another document's."""
    node: Any = root if reference.startswith("#") else None
    for name in reference.split("/")[1:]:
        node = node.get(name.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
    return node


def _no_digit_lost(value: Any, pointer: str) -> None:
    """Refuse decimals that a binary number cannot hold: whoever runs the tool reads them into one."""
    if isinstance(value, Decimal) and not _survives(value):
        raise ArgumentsRefused(pointer, f"{pointer} {_LOSES.format(number=str(value)[:40])}.")
    if isinstance(value, dict):
        for name, element in value.items():
            _no_digit_lost(element, step(pointer, name))
    elif isinstance(value, list):
        for index, element in enumerate(value):
            _no_digit_lost(element, step(pointer, index))


def _is_number(found: object) -> bool:
    return isinstance(found, int | float | Decimal) and not isinstance(found, bool)


def _survives(found: object) -> bool:
    """Whether it is a number that a float holds, digit for digit."""
    if not isinstance(found, int | float | Decimal) or isinstance(found, bool):
        return False
    try:
        return Decimal(repr(float(found))) == found
    except OverflowError:
        return False
