"""What waits for a reviewer, by deadline. A page costs what it shows, however much waits.

The scripts keep every batch that can be decided in one group, named by the tiers that its open calls ask, and in a
second one for each reviewer who has approved all of them (`scripts/_inbox.lua`). Which groups a person may decide, the
law says; here they are merged, a page at a time, without what the person asked for or has answered.
"""

import heapq
from collections.abc import Iterator, Sequence
from hashlib import sha1
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import unquote

from approvals.room import Room

#: Batches read from one group at once.
_CHUNK = 50
#: Batches looked at for one page, at most: own ones, and those that wait for somebody else's answer, are passed over.
_WINDOW = 500
#: So many calls somebody decided last are shown.
LATELY = 20
#: What a menu offers: the names under which most waits.
MENU = 90
#: Above every id of a batch.
_LAST = "\x7f"


class Group(NamedTuple):
    """Batches that ask the same tiers; `late`: the tiers that follow them may decide too."""

    name: str
    tiers: tuple[str, ...]
    late: bool


class Choice(NamedTuple):
    """Which of them to show: of one blast radius (as `digest` writes it), of one requester, due until an instant."""

    radius: str = ""
    requester: str = ""
    until: int | None = None


EVERYTHING = Choice()


class Cursor(NamedTuple):
    """A batch, and until when it can be decided (ms): they stand in this order."""

    at: int
    batch: str


class Slice(NamedTuple):
    """Some batches in their order. `further`: where reading goes on in the direction that was read; None at the end."""

    batches: tuple[Cursor, ...]
    further: Cursor | None


class Menu(NamedTuple):
    """What there is to choose from, that under which most waits first."""

    radii: tuple[str, ...]
    requesters: tuple[str, ...]


class Reader(NamedTuple):
    """Whose inbox it is; `own`: also what they asked for themselves (a development switch)."""

    user: str
    groups: tuple[Group, ...]
    own: bool = False


def digest(radius: str) -> str:
    """What stands for a blast radius, which is free text, in keys and controls."""
    return sha1(radius.encode(), usedforsecurity=False).hexdigest()


class Inbox(Room):
    """Reads the groups; only the scripts of the verbs write them."""

    __slots__ = ()

    def groups(self) -> list[Group]:
        """All in which something waits."""
        found: list[Any] = self.client.zrange(self.keys.inbox_groups, 0, -1)
        return [group_named(name.decode()) for name in found]

    def count(self, reader: Reader, choice: Choice = EVERYTHING) -> int:
        """How many batches wait for this person."""
        now, until = self.now(), "+inf" if choice.until is None else choice.until
        theirs, others = self._lists(reader, choice)
        with self.client.pipeline(transaction=False) as pipe:
            for key in (*theirs, *others):
                pipe.zcount(key, f"({now}", until)
            found: list[int] = pipe.execute()
        return max(0, sum(found[: len(theirs)]) - sum(found[len(theirs) :]))

    def since(self, reader: Reader, choice: Choice, place: Cursor | None, most: int) -> Slice:
        """The batches from a place on, this one included; without a place, the most urgent ones."""
        start = max(place or Cursor(0, ""), Cursor(self.now(), _LAST))
        walks = [self._walk(key, start.at, choice.until) for key in self._lists(reader, choice)[0]]
        passed = (one for one in heapq.merge(*walks) if one >= start)
        return self._slice(passed, self._lists(reader, choice)[1], most)

    def before(self, reader: Reader, choice: Choice, place: Cursor, most: int) -> Slice:
        """The batches right before a place, in their order."""
        now = self.now()
        walks = [self._walk(key, place.at, now, back=True) for key in self._lists(reader, choice)[0]]
        passed = (one for one in heapq.merge(*walks, reverse=True) if now < one.at and one < place)
        found = self._slice(passed, self._lists(reader, choice)[1], most)
        return found._replace(batches=found.batches[::-1])

    def menu(self, reader: Reader) -> Menu:
        """What the filters offer this person."""
        radii: dict[str, float] = {}
        requesters: dict[str, float] = {}
        with self.client.pipeline(transaction=False) as pipe:
            for group in reader.groups:
                pipe.zrevrange(self.keys.inbox_radii(group.name), 0, MENU - 1, withscores=True)
                pipe.zrevrange(self.keys.inbox_requesters(group.name), 0, MENU - 1, withscores=True)
            found = pipe.execute()
        for counts, replies in ((radii, found[::2]), (requesters, found[1::2])):
            for name, number in (entry for reply in replies for entry in reply):
                counts[name.decode()] = counts.get(name.decode(), 0) + number
        if not reader.own:
            requesters.pop(reader.user, None)
        return Menu(_greatest(radii), _greatest(requesters))

    def decided(self, user: str) -> list[str]:
        """The last calls this person decided, the latest first."""
        found: list[Any] = self.client.zrevrange(self.keys.decided(user), 0, LATELY - 1)
        return [key.decode() for key in found]

    def _lists(self, reader: Reader, choice: Choice) -> tuple[list[str], list[str]]:
        """Where this person's batches stand, and where those of them stand that are not for this person to decide."""
        names = [group.name for group in reader.groups]
        chosen = f"{choice.radius}.{choice.requester}"
        others = [self.keys.inbox(f"answered:{reader.user}", chosen)]
        if not reader.own and choice.requester in {"", reader.user}:
            others += [self.keys.inbox(name, f"{choice.radius}.{reader.user}") for name in names]
        return [self.keys.inbox(name, chosen) for name in names], others

    def _slice(self, passed: Iterator[Cursor], others: Sequence[str], most: int) -> Slice:
        kept: list[Cursor] = []
        for _ in range(_WINDOW // (most + 1)):
            seen = list(islice(passed, most + 1))
            elsewhere = self._standing_in(others, [one.batch for one in seen])
            kept += [one for one in seen if one.batch not in elsewhere]
            if len(kept) > most:
                return Slice(tuple(kept[:most]), kept[most])
            if not seen:
                return Slice(tuple(kept), None)
        return Slice(tuple(kept), seen[-1])

    def _walk(self, key: str, start: int, end: int | None, *, back: bool = False) -> Iterator[Cursor]:
        """One list from an instant on, or back from it; read as far as somebody looks."""
        last = "+inf" if end is None else end
        for offset in range(0, 1 << 40, _CHUNK):
            found: list[Any] = self.client.zrange(
                key, start, last, desc=back, byscore=True, offset=offset, num=_CHUNK, withscores=True
            )
            yield from (Cursor(int(at), batch.decode()) for batch, at in found)
            if len(found) < _CHUNK:
                return

    def _standing_in(self, keys: Sequence[str], batches: Sequence[str]) -> set[str]:
        if not batches:
            return set()
        with self.client.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.zmscore(key, list(batches))
            found = pipe.execute()
        return {batch for scores in found for batch, score in zip(batches, scores, strict=True) if score is not None}


def group_named(name: str) -> Group:
    """A group from its name: `of:billing,ops_leads`, after escalation `late:billing`."""
    kind, _, tiers = name.partition(":")
    return Group(name, tuple(map(unquote, tiers.split(","))), kind == "late")


def _greatest(counts: dict[str, float]) -> tuple[str, ...]:
    return tuple(sorted(counts, key=lambda name: (-counts[name], name))[:MENU])
