"""What a claim reserves: amounts by cap and key, counted per call so that taking and giving back are idempotent."""

from collections.abc import Iterable, Iterator, Mapping
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


class Held(Mapping[tuple[str, str, str], int]):
    """Minor units that other calls hold, by cap, currency and key. Notes in `read`, by place, what was looked at.

    What a judgement rests on must still be so when its call is claimed, and what it did not look at need not.
    """

    __slots__ = ("_found", "_read")

    def __init__(self, found: Mapping[tuple[str, str, str], tuple[str, int]], read: dict[str, int]) -> None:
        self._found, self._read = found, read

    def __getitem__(self, wanted: tuple[str, str, str]) -> int:
        place, minor = self._found[wanted]
        self._read[place] = minor
        return minor

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


class Caps(Room):
    """What is held of caps by now; written by the claim and given back by whatever undoes it."""

    __slots__ = ()

    def held(
        self, requirements: Iterable[Requirement], *, run: str, without: str = "", read: dict[str, int] | None = None
    ) -> Held:
        """What is held of everything these requirements would spend from.

        `without` is a call whose own reservation is left out. What is looked at of the answer goes into `read`; a place
        that it names already, of an earlier judgement of the same call, is held as it was then.
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
        then = {} if read is None else read
        found = {of: (place, then.get(place, minor)) for (of, place), minor in zip(takes.items(), sums, strict=True)}
        return Held(found, then)


def is_over(place: str, day: str) -> bool:
    """Whether this place counts for another day than this one, so that nothing is taken from it any more."""
    window = place.rpartition(":")[2]
    return window.startswith("day-") and window != f"day-{day}"


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
