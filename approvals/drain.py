"""Moves ledger events from the store's stream into SQL: in order, idempotently, deleted there only once kept here.

Before every move it compares the two: a server that came back from a failover or a backup, or that was given older data
while it ran, may have forgotten what it did, and would do it again. A ledger that came back older, or that is another
database, would hold the events that follow, and nobody would miss those before.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import takewhile

from approvals.ledger import Ledger
from approvals.ledger_append import Refused
from approvals.ledger_head import LedgerDiffers
from approvals.ledger_stream import EventsWait
from approvals.recordings import Recordings, record
from approvals.repeats import BEGUN, begun_again
from approvals.store import Store

BATCH = 500
#: How many calls a sentence names.
NAMED = 5


def drain_once(store: Store, ledger: Ledger, *, without: Collection[str] = ()) -> int:
    """Move up to 500 events; returns how many. Safe in any number of processes and after any crash.

    An event whose personal values need a key that is not configured here waits, and all behind it; `without` names the
    keys that somebody has given up, and the values under them.

    Raises:
        LedgerUnreachable: nothing is lost; the events wait in the stream.
        LedgerDiffers: it is not the ledger that events were handed over to. They wait, and everything is frozen.
        EventsWait: a key is missing; ops is told. What was before that event was moved.
    """
    server = store.ledger.server()  # who answers may be another one at every line below
    waiting = store.ledger.read(count=BATCH)
    events = list(takewhile(lambda one: store.ledger.lacks(one[1]) in {"", *without}, waiting))
    with _frozen_if_it_differs(store):
        _move(store, ledger, server, events)
    if len(events) < len(waiting):
        raise _waits(store, store.ledger.lacks(waiting[len(events)][1]))
    return len(events)


def drain_through(store: Store, door: Callable[[], Ledger]) -> int:
    """The same for whoever opens the ledger at need: that there is none freezes as well.

    Raises:
        LedgerUnreachable, LedgerDiffers, EventsWait: as above.
    """
    with _frozen_if_it_differs(store):
        ledger = door()
    return drain_once(store, ledger)


def _move(store: Store, ledger: Ledger, server: str, events: Sequence[tuple[str, dict[str, str]]]) -> None:
    noted = store.ledger.noted()
    ledger.require(store.tenant, noted)
    compare(store, ledger, server)  # before they become what the ledger knows newest
    if events:
        clean = [(event_id, _clean(store, store.ledger.opened(fields))) for event_id, fields in events]
        head = ledger.append(store.tenant, clean, telling(store), noted).head
        told = [fields for _, fields in events]
        record(store, Recordings(ledger.engine, store.calls.vault), told)
        _freeze_what_repeats(store, ledger, told)
        # When somebody has noted another head meanwhile, they stay until the next round has compared it.
        store.ledger.drop([event_id for event_id, _ in events], was=noted, head=head)


@contextmanager
def _frozen_if_it_differs(store: Store) -> Iterator[None]:
    try:
        yield
    except LedgerDiffers as differs:
        store.switches.guard(differs.standing)  # the same words each time: one reason, however the rows move on
        raise


def _waits(store: Store, key: str) -> EventsWait:
    """What is raised; ops is told of it once a day, since whoever lacks the key today may lack it all day."""
    waits = EventsWait(key)
    store.outbox.alarm(f"undrained:{key}:{_today(store)}", event="blob_no_key", reason=str(waits))
    return waits


def _freeze_what_repeats(store: Store, ledger: Ledger, events: Sequence[Mapping[str, str]]) -> None:
    begun = [fields.get("call", "") for fields in events if fields.get("type") == BEGUN]
    again = begun_again(ledger, store.tenant, begun)
    if again:
        store.switches.guard(
            f"{', '.join(again[:NAMED])} began a second time. No verb does that: somebody has written to Redis",
        )


def telling(store: Store) -> Refused:
    """Tells ops that the database refused events, once a day: whatever it refuses today it may refuse all day."""

    def tell(event_id: str, why: str) -> None:
        store.outbox.alarm(f"not_kept:{_today(store)}", event="event_refused", reason=f"{event_id}: {why}")

    return tell


def _today(store: Store) -> str:
    return str(datetime.fromtimestamp(store.now() / 1000, UTC).date())


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
        store.switches.guard(
            f"Redis is older than the ledger: it does not know what happened until {at} (row {head.seq}, {head.type})."
            " Effects after its backup or failover may have happened without its knowing",
        )
    if forgotten or not store.ledger.vouched(server):
        store.ledger.vouch(server, newest)  # a freeze, if any, is in place by now
