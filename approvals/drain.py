"""Moves ledger events from the store's stream into SQL: in order, idempotently, deleted there only once kept here."""

from approvals.ledger import Ledger
from approvals.store import Store

BATCH = 500


def drain_once(store: Store, ledger: Ledger) -> int:
    """Move up to 500 events; returns how many were read. Safe in any number of processes and after any crash.

    Raises:
        LedgerUnreachable: nothing is lost; the events wait in the stream.
    """
    events = store.ledger.read(count=BATCH)
    if events:
        ledger.append(store.tenant, events)
        store.ledger.drop([event_id for event_id, _ in events])
    return len(events)
