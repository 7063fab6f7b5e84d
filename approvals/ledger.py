"""Who decided what, for good: an append-only SQL table in which every row carries the hash of the row before."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import rfc8785
from sqlalchemy import (
    BigInteger,
    Column,
    Engine,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    create_engine,
    event,
    insert,
    select,
    update,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from approvals.errors import ApprovalsError

_METADATA = MetaData()

EVENTS = Table(
    "ledger_events",
    _METADATA,
    Column("tenant", String(64), primary_key=True),
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("event_id", String(64), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("type", String(40), nullable=False),
    Column("run", String(64), nullable=False, index=True),
    Column("call", String(64), nullable=False, index=True),
    Column("actor", String(64), nullable=False, index=True),
    Column("tool", String(128), nullable=False),
    Column("body", Text, nullable=False),
    Column("hash", String(64), nullable=False),
    UniqueConstraint("tenant", "event_id"),
)
HEADS = Table(
    "ledger_heads",
    _METADATA,
    Column("tenant", String(64), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("hash", String(64), nullable=False),
)

GENESIS = "0" * 64


class LedgerUnreachable(ApprovalsError):
    """The ledger's database cannot be reached; events wait in Redis. Check VOBO_LEDGER_URL."""


class LedgerRow(NamedTuple):
    """One event as it is kept."""

    seq: int
    event_id: str
    at: int
    type: str
    body: dict[str, str]
    hash: str


class Ledger:
    """The SQL side of the ledger. Several processes may append; the head row makes them take turns."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        _METADATA.create_all(engine)

    @classmethod
    def open(cls, url: str) -> "Ledger":
        """Open or create the ledger.

        Raises:
            LedgerUnreachable: naming the database without its password.
        """
        shown = make_url(url).render_as_string(hide_password=True)
        try:
            return cls(_engine(url))
        except (SQLAlchemyError, OSError) as failed:
            raise LedgerUnreachable(
                f"The ledger {shown} cannot be opened ({type(failed).__name__}). Check VOBO_LEDGER_URL."
            ) from failed

    def append(self, tenant: str, events: Iterable[tuple[str, Mapping[str, str]]]) -> int:
        """Add events in order, leaving out those it has; returns how many were new.

        Raises:
            LedgerUnreachable: nothing was added.
        """
        batch = list(events)
        try:
            with self._engine.begin() as connection:
                seq, previous = _locked_head(connection, tenant)
                known = set(
                    connection.scalars(
                        select(EVENTS.c.event_id).where(
                            EVENTS.c.tenant == tenant, EVENTS.c.event_id.in_([event_id for event_id, _ in batch])
                        )
                    )
                )
                rows: list[dict[str, Any]] = []
                for event_id, fields in batch:
                    if event_id in known:
                        continue
                    known.add(event_id)
                    seq += 1
                    row = _row(tenant, seq, event_id, fields, previous)
                    previous = row["hash"]
                    rows.append(row)
                if rows:
                    connection.execute(insert(EVENTS), rows)
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
    ) -> list[LedgerRow]:
        """Events in order, narrowed by run, actor, type or instant (ms)."""
        query = select(EVENTS).where(EVENTS.c.tenant == tenant).order_by(EVENTS.c.seq)
        if run:
            query = query.where(EVENTS.c.run == run)
        if actor:
            query = query.where(EVENTS.c.actor == actor)
        if types:
            query = query.where(EVENTS.c.type.in_(types))
        if since is not None:
            query = query.where(EVENTS.c.at >= since)
        with self._engine.connect() as connection:
            found = connection.execute(query).all()
        return [LedgerRow(row.seq, row.event_id, row.at, row.type, _loads(row.body), row.hash) for row in found]

    def verify(self, tenant: str) -> list[str]:
        """One sentence for everything that does not follow from the row before; empty when all does."""
        problems: list[str] = []
        previous, expected = GENESIS, 1
        for row in self.rows(tenant):
            if row.seq != expected:
                problems.append(f"Row {expected} is missing.")
            if _hash(previous, row.seq, row.event_id, row.body) != row.hash:
                problems.append(f"Row {row.seq} ({row.type}) was changed, or a row before it was.")
            previous, expected = row.hash, row.seq + 1
        with self._engine.connect() as connection:
            head = connection.execute(select(HEADS).where(HEADS.c.tenant == tenant)).one_or_none()
        if head is not None and (head.seq, head.hash) != (expected - 1, previous):
            problems.append(f"The newest rows are gone: {head.seq} were written, {expected - 1} are here.")
        return problems


def _engine(url: str) -> Engine:
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite" and parsed.database and parsed.database != ":memory:":
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url)
    if parsed.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _durable_sqlite)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    return engine


def _durable_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # we say BEGIN IMMEDIATE ourselves, so that two writers take turns
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=5000"):
        connection.execute(f"PRAGMA {pragma}")


def _locked_head(connection: Any, tenant: str) -> tuple[int, str]:
    query = select(HEADS).where(HEADS.c.tenant == tenant).with_for_update()
    head = connection.execute(query).one_or_none()
    if head is None:
        connection.execute(insert(HEADS).values(tenant=tenant, seq=0, hash=GENESIS))
        return 0, GENESIS
    return head.seq, head.hash


def _row(tenant: str, seq: int, event_id: str, fields: Mapping[str, str], previous: str) -> dict[str, Any]:
    body = dict(fields)
    return {
        "tenant": tenant,
        "seq": seq,
        "event_id": event_id,
        "at": int(body.get("at", "0")),
        "type": body.get("type", ""),
        "run": body.get("run", ""),
        "call": body.get("call", ""),
        "actor": body.get("actor", ""),
        "tool": body.get("tool", ""),
        "body": rfc8785.dumps(body).decode(),
        "hash": _hash(previous, seq, event_id, body),
    }


def _hash(previous: str, seq: int, event_id: str, body: Mapping[str, str]) -> str:
    return hashlib.sha256(rfc8785.dumps([previous, str(seq), event_id, dict(body)])).hexdigest()


def _loads(body: str) -> dict[str, str]:
    loaded: dict[str, str] = json.loads(body)
    return loaded
