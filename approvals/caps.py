"""What a claim reserves: amounts by cap and key, counted per call so that taking and giving back are idempotent."""

from collections.abc import Iterator
from typing import NamedTuple

from approvals.keys import Keys
from policies.money import CurrencyMixed
from policies.requirement import Requirement


class Reservation(NamedTuple):
    """An amount to take: `place` is the cap's key in the store, `minor` and `limit` are minor units."""

    place: str
    minor: int
    limit: int
    cap: str
    key: str


def reservations(keys: Keys, requirement: Requirement, *, run: str, day: str) -> Iterator[Reservation]:
    """What a call takes. A cap named twice is taken once, with both amounts under the lower limit.

    Raises:
        CurrencyMixed: an amount and its limit have two currencies.
    """
    merged: dict[str, Reservation] = {}
    for spending in requirement.spends:
        window = f"day-{day}" if spending.window == "day" else f"run-{run}"
        for key, amount in spending.amounts.items():
            if amount.currency != spending.limit.currency:
                raise CurrencyMixed(f"The cap {spending.cap} limits {spending.limit} and is asked for {amount}.")
            place = keys.cap(spending.cap, amount.currency, key, window)
            before = merged.get(place)
            minor = amount.minor + (before.minor if before else 0)
            limit = min(spending.limit.minor, before.limit) if before else spending.limit.minor
            merged[place] = Reservation(place, minor, limit, spending.cap, key)
    yield from merged.values()
