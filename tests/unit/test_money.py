"""Money is read as one person would mean it, or not at all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from policies.money import CurrencyMixed, Money, MoneyRefused, decimals, eur, total, zero


@pytest.mark.parametrize(
    ("typed", "currency", "minor"),
    [
        ("250", "EUR", 25000),
        (" 250.00 ", "EUR", 25000),
        ("19.99", "EUR", 1999),
        ("1.15", "EUR", 115),
        ("0.01", "EUR", 1),
        ("500", "JPY", 500),
        ("12.345", "KWD", 12345),
        ("999999999999.99", "EUR", 99999999999999),
    ],
)
def test_plain_digits_are_an_amount(typed: str, currency: str, minor: int) -> None:
    assert Money.typed(typed, currency) == Money(minor=minor, currency=currency)


@pytest.mark.parametrize(
    "typed",
    [
        "4,120.00", "4.120,00", "250,00", "1_000", "\uff12\uff15\uff10", "\u0662\u0665\u0660", "+250", "-0",
        "-5.00", "Infinity", "NaN", "1e2",
        "1e400", "250 EUR", "€250", "", " ", "0x10", ".5", "5.", "1 000", "250\u00a0", "2\u200b50", "1" * 13,
    ],
)  # fmt: skip
def test_what_two_people_could_read_differently_is_refused_and_repeated(typed: str) -> None:
    with pytest.raises(MoneyRefused) as refused:
        Money.typed(typed, "EUR")
    assert str(refused.value).endswith("is not an amount. Type digits only, for example 250.00.")
    assert typed.replace("\u200b", "\\u{200b}") in str(refused.value)


@pytest.mark.parametrize(
    ("typed", "currency", "sentence"),
    [
        ("1.250", "EUR", '"1.250" has 3 decimals; EUR has 2. Type for example 250.00.'),
        ("4.120", "EUR", '"4.120" has 3 decimals; EUR has 2. Type for example 250.00.'),
        ("2.675", "EUR", '"2.675" has 3 decimals; EUR has 2. Type for example 250.00.'),
        ("12.34", "JPY", '"12.34" has 2 decimals; JPY has none. Type for example 250.'),
        ("12.34", "KWD", '"12.34" has 2 decimals; KWD has 3. Type for example 250.000.'),
        ("0", "EUR", '"0" is nothing. To pay nothing, remove the line or reject the call.'),
        ("0.00", "EUR", '"0.00" is nothing. To pay nothing, remove the line or reject the call.'),
        (
            "999999999999",
            "CLF",
            '"999999999999" is more than any amount of CLF here; the most is 99999999999.9999.',
        ),
        (
            "100000000000.0000",
            "UYW",
            '"100000000000.0000" is more than any amount of UYW here; the most is 99999999999.9999.',
        ),
    ],
)
def test_wrong_decimals_and_nothing_are_refused_with_what_to_type(typed: str, currency: str, sentence: str) -> None:
    with pytest.raises(MoneyRefused) as refused:
        Money.typed(typed, currency)
    assert str(refused.value) == sentence


@given(
    digits=st.text("0123456789", min_size=1, max_size=14),
    decimals=st.text("0123456789", max_size=6),
    currency=st.sampled_from(["EUR", "JPY", "KWD", "CLF"]),
)
@settings(max_examples=200)
def test_digits_are_an_amount_or_refused_and_never_an_error(digits: str, decimals: str, currency: str) -> None:
    typed = f"{digits}.{decimals}" if decimals else digits
    try:
        assert Money.typed(typed, currency).currency == currency
    except MoneyRefused as refused:
        assert typed in str(refused)  # noqa: PT017 - either is right


@pytest.mark.parametrize(("currency", "most"), [("EUR", "999999999999.99"), ("CLF", "99999999999.9999")])
def test_the_largest_amount_that_a_refusal_names_is_taken(currency: str, most: str) -> None:
    assert Money.typed(most, currency).plain == most


@given(minor=st.integers(1, 10**14 - 1), currency=st.sampled_from(["EUR", "JPY", "KWD", "ALL", "CLF"]))
@settings(max_examples=100)
def test_what_is_shown_for_editing_reads_back_as_the_same_amount(minor: int, currency: str) -> None:
    amount = Money(minor=minor, currency=currency)
    if len(amount.plain.partition(".")[0]) <= 12:
        assert Money.typed(amount.plain, currency) == amount


def test_decimals_are_those_of_iso_4217_where_cash_habits_differ() -> None:
    assert [decimals(currency) for currency in ("EUR", "JPY", "KWD", "ALL", "RSD", "IQD", "UYW")] == [
        2,
        0,
        3,
        2,
        2,
        3,
        4,
    ]


def test_amounts_are_shown_grouped_with_their_currency() -> None:
    assert str(eur(4120)) == "4,120.00 EUR"
    assert str(Money(minor=5, currency="EUR")) == "0.05 EUR"
    assert str(Money(minor=10399, currency="JPY")) == "10,399 JPY"


@pytest.mark.parametrize("minor", [True, "5", 5.0, -1, 10**15])
def test_minor_units_are_a_whole_number_in_range_and_nothing_else(minor: object) -> None:
    with pytest.raises(ValidationError):
        Money.model_validate({"minor": minor, "currency": "EUR"})


@pytest.mark.parametrize("currency", ["eur", "EURO", "QQQ", "XAU", ""])
def test_currencies_nobody_pays_in_are_refused(currency: str) -> None:
    with pytest.raises(ValidationError):
        Money.model_validate({"minor": 1, "currency": currency})


def test_amounts_of_one_currency_add_up_and_compare() -> None:
    assert total([eur(1), eur(2), eur(3)]) == eur(6)
    assert (eur(1) < eur(2), eur(2) <= eur(2), eur(3) > eur(2), eur(2) >= eur(3)) == (True, True, True, False)
    assert zero("EUR") + eur(1) == eur(1)


def test_currencies_never_meet_in_one_sum() -> None:
    yen = Money(minor=1, currency="JPY")
    with pytest.raises(CurrencyMixed, match="EUR and JPY cannot be added or compared"):
        total([eur(1), yen])
    with pytest.raises(CurrencyMixed):
        _ = yen > eur(1)
    with pytest.raises(ValueError, match="not enough values"):
        total([])
