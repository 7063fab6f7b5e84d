"""Versions of our tables: refused when newer, brought up to date when older. On SQLite and on PostgreSQL."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Column, Connection, Engine, Integer, MetaData, Table, insert, inspect, select, text, update

from approvals.databases import engine_of
from approvals.layouts import VERSIONS, Layout, LayoutTooNew, Step, lay_out
from approvals.ledger import Ledger, LedgerTooNew
from approvals.recordings import Recordings
from approvals.vault import Vault, new_key
from bot.errors import BotCannotStart
from bot.installations import Installations


@pytest.fixture
def engine(ledger_url: str) -> Iterator[Engine]:
    opened = engine_of(ledger_url)
    yield opened
    opened.dispose()


def one_table(*more: str, steps: tuple[Step, ...]) -> Layout:
    tables = MetaData()
    Table("papers", tables, Column("id", Integer, primary_key=True), *(Column(name, Integer) for name in more))
    return Layout("papers", (tables,), steps)


def nothing(_: Connection) -> None:
    """A step that changes no table."""


def stamped(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE papers ADD COLUMN stamped INTEGER"))
    connection.execute(text("UPDATE papers SET stamped = id * 10"))


def versions(engine: Engine) -> dict[str, int]:
    with engine.connect() as connection:
        return {row.part: row.version for row in connection.execute(select(VERSIONS))}


def columns(engine: Engine) -> set[str]:
    return {column["name"] for column in inspect(engine).get_columns("papers")}


FIRST, SECOND = one_table(steps=(nothing,)), one_table("stamped", steps=(nothing, stamped))


def test_an_empty_database_gets_todays_tables_and_no_step(engine: Engine) -> None:
    lay_out(engine, SECOND)
    assert columns(engine) == {"id", "stamped"}
    assert versions(engine) == {"papers": 2}


@pytest.mark.parametrize("recorded", [True, False])
def test_older_tables_are_brought_up_to_date_once_with_what_is_in_them(engine: Engine, recorded: bool) -> None:  # noqa: FBT001
    if recorded:
        lay_out(engine, FIRST)
    else:
        FIRST.tables[0].create_all(engine)  # as 0.1.0 did
    with engine.begin() as connection:
        connection.execute(insert(FIRST.tables[0].tables["papers"]).values(id=7))
    for _ in range(2):
        lay_out(engine, SECOND)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT id, stamped FROM papers")).all() == [(7, 70)]
    assert versions(engine) == {"papers": 2}


def test_processes_that_start_at_once_take_turns(engine: Engine) -> None:
    FIRST.tables[0].create_all(engine)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: lay_out(engine, SECOND), range(4)))
    assert columns(engine) == {"id", "stamped"}


def test_a_step_that_fails_changes_nothing(engine: Engine) -> None:
    def broken(connection: Connection) -> None:
        stamped(connection)
        raise ZeroDivisionError

    lay_out(engine, FIRST)
    with pytest.raises(ZeroDivisionError):
        lay_out(engine, one_table("stamped", steps=(nothing, broken)))
    assert columns(engine) == {"id"}
    assert versions(engine) == {"papers": 1}


def test_a_newer_layout_is_refused_and_left_alone(engine: Engine) -> None:
    lay_out(engine, SECOND)
    with pytest.raises(LayoutTooNew, match=r"version 2; this program knows 1"):
        lay_out(engine, FIRST)
    assert versions(engine) == {"papers": 2}


def test_each_part_of_a_newer_version_is_refused_with_what_to_do(ledger_url: str, engine: Engine) -> None:
    vault = Vault.from_text(new_key())
    ledger = Ledger.open(ledger_url)
    Recordings(ledger.engine, vault)
    Installations.open(ledger_url, "111.222", vault).engine.dispose()
    with engine.begin() as connection:
        connection.execute(update(VERSIONS).values(version=99))
    with pytest.raises(LedgerTooNew, match=r"of the ledger in .* newer vobo .* Run the newer vobo here"):
        Ledger.open(ledger_url)
    with pytest.raises(LedgerTooNew, match="of the recordings in"):
        Recordings(ledger.engine, vault)
    with pytest.raises(BotCannotStart, match="of the installations in"):
        Installations.open(ledger_url, "111.222", vault)
    ledger.engine.dispose()
