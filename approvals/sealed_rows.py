"""Encrypted columns in SQL: which key each row needs, and sealing it anew with the newest one."""

import base64
import binascii
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Engine, FromClause, LargeBinary, Text, func, select, tuple_, update

from approvals.vault import Binding, BlobKeyMissing, BlobTampered, Vault, key_id_of

#: Rows read at a time; a recorded call holds kilobytes.
_PAGE = 200
#: Of a blob, and of its base64, what holds the key's id.
_HEAD_BYTES, _HEAD_CHARACTERS = 5, 8


class Fate(StrEnum):
    """What sealing anew did to one value."""

    RENEWED = "renewed"  # it needed an older key, and needs the newest now
    NEWEST = "newest"  # it needed the newest already
    LEFT = "left"  # it changed meanwhile, or somebody is at it; the next time finds it
    UNREADABLE = "unreadable"  # no configured key opens it, or it was changed


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """`ident` names the columns of the primary key, `binding` says where a row's value belongs; `what` is for people.

    The value is bytes, or with `text` their base64.
    """

    what: str
    table: FromClause
    ident: tuple[str, ...]
    name: str
    binding: Callable[[Any], Binding]
    text: bool = False

    def uses(self, engine: Engine) -> Counter[str]:
        """How many rows need which key, by its public id; empty for what is no blob."""
        column = self.table.c[self.name]
        kind, length = (Text, _HEAD_CHARACTERS) if self.text else (LargeBinary, _HEAD_BYTES)
        head = func.substr(column, 1, length, type_=kind)
        found: Counter[str] = Counter()
        with engine.connect() as connection:
            for start, number in connection.execute(
                select(head, func.count()).where(column.is_not(None)).group_by(head)
            ):
                found[key_id_of(self._bytes(start))] += number
        return found

    def rewrap(self, engine: Engine, vault: Vault) -> Counter[Fate]:
        """Seal anew what needs an older key. A row that somebody wrote meanwhile stays as they wrote it."""
        found: Counter[Fate] = Counter()
        for row in self._rows(engine):
            found[self._renew(engine, vault, row)] += 1
        return found

    def _renew(self, engine: Engine, vault: Vault, row: Any) -> Fate:
        before = getattr(row, self.name)
        blob = self._bytes(before)
        if key_id_of(blob) == vault.key_ids[0]:
            return Fate.NEWEST
        try:
            renewed = vault.renewed(blob, self.binding(row))
        except (BlobKeyMissing, BlobTampered):
            return Fate.UNREADABLE
        after = base64.b64encode(renewed).decode() if self.text else renewed
        same = [self.table.c[name] == getattr(row, name) for name in self.ident]
        change = update(self.table).where(*same, self.table.c[self.name] == before)  # type: ignore[arg-type]
        with engine.begin() as connection:
            done = connection.execute(change.values({self.name: after})).rowcount
        return Fate.RENEWED if done else Fate.LEFT

    def _rows(self, engine: Engine) -> Iterator[Any]:
        ident = [self.table.c[name] for name in self.ident]
        column = self.table.c[self.name]
        query = select(*ident, column).where(column.is_not(None)).order_by(*ident).limit(_PAGE)
        page = query
        while True:
            with engine.connect() as connection:
                rows = connection.execute(page).all()
            yield from rows
            if len(rows) < _PAGE:
                return
            page = query.where(tuple_(*ident) > tuple(getattr(rows[-1], name) for name in self.ident))

    def _bytes(self, stored: Any) -> bytes:
        if not self.text:
            return bytes(stored)
        try:
            return base64.b64decode(stored)
        except (binascii.Error, ValueError):
            return b""
