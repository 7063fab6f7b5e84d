"""Forgetting personal values: which ones are somebody's, and that they go together or not at all."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, delete, select

from approvals.databases import long, snapshot
from approvals.ledger_tables import PERSONAL
from approvals.sought import Sought

#: Databases take only so many values in one condition.
_AT_ONCE = 500
#: Rows that are held in memory at once.
_PAGE = 1_000


def erase(engine: Engine, tenant: str, *, person: str | None, before: int | None) -> int:
    """Delete the values of a person, or those older than an instant (ms), or both at once; returns how many.

    All values are read for a person, since no database can tell how JSON or another alphabet spells one. Whoever writes
    waits only while those that came meanwhile are read, and the deletion.
    """
    meant = [PERSONAL.c.tenant == tenant, *([PERSONAL.c.at < before] if before is not None else [])]
    if not person:
        with long(engine).begin() as connection:
            return connection.execute(delete(PERSONAL).where(*meant)).rowcount
    with snapshot(engine).connect() as connection:
        found, last = _of(connection, person, meant)
    with long(engine).begin() as connection:
        since, _ = _of(connection, person, [*meant, PERSONAL.c.seq > last])
        gone = [*found, *since]
        return sum(
            connection.execute(
                delete(PERSONAL).where(PERSONAL.c.tenant == tenant, PERSONAL.c.hash.in_(gone[start : start + _AT_ONCE]))
            ).rowcount
            for start in range(0, len(gone), _AT_ONCE)
        )


def _of(connection: Connection, person: str, meant: list[ColumnElement[bool]]) -> tuple[list[str], int]:
    """The hashes of a person's values, and the highest number of a row that was looked at."""
    sought, found, last = Sought(person), list[str](), 0
    for row in _rows(connection, meant):
        last = max(last, row.seq)
        whole = sought.is_all_of(row.value)
        if row.subject == person or whole or (row.kind != "name" and sought.within(row.value)):
            found.append(row.hash)
    return found, last


def _rows(connection: Connection, meant: list[ColumnElement[bool]]) -> Iterator[Any]:
    columns = (PERSONAL.c.hash, PERSONAL.c.seq, PERSONAL.c.kind, PERSONAL.c.subject, PERSONAL.c.value)
    query = select(*columns).where(*meant).execution_options(yield_per=_PAGE)  # of the query: the deletion comes after
    return iter(connection.execute(query))
