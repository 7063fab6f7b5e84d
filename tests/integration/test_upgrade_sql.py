"""What an older version left in SQL is opened, verified and gone on with. `tests/snapshots_sql.py` recorded it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import create_engine, inspect, select

from approvals.anchoring import anchors, verify
from approvals.anchors import Signer
from approvals.layouts import VERSIONS
from approvals.ledger import Ledger
from approvals.ledger_rows import ERASED
from approvals.recordings import Recordings
from approvals.store import Store
from approvals.vault import Vault
from bot.installations import Installations
from builders import STATE_KEY
from refund_desk import BRUNO, TEAM
from snapshots import HERE
from snapshots_sql import CLIENT, DIALECTS, TOKEN, restore
from tests.integration.ledger_databases import fresh_database

VAULT = Vault.from_text(STATE_KEY)
RECORDED = sorted(HERE.glob("*.sql.gz"))


class Left(NamedTuple):
    """A database as an older version left it."""

    url: str
    version: str


@pytest.fixture(params=RECORDED, ids=lambda path: path.name.removesuffix(".sql.gz"))
def left(request: Any, tmp_path: Path) -> Left:
    path: Path = request.param
    version, dialect = path.name.removesuffix(".sql.gz").rsplit(".", 1)
    sqlite = dialect == "sqlite"
    url = f"sqlite:///{tmp_path}/old.db" if sqlite else fresh_database(request.getfixturevalue("postgres"))
    restore(url, path)
    return Left(url, version)


@pytest.fixture
def ledger(left: Left) -> Iterator[Ledger]:
    opened = Ledger.open(left.url)
    yield opened
    opened.engine.dispose()


def test_every_version_was_recorded_on_both_databases() -> None:
    versions = {path.name.removesuffix(".json.gz") for path in HERE.glob("*.json.gz")}
    assert {path.name for path in RECORDED} == {f"{one}.{name}.sql.gz" for one in versions for name in DIALECTS}


def test_an_older_ledger_is_whole_and_goes_on(store: Store, ledger: Ledger) -> None:
    (anchor,) = anchors(ledger, TEAM)
    before = ledger.rows(TEAM)
    assert anchor.seq == len(before) > 10
    ledger.append(TEAM, [("9999999999999-0", {"type": "noted", "at": "9999999999999", "reason": "by the new version"})])
    assert ledger.verify(TEAM) == []
    store_of_team = Store.open(store.runs.client, VAULT, tenant=TEAM)
    assert verify(store_of_team, ledger, Signer.of(VAULT)) == []
    assert [row.hash for row in ledger.rows(TEAM)[:-1]] == [row.hash for row in before]
    assert ledger.rows(TEAM)[-1].body["reason"] == "by the new version"


def test_who_decided_and_what_was_shown_is_still_there(ledger: Ledger) -> None:
    (counted,) = ledger.rows(TEAM, actor=BRUNO)
    assert (counted.type, counted.body["name"]) == ("approval_counted", BRUNO)
    shown = [row.shown["headline"] for row in ledger.rows(TEAM, types=["proposed"]) if row.shown]
    assert "Refund 38 payments, 4,120.00 EUR" in shown
    assert all(ERASED not in str(row.body) for row in ledger.rows(TEAM))


def test_recorded_calls_and_tokens_of_an_older_version_open(left: Left, ledger: Ledger) -> None:
    replayable = Recordings(ledger.engine, VAULT).since(TEAM, 0)
    assert replayable.unreadable == 0
    assert "refund_payments" in {call.tool for call in replayable.calls}
    installations = Installations.open(left.url, CLIENT, VAULT)
    found = installations.of_team(TEAM)
    installations.engine.dispose()
    assert found
    assert found.bot_token == TOKEN


def test_an_older_database_gets_todays_version_on_record(left: Left) -> None:
    engine = create_engine(left.url)
    if left.version == "0.1.0":
        assert not inspect(engine).has_table(VERSIONS.name), "0.1.0 recorded none"
    opened = Ledger.open(left.url)
    Recordings(opened.engine, VAULT)
    Installations.open(left.url, CLIENT, VAULT).engine.dispose()
    with engine.connect() as connection:
        recorded = {row.part: row.version for row in connection.execute(select(VERSIONS))}
    assert recorded == {"ledger": 1, "recordings": 1, "installations": 1}
    engine.dispose()
    opened.engine.dispose()
