"""Which version of our tables a database holds, and how an older one becomes today's.

One row of `vobo_layout` for each part (ledger, recordings, installations), since parts may stand in different
databases. 0.1.0 recorded none, which counts as 0.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from sqlalchemy import Column, Connection, Engine, Integer, MetaData, String, Table, inspect, select, text

from approvals.databases import long, shown
from approvals.errors import ApprovalsError

VERSIONS = Table(
    "vobo_layout",
    MetaData(),
    Column("part", String(32), primary_key=True),
    Column("version", Integer, nullable=False),
)
#: Held on PostgreSQL while tables are made or moved: processes that start at once take turns. The number is ours.
_TURN = 0x766F626F

Step = Callable[[Connection], None]


class LayoutTooNew(ApprovalsError):
    """The tables were laid out by a newer version than this program, which leaves them alone."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The tables of one part. `steps[n]` leads from version n to n + 1; whoever changes a table adds one."""

    part: str
    tables: tuple[MetaData, ...]
    steps: tuple[Step, ...]

    @property
    def version(self) -> int:
        """Today's."""
        return len(self.steps)


def recording_begins(_: Connection) -> None:
    """From 0.1.0 to version 1: the same tables; from then on their version is on record."""


def lay_out(engine: Engine, layout: Layout) -> None:
    """Make the tables of an empty database, or bring older ones up to date. Safe in any number of processes.

    When it fails no connection stays open.

    Raises:
        LayoutTooNew: nothing was touched.
        SQLAlchemyError: the database does not answer, or refused; nothing was changed.
    """
    with ExitStack() as failed:
        failed.callback(engine.dispose)
        with engine.connect() as connection:
            found = _version(connection, layout, engine)
        if found != layout.version:
            _bring_up_to_date(engine, layout)
        failed.pop_all()


def _bring_up_to_date(engine: Engine, layout: Layout) -> None:
    with long(engine).begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:turn)"), {"turn": _TURN})
        recorded = _version(connection, layout, engine)
        if recorded == layout.version:
            return
        if recorded is not None or _any_table(connection, layout):
            for step in layout.steps[recorded or 0 :]:
                step(connection)
        for tables in layout.tables:
            tables.create_all(connection)
        VERSIONS.create(connection, checkfirst=True)
        connection.execute(VERSIONS.delete().where(VERSIONS.c.part == layout.part))
        connection.execute(VERSIONS.insert().values(part=layout.part, version=layout.version))


def _version(connection: Connection, layout: Layout, engine: Engine) -> int | None:
    """The version on record; None when there is none."""
    if not inspect(connection).has_table(VERSIONS.name):
        return None
    found = connection.scalar(select(VERSIONS.c.version).where(VERSIONS.c.part == layout.part))
    if found is not None and found > layout.version:
        raise LayoutTooNew(
            f"The tables of the {layout.part} in {shown(engine.url)} were made by a newer vobo (version {found}; this"
            f" program knows {layout.version}) and were left alone. Run the newer vobo here. To go back to this one,"
            " restore the backup of the database made before the upgrade, or name another database."
        )
    return None if found is None else int(found)


def _any_table(connection: Connection, layout: Layout) -> bool:
    found = inspect(connection)
    return any(found.has_table(name) for tables in layout.tables for name in tables.tables)
