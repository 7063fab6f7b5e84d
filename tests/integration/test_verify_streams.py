"""A ledger is verified although it does not fit into memory. On SQLite and on PostgreSQL."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event, update
from sqlalchemy.engine import Row

from approvals import ledger as ledger_module
from approvals import ledger_check
from approvals.anchoring import Anchoring, verify
from approvals.anchors import Signer
from approvals.ledger import Ledger
from approvals.ledger_rows import chained
from approvals.ledger_tables import EVENTS, PERSONAL
from approvals.store import Store
from approvals.vault import Vault
from builders import STATE_KEY, TENANT

SIGNER = Signer.of(Vault.from_text(STATE_KEY))
ROWS, AT_ONCE = 400, 25


@pytest.fixture
def full(store: Store, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """Many rows, each with a reason beside the chain, and an anchor."""
    monkeypatch.setattr(ledger_module, "AT_ONCE", AT_ONCE)
    events = [
        (f"{number}-0", {"type": "rejected", "at": str(number), "actor": "U0ANA", "reason": f"no. {number}"})
        for number in range(1, ROWS + 1)
    ]
    ledger.append(TENANT, events)
    Anchoring(store, ledger, SIGNER, every_ms=0)()
    return ledger


def rows_in_memory() -> int:
    return sum(isinstance(found, Row) for found in gc.get_objects())


@contextmanager
def reads(ledger: Ledger) -> Iterator[list[tuple[str, Any]]]:
    """Every statement and its cursor."""
    seen: list[tuple[str, Any]] = []

    def note(_connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        seen.append((" ".join(statement.split()), cursor))

    event.listen(ledger.engine, "before_cursor_execute", note)
    yield seen
    event.remove(ledger.engine, "before_cursor_execute", note)


def test_no_more_rows_are_in_memory_than_are_read_at_once(
    store: Store, full: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, most, looked = rows_in_memory(), list[int](), list[int]()

    def counted(previous: str, seq: int, event_id: str, canonical: str) -> str:
        looked.append(seq)
        if seq % 40 == 0:
            most.append(rows_in_memory() - before)
        return chained(previous, seq, event_id, canonical)

    monkeypatch.setattr(ledger_check, "chained", counted)
    assert verify(store, full, SIGNER) == []
    assert looked == list(range(1, ROWS + 1)), "every row, in order"
    assert 0 < max(most) <= 2 * AT_ONCE


def test_no_statement_fetches_a_whole_table_at_once(store: Store, full: Ledger) -> None:
    with reads(full) as seen:
        assert verify(store, full, SIGNER) == []
    whole = [
        (statement, cursor)
        for statement, cursor in seen
        if ("FROM ledger_events" in statement or "FROM ledger_personal" in statement)
        and " IN (" not in statement
        and "LIMIT" not in statement
    ]
    assert len(whole) == 2
    assert "ORDER BY ledger_events.seq" in whole[0][0]
    if full.engine.dialect.name == "postgresql":  # SQLite's cursors read on as they are asked
        assert [type(cursor).__name__ for _, cursor in whole] == ["ServerCursor", "ServerCursor"]


@pytest.mark.parametrize("number", [1, AT_ONCE, AT_ONCE + 1, ROWS])
def test_a_change_is_found_wherever_it_stands_between_two_reads(store: Store, full: Ledger, number: int) -> None:
    here = (EVENTS.c.tenant == TENANT) & (EVENTS.c.seq == number)
    with full.engine.begin() as connection:
        connection.execute(update(EVENTS).where(here).values(actor="U0EVE"))
        connection.execute(
            update(PERSONAL).where(PERSONAL.c.seq == number, PERSONAL.c.kind == "reason").values(value="yes")
        )
    assert verify(store, full, SIGNER) == [
        f"Row {number} (rejected) was changed beside its body, where it is searched.",
        f"A reason of row {number} was changed: it does not fit the hash in the chain.",
    ]
