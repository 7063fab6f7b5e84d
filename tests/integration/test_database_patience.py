"""A database that holds somebody up becomes a sentence in good time; what may take long still can."""

import time
from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import Engine, create_engine, insert, select, text

from approvals import databases
from approvals.databases import engine_of, long, snapshot
from approvals.ledger import Ledger, LedgerUnreachable
from approvals.ledger_errors import reaching
from approvals.ledger_tables import EVENTS, HEADS
from approvals.recordings import CALLS, Recordings
from approvals.vault import Vault
from builders import STATE_KEY, TENANT
from tests.integration.ledger_databases import fresh_database
from tests.private_postgres import PrivatePostgres


@pytest.fixture
def url(postgres: PrivatePostgres) -> str:
    return fresh_database(postgres)


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    opened = engine_of(url)
    yield opened
    opened.dispose()


def noted(number: int) -> tuple[str, dict[str, str]]:
    return f"{number}-0", {"type": "noted", "at": str(number), "reason": "said"}


def shown(engine: Engine, name: str) -> object:
    with engine.connect() as connection:
        return connection.scalar(text(f"SHOW {name}"))


def test_each_transaction_has_its_limits_and_leaves_none_behind(engine: Engine, url: str) -> None:
    assert (shown(engine, "lock_timeout"), shown(engine, "statement_timeout")) == ("5s", "15s")
    for patient in (long(engine), snapshot(engine)):
        assert (shown(patient, "lock_timeout"), shown(patient, "statement_timeout")) == ("5s", "10min")
    assert shown(engine, "statement_timeout") == "15s"
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        assert connection.scalar(text("SHOW statement_timeout")) == "0", "a pooler may hand the connection on"


def test_a_connection_notices_a_machine_that_is_gone_unless_the_address_says_otherwise(url: str) -> None:
    for address, idle in ((url, "10"), (f"{url}&keepalives_idle=99", "99")):
        engine = engine_of(address)
        with engine.connect() as connection:
            driver = connection.connection.driver_connection
            assert isinstance(driver, psycopg.Connection)
            known = driver.info.get_parameters()
        assert (known["keepalives"], known["keepalives_idle"]) == ("1", idle)
        assert (known["keepalives_interval"], known["keepalives_count"], known["tcp_user_timeout"]) == (
            "5",
            "3",
            "25000",
        )
        assert known["connect_timeout"] == "5"
        engine.dispose()


def test_a_row_that_somebody_holds_is_waited_for_in_vain_only_so_long(
    ledger: Ledger, ledger_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.append(TENANT, [noted(1)])
    ledger.engine.dispose()  # SQLite is told its patience when it is opened
    monkeypatch.setattr(databases, "LOCK_MS", 300)
    refused: list[str] = []
    other = create_engine(ledger_url)
    began = time.monotonic()
    with other.connect() as holder:
        holder.exec_driver_sql("BEGIN IMMEDIATE" if other.dialect.name == "sqlite" else "BEGIN")
        holder.execute(select(HEADS).with_for_update())
        with pytest.raises(LedgerUnreachable, match="events wait in Redis"):
            ledger.append(TENANT, [noted(2), noted(3)], lambda event_id, _: refused.append(event_id))
        holder.rollback()
    other.dispose()
    assert time.monotonic() - began < 30
    assert refused == [], "an outage is no refusal"
    assert ledger.append(TENANT, [noted(2), noted(3)]).new == 2
    assert ledger.verify(TENANT) == []


def test_a_statement_that_takes_too_long_is_ended_and_a_long_one_is_not(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "STATEMENT_MS", 200)
    with (
        pytest.raises(LedgerUnreachable, match=r"OperationalError, QueryCanceled"),
        reaching("It took too long"),
        engine.connect() as connection,
    ):
        connection.execute(text("SELECT pg_sleep(20)"))
    with long(engine).connect() as connection:
        connection.execute(text("SELECT pg_sleep(0.4)"))


@pytest.mark.parametrize("part", ["verify", "rows", "head", "recordings"])
def test_a_table_that_somebody_holds_is_a_sentence_whoever_asks(
    url: str, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    ledger = Ledger.open(url)
    recordings = Recordings(ledger.engine, Vault.from_text(STATE_KEY))
    monkeypatch.setattr(databases, "LOCK_MS", 200)
    asked = {
        "verify": lambda: ledger.verify(TENANT),
        "rows": lambda: ledger.rows(TENANT),
        "head": lambda: ledger.head(TENANT),
        "recordings": lambda: recordings.since(TENANT, 0),
    }
    other = create_engine(url)
    with other.connect() as holder:
        for table in (EVENTS, CALLS):
            holder.execute(text(f"LOCK TABLE {table.name} IN ACCESS EXCLUSIVE MODE"))
        with pytest.raises(LedgerUnreachable, match="LockNotAvailable"):
            asked[part]()
    other.dispose()
    asked[part]()
    ledger.engine.dispose()


def test_whoever_reads_a_snapshot_keeps_no_writer_waiting_and_sees_nothing_new(ledger: Ledger) -> None:
    ledger.append(TENANT, [noted(1)])
    with snapshot(ledger.engine).connect() as reader:
        assert len(reader.execute(select(EVENTS)).all()) == 1
        assert ledger.append(TENANT, [noted(2)]).new == 1
        assert len(reader.execute(select(EVENTS)).all()) == 1
        with ledger.engine.begin() as connection:
            connection.execute(insert(HEADS).values(tenant="T2", seq=0, hash=""))
    assert len(ledger.rows(TENANT)) == 2
