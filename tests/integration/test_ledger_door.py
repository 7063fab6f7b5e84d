"""A process that goes on without its ledger makes one only where nothing was handed over to another."""

from pathlib import Path

import pytest
from sqlalchemy import delete

from approvals.drain import drain_through
from approvals.findings import Level
from approvals.ledger import Ledger
from approvals.ledger_door import LedgerDoor
from approvals.ledger_head import Head, LedgerAbsent, LedgerDiffers
from approvals.ledger_tables import EVENTS
from approvals.store import Store
from builders import TENANT, a_call, approve, events, owed, paused
from worker import assembly
from worker.clock_check import check


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the clock looks for its ledger: a volume that may be not mounted."""
    return tmp_path / "volume" / "ledger.db"


def a_door(store: Store, place: Path) -> LedgerDoor:
    place.parent.mkdir(exist_ok=True)
    return LedgerDoor(f"sqlite:///{place}", store)


def test_the_first_clock_of_a_store_makes_the_ledger(store: Store, place: Path) -> None:
    paused(store, a_call("call_1"))
    assert drain_through(store, a_door(store, place))
    assert a_door(store, place)().rows(TENANT)


def test_a_clock_whose_ledger_is_gone_makes_none_and_freezes_once_until_it_is_back(store: Store, place: Path) -> None:
    paused(store, a_call("call_1"))
    drain_through(store, a_door(store, place))
    away = place.parent.with_name("away")
    place.parent.rename(away)
    approve(store, "call_1")
    door = a_door(store, place)
    for _ in range(2):
        with pytest.raises(LedgerAbsent):
            drain_through(store, door)
    assert not place.exists()
    assert f"There is no ledger at sqlite:///{place}" in (store.switches.frozen() or "")
    assert len([entry for entry in owed(store) if entry.startswith("alert:switch:frozen")]) == 1

    place.parent.rmdir()
    away.rename(place.parent)
    assert drain_through(store, door)
    assert events(store) == []


def test_a_ledger_that_loses_its_rows_while_it_is_open_is_given_to_nobody(store: Store, place: Path) -> None:
    paused(store, a_call("call_1"))
    door = a_door(store, place)
    drain_through(store, door)
    with Ledger.open(f"sqlite:///{place}").engine.begin() as connection:
        connection.execute(delete(EVENTS))
    with pytest.raises(LedgerDiffers):
        door()


def test_a_clock_that_is_only_checked_makes_no_ledger_where_there_should_be_one(
    store: Store, shell: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.ledger.drop([], head=Head(1, "a" * 64))
    monkeypatch.setenv("VOBO_RULES", "policies.rules")
    monkeypatch.setenv("VOBO_LEDGER_URL", f"sqlite:///{tmp_path / 'elsewhere.db'}")
    assembly.prepared.cache_clear()
    try:
        found = check()
    finally:
        assembly.prepared.cache_clear()
    assert any("There is no ledger at" in one.sentence for one in found if one.level is Level.FAILURE)
    assert not (tmp_path / "elsewhere.db").exists()
