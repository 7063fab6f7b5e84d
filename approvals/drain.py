"""Moves ledger events from the store's stream into SQL: in order, idempotently, deleted there only once kept here.

Before the first move on a server process it compares the two: a server that came back from a failover or a backup may
have forgotten what it did, and would do it again.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

from approvals.ledger import Ledger
from approvals.recordings import Recordings, record
from approvals.store import Store

BATCH = 500
#: Who freezes when nobody is there to do it.
GUARD = "vobo"


def drain_once(store: Store, ledger: Ledger) -> int:
    """Move up to 500 events; returns how many were read. Safe in any number of processes and after any crash.

    Raises:
        LedgerUnreachable: nothing is lost; the events wait in the stream.
    """
    compare(store, ledger)
    events = store.ledger.read(count=BATCH)
    if events:
        ledger.append(
            store.tenant, [(event_id, _clean(store, store.ledger.opened(fields))) for event_id, fields in events]
        )
        record(store, Recordings(ledger.engine, store.calls.vault), [fields for _, fields in events])
        store.ledger.drop([event_id for event_id, _ in events])
    return len(events)


def _clean(store: Store, fields: Mapping[str, str]) -> dict[str, str]:
    """The event without secrets that whoever wrote it did not know: the bot has no credential of any tool."""
    return {name: store.secrets.without(text) for name, text in fields.items()}


def compare(store: Store, ledger: Ledger) -> None:
    """Let claims happen on this server process; freeze them before when Redis forgot what the ledger knows.

    Raises:
        LedgerUnreachable: nothing could be compared, so nothing is claimed.
    """
    server = store.ledger.server()
    if store.ledger.vouched(server):
        return
    head = ledger.head(store.tenant)
    if head is not None and not store.ledger.knows(head.event_id):
        at = datetime.fromtimestamp(head.at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        store.switches.freeze(
            GUARD,
            f"Redis is older than the ledger: it does not know what happened until {at} (row {head.seq}, {head.type})."
            " Effects after its backup or failover may have happened without its knowing",
        )
    store.ledger.vouch(server)  # a freeze, if any, is in place by now
