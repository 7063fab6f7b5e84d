"""The ledger's tables. Only `ledger_personal` may ever lose a row; nothing else refers to what is in it."""

from pathlib import Path
from typing import Any

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
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

METADATA = MetaData()
#: Seconds to wait for a database server that takes no connection; somebody may be looking at an empty window.
PATIENCE_S = 5


def _number() -> Any:
    return BigInteger().with_variant(Integer, "sqlite")


EVENTS = Table(
    "ledger_events",
    METADATA,
    Column("tenant", String(64), primary_key=True),
    Column("seq", _number(), primary_key=True),
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
    METADATA,
    Column("tenant", String(64), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("hash", String(64), nullable=False),
)
#: Personal values of events, which hold only `hash`: SHA-256 of salt and value. A lost salt makes the hash mute.
PERSONAL = Table(
    "ledger_personal",
    METADATA,
    Column("tenant", String(64), primary_key=True),
    Column("hash", String(64), primary_key=True),
    Column("seq", BigInteger, nullable=False, index=True),
    Column("at", BigInteger, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("subject", String(64), nullable=False, index=True),
    Column("salt", String(64), nullable=False),
    Column("value", Text, nullable=False),
)
#: Signed heads of the chain. `told` is 1 once the ops channel is owed the anchor.
ANCHORS = Table(
    "ledger_anchors",
    METADATA,
    Column("tenant", String(64), primary_key=True),
    Column("number", _number(), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("hash", String(64), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("key", String(64), nullable=False),
    Column("signature", String(128), nullable=False),
    Column("told", Integer, nullable=False, default=0),
)


def place_of(url: str) -> str | None:
    """The URL without password and parameters, any of which may be a secret; None when it cannot be read as one.

    An @ left in the host means that the password held one, which is then taken for the host in part.
    """
    try:
        parsed = make_url(url)
    except (SQLAlchemyError, ValueError):
        return None
    if "@" in (parsed.host or ""):
        return None
    return parsed.set(query={}).render_as_string(hide_password=True)


def engine_of(url: str) -> Engine:
    """An engine whose SQLite is durable, takes turns, and overwrites what is deleted."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite" and parsed.database and parsed.database != ":memory:":
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    patient = parsed.get_backend_name() != "postgresql" or "connect_timeout" in parsed.query
    engine = create_engine(url, connect_args={} if patient else {"connect_timeout": PATIENCE_S}, pool_pre_ping=True)
    if parsed.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _durable_sqlite)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    return engine


def _durable_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # we say BEGIN IMMEDIATE ourselves, so that two writers take turns
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=5000", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")
