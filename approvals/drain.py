"""Moves ledger events from the store's stream into SQL: in order, idempotently, deleted there only once kept here.

Before every move it compares the two: a server that came back from a failover or a backup, or that was given older data
while it ran, may have forgotten what it did, and would do it again.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from approvals.ledger import Ledger
from approvals.ledger_append import Refused
from approvals.recordings import Recordings, record
from approvals.repeats import BEGUN, begun_again
from approvals.store import Store

BATCH = 500
#: Who freezes when nobody is there to do it.
GUARD = "vobo"
#: How many calls a sentence names.
NAMED = 5


def drain_once(store: Store, ledger: Ledger) -> int:
    """Move up to 500 events; returns how many were read. Safe in any number of processes and after any crash.

    Raises:
        LedgerUnreachable: nothing is lost; the events wait in the stream.
    """
    server = store.ledger.server()  # who answers may be another one at every line below
    events = store.ledger.read(count=BATCH)
    compare(store, ledger, server)  # before they become what the ledger knows newest
    if events:
        clean = [(event_id, _clean(store, store.ledger.opened(fields))) for event_id, fields in events]
        ledger.append(store.tenant, clean, telling(store))
        told = [fields for _, fields in events]
        record(store, Recordings(ledger.engine, store.calls.vault), told)
        _freeze_what_repeats(store, ledger, told)
        store.ledger.drop([event_id for event_id, _ in events])
    return len(events)


def _freeze_what_repeats(store: Store, ledger: Ledger, events: Sequence[Mapping[str, str]]) -> None:
    begun = [fields.get("call", "") for fields in events if fields.get("type") == BEGUN]
    again = begun_again(ledger, store.tenant, begun)
    if again:
        store.switches.freeze(
            GUARD,
            f"{', '.join(again[:NAMED])} began a second time. No verb does that: somebody has written to Redis",
        )


def telling(store: Store) -> Refused:
    """Tells ops that the database refused events, once a day: whatever it refuses today it may refuse all day."""

    def tell(event_id: str, why: str) -> None:
        day = datetime.fromtimestamp(store.now() / 1000, UTC).date()
        store.outbox.alarm(f"not_kept:{day}", event="event_refused", reason=f"{event_id}: {why}")

    return tell


def _clean(store: Store, fields: Mapping[str, str]) -> dict[str, str]:
    """The event without secrets that whoever wrote it did not know: the bot has no credential of any tool."""
    return {name: store.secrets.without(text) for name, text in fields.items()}


def compare(store: Store, ledger: Ledger, server: str) -> None:
    """Let claims happen on `server`; freeze them before when Redis forgot what the ledger knows.

    It is the server that answered before anything was read that is not in the ledger yet: when another one answers by
    now, nothing is said for it.

    Raises:
        LedgerUnreachable: nothing could be compared, so nothing is claimed on a server that was not compared before.
    """
    head = ledger.head(store.tenant)
    newest = head.event_id if head is not None else ""
    forgotten = bool(newest) and not (store.ledger.knows(newest) or store.ledger.compared(newest))
    if head is not None and forgotten:
        at = datetime.fromtimestamp(head.at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        store.switches.freeze(
            GUARD,
            f"Redis is older than the ledger: it does not know what happened until {at} (row {head.seq}, {head.type})."
            " Effects after its backup or failover may have happened without its knowing",
        )
    if forgotten or not store.ledger.vouched(server):
        store.ledger.vouch(server, newest)  # a freeze, if any, is in place by now
