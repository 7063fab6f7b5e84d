"""What a simulation replays: each call as it was first judged, encrypted, for a month.

The ledger keeps what was asked and shown for good, and in the clear where it is nobody's. A simulation needs the
model's own argument text and the facts behind it, whole. So they stand in a table of their own, encrypted under
VOBO_STATE_KEYS and bound to their call, and are deleted after `KEPT_MS`.
"""

import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Column, Engine, LargeBinary, MetaData, String, Table, delete, insert, select
from sqlalchemy.exc import DataError

from approvals.databases import long
from approvals.errors import ApprovalsError
from approvals.layouts import Layout, LayoutTooNew, lay_out, recording_begins
from approvals.ledger_errors import LedgerTooNew, reaching
from approvals.models import Call, Run
from approvals.sealed_rows import SealedColumn
from approvals.sought import Sought
from approvals.store import Store
from approvals.vault import Binding, Vault
from policies.requirement import Requirement
from policies.risk import Mode, Risk
from policies.values import Frozen

KEPT_MS = 35 * 24 * 3600 * 1000
KIND = "recorded"
#: Databases take only so many values in one condition.
_AT_ONCE = 500
_UNREAD, _UNWRITTEN = "The recorded calls could not be read", "The recorded calls could not be written"

_METADATA = MetaData()
CALLS = Table(
    "recorded_calls",
    _METADATA,
    Column("tenant", String(64), primary_key=True),
    Column("call", String(64), primary_key=True),
    Column("at", BigInteger, nullable=False, index=True),
    Column("blob", LargeBinary, nullable=False),
)
LAYOUT = Layout("recordings", (_METADATA,), (recording_begins,))

_log = logging.getLogger(__name__)


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
    """The table beside the ledger. Everything here raises `LedgerUnreachable` when the database does not answer."""

    def __init__(self, engine: Engine, vault: Vault) -> None:
        self._engine = engine
        self._vault = vault
        try:
            with reaching(_UNWRITTEN):
                lay_out(engine, LAYOUT)
        except LayoutTooNew as newer:
            raise LedgerTooNew(str(newer)) from newer

    def keep(self, tenant: str, calls: Iterable[Recorded]) -> None:
        """Add calls; those it has are left as they are, and one that the database refuses is left out."""
        rows = {}
        for call in calls:
            blob = self._sealed(tenant, call)
            if blob is not None:
                rows[call.call] = {"tenant": tenant, "call": call.call, "at": call.at, "blob": blob}
        with reaching(_UNWRITTEN):
            self._insert(tenant, rows)

    def _insert(self, tenant: str, rows: dict[str, dict[str, Any]]) -> None:
        try:
            with self._engine.begin() as connection:
                known = select(CALLS.c.call).where(CALLS.c.tenant == tenant, CALLS.c.call.in_(list(rows)))
                there = set(connection.scalars(known))
                new = [row for key, row in rows.items() if key not in there]
                if new:
                    connection.execute(insert(CALLS), new)
        except (DataError, OverflowError) as refused:
            if len(rows) > 1:
                for key, row in rows.items():
                    self._insert(tenant, {key: row})
            else:
                _log.warning("a call could not be recorded for simulations: %s", type(refused).__name__)

    def forget(self, before: int) -> int:
        """Delete what was recorded before this instant (ms); returns how many."""
        with reaching(_UNWRITTEN), self._engine.begin() as connection:
            return int(connection.execute(delete(CALLS).where(CALLS.c.at < before)).rowcount)

    def erase(self, tenant: str, *, person: str | None = None, before: int | None = None) -> int:
        """Delete the calls that hold a value of this person anywhere, or were recorded before an instant (ms).

        A call is forgotten whole: a part of it cannot be replayed. What cannot be opened could hold the value as well,
        and nobody can replay it, so it goes too. Returns how many calls.
        """
        here, sought = CALLS.c.tenant == tenant, Sought(person) if person is not None else None
        query = select(CALLS).where(here) if before is None else select(CALLS).where(here, CALLS.c.at < before)
        with reaching(_UNWRITTEN), long(self._engine).begin() as connection:
            rows = connection.execute(query).all()
            gone = [row.call for row in rows if sought is None or self._holds(row, sought)]
            for start in range(0, len(gone), _AT_ONCE):
                some = CALLS.c.call.in_(gone[start : start + _AT_ONCE])
                connection.execute(delete(CALLS).where(here, some))
        return len(gone)

    def _holds(self, row: Any, sought: Sought) -> bool:
        try:
            plain = self._vault.open_blob(row.blob, _place(row.tenant, row.call))
        except ApprovalsError:
            return True
        return sought.within(plain.decode())

    def since(self, tenant: str, at: int) -> Replayable:
        """The calls recorded from this instant (ms) on."""
        query = select(CALLS).where(CALLS.c.tenant == tenant, CALLS.c.at >= at).order_by(CALLS.c.at, CALLS.c.call)
        with reaching(_UNREAD), long(self._engine).connect() as connection:
            rows = connection.execute(query).all()
        calls, unreadable = [], 0
        for row in rows:
            try:
                calls.append(Recorded.model_validate_json(self._vault.open_blob(row.blob, _place(tenant, row.call))))
            except ApprovalsError:  # its key is gone, or somebody changed it: it cannot be replayed
                unreadable += 1
        return Replayable(tuple(calls), unreadable)

    def _sealed(self, tenant: str, call: Recorded) -> bytes | None:
        """None for what is no text in UTF-8: it cannot be replayed, and the ledger must not wait for a simulation."""
        try:
            plain = call.model_dump_json().encode()
        except ValueError:
            _log.warning("a call could not be recorded for simulations: it holds half a character")
            return None
        return self._vault.seal_blob(plain, _place(tenant, call.call))

    def sealed(self) -> SealedColumn:
        """What of the table is encrypted; of all tenants."""
        return SealedColumn("recordings", CALLS, ("tenant", "call"), "blob", lambda row: _place(row.tenant, row.call))


def record(store: Store, recordings: Recordings, events: Iterable[Mapping[str, str]]) -> None:
    """Keep the calls that these ledger events propose, and forget what is too old.

    Raises:
        LedgerUnreachable: the database does not answer.
    """
    proposed = [fields for fields in events if fields.get("type") == "proposed" and not fields.get("canary")]
    if not proposed:
        return
    found = (_recorded(store, fields) for fields in proposed)
    recordings.keep(store.tenant, [call for call in found if call is not None])
    recordings.forget(store.now() - KEPT_MS)


def _recorded(store: Store, fields: Mapping[str, str]) -> Recorded | None:
    try:
        call = store.calls.load(fields["call"])
        run = store.runs.load(fields["run"])
        return _as_asked(call, run, fields) if call and run else None
    # Ops is told elsewhere, of the event that is not as we write it too; the ledger must not wait for a simulation.
    except (ApprovalsError, ValueError, TypeError, KeyError):
        return None


def _as_asked(call: Call, run: Run, fields: Mapping[str, str]) -> Recorded:
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
        requirement=_asked_first(call, fields),
        cause=call.cause.value if call.cause else None,
    )


def _asked_first(call: Call, fields: Mapping[str, str]) -> Requirement:
    """What was asked when the call was proposed. An edit may have been judged since: then the event says it."""
    asked: dict[str, Any] = {"mode": Mode(fields["mode"])}
    if call.version > 1:
        shown = json.loads(fields["kept"])["shown"]
        asked |= {name: shown[name] for name in ("tier", "reviewers", "undo", "ttl_s") if name in shown}
        asked |= {name: tuple(shown[name]) for name in ("reasons", "resources") if name in shown}
        asked |= {"risk": Risk(shown["risk"])} if "risk" in shown else {}
    return call.content.requirement.model_copy(update=asked)


def _place(tenant: str, call: str) -> Binding:
    return Binding(tenant, KIND, call, 1)
