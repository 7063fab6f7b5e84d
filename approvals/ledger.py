"""Who decided what, for good: an append-only SQL table in which every row carries the hash of the row before."""

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Engine, and_, delete, insert, or_, select, update
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError

from approvals.errors import ApprovalsError
from approvals.ledger_check import chain_problems, columns_of, personal_problems
from approvals.ledger_rows import GENESIS, Entropy, LedgerRow, Personal, canonical_body, chained, parted, rejoined
from approvals.ledger_tables import EVENTS, HEADS, METADATA, PERSONAL, engine_of, place_of

__all__ = ["Ledger", "LedgerRow", "LedgerUnreachable"]


class LedgerUnreachable(ApprovalsError):
    """The ledger's database cannot be reached; events wait in Redis. Check VOBO_LEDGER_URL."""


class Ledger:
    """The SQL side of the ledger. Several processes may append; the head row makes them take turns."""

    def __init__(self, engine: Engine, entropy: Entropy = os.urandom) -> None:
        self.engine = engine
        self._entropy = entropy
        METADATA.create_all(engine)

    @classmethod
    def open(cls, url: str) -> "Ledger":
        """Open or create the ledger.

        Raises:
            LedgerUnreachable: naming the database without its password.
        """
        place = place_of(url)
        if place is None:
            raise LedgerUnreachable(
                "VOBO_LEDGER_URL is not the address of a database. Write for example sqlite:///ledger.db or"
                " postgresql+psycopg://user:password@host:5432/name; an @ in the password is written %40."
            )
        try:
            return cls(engine_of(url))
        except (ImportError, NoSuchModuleError):
            raise LedgerUnreachable(
                f"The ledger {place} cannot be opened: nothing is installed that speaks to such a database."
                " Set VOBO_LEDGER_URL to sqlite:/// or postgresql+psycopg://, or install its driver."
            ) from None
        except ValueError:  # what a driver says of a parameter may repeat it, and it may be a secret
            raise LedgerUnreachable(
                f"The ledger {place} cannot be opened: a parameter is wrong. Check VOBO_LEDGER_URL."
            ) from None
        except (SQLAlchemyError, OSError) as failed:
            raise LedgerUnreachable(
                f"The ledger {place} cannot be opened ({type(failed).__name__}). Check VOBO_LEDGER_URL."
            ) from failed

    def append(self, tenant: str, events: Iterable[tuple[str, Mapping[str, str]]]) -> int:
        """Add events in order, leaving out those it has; returns how many were new.

        Raises:
            LedgerUnreachable: nothing was added.
        """
        batch = list(events)
        try:
            with self.engine.begin() as connection:
                seq, previous = locked_head(connection, tenant)
                known = set(
                    connection.scalars(
                        select(EVENTS.c.event_id).where(
                            EVENTS.c.tenant == tenant, EVENTS.c.event_id.in_([event_id for event_id, _ in batch])
                        )
                    )
                )
                rows, personal = list[dict[str, Any]](), list[dict[str, Any]]()
                for event_id, fields in batch:
                    if event_id in known:
                        continue
                    known.add(event_id)
                    seq += 1
                    body, apart = parted(fields, self._entropy)
                    row = _row(tenant, seq, event_id, body, previous)
                    previous = row["hash"]
                    rows.append(row)
                    personal.extend(_personal(tenant, row, one) for one in apart)
                if rows:
                    connection.execute(insert(EVENTS), rows)
                if personal:
                    connection.execute(insert(PERSONAL), personal)
                if rows:
                    connection.execute(update(HEADS).where(HEADS.c.tenant == tenant).values(seq=seq, hash=previous))
                return len(rows)
        except SQLAlchemyError as failed:
            raise LedgerUnreachable(
                f"The ledger could not be written ({type(failed).__name__}); events wait in Redis."
                " Check VOBO_LEDGER_URL and the disk."
            ) from failed

    def rows(
        self,
        tenant: str,
        *,
        run: str | None = None,
        actor: str | None = None,
        types: Sequence[str] = (),
        since: int | None = None,
        until: int | None = None,
        tool: str | None = None,
        calls: Collection[str] | None = None,
        newest: int | None = None,
    ) -> list[LedgerRow]:
        """Events in order, narrowed by run, actor, type, tool, calls or instants (ms; `until` is not included).

        With `newest` no more than so many, the newest.

        Raises:
            LedgerUnreachable: the database does not answer.
        """
        wanted = [EVENTS.c.tenant == tenant]
        exact = ((EVENTS.c.run, run), (EVENTS.c.actor, actor), (EVENTS.c.tool, tool))
        wanted += [column == value for column, value in exact if value]
        wanted += [EVENTS.c.call.in_(calls)] if calls is not None else []
        wanted += [EVENTS.c.type.in_(types)] if types else []
        wanted += [EVENTS.c.at >= since] if since is not None else []
        wanted += [EVENTS.c.at < until] if until is not None else []
        same = and_(PERSONAL.c.tenant == EVENTS.c.tenant, PERSONAL.c.seq == EVENTS.c.seq)
        query = select(EVENTS).where(*wanted).order_by(EVENTS.c.seq.desc()).limit(newest)
        try:
            with self.engine.connect() as connection:
                found = connection.execute(query).all()[::-1]
                wanted += [EVENTS.c.seq >= found[0].seq] if found and newest else []
                values = select(PERSONAL.c.hash, PERSONAL.c.value).join(EVENTS, same).where(*wanted)
                personal = {row.hash: row.value for row in connection.execute(values)}
        except SQLAlchemyError as failed:
            raise _unread(failed) from failed
        return [_kept(row, personal) for row in found]

    def hash_before(self, tenant: str, seq: int) -> str:
        """The hash that row `seq` follows from."""
        query = select(EVENTS.c.hash).where(EVENTS.c.tenant == tenant, EVENTS.c.seq == seq - 1)
        try:
            with self.engine.connect() as connection:
                return connection.scalar(query) or GENESIS
        except SQLAlchemyError as failed:
            raise _unread(failed) from failed

    def erase(self, tenant: str, *, person: str | None = None, before: int | None = None) -> int:
        """Forget personal values of a person (a Slack id, or the value itself), or older than an instant (ms).

        The chain stays whole: it holds hashes, which say nothing once their salts are gone. Returns how many values
        were erased.

        Raises:
            LedgerUnreachable: nothing was erased.
        """
        text = (person or "").replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        within = and_(PERSONAL.c.kind != "name", PERSONAL.c.value.ilike(f"%{text}%", escape="\\"))
        whose = or_(PERSONAL.c.subject == person, PERSONAL.c.value == person, within)
        wanted = [PERSONAL.c.tenant == tenant]
        wanted += [whose] if person else []
        wanted += [PERSONAL.c.at < before] if before is not None else []
        if len(wanted) == 1:
            raise ValueError("Erasing needs a person or an instant; everything is never meant.")
        try:
            with self.engine.begin() as connection:
                return connection.execute(delete(PERSONAL).where(*wanted)).rowcount
        except SQLAlchemyError as failed:
            raise LedgerUnreachable(f"Nothing was erased ({type(failed).__name__}). Check VOBO_LEDGER_URL.") from failed

    def head(self, tenant: str) -> LedgerRow | None:
        """The newest event; None when there is none.

        Raises:
            LedgerUnreachable: the database does not answer.
        """
        query = select(EVENTS).where(EVENTS.c.tenant == tenant).order_by(EVENTS.c.seq.desc()).limit(1)
        try:
            with self.engine.connect() as connection:
                row = connection.execute(query).one_or_none()
        except SQLAlchemyError as failed:
            raise _unread(failed) from failed
        return _kept(row, {}) if row is not None else None

    def verify(self, tenant: str) -> list[str]:
        """One sentence for everything that does not follow from the row before; empty when all does."""
        with self.engine.connect() as connection:
            rows = connection.execute(select(EVENTS).where(EVENTS.c.tenant == tenant).order_by(EVENTS.c.seq)).all()
            head = connection.execute(select(HEADS).where(HEADS.c.tenant == tenant)).one_or_none()
            apart = connection.execute(select(PERSONAL).where(PERSONAL.c.tenant == tenant)).all()
        return [*chain_problems(rows, head), *personal_problems(apart)]


def locked_head(connection: Any, tenant: str) -> tuple[int, str]:
    """The number and hash of the newest row, held until the transaction ends so that writers take turns."""
    query = select(HEADS).where(HEADS.c.tenant == tenant).with_for_update()
    head = connection.execute(query).one_or_none()
    if head is None:
        connection.execute(insert(HEADS).values(tenant=tenant, seq=0, hash=GENESIS))
        return 0, GENESIS
    return head.seq, head.hash


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


def _kept(row: Any, personal: Mapping[str, str]) -> LedgerRow:
    raw: dict[str, str] = json.loads(row.body)
    return LedgerRow(row.seq, row.event_id, row.at, row.type, rejoined(raw, personal), row.hash, raw)


def _unread(failed: SQLAlchemyError) -> LedgerUnreachable:
    return LedgerUnreachable(f"The ledger could not be read ({type(failed).__name__}). Check VOBO_LEDGER_URL.")
