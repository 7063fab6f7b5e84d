"""What a claim reserves: amounts by cap and key, counted per call so that taking and giving back are idempotent."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from approvals.keys import Keys
from approvals.room import Room
from policies.money import CurrencyMixed
from policies.requirement import Requirement


class Reservation(NamedTuple):
    """An amount to take: `place` is the cap's key in the store, `minor` and `limit` are minor units."""

    place: str
    minor: int
    limit: int
    cap: str
    key: str

    @property
    def currency(self) -> str:
        """The currency of the amount, which its place names."""
        return self.place.split(":")[-3]


class Caps(Room):
    """What is held of caps by now; written by the claim and given back by whatever undoes it."""

    __slots__ = ()

    def held(
        self, requirements: Iterable[Requirement], *, run: str, without: str = ""
    ) -> dict[tuple[str, str, str], int]:
        """Minor units by (cap, currency, key) for everything these requirements would spend from.

        `without` is a call whose own reservation is left out.
        """
        day = datetime.fromtimestamp(self.now() / 1000, UTC).date().isoformat()
        takes = {
            (take.cap, take.currency, take.key): take.place
            for need in requirements
            for take in reservations(self.keys, need, run=run, day=day)
        }

        def queue(pipe: Any) -> None:
            for place in takes.values():
                pipe.hgetall(place)

        rows = self.together(queue) if takes else []
        own = without.encode()
        sums = (sum(int(minor) for call, minor in row.items() if call != own) for row in rows)
        return dict(zip(takes, sums, strict=True))


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
