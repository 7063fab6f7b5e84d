import dataclasses
import hashlib
import json
import math
from decimal import Decimal
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.seal import (
    MAX_DEPTH,
    SCHEMA,
    SealFields,
    UnsealableError,
    canonical,
    digest,
    from_tagged,
    seal,
    short_seal,
    to_tagged,
)

VECTORS = json.loads((Path(__file__).parents[2] / "docs" / "seal-vectors.json").read_text(encoding="utf-8"))
DOCUMENT = (Path(__file__).parents[2] / "docs" / "seal.md").read_text(encoding="utf-8")

FIELDS = SealFields(
    version=1,
    tenant="T1",
    run="run-1",
    call_key="call-1",
    agent="desk",
    agent_version="1",
    tool="refund_payments",
    tool_schema_digest="d" * 64,
    arguments={"lines": []},
    facts={"customer_of": {}},
    precondition="f" * 64,
    resources=("pay_1", "pay_2"),
    blast_radius="refunds in EUR",
    requester="U1",
    policy_version="p1",
    requirement={"mode": "human"},
    ttl_seconds=900,
    idempotency_key="vobo-call-1",
)

leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(allow_nan=False, allow_infinity=False, places=2)
    | st.text()
)
keys = st.text(max_size=4) | st.sampled_from(["$int", "$decimal", "$", "$$int"])
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3))


def named(vectors: list[dict[str, Any]]) -> Any:
    return pytest.mark.parametrize("vector", vectors, ids=[vector["name"] for vector in vectors])


def seal_fields(fields: dict[str, Any]) -> SealFields:
    read = {name: from_tagged(value) for name, value in fields.items()}
    return SealFields(**{**read, "resources": tuple(read["resources"])})


@named(VECTORS["values"])
def test_published_values_have_the_published_form(vector: dict[str, Any]) -> None:
    value = from_tagged(vector["tagged"])

    assert canonical(value).decode() == vector["canonical"]
    assert digest(value) == vector["sha256"]


@named(VECTORS["values"])
def test_the_digest_is_plain_sha256_of_the_canonical_text(vector: dict[str, Any]) -> None:
    assert hashlib.sha256(vector["canonical"].encode()).hexdigest() == vector["sha256"]


@named(VECTORS["seals"])
def test_published_calls_have_the_published_seal(vector: dict[str, Any]) -> None:
    assert seal(seal_fields(vector["fields"])) == vector["seal"]
    assert short_seal(vector["seal"]) == vector["short"]
    assert hashlib.sha256(vector["canonical"].encode()).hexdigest() == vector["seal"]


def test_the_vectors_cover_what_the_page_promises() -> None:
    names = " ".join(vector["name"] for vector in VECTORS["values"])

    for subject in ("outside ASCII", "beyond 2^53", "decimals", "minus zero", "nested", "empty list"):
        assert subject in names
    assert VECTORS["schema"] == SCHEMA


def test_every_sealed_field_is_documented_in_order() -> None:
    rows = [line.split("`")[1] for line in DOCUMENT.splitlines() if line.startswith("| `")]

    assert rows == ["schema", *(field.name for field in dataclasses.fields(SealFields))]


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(SealFields)])
def test_a_change_in_any_field_changes_the_seal(name: str) -> None:
    value = getattr(FIELDS, name)
    other: Any
    if isinstance(value, int):
        other = value + 1
    elif isinstance(value, str):
        other = value + "x"
    elif isinstance(value, tuple):
        other = (*value, "x")
    else:
        other = {**value, "x": 1}

    assert seal(dataclasses.replace(FIELDS, **{name: other})) != seal(FIELDS)


def test_resources_are_a_set() -> None:
    shuffled = dataclasses.replace(FIELDS, resources=("pay_2", "pay_1", "pay_2"))

    assert seal(shuffled) == seal(FIELDS)


def test_the_order_in_which_arguments_were_written_does_not_matter() -> None:
    assert canonical({"b": 1, "a": [2]}) == canonical({"a": [2], "b": 1}) == b'{"a":[2],"b":1}'


def test_the_order_of_a_list_matters() -> None:
    assert digest(["a", "b"]) != digest(["b", "a"])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2**53 - 1, "9007199254740991"),
        (2**53, '{"$int":"9007199254740992"}'),
        (-(2**53), '{"$int":"-9007199254740992"}'),
        (float(2**53), '{"$int":"9007199254740992"}'),
        (-1e21, '{"$int":"-1000000000000000000000"}'),
        (Decimal("1.50"), '{"$decimal":"1.50"}'),
        (Decimal("1E+2"), '{"$decimal":"100"}'),
        (Decimal("-0.00"), '{"$decimal":"0.00"}'),
        (-0.0, "0"),
        (True, "true"),
        ((), "[]"),
        ({"$int": "7"}, '{"$$int":"7"}'),
        ({"$": {"$decimal": "1"}}, '{"$$":{"$$decimal":"1"}}'),
    ],
)
def test_numbers_and_look_alikes_are_written_one_way(value: Any, text: str) -> None:
    assert canonical(value).decode() == text


def test_minus_zero_is_gone_before_it_is_stored() -> None:
    assert math.copysign(1, to_tagged(-0.0)) == 1


def test_neighbouring_large_integers_have_different_digests() -> None:
    assert digest({"account": 2**53}) != digest({"account": 2**53 + 1})


def test_a_mapping_that_imitates_a_tag_is_not_the_number() -> None:
    assert digest({"$int": str(2**53)}) != digest(2**53)
    assert digest({"$decimal": "1.50"}) != digest(Decimal("1.50"))


def test_enumerations_are_sealed_as_their_value() -> None:
    tier = IntEnum("tier", {"HIGH": 3})
    mode = StrEnum("mode", {"HUMAN": "human"})

    assert canonical([tier.HIGH, mode.HUMAN]) == b'[3,"human"]'  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (math.nan, "no such number"),
        (math.inf, "no such number"),
        (-math.inf, "no such number"),
        (2**5000, "more than 4096 bits"),
        (Decimal("NaN"), "must be finite"),
        (Decimal("Infinity"), "must be finite"),
        (Decimal("1E+100000"), "exponent beyond"),
        (Decimal("1E-100000"), "exponent beyond"),
        ("\ud83d", "lone surrogate"),
        ({"\udca9": 1}, "lone surrogate"),
        ({1: "x"}, "keys must be text"),
        (b"bytes", "is a bytes"),
        ({"a", "b"}, "is a set"),
        (object(), "is a object"),
    ],
)
def test_what_has_no_canonical_form_is_refused_with_its_place(value: Any, sentence: str) -> None:
    with pytest.raises(UnsealableError, match=sentence) as caught:
        canonical({"arguments": [value]})

    assert "'/arguments/0" in str(caught.value)


def test_endless_nesting_is_refused_before_the_stack_ends() -> None:
    value: Any = []
    for _ in range(MAX_DEPTH + 1):
        value = [value]

    with pytest.raises(UnsealableError, match="nested"):
        canonical(value)


@given(values)
def test_every_value_survives_storage_in_its_tagged_form(value: Any) -> None:
    stored = json.loads(json.dumps(to_tagged(value)))

    assert canonical(from_tagged(stored)) == canonical(value)


@given(values)
def test_the_canonical_form_is_json_that_reads_back_to_the_tagged_form(value: Any) -> None:
    assert json.loads(canonical(value)) == to_tagged(value)


@given(st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=4))
def test_an_independent_recipe_gives_the_same_bytes(value: dict[str, Any]) -> None:
    tagged = to_tagged(value)
    by_utf16 = dict(sorted(tagged.items(), key=lambda item: item[0].encode("utf-16-be")))

    assert canonical(value) == json.dumps(by_utf16, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    "stored",
    [
        {"$int": "7"},
        {"$int": 7},
        {"$int": "9007199254740993.0"},
        {"$int": " 9007199254740993"},
        {"$int": "9_007_199_254_740_993"},
        {"$int": "x"},
        {"$decimal": "1E+2"},
        {"$decimal": "x"},
        {"$decimal": "NaN"},
        {"$decimal": None},
        {"$date": "2026-11-29"},
        {"$int": "9007199254740993", "more": 1},
    ],
)
def test_a_stored_form_we_never_write_is_refused(stored: Any) -> None:
    with pytest.raises(UnsealableError):
        from_tagged({"a": [stored]})


def test_the_short_seal_is_what_people_compare() -> None:
    assert short_seal("ab12cd34" + "0" * 56) == "ab12-cd34"
