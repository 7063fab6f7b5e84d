"""Arguments of tools that nobody declared: no name that the tool would not see, no digit that it would not get."""

import json
from decimal import Decimal
from typing import Any

import pytest
from agents import function_tool
from pydantic import BaseModel, JsonValue
from typing_extensions import TypedDict

from policies.arguments import ArgumentsRefused
from worker.schema_arguments import read_by_schema


class Line(BaseModel):
    item: str
    count: int = 1


class Shelf(TypedDict):
    name: str


@function_tool(strict_mode=False)
def wipe(  # noqa: PLR0917 - a tool of somebody's
    shelf: str,
    cents: float = 1,
    lines: list[Line] | None = None,
    first: Line | None = None,
    place: Shelf | None = None,
    size: int | float = 1,  # noqa: PYI041 - whole numbers of any size as well
    labels: dict[str, JsonValue] | None = None,
) -> str:
    """Wipe a shelf."""
    return shelf


def read(**arguments: Any) -> dict[str, Any]:
    return read_by_schema(json.dumps({"shelf": "top", **arguments}), wipe.params_json_schema)


def raw(text: str) -> dict[str, Any]:
    return read_by_schema(text, wipe.params_json_schema)


@pytest.mark.parametrize(
    "arguments",
    [
        {"only_dry_run": True},
        {"lines": [{"item": "cup", "dry": True}]},
        {"first": {"item": "cup", "dry": True}},
        {"place": {"name": "top", "dry": True}},
    ],
)
def test_a_name_that_the_tool_would_never_see_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentsRefused, match="dry"):
        read(**arguments)


def test_a_name_at_the_top_is_refused_in_words() -> None:
    with pytest.raises(ArgumentsRefused, match=r"The whole has a field that the tool does not take.*only_dry_run"):
        read(only_dry_run=True)


def test_what_the_schema_lists_or_leaves_open_is_read() -> None:
    given = {
        "lines": [{"item": "cup"}],
        "first": {"item": "pot", "count": 2},
        "place": {"name": "top"},
        "labels": {"any": {"thing": [{"at": "all"}]}},
    }
    assert {name: read(**given)[name] for name in given} == given


ONE = {"type": "object", "properties": {"one": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("schema", "value", "names"),
    [
        ({"allOf": [ONE, {"properties": {"two": {}}}]}, {"one": 1, "two": 2}, "all"),
        ({"allOf": [ONE, {"properties": {"two": {}}}]}, {"one": 1, "three": 2}, "some"),
        ({**ONE, "additionalProperties": True}, {"two": 2}, "all"),
        ({**ONE, "additionalProperties": {"type": "integer"}}, {"two": 2}, "all"),
        ({**ONE, "patternProperties": {"^x-": {}}}, {"x-two": 2}, "all"),
        ({"type": "object"}, {"free": "form"}, "all"),
        ({"$ref": "#/$defs/Free", "$defs": {"Free": {"type": "object"}}}, {"free": "form"}, "all"),
        ({"$ref": "#/$defs/One", "$defs": {"One": ONE}}, {"two": 2}, "some"),
        ({"$ref": "#/$defs/It", "$defs": {"It": {"anyOf": [{"type": "null"}, ONE]}}}, {"two": 2}, "some"),
        ({"if": ONE, "then": {"properties": {"two": {}}}}, {"one": 1, "two": 2}, "all"),
        ({"if": ONE, "then": {"properties": {"two": {}}}}, {"one": 1, "three": 2}, "some"),
        ({"properties": {"many": {"prefixItems": [ONE]}}}, {"many": [{"two": 2}]}, "some"),
    ],
)
def test_a_schema_is_closed_where_it_says_which_fields_there_are(
    schema: dict[str, Any], value: dict[str, Any], names: str
) -> None:
    if names == "all":
        assert read_by_schema(json.dumps(value), schema) == value
        return
    with pytest.raises(ArgumentsRefused):
        read_by_schema(json.dumps(value), schema)


@pytest.mark.parametrize(
    "cents", ["12345678901234567890.123456789", "12345678901234567891", "0.10000000000000000000001", "1" * 400]
)
def test_a_number_that_the_tool_would_get_with_other_digits_is_refused(cents: str) -> None:
    with pytest.raises(ArgumentsRefused, match="/cents"):
        raw(f'{{"shelf":"top","cents":{cents}}}')


def test_a_decimal_loses_no_digit_where_the_schema_says_nothing_either() -> None:
    with pytest.raises(ArgumentsRefused, match=r"/labels/any/0 is 0\.1000.*would not get every digit"):
        raw('{"shelf":"top","labels":{"any":[0.10000000000000000000001]}}')


@pytest.mark.parametrize("cents", ["0.1", "1.10", "1E+2", "-3", "9007199254740992", "0.30000000000000004"])
def test_a_number_that_arrives_as_it_was_written_is_read(cents: str) -> None:
    assert raw(f'{{"shelf":"top","cents":{cents}}}')["cents"] == Decimal(cents)


def test_a_whole_number_of_any_size_is_read_where_a_whole_number_may_stand() -> None:
    assert raw('{"shelf":"top","size":12345678901234567891}')["size"] == 12345678901234567891


@pytest.mark.parametrize(
    ("schema", "fits", "refused"),
    [
        ({"type": "number", "multipleOf": 0.01}, ["0.35", "1.10", "5", "0"], ["0.355", "0.001"]),
        ({"multipleOf": 0.1}, ["1" + "0" * 400, "0.3"], ["0.35"]),
        ({"type": "number", "minimum": 0.1}, ["0.1", "0.2"], ["0.09"]),
        ({"type": "number", "maximum": 0.3}, ["0.3", "0.2"], ["0.31"]),
        ({"type": "number", "exclusiveMaximum": 0.3}, ["0.29"], ["0.3"]),
        ({"enum": [0.1, "a", True]}, ["0.1", '"a"', "true"], ["0.2", "1"]),
        ({"const": {"at": [0.1]}}, ['{"at":[0.1]}'], ['{"at":[0.2]}']),
        ({"not": {"enum": [0.1]}}, ["0.2"], ["0.1"]),
    ],
)
def test_a_decimal_is_held_against_the_number_that_the_schema_says(
    schema: dict[str, Any], fits: list[str], refused: list[str]
) -> None:
    whole = {"type": "object", "properties": {"it": schema}}
    for text in fits:
        assert read_by_schema(f'{{"it":{text}}}', whole)["it"] == json.loads(text, parse_float=Decimal)
    for text in refused:
        with pytest.raises(ArgumentsRefused, match=r"/it does not fit: (?!.*Decimal\()"):
            read_by_schema(f'{{"it":{text}}}', whole)
