"""Opening the shop, reading it, and doing each effect exactly once."""

import functools
import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy import Connection, Engine, create_engine, event, inspect, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, configure_mappers

from worker.refund_desk.shop.errors import KeyReused, ShopRefused
from worker.refund_desk.shop.tables import Base, Receipt

R = TypeVar("R", bound=BaseModel)

NOT_LOADED = "The sample's shop is empty. Load it: python -m worker.refund_desk.shop load"

#: How long a writer waits for another one before SQLite gives up.
BUSY_TIMEOUT_S = 15


class ShopSettings(BaseSettings):
    """Where the sample's database is: a SQLite file, or PostgreSQL by its SQLAlchemy URL."""

    model_config = SettingsConfigDict(
        env_file=".env", extra="ignore", env_ignore_empty=True, populate_by_name=True, str_strip_whitespace=True
    )

    url: str = Field("sqlite:///.var/shop.db", alias="VOBO_SHOP_URL")


@dataclass(frozen=True, slots=True)
class Shop:
    """The shop's database. `clock` says what time it is when something happens."""

    engine: Engine
    clock: Callable[[], datetime]

    @classmethod
    def open(cls, url: str, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> "Shop":
        """Connect lazily; the tables need not exist yet."""
        return cls(engine=_engine(url), clock=clock)

    def create(self, *, fresh: bool = False) -> None:
        """Make the tables; `fresh` empties them first."""
        if fresh:
            Base.metadata.drop_all(self.engine)
        Base.metadata.create_all(self.engine)

    @property
    def is_loaded(self) -> bool:
        """The tables are there."""
        return inspect(self.engine).has_table(Receipt.__tablename__)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that changes nothing."""
        with Session(self.engine) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """One transaction: all of it or nothing."""
        with Session(self.engine.execution_options(writes=True)) as session, session.begin():
            yield session

    def now(self) -> str:
        """The instant, as the tables keep it."""
        return self.clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def once(self, key: str, tool: str, arguments: BaseModel, effect: Callable[[Session, str], R], kind: type[R]) -> R:
        """Run `effect` in one transaction with its idempotency key; a second call returns the first receipt.

        Raises:
            ShopRefused: the effect refused; nothing changed.
            KeyReused: the key was used for other arguments.
        """
        digest = _digest(tool, arguments)
        try:
            with self.writing() as session:
                known = session.get(Receipt, key)
                if known is not None:
                    return _read(known, digest, kind)
                # First the key: a second writer waits here, and then finds the receipt.
                receipt = Receipt(idempotency_key=key, tool=tool, arguments_sha256=digest, content="", at=self.now())
                session.add(receipt)
                session.flush()
                made = effect(session, receipt.at)
                receipt.content = made.model_dump_json()
                return made
        except IntegrityError:
            first = self.receipt_of(key)
            if first is None:
                raise
            return _read(first, digest, kind)

    def find(self, key: str, kind: type[R]) -> R | None:
        """The receipt of what was done under a key, if anything was."""
        known = self.receipt_of(key)
        return None if known is None else kind.model_validate_json(known.content)

    def receipt_of(self, key: str) -> Receipt | None:
        """The stored row, for whoever needs its tool and instant too."""
        with self.reading() as session:
            return session.get(Receipt, key)


def open_shop() -> Shop:
    """The shop named by `VOBO_SHOP_URL`, with its data.

    Raises:
        ShopRefused: nobody loaded it; the text says how.
    """
    return _loaded(ShopSettings().url)


@functools.cache
def warm_up() -> None:
    """Load the driver and lay out the tables, which otherwise every job's process would do. Opens no connection."""
    kind = make_url(ShopSettings().url).get_dialect()
    kind.import_dbapi()
    configure_mappers()
    for mapper in Base.registry.mappers:
        select(mapper.class_).compile(dialect=kind())


@functools.cache
def _loaded(url: str) -> Shop:
    shop = Shop.open(url)
    if not shop.is_loaded:
        raise ShopRefused(NOT_LOADED)
    return shop


def _engine(url: str) -> Engine:
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return create_engine(parsed, pool_pre_ping=True)
    if parsed.database and parsed.database != ":memory:":
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(parsed, connect_args={"timeout": BUSY_TIMEOUT_S})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver begins too late; _begin_sqlite does it
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes the lock at once: two that read first and write later could not both go on.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _digest(tool: str, arguments: BaseModel) -> str:
    canonical = json.dumps([tool, arguments.model_dump(mode="json")], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _read(known: Receipt, digest: str, kind: type[R]) -> R:
    if known.arguments_sha256 != digest:
        raise KeyReused(f"{known.idempotency_key} was used at {known.at} for {known.tool} with other arguments.")
    return kind.model_validate_json(known.content)
