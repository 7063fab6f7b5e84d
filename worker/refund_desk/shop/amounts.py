"""Amounts in files, read in one declared style; what could be read in two ways is refused."""

import re
from enum import StrEnum

from policies.money import Money, MoneyRefused

_GERMAN = re.compile(r"(?P<units>[0-9]{1,3}(?:\.[0-9]{3})*|[0-9]+)(?:,(?P<fraction>[0-9]+))?")


class Style(StrEnum):
    """How a file writes numbers and separates its columns."""

    #: `4120.00`, columns separated by commas.
    PLAIN = "plain"
    #: `4.120,00`, columns separated by semicolons.
    GERMAN = "german"


def read_amount(text: str, currency: str, style: Style) -> Money:
    """An amount as a file of this style writes it.

    Raises:
        MoneyRefused: it is not one; the text says what was found and which style was expected.
    """
    if style is Style.PLAIN:
        return Money.typed(text, currency)
    match = _GERMAN.fullmatch(text)
    if match is None:
        raise MoneyRefused(f'"{text}" is not an amount as a German file writes it, for example 4.120,00.')
    fraction = match["fraction"]
    plain = match["units"].replace(".", "")
    return Money.typed(plain if fraction is None else f"{plain}.{fraction}", currency)
