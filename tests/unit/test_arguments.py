"""Argument text has one meaning or none."""

import json
from decimal import Decimal
from typing import Annotated

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from policies.arguments import (
    Arguments,
    ArgumentsRefused,
    Id,
    Personal,
    SchemaRefused,
    canonical_text,
    personal_pointers,
    read_arguments,
    read_json,
    tool_schema,
)
from policies.money import Money


class Line(Arguments):
    payment_id: Id
    note: Annotated[str, Personal()] = ""


class Pay(Arguments):
    """Pay people."""

    order: int
    rate: Decimal = Decimal(1)
    urgent: bool = False
    lines: list[Line] = Field(default=[], max_length=3)
    memo: str = Field(default="", max_length=10, description="A remark.")
    amount: Money | None = None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "There are no arguments: the text is blank."),
        (" \n", "There are no arguments: the text is blank."),
        ('{"order":1,"order":2}', "/order is given twice, so nobody can tell which value counts."),
        (r'{"order":1,"\u006frder":2}', "/order is given twice, so nobody can tell which value counts."),
        ('{"order":NaN}', "/order is NaN, which is not a number that JSON knows."),
        ('{"order":-Infinity}', "/order is -Infinity, which is not a number that JSON knows."),
        ('{"rate":1e400}', '/rate is "1e400", a number out of range.'),
        ('{"rate":1e-400}', '/rate is "1e-400", a number out of range.'),
        ('{"rate":1e99999999999999999999}', '/rate is "1e99999999999999999999", a number out of range.'),
        ('{"order":1} {}', "This is not JSON: Extra data at character 13."),
        (
            '{"lines":[{"amount":1,"amount":2}]}',
            "/lines/0/amount is given twice, so nobody can tell which value counts.",
        ),
        ('{"lines":[1,NaN]}', "/lines/1 is NaN, which is not a number that JSON knows."),
        ("Infinity", "The whole is Infinity, which is not a number that JSON knows."),
        ("{'order':1}", "This is not JSON: Expecting property name enclosed in double quotes at character 2."),
        ('{"memo":"\\ud800"}', "/memo holds half a character (a lone surrogate)."),
        ('{"\\udc00":1}', "A key holds half a character (a lone surrogate)."),
        ('{"memo":"\ud800"}', "/memo holds half a character (a lone surrogate)."),
        ('{"order":' + "9" * 5000 + "}", "/order has 5000 digits; at most 1233 are read."),
        ('{"order":-' + "9" * 1234 + "}", "/order has 1234 digits; at most 1233 are read."),
        ('{"rate":0.' + "1" * 401 + "}", "/rate has more decimals than the 400 that are read."),
        ('{"rate":1.' + "0" * 1000 + "}", "/rate has more decimals than the 400 that are read."),
        ('{"rate":0.' + "0" * 500 + "}", f'/rate is "0.{"0" * 58}..." (442 more characters), a number out of range.'),
        ("[" * 33 + "]" * 33, "The arguments are nested more than 32 levels deep."),
        ("[" * 100_000, "The arguments are nested more than 32 levels deep."),
    ],
)
def test_text_without_a_single_meaning_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(ArgumentsRefused) as refused:
        read_json(text)
    assert refused.value.sentence == sentence


@pytest.mark.parametrize(
    ("text", "field", "sentence"),
    [
        ("null", "", "The arguments must be a JSON object with named fields, not null."),
        ("[]", "", "The arguments must be a JSON object with named fields, not a list."),
        ("7", "", "The arguments must be a JSON object with named fields, not the number 7."),
        ('"x"', "", 'The arguments must be a JSON object with named fields, not the text "x".'),
        ("true", "", "The arguments must be a JSON object with named fields, not true."),
        ("{}", "/order", "/order is missing."),
        ('{"order":true}', "/order", "/order must be a whole number, not true."),
        ('{"order":"10"}', "/order", '/order must be a whole number, not the text "10".'),
        ('{"order":null}', "/order", "/order must be a whole number, not null."),
        ('{"order":1.0}', "/order", "/order must be a whole number, not the number 1.0."),
        ('{"order":1,"rate":"1.5"}', "/rate", '/rate must be a number, not the text "1.5".'),
        ('{"order":1,"rate":"NaN"}', "/rate", '/rate must be a number, not the text "NaN".'),
        ('{"order":1,"rate":true}', "/rate", "/rate must be a number, not true."),
        ('{"order":1,"memo":1.5}', "/memo", "/memo must not be a number with decimals; it is 1.5."),
        ('{"order":1,"memo":5}', "/memo", "/memo must be text, not the number 5."),
        ('{"order":1,"urgent":1}', "/urgent", "/urgent must be true or false, not the number 1."),
        ('{"order":1,"notify_all":true}', "/notify_all", "/notify_all is not a field of this tool."),
        ('{"order":1,"memo":"01234567890"}', "/memo", "/memo may have at most 10 characters."),
        ('{"order":1,"lines":[{"payment_id":"a"},{}]}', "/lines/1/payment_id", "/lines/1/payment_id is missing."),
        ('{"order":1,"lines":{}}', "/lines", "/lines must be a list, not an object."),
        ('{"order":1,"lines":[7]}', "/lines/0", "/lines/0 must be an object with named fields, not the number 7."),
        (
            '{"order":1,"amount":{"minor":true,"currency":"EUR"}}',
            "/amount/minor",
            "/amount/minor must be a whole number, not true.",
        ),
        (
            '{"order":1,"amount":{"minor":1,"currency":"QQQ"}}',
            "/amount/currency",
            "/amount/currency QQQ is not an ISO 4217 currency.",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_refused_at_their_place(text: str, field: str, sentence: str) -> None:
    with pytest.raises(ArgumentsRefused) as refused:
        read_arguments(Pay, text)
    assert (refused.value.field, refused.value.sentence) == (field, sentence)


def test_big_integers_and_decimals_keep_every_digit() -> None:
    text = '{"order":2512292042121000001,"rate":1.10000000000000000000000000001}'
    args = read_arguments(Pay, text)
    assert args.order == 2512292042121000001
    assert str(args.rate) == "1.10000000000000000000000000001"
    assert '"order":2512292042121000001' in canonical_text(args)
    assert '"rate":1.10000000000000000000000000001' in canonical_text(args)


def test_a_thousand_digit_integer_passes_unchanged() -> None:
    digits = "7" * 1000
    assert f'"order":{digits}' in canonical_text(read_arguments(Pay, f'{{"order":{digits}}}'))


def test_defaults_are_part_of_the_effective_arguments() -> None:
    assert json.loads(canonical_text(read_arguments(Pay, '{"order":1}')))["urgent"] is False


@given(
    order=st.integers(-(10**30), 10**30),
    rate=st.decimals(allow_nan=False, allow_infinity=False, min_value=Decimal("-1e50"), max_value=Decimal("1e50")),
    memo=st.text(st.characters(exclude_categories=["Cs"]), max_size=10),
)
@settings(max_examples=100)
def test_canonical_text_reads_back_equal(order: int, rate: Decimal, memo: str) -> None:
    if rate and abs(rate.adjusted()) > 300:
        return
    args = Pay(order=order, rate=rate, memo=memo, amount=Money(minor=5, currency="EUR"))
    back = read_arguments(Pay, canonical_text(args))
    assert back == args
    assert str(back.rate) == str(rate)


@pytest.mark.parametrize(
    "char",
    [
        "\u202e",
        "\u2066",
        "\u200b",
        "\ufeff",
        "\u00ad",
        "\u2028",
        "\U000e0061",
        "\U000e0100",
        "\ufe0f",
        "\u3164",
        "\x1b",
        "\r",
        "\x00",
        " ",
        "\u00a0",
    ],
)
def test_an_id_with_a_character_nobody_sees_is_refused(char: str) -> None:
    with pytest.raises(ArgumentsRefused) as refused:
        read_arguments(Line, json.dumps({"payment_id": f"pay{char}1"}))
    assert refused.value.field == "/payment_id"
    assert f"holds a character nobody can see (U+{ord(char):04X})" in refused.value.sentence
    assert char in {" ", "\u00a0"} or char not in refused.value.sentence


def test_free_text_keeps_its_hidden_characters_for_the_card_to_show() -> None:
    assert read_arguments(Line, json.dumps({"payment_id": "a", "note": "\u202ex"})).note == "\u202ex"


def test_personal_fields_are_found_at_their_places() -> None:
    args = Pay(order=1, lines=[Line(payment_id="a"), Line(payment_id="b")])
    assert personal_pointers(args) == ("/lines/0/note", "/lines/1/note")


def test_the_schema_is_closed_and_requires_every_field() -> None:
    schema = tool_schema(Pay)
    assert schema["description"] == "Pay people."
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["order", "rate", "urgent", "lines", "memo", "amount"]
    assert schema["$defs"]["Line"]["required"] == ["payment_id", "note"]
    assert schema["properties"]["rate"] == {"type": "number"}
    assert schema["properties"]["memo"] == {"type": "string", "description": "A remark. At most 10 characters."}


def test_fields_called_like_keywords_survive_in_the_schema() -> None:
    class Named(Arguments):
        title: str
        default: int

    assert list(tool_schema(Named)["properties"]) == ["title", "default"]


def test_open_mappings_and_floats_cannot_be_declared() -> None:
    class Open(Arguments):
        extra: dict[str, str]

    class Lossy(Arguments):
        ratio: float

    with pytest.raises(SchemaRefused, match=r"Open\.extra has an open mapping"):
        tool_schema(Open)
    with pytest.raises(SchemaRefused, match="Declare Decimal or Money"):
        tool_schema(Lossy)


class Tagged(Arguments):
    """Sets have no order of their own, and another one in every process."""

    tags: frozenset[str]
    rates: set[Decimal]


def test_a_set_is_written_in_one_order_with_every_digit() -> None:
    tags = [f"tag{number}" for number in range(50)]
    args = read_arguments(Tagged, json.dumps({"tags": tags, "rates": [3, 2]}).replace("3,", "1.50,"))
    assert json.loads(canonical_text(args))["tags"] == sorted(tags)
    assert '"rates":[1.50,2]' in canonical_text(args)
    assert read_arguments(Tagged, canonical_text(args)) == args
