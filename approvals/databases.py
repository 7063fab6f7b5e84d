"""Connections to SQL: how they are opened, how long they may take, and what is said of where they lead."""

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

#: Seconds to wait for a database server that takes no connection; somebody may be looking at an empty window.
PATIENCE_S = 5
#: How long a statement may wait for what another session holds, and how long it may take.
LOCK_MS, STATEMENT_MS = 5_000, 15_000
#: How long one may take that reads everything, or moves everything into a newer layout.
LONG_STATEMENT_MS = 600_000
#: How often the log of SQLite is tried to be folded, each time for `LOCK_MS`, and the pause between (s).
SWEEPS, SWEEP_S = 6, 0.5
#: A server whose machine is gone is noticed after about 25 s, whoever waits for it. What libpq calls it.
KEEPALIVE = {
    "connect_timeout": PATIENCE_S,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
_LIBPQ = frozenset({"psycopg", "psycopg2"})


def place_of(url: str) -> str | None:
    """The URL without password and parameters, any of which may be a secret; None when it cannot be read as one.

    An @ left in the host means that the password held one, which is then taken for the host in part.
    """
    try:
        parsed = make_url(url)
    except (SQLAlchemyError, ValueError):
        return None
    return None if "@" in (parsed.host or "") else shown(parsed)


def shown(url: URL) -> str:
    """An address without password and parameters."""
    return url.set(query={}).render_as_string(hide_password=True)


def engine_of(url: str) -> Engine:
    """An engine whose SQLite is durable, takes turns, and overwrites what is deleted; whose PostgreSQL never hangs."""
    parsed = make_url(url)
    backend = parsed.get_backend_name()
    if backend == "sqlite" and parsed.database and parsed.database != ":memory:":
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url, connect_args=_patience(parsed) if backend == "postgresql" else {}, pool_pre_ping=True)
    if backend == "sqlite":
        event.listen(engine, "connect", _durable_sqlite)
        event.listen(engine, "begin", _turn)
    elif backend == "postgresql":
        event.listen(engine, "begin", _bounded)
    return engine


def long(engine: Engine) -> Engine:
    """The same connections for what may take minutes."""
    return engine.execution_options(vobo_long=True)


def snapshot(engine: Engine) -> Engine:
    """The same connections for reading very much, row by row, as it stood when the reading began.

    Nobody who writes waits for it.
    """
    level = {"isolation_level": "REPEATABLE READ"} if engine.dialect.name == "postgresql" else {}
    return long(engine).execution_options(vobo_reads=True, **level)


def swept(engine: Engine, *, sleep: Callable[[float], None] = time.sleep) -> bool:
    """Whether nothing that was deleted is left in SQLite's log, which keeps it while any process has the file open.

    Waits for whoever reads or writes just now, about half a minute. PostgreSQL has no such file beside its tables.

    Raises:
        SQLAlchemyError: the database cannot be opened.
    """
    if engine.dialect.name != "sqlite":
        return True
    connection = engine.raw_connection()  # outside a transaction: there the log may not be folded
    try:
        for number in range(SWEEPS):
            if number:
                sleep(SWEEP_S)
            if not _fold(connection):
                return True
    finally:
        connection.close()
    return False


def _fold(connection: Any) -> bool:
    """Writes SQLite's log into its file and empties it; whether somebody was in the way, or the disk."""
    try:
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error:
        return True
    return bool(busy)


def _patience(url: URL) -> dict[str, Any]:
    """What the address leaves open; whoever runs the database may know better."""
    known = KEEPALIVE if url.get_driver_name() in _LIBPQ else {"connect_timeout": PATIENCE_S}
    return {name: value for name, value in known.items() if name not in url.query}


def _bounded(connection: Connection) -> None:
    """In the transaction and not in the connection: a pooler between may give the connection to somebody else."""
    statement_ms = LONG_STATEMENT_MS if connection.get_execution_options().get("vobo_long") else STATEMENT_MS
    limits = {"lock_timeout": LOCK_MS, "statement_timeout": statement_ms}
    set_ = ", ".join(f"set_config('{name}', '{limit}', true)" for name, limit in limits.items())
    connection.exec_driver_sql(f"SELECT {set_}")


def _turn(connection: Connection) -> None:
    """We say BEGIN ourselves: two writers take turns, a reader of a snapshot keeps nobody waiting."""
    reads = connection.get_execution_options().get("vobo_reads")
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _durable_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None
    for pragma in (f"busy_timeout={LOCK_MS}", "journal_mode=WAL", "synchronous=FULL", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")
