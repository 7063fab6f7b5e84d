"""Calls that hurt the same thing are reviewed together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

#: Calls on one card: more than a person reads with care.
CALLS_PER_CARD = 8


@dataclass(frozen=True, slots=True)
class Group:
    """Calls of one blast radius that share a card, in the order they were proposed."""

    radius: str
    keys: tuple[str, ...]


def group(calls: Sequence[tuple[str, str]], *, limit: int = CALLS_PER_CARD) -> tuple[Group, ...]:
    """Split (call key, blast radius) pairs into groups of at most `limit` calls, never of two radii.

    Groups come in the order in which their radius was first seen, so the same calls always make the same cards.
    """
    by_radius: dict[str, list[str]] = {}
    for key, radius in calls:
        by_radius.setdefault(radius, []).append(key)
    return tuple(_groups(by_radius, limit))


def _groups(by_radius: dict[str, list[str]], limit: int) -> Iterator[Group]:
    for radius, keys in by_radius.items():
        for start in range(0, len(keys), limit):
            yield Group(radius, tuple(keys[start : start + limit]))
