"""Numbers and money in the planner's sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

from policies.money import Money, total


def counted(number: int, one: str) -> str:
    """`1 payment`, `38 payments`."""
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def money(found: Mapping[str, Any]) -> Money:
    """An amount as a tool's arguments and results write it."""
    return Money(minor=int(found["minor"]), currency=str(found["currency"]))


def sums(amounts: Sequence[Money]) -> str:
    """One sum for each currency, `nothing` when there is no amount."""
    currencies = sorted({amount.currency for amount in amounts})
    found = [total(amount for amount in amounts if amount.currency == currency) for currency in currencies]
    return " and ".join(str(amount) for amount in found) or "nothing"
