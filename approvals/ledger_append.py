"""How events become rows: in order, each once, and none for ever in the way of the others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, insert, select, update
from sqlalchemy.exc import DataError, DBAPIError, SQLAlchemyError, StatementError

from approvals.ledger_check import columns_of
from approvals.ledger_errors import LedgerUnreachable, why
from approvals.ledger_head import Head, require_head
from approvals.ledger_rows import GENESIS, Entropy, Personal, canonical_body, chained, parted, stand_in
from approvals.ledger_tables import EVENTS, HEADS, PERSONAL

Event = tuple[str, Mapping[str, str]]
#: Told of an event (its id) that the database refused, and why, before its row is replaced. May be told twice.
Refused = Callable[[str, str], None]

#: What makes no row, whichever database is asked: an instant that is no number or too large, no document.
_NO_ROW = (ValueError, TypeError, KeyError, OverflowError, RecursionError)


class Added(NamedTuple):
    """How many events were new, and the head of the chain with all of them in it."""

    new: int
    head: Head


def nobody(_event_id: str, _why: str) -> None:
    """For whoever has nobody to tell."""


@dataclass(frozen=True, slots=True)
class Appending:
    """Adds to one workspace's chain, if that has the head that was `noted` of it."""

    engine: Engine
    tenant: str
    entropy: Entropy
    refused: Refused = nobody
    noted: Head | None = None

    def add(self, events: Sequence[Event]) -> Added:
        """Add what is not there yet, all in one transaction. An event that is refused is parted from the others.

        Raises:
            LedgerUnreachable: the database is away; what was not added is not lost.
            LedgerDiffers: it is another one, or older.
        """
        try:
            return self._together(events)
        except (SQLAlchemyError, *_NO_ROW) as failed:
            if not _is_refusal(failed):
                raise _unwritten(failed) from failed
            if len(events) > 1:
                half = len(events) // 2
                first, second = self.add(events[:half]), self.add(events[half:])
                return Added(first.new + second.new, second.head)
            return self._instead(*events[0], why(failed))

    def _instead(self, event_id: str, fields: Mapping[str, str], reason: str) -> Added:
        self.refused(event_id, reason)
        try:
            return self._together([(event_id, stand_in(event_id, fields, reason, whole=True))])
        except (SQLAlchemyError, *_NO_ROW) as failed:
            if not _is_refusal(failed):
                raise _unwritten(failed) from failed
        try:
            return self._together([(event_id, stand_in(event_id, fields, reason, whole=False))])
        except SQLAlchemyError as failed:
            raise _unwritten(failed) from failed

    def _together(self, events: Sequence[Event]) -> Added:
        with self.engine.begin() as connection:
            seq, previous = locked_head(connection, self.tenant)
            require_head(connection, self.tenant, self.noted)
            known = self._known(connection, [event_id for event_id, _ in events])
            rows, personal = list[dict[str, Any]](), list[dict[str, Any]]()
            for event_id, fields in events:
                if event_id in known:
                    continue
                known.add(event_id)
                seq += 1
                body, apart = parted(fields, self.entropy)
                row = _row(self.tenant, seq, event_id, body, previous)
                previous = row["hash"]
                rows.append(row)
                personal.extend(_personal(self.tenant, row, one) for one in apart)
            if rows:
                connection.execute(insert(EVENTS), rows)
            if personal:
                connection.execute(insert(PERSONAL), personal)
            if rows:
                here = HEADS.c.tenant == self.tenant
                connection.execute(update(HEADS).where(here).values(seq=seq, hash=previous))
            return Added(len(rows), Head(seq, previous))

    def _known(self, connection: Connection, ids: Sequence[str]) -> set[str]:
        there = select(EVENTS.c.event_id).where(EVENTS.c.tenant == self.tenant, EVENTS.c.event_id.in_(ids))
        return set(connection.scalars(there))


def locked_head(connection: Connection, tenant: str) -> tuple[int, str]:
    """The number and hash of the newest row, held until the transaction ends so that writers take turns."""
    query = select(HEADS).where(HEADS.c.tenant == tenant).with_for_update()
    head = connection.execute(query).one_or_none()
    if head is None:
        connection.execute(insert(HEADS).values(tenant=tenant, seq=0, hash=GENESIS))
        return 0, GENESIS
    return head.seq, head.hash


def _is_refusal(failed: Exception) -> bool:
    """Whether it is about what was to be written, rather than about the database.

    A row that is there already is not: only another writer, or a changed head, can have put it there.
    """
    if isinstance(failed, DBAPIError):
        return isinstance(failed, DataError)
    return isinstance(failed, (StatementError, *_NO_ROW))


def _unwritten(failed: Exception) -> LedgerUnreachable:
    return LedgerUnreachable(
        f"The ledger could not be written ({why(failed)}); events wait in Redis. Check VOBO_LEDGER_URL and the disk."
    )


def _row(tenant: str, seq: int, event_id: str, body: dict[str, str], previous: str) -> dict[str, Any]:
    canonical = canonical_body(body)
    return {
        "tenant": tenant,
        "seq": seq,
        "event_id": event_id,
        **columns_of(body),
        "body": canonical,
        "hash": chained(previous, seq, event_id, canonical),
    }


def _personal(tenant: str, row: Mapping[str, Any], one: Personal) -> dict[str, Any]:
    return {"tenant": tenant, "seq": row["seq"], "at": row["at"], **one._asdict()}
