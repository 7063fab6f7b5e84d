"""A reviewer may change what the model says may be changed, and nothing else."""

from typing import Annotated

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from policies.arguments import Arguments, Id
from policies.edits import (
    AtLeast,
    AtMostProposed,
    EditRefused,
    OneOf,
    SubsetOfProposed,
    Text,
    apply_edit,
    difference,
    edit_fields,
)
from policies.money import Money, eur


class Line(Arguments):
    payment_id: Id
    amount: Annotated[Money, AtMostProposed()]


class Refund(Arguments):
    lines: Annotated[list[Line], SubsetOfProposed(key="payment_id"), Field(min_length=1)]
    reason: Annotated[str, OneOf("duplicate", "goodwill")]
    note: Annotated[str, Text(max=120)] = "none"
    retries: Annotated[int, AtMostProposed(), AtLeast(1)] = 3
    tags: Annotated[list[Id], SubsetOfProposed()] = []
    account: Id = "acc_1"


ARGS = Refund(
    lines=[
        Line(payment_id="pay_0008", amount=eur(480)),
        Line(payment_id="pay_0009", amount=Money(minor=31240, currency="EUR")),
        Line(payment_id="pay_0012", amount=eur(10)),
    ],
    reason="goodwill",
    tags=["a", "b"],
)


def refused(typed: dict[str, str | tuple[str, ...]]) -> dict[str, str]:
    with pytest.raises(EditRefused) as caught:
        apply_edit(ARGS, typed)
    return caught.value.errors


def test_the_dialog_offers_what_is_marked_with_its_bound() -> None:
    fields = {field.pointer: field for field in edit_fields(ARGS)}
    assert list(fields) == [
        "/lines", "/lines/0/amount", "/lines/1/amount", "/lines/2/amount", "/reason", "/note", "/retries", "/tags",
    ]  # fmt: skip
    line = fields["/lines/1/amount"]
    assert (line.kind, line.current, line.currency, line.key) == ("money", "312.40", "EUR", "pay_0009")
    assert line.label == "pay_0009: amount"
    assert line.hint == "At most 312.40 EUR. Type digits only, for example 312.40."
    assert fields["/lines"].current == ("pay_0008", "pay_0009", "pay_0012")
    assert fields["/lines"].options[1] == ("pay_0009", "pay_0009, 312.40 EUR")
    assert fields["/reason"].options == (("duplicate", "duplicate"), ("goodwill", "goodwill"))
    assert fields["/retries"].hint == "A whole number, at least 1 and at most 3."
    assert fields["/note"].max_length == 120


def test_an_edit_changes_what_was_typed_and_keeps_the_rest() -> None:
    edited = apply_edit(ARGS, {"/lines/1/amount": "250", "/lines": ("pay_0008", "pay_0009"), "/reason": "duplicate"})
    assert edited == ARGS.model_copy(
        update={"lines": [ARGS.lines[0], Line(payment_id="pay_0009", amount=eur(250))], "reason": "duplicate"}
    )
    assert difference(ARGS, edited) == (
        "pay_0009: 312.40 EUR -> 250.00 EUR",
        "pay_0012 dropped",
        'reason: "goodwill" -> "duplicate"',
    )


@pytest.mark.parametrize(
    ("typed", "ending"),
    [
        ("4,120.00", " is not an amount. Type digits only, for example 250.00."),
        ("1.250", " has 3 decimals; EUR has 2. Type for example 250.00."),
        ("1_000", " is not an amount. Type digits only, for example 250.00."),
        ("\uff12\uff15\uff10", " is not an amount. Type digits only, for example 250.00."),
        ("+250", " is not an amount. Type digits only, for example 250.00."),
        ("0", " is nothing. To pay nothing, remove the line or reject the call."),
        ("-0", " is not an amount. Type digits only, for example 250.00."),
        ("Infinity", " is not an amount. Type digits only, for example 250.00."),
        ("250.000", " has 3 decimals; EUR has 2. Type for example 250.00."),
        ("250 EUR", " is not an amount. Type digits only, for example 250.00."),
        ("", " is not an amount. Type digits only, for example 250.00."),
        ("0x10", " is not an amount. Type digits only, for example 250.00."),
        ("480.01", " is more than the 480.00 EUR proposed."),
        ("999999999999", " is more than the 480.00 EUR proposed."),
    ],
)
def test_an_amount_that_cannot_be_taken_is_repeated_at_its_field(typed: str, ending: str) -> None:
    assert refused({"/lines/0/amount": typed}) == {"/lines/0/amount": f'"{typed}"{ending}'}


@pytest.mark.parametrize("typed", ["250", " 250.00 "])
def test_an_amount_typed_plainly_is_taken(typed: str) -> None:
    assert apply_edit(ARGS, {"/lines/0/amount": typed}).lines[0].amount == eur(250)


@pytest.mark.parametrize(
    ("pointer", "typed", "sentence"),
    [
        ("/account", "acc_2", "/account cannot be changed. A different value needs a new proposal."),
        ("/lines/0/payment_id", "x", "/lines/0/payment_id cannot be changed. A different value needs a new proposal."),
        (
            "/lines/0/amount/currency",
            "USD",
            "/lines/0/amount/currency cannot be changed. A different value needs a new proposal.",
        ),
        ("/tool", "x", "/tool cannot be changed. A different value needs a new proposal."),
        ("/lines/7/amount", "1", "/lines/7/amount cannot be changed. A different value needs a new proposal."),
        ("/reason", "bribe", '"bribe" is not one of duplicate, goodwill.'),
        ("/note", " ", '" " is blank. Type a text, or leave it as it was proposed.'),
        ("/note", "x" * 121, "This text has 121 characters; at most 120 are allowed."),
        ("/note", ("a", "b"), "Note takes one value, not several."),
        ("/retries", "4", '"4" is more than the 3 proposed.'),
        ("/retries", "0", '"0" is less than 1.'),
        ("/retries", "2.0", '"2.0" is not a whole number. Type digits only, for example 3.'),
        ("/retries", "true", '"true" is not a whole number. Type digits only, for example 3.'),
        ("/lines", (), "Nothing is left. To drop everything, reject the call."),
        ("/lines", ("pay_0008", "pay_9999"), '"pay_9999" was not proposed, so it cannot be kept.'),
    ],
)
def test_what_cannot_be_taken_is_refused_by_name(pointer: str, typed: str | tuple[str, ...], sentence: str) -> None:
    assert refused({pointer: typed}) == {pointer: sentence}


def test_every_wrong_input_gets_its_own_sentence() -> None:
    assert set(refused({"/lines/0/amount": "x", "/reason": "x", "/account": "x"})) == {
        "/lines/0/amount", "/reason", "/account",
    }  # fmt: skip


@pytest.mark.parametrize("typed", [{}, {"/reason": "goodwill"}, {"/lines/0/amount": "480"}])
def test_an_edit_that_changes_nothing_is_no_edit(typed: dict[str, str]) -> None:
    place = next(iter(typed), "")
    assert refused(dict(typed)) == {place: "Nothing was changed. Change a value, or approve the call as it is."}


def test_what_is_typed_into_a_dropped_line_does_not_matter() -> None:
    edited = apply_edit(ARGS, {"/lines": ("pay_0012",), "/lines/0/amount": "nonsense"})
    assert [line.payment_id for line in edited.lines] == ["pay_0012"]


def test_plain_lists_can_be_cut_down_too() -> None:
    assert apply_edit(ARGS, {"/tags": ("b",)}).tags == ["b"]


def test_long_texts_are_named_by_their_lengths() -> None:
    assert difference(ARGS, ARGS.model_copy(update={"note": "x" * 90})) == ("note: rewritten (4 -> 90 characters)",)


def test_a_bound_below_which_the_schema_refuses_holds_after_the_edit() -> None:
    class Pair(Arguments):
        ids: Annotated[list[Id], SubsetOfProposed(), Field(min_length=2)]

    with pytest.raises(EditRefused) as caught:
        apply_edit(Pair(ids=["a", "b"]), {"/ids": ("a",)})
    assert caught.value.errors == {"/ids": "/ids must have at least 2 entries; it has 1."}


@given(
    amounts=st.lists(st.integers(1, 10**8), min_size=1, max_size=6),
    typed=st.dictionaries(st.integers(0, 5), st.integers(0, 10**9) | st.text(max_size=6), max_size=4),
    kept=st.sets(st.integers(0, 7), max_size=6) | st.none(),
)
@settings(max_examples=100)
def test_an_accepted_edit_never_raises_an_amount_nor_adds_a_line(
    amounts: list[int], typed: dict[int, int | str], kept: set[int] | None
) -> None:
    lines = [Line(payment_id=f"p{at}", amount=Money(minor=minor, currency="EUR")) for at, minor in enumerate(amounts)]
    args = Refund(lines=lines, reason="goodwill")
    entered: dict[str, str | tuple[str, ...]] = {
        f"/lines/{at}/amount": text if isinstance(text, str) else f"{text // 100}.{text % 100:02d}"
        for at, text in typed.items()
    }
    if kept is not None:
        entered["/lines"] = tuple(f"p{at}" for at in sorted(kept))
    before = {line.payment_id: line.amount for line in lines}
    try:
        edited = apply_edit(args, entered)
    except EditRefused:
        return
    assert edited.lines
    assert all(line.payment_id in before and line.amount <= before[line.payment_id] for line in edited.lines)
