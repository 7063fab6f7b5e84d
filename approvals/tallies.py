"""How much of what there is, read in one step whose cost does not grow with what is pending."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from approvals.ledger_stream import server_of
from approvals.room import Room, milliseconds

#: Blast radii told by name; a rule that makes a radius of its own for each call must not make a series of each.
RADII = 20
OTHER = "other"
LONGEST_RADIUS = 80


class Event(NamedTuple):
    """What the ledger's events are counted by. `by` is `policy` where the law itself decided, else empty."""

    kind: str
    cause: str
    by: str


class Reading(NamedTuple):
    """The tallies at one instant. Durations are milliseconds of the store's clock, 0 when nothing waits.

    `took` are measured durations by name and bucket (`more`: longer than the longest; `sum`: all of them).
    """

    events: Counter[Event]
    states: Counter[str]
    took: dict[str, Counter[str]]
    interruptions: int
    pending: Counter[str]
    oldest_pending_ms: int
    relay_lag_ms: int
    deadline_lag_ms: int
    ledger_lag_ms: int
    undrained: int
    wakeups: int
    dead_letters: int
    frozen: bool


class Tallies(Room):
    """Written by the script of every verb, so they neither lose nor double what happened; any process may read them."""

    __slots__ = ()

    def read(self) -> Reading:
        """Everything at once."""
        keys = self.keys

        def queue(pipe: Any) -> None:
            pipe.time()
            pipe.hgetall(keys.tallies)
            pipe.zrevrange(keys.pending, 0, RADII - 1, withscores=True)
            for name in (keys.waiting, keys.owed, keys.deadlines):
                pipe.zrange(name, 0, 0, withscores=True)
            pipe.xrange(keys.ledger, count=1)
            pipe.xlen(keys.ledger)
            pipe.zcard(keys.wakeups)
            pipe.scard(keys.dead_letters)
            pipe.exists(keys.frozen)
            pipe.hget(keys.vouched, "server")
            pipe.hget(keys.switches, "installed")
            pipe.info("server")
            pipe.info("replication")

        time, fields, pending, waiting, owed, due, event, undrained, wakeups, dead, frozen, vouched, app, *server = (
            self.together(queue)
        )
        now = milliseconds(time)
        counted = {name.decode(): int(value) for name, value in fields.items()}
        states = Counter({name: number for (name,), number in _parts(counted, "state")})
        return Reading(
            events=Counter({Event(*name): number for name, number in _parts(counted, "event")}),
            states=states,
            took=_took(counted),
            interruptions=counted.get("interruptions", 0),
            pending=_with_others(pending, states["pending_review"]),
            oldest_pending_ms=_since(waiting, now),
            relay_lag_ms=0 if app == b"0" else _since(owed, now),  # Slack takes nothing without the app
            deadline_lag_ms=_since(due, now),
            ledger_lag_ms=max(0, now - int(event[0][0].partition(b"-")[0])) if event else 0,
            undrained=undrained,
            wakeups=wakeups,
            dead_letters=dead,
            frozen=bool(frozen) or vouched != server_of(*server).encode(),
        )


def _parts(counted: dict[str, int], kind: str) -> Iterator[tuple[tuple[str, ...], int]]:
    for name, number in counted.items():
        first, *rest = name.split(":")
        if first == kind:
            yield tuple(rest), number


def _took(counted: dict[str, int]) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for (name, bucket), number in _parts(counted, "took"):
        found.setdefault(name, Counter())[bucket] = number
    return found


def _with_others(pending: list[tuple[bytes, float]], total: int) -> Counter[str]:
    named: Counter[str] = Counter()
    for radius, number in pending:
        named[radius.decode()[:LONGEST_RADIUS]] += int(number)
    named[OTHER] += max(0, total - named.total())
    return +named


def _since(first: list[tuple[bytes, float]], now: int) -> int:
    """How long ago the first of a sorted set of instants was."""
    return max(0, now - int(first[0][1])) if first else 0
