"""Encrypted values and marked decisions in Redis: which key each needs, and making it anew with the newest one."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from approvals import codec
from approvals.marks import marked, marked_by
from approvals.models import Decision
from approvals.room import Room
from approvals.row import Row
from approvals.sealed_rows import Fate
from approvals.vault import Binding, BlobKeyMissing, BlobTampered, key_id_of
from approvals.weekly import NUMBERS, PICTURE

#: Hashes read at a time; a call holds kilobytes.
_PAGE = 200
_OF_RUN = {"request": codec.REQUEST, "answer": codec.ANSWER}
_OF_CALL = {
    "content": codec.CALL,
    "receipt": codec.RECEIPT,
    "late_receipt": codec.RECEIPT,
    "drifted": codec.DRIFTED,
    "undo_receipt": codec.UNDO_RECEIPT,
    "undo_late_receipt": codec.UNDO_RECEIPT,
}
_OF_REPORT = {"numbers": NUMBERS, "picture": PICTURE}


class Place(NamedTuple):
    """One value: in words, where it stands (as the script `rewrap` names it), and how it is made anew.

    `key` is the public id of the key it needs; empty when it was not written here.
    """

    what: str
    kind: str
    subject: str
    place: str
    value: bytes
    key: str
    renewed: Callable[[], bytes]


def uses(room: Room) -> Counter[tuple[str, str]]:
    """How many values of which kind need which key. Reads every kept run and call, in pages, blocking nobody."""
    return Counter((one.what, one.key) for one in places(room))


def rewrap(room: Room) -> Counter[tuple[str, Fate]]:
    """Make anew what needs an older key. What changes meanwhile stays as it was written; so does a run at work."""
    return Counter((one.what, _renew(room, one)) for one in places(room))


def _renew(room: Room, one: Place) -> Fate:
    if one.key == room.vault.key_ids[0]:
        return Fate.NEWEST
    if one.key not in room.vault.key_ids:
        return Fate.UNREADABLE
    try:
        after = one.renewed()
    except (BlobTampered, BlobKeyMissing):  # whoever reads it tells ops
        return Fate.UNREADABLE
    return Fate.RENEWED if room.ask("rewrap", one.kind, one.subject, one.place, one.value, after).ok else Fate.LEFT


def places(room: Room) -> Iterator[Place]:
    """Every encrypted value and every decision of one tenant, except events on their way to the ledger."""
    readers = {("run",): _run, ("run", "saved"): _saved, ("call",): _call, ("report",): _report}
    names = iter(sorted({tuple(key.decode().removeprefix(room.keys.prefix).split(":")) for key in _scan(room)}))
    while page := list(islice(names, _PAGE)):
        kinds = [(name[0], *name[2:]) for name in page]
        with room.client.pipeline(transaction=False) as pipe:
            for name, kind in zip(page, kinds, strict=True):
                key = room.keys.prefix + ":".join(name)
                _ = pipe.hgetall(key) if kind in readers else pipe.lrange(key, 0, -1)
            values = pipe.execute()
        for name, kind, value in zip(page, kinds, values, strict=True):
            yield from readers[kind](room, name[1], Row(value)) if kind in readers else _decisions(room, name[1], value)


def _scan(room: Room) -> Iterator[bytes]:
    wanted = {("run",), ("run", "saved"), ("call",), ("call", "decisions"), ("report",)}
    for key in room.client.scan_iter(match=f"{room.keys.prefix}*", count=2_000):
        first, *rest = key.decode().removeprefix(room.keys.prefix).split(":")
        if rest and (first, *rest[1:]) in wanted:
            yield key


def _run(room: Room, run: str, row: Row) -> Iterator[Place]:
    for field, kind in _OF_RUN.items():
        yield from _sealed(room, "requests and answers", ("run", run, field), row, Binding(room.tenant, kind, run, 0))


def _saved(room: Room, run: str, row: Row) -> Iterator[Place]:
    place = Binding(room.tenant, codec.STATE, run, row.number("revision"))
    yield from _sealed(room, "states of runs", ("saved", run, "blob"), row, place)


def _call(room: Room, call: str, row: Row) -> Iterator[Place]:
    for field, kind in _OF_CALL.items():
        version = row.number("late_version" if field == "late_receipt" else "version")
        place = Binding(room.tenant, kind, call, version, row.text("run"))
        yield from _sealed(room, "calls", ("call", call, field), row, place)
    counts_later = row.blob("edit_approval")  # an editor's own yes, until their edit was checked
    if counts_later is not None:
        yield from _marked(room, ("call", call, "edit_approval"), counts_later, (b"", counts_later))


def _report(room: Room, week: str, row: Row) -> Iterator[Place]:
    for field, kind in _OF_REPORT.items():
        yield from _sealed(room, "weekly reports", ("report", week, field), row, Binding(room.tenant, kind, week, 0))


def _sealed(room: Room, what: str, where: tuple[str, str, str], row: Row, binding: Binding) -> Iterator[Place]:
    value = row.blob(where[2])
    if value is not None:
        yield Place(what, *where, value, key_id_of(value), partial(room.vault.renewed, value, binding))


def _decisions(room: Room, call: str, entries: list[Any]) -> Iterator[Place]:
    for index, entry in enumerate(entries):
        at, space, word = entry.partition(b" ")
        yield from _marked(room, ("decisions", call, str(index)), entry, (at + space, word))


def _marked(room: Room, where: tuple[str, str, str], value: bytes, parts: tuple[bytes, bytes]) -> Iterator[Place]:
    """The mark of a decision. One that was not taken here is none, and nobody waits for its key."""
    start, word = parts
    try:
        found = Decision.model_validate_json(word)
    except ValueError:  # whoever wrote that had no key
        return
    key = marked_by(room.vault, room.tenant, found)
    if key:
        yield Place("decisions", *where, value, key, partial(_marked_anew, room, start, found))


def _marked_anew(room: Room, start: bytes, found: Decision) -> bytes:
    return start + marked(room.vault, room.tenant, found).model_dump_json().encode()
