"""What only a database server can do to the ledger: go away, come back, serve two writers at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from approvals.drain import drain_once
from approvals.ledger import Ledger, LedgerUnreachable
from approvals.store import Store
from builders import TENANT, a_call, approve, loaded, paused
from tests.integration.ledger_databases import fresh_database
from tests.private_postgres import PrivatePostgres


def test_a_database_that_goes_away_loses_nothing_delays_no_decision_and_is_caught_up_with_in_order(
    store: Store, postgres: PrivatePostgres
) -> None:
    ledger = Ledger.open(fresh_database(postgres))
    paused(store, a_call("call_1"))
    drain_once(store, ledger)
    before = len(ledger.rows(TENANT))
    postgres.stop()
    try:
        assert approve(store, "call_1").ok
        with pytest.raises(LedgerUnreachable, match="Check VOBO_LEDGER_URL"):
            drain_once(store, ledger)
        with pytest.raises(LedgerUnreachable, match="events wait in Redis"):
            ledger.append(TENANT, store.ledger.read())
        with pytest.raises(LedgerUnreachable, match="could not be read"):
            ledger.rows(TENANT)
        waiting = [event_id for event_id, _ in store.ledger.read()]
    finally:
        postgres.start()
    assert loaded(store).state == "approved"
    drain_once(store, ledger)
    assert [row.event_id for row in ledger.rows(TENANT)][before:] == waiting
    assert store.ledger.read() == []
    assert ledger.verify(TENANT) == []
    ledger.engine.dispose()


def test_two_drains_at_once_keep_every_event_once_in_one_chain(store: Store, postgres: PrivatePostgres) -> None:
    url = fresh_database(postgres)
    ledgers = [Ledger.open(url), Ledger.open(url)]
    ledgers[0].append(TENANT, [("1-0", {"type": "begun", "at": "1"})])
    events = [(f"{number}-1", {"type": "noted", "at": str(number), "actor": "U0ANA"}) for number in range(2, 402)]

    def drain(ledger: Ledger) -> int:
        return sum(ledger.append(TENANT, events[start : start + 20]).new for start in range(0, len(events), 20))

    with ThreadPoolExecutor(2) as pool:
        added = list(pool.map(drain, ledgers))
    assert sum(added) == len(events)
    assert [row.event_id for row in ledgers[0].rows(TENANT)] == ["1-0", *(event_id for event_id, _ in events)]
    assert ledgers[0].verify(TENANT) == []
    for ledger in ledgers:
        ledger.engine.dispose()


def test_a_password_is_in_no_refusal() -> None:
    with pytest.raises(LedgerUnreachable) as refused:
        Ledger.open("postgresql+psycopg://vobo:geheim@127.0.0.1:1/ledger")
    assert "geheim" not in str(refused.value)
    assert "VOBO_LEDGER_URL" in str(refused.value)
