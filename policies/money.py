"""Money as integer minor units and an ISO 4217 currency; typed text is read strictly or refused."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Self

from babel.numbers import list_currencies
from pydantic import BaseModel, ConfigDict, Field, field_validator

from policies.plain_text import quoted

#: Decimals of ISO 4217 where they are not two. Babel's numbers are CLDR's, which drops decimals that are out of use
#: in cash (ALL, IQD, RSD and others): a hundred times too much where a provider counts them.
_DECIMALS = {
    **dict.fromkeys(("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF"), 0),
    **dict.fromkeys(("UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
    **dict.fromkeys(("CLF", "UYW"), 4),
}

#: Minor units: so many, or more, are no amount that anybody pays in one call.
MONEY_ENDS = 10**15

_TYPED = re.compile(r"(?P<units>[0-9]{1,12})(?:\.(?P<fraction>[0-9]+))?")


class MoneyRefused(ValueError):
    """What was typed is not an amount of this currency; the text says what would be."""


class CurrencyMixed(TypeError):
    """Amounts of two currencies met in one sum; the text names both."""


class Money(BaseModel):
    """An amount, never negative: `minor` counts the currency's smallest unit (99.00 EUR is 9900)."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    minor: int = Field(ge=0, lt=MONEY_ENDS)
    currency: str = Field(pattern=r"^[A-Z]{3}$")

    @field_validator("currency")
    @classmethod
    def _currency_exists(cls, currency: str) -> str:
        if currency not in _currencies():
            raise ValueError(f"{currency} is not an ISO 4217 currency")
        return currency

    @classmethod
    def typed(cls, text: str, currency: str) -> Self:
        """Read an amount as a person typed it: digits, and exactly the currency's decimals or none.

        Raises:
            MoneyRefused: for anything that two people could read differently (`4.120`, `250,00`, `1e2`).
        """
        digits = decimals(currency)
        example = f"250.{'0' * digits}" if digits else "250"
        stripped = text.strip(" ")
        match = _TYPED.fullmatch(stripped) if stripped.isascii() else None
        if match is None:
            raise MoneyRefused(f"{quoted(text)} is not an amount. Type digits only, for example {example}.")
        fraction = match["fraction"] or ""
        if fraction and len(fraction) != digits:
            raise MoneyRefused(
                f"{quoted(text)} has {len(fraction)} decimals; {currency} has {digits or 'none'}."
                f" Type for example {example}."
            )
        minor = int(match["units"] + (fraction or "0" * digits))
        if minor == 0:
            raise MoneyRefused(f"{quoted(text)} is nothing. To pay nothing, remove the line or reject the call.")
        if minor >= MONEY_ENDS:
            most = cls(minor=MONEY_ENDS - 1, currency=currency).plain
            raise MoneyRefused(f"{quoted(text)} is more than any amount of {currency} here; the most is {most}.")
        return cls(minor=minor, currency=currency)

    @property
    def plain(self) -> str:
        """The amount as it is typed: `4120.00`, without currency or grouping."""
        digits = decimals(self.currency)
        if digits == 0:
            return str(self.minor)
        whole, fraction = divmod(self.minor, 10**digits)
        return f"{whole}.{fraction:0{digits}d}"

    def __str__(self) -> str:
        """The amount as it is shown: `4,120.00 EUR`."""
        whole, dot, fraction = self.plain.partition(".")
        return f"{int(whole):,}{dot}{fraction} {self.currency}"

    def _same(self, other: Self) -> None:
        if self.currency != other.currency:
            raise CurrencyMixed(f"{self.currency} and {other.currency} cannot be added or compared.")

    def __add__(self, other: Self) -> Self:
        self._same(other)
        return type(self)(minor=self.minor + other.minor, currency=self.currency)

    def __le__(self, other: Self) -> bool:
        self._same(other)
        return self.minor <= other.minor

    def __lt__(self, other: Self) -> bool:
        self._same(other)
        return self.minor < other.minor

    def __gt__(self, other: Self) -> bool:
        return not self <= other

    def __ge__(self, other: Self) -> bool:
        return not self < other


def decimals(currency: str) -> int:
    """How many decimals ISO 4217 gives a currency: EUR 2, JPY 0, KWD 3."""
    return _DECIMALS.get(currency, 2)


@cache
def _currencies() -> frozenset[str]:
    metals_funds_and_tests = {"XAU", "XAG", "XPT", "XPD", "XDR", "XSU", "XUA", "XTS", "XXX"}
    return frozenset(list_currencies()) - metals_funds_and_tests


def zero(currency: str) -> Money:
    """Nothing, in this currency."""
    return Money(minor=0, currency=currency)


def eur(units: int) -> Money:
    """Whole euros, for limits in rules."""
    return Money(minor=units * 100, currency="EUR")


def total(amounts: Iterable[Money]) -> Money:
    """The sum of at least one amount of one currency.

    Raises:
        ValueError: there is no amount, so nobody knows the currency; use `zero(currency)` for nothing.
        CurrencyMixed: there are two currencies.
    """
    first, *others = amounts
    for amount in others:
        first += amount
    return first
