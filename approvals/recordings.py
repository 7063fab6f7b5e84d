"""What a simulation replays: each call as it was first judged, encrypted, for a month.

The ledger keeps what was asked and shown for good, and in the clear where it is nobody's. A simulation needs the
model's own argument text and the facts behind it, whole. So they stand in a table of their own, encrypted under
VOBO_STATE_KEYS and bound to their call, and are deleted after `KEPT_MS`.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlalchemy import BigInteger, Column, Engine, LargeBinary, MetaData, String, Table, delete, insert, select

from approvals.errors import ApprovalsError
from approvals.store import Store
from approvals.vault import Binding, Vault
from policies.requirement import Requirement
from policies.risk import Mode
from policies.values import Frozen

KEPT_MS = 35 * 24 * 3600 * 1000
KIND = "recorded"

CALLS = Table(
    "recorded_calls",
    MetaData(),
    Column("tenant", String(64), primary_key=True),
    Column("call", String(64), primary_key=True),
    Column("at", BigInteger, nullable=False, index=True),
    Column("blob", LargeBinary, nullable=False),
)


class Recorded(Frozen):
    """One call as it was judged when it was proposed. `at` is the store's instant (ms)."""

    call: str
    run: str
    pause: int
    number: int
    at: int
    tool: str
    agent: str
    requester: str
    requested: str
    facts: str
    problem: str | None
    requirement: Requirement
    cause: str | None


class Replayable(NamedTuple):
    """The recorded calls that could be opened, oldest first, and how many could not."""

    calls: tuple[Recorded, ...]
    unreadable: int


class Recordings:
    """The table beside the ledger."""

    def __init__(self, engine: Engine, vault: Vault) -> None:
        self._engine = engine
        self._vault = vault
        CALLS.create(engine, checkfirst=True)

    def keep(self, tenant: str, calls: Iterable[Recorded]) -> None:
        """Add calls; those it has are left as they are."""
        found = {call.call: call for call in calls}
        with self._engine.begin() as connection:
            known = select(CALLS.c.call).where(CALLS.c.tenant == tenant, CALLS.c.call.in_(list(found)))
            for key in connection.scalars(known).all():
                del found[key]
            rows = [
                {"tenant": tenant, "call": call.call, "at": call.at, "blob": self._sealed(tenant, call)}
                for call in found.values()
            ]
            if rows:
                connection.execute(insert(CALLS), rows)

    def forget(self, before: int) -> int:
        """Delete what was recorded before this instant (ms); returns how many."""
        with self._engine.begin() as connection:
            return int(connection.execute(delete(CALLS).where(CALLS.c.at < before)).rowcount)

    def since(self, tenant: str, at: int) -> Replayable:
        """The calls recorded from this instant (ms) on."""
        query = select(CALLS).where(CALLS.c.tenant == tenant, CALLS.c.at >= at).order_by(CALLS.c.at, CALLS.c.call)
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        calls, unreadable = [], 0
        for row in rows:
            try:
                calls.append(Recorded.model_validate_json(self._vault.open_blob(row.blob, _place(tenant, row.call))))
            except ApprovalsError:  # its key is gone, or somebody changed it: it cannot be replayed
                unreadable += 1
        return Replayable(tuple(calls), unreadable)

    def _sealed(self, tenant: str, call: Recorded) -> bytes:
        return self._vault.seal_blob(call.model_dump_json().encode(), _place(tenant, call.call))


def record(store: Store, recordings: Recordings, events: Iterable[Mapping[str, str]]) -> None:
    """Keep the calls that these ledger events propose, and forget what is too old."""
    proposed = [fields for fields in events if fields.get("type") == "proposed"]
    if not proposed:
        return
    found = (_recorded(store, fields) for fields in proposed)
    recordings.keep(store.tenant, [call for call in found if call is not None])
    recordings.forget(store.now() - KEPT_MS)


def _recorded(store: Store, fields: Mapping[str, str]) -> Recorded | None:
    try:
        call = store.calls.load(fields["call"])
        run = store.runs.load(fields["run"])
    except ApprovalsError:  # ops is told elsewhere; the ledger must not wait for a simulation
        return None
    if call is None or run is None:
        return None
    return Recorded(
        call=call.key,
        run=call.run,
        pause=call.pause,
        number=call.number,
        at=int(fields["at"]),
        tool=call.tool,
        agent=call.agent,
        requester=run.requester,
        requested=call.content.requested,
        facts=call.content.facts,
        problem=call.content.problem,
        # An edit may have been checked since: what was asked at first is what the event says.
        requirement=call.content.requirement.model_copy(update={"mode": Mode(fields["mode"])}),
        cause=call.cause.value if call.cause else None,
    )


def _place(tenant: str, call: str) -> Binding:
    return Binding(tenant, KIND, call, 1)
