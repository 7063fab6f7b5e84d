"""The ledger for whoever looks something up, or moves what waits by hand: never a wrong one, and never a new one."""

from collections.abc import Collection

from approvals.drain import drain_once
from approvals.ledger import Ledger
from approvals.ledger_head import BEGINNING
from approvals.ledger_stream import EventsWait
from approvals.store import Store


def ledger_of(url: str, *stores: Store) -> Ledger:
    """The ledger that these stores handed their events to. It is made only when none of them ever did.

    Raises:
        LedgerUnreachable: it cannot be opened.
        LedgerDiffers: it is another one, or older; nothing was changed anywhere.
    """
    noted = [(store.tenant, store.ledger.noted()) for store in stores]
    ledger = Ledger.open(url, made=all(head in {None, BEGINNING} for _, head in noted))
    for tenant, head in noted:
        ledger.require(tenant, head)
    return ledger


def drained(store: Store, ledger: Ledger, *, without: Collection[str] = ()) -> EventsWait | None:
    """Move everything that waits; what keeps the rest from being moved, if something does.

    Raises:
        LedgerUnreachable, LedgerDiffers: nothing is lost.
    """
    try:
        while drain_once(store, ledger, without=without):
            continue
    except EventsWait as waiting:
        return waiting
    return None
