"""Who decided what, for good: an append-only SQL table in which every row carries the hash of the row before."""

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypedDict, Unpack

from sqlalchemy import ColumnElement, Connection, Engine, and_, select
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError

from approvals.databases import engine_of, long, place_of, snapshot
from approvals.layouts import LayoutTooNew, lay_out
from approvals.ledger_append import Added, Appending, Event, Refused, nobody
from approvals.ledger_check import chain_problems, personal_problems
from approvals.ledger_erasing import erase
from approvals.ledger_errors import LedgerTooNew, LedgerUnreachable, reaching, why
from approvals.ledger_head import Head, head_of, require_head, require_ledger
from approvals.ledger_rows import GENESIS, Entropy, LedgerRow, rejoined
from approvals.ledger_tables import EVENTS, HEADS, LAYOUT, PERSONAL

__all__ = ["Ledger", "LedgerRow", "LedgerTooNew", "LedgerUnreachable"]

#: Rows that `verify` and `pages` hold in memory at once.
AT_ONCE = 1_000
#: The highest number a row can have; an anchor that somebody typed may name any.
_LAST = 2**63 - 1
_UNREAD = "The ledger could not be read"


class Narrowing(TypedDict, total=False):
    """Which events are meant; what is left out, None or empty narrows nothing. Instants are ms, without `until`."""

    run: str | None
    actor: str | None
    types: Sequence[str]
    since: int | None
    until: int | None
    tool: str | None


class Ledger:
    """The SQL side of the ledger. Several processes may append; the head row makes them take turns."""

    def __init__(self, engine: Engine, entropy: Entropy = os.urandom) -> None:
        self.engine = engine
        self._entropy = entropy
        lay_out(engine, LAYOUT)

    @classmethod
    def open(cls, url: str, *, made: bool = True) -> "Ledger":
        """Open the ledger, or create it where it may be `made`.

        Raises:
            LedgerAbsent: there is none, and it may not be made.
            LedgerUnreachable: naming the database without its password.
            LedgerTooNew: its tables are of a newer version.
        """
        place = place_of(url)
        if place is None:
            raise LedgerUnreachable(
                "VOBO_LEDGER_URL is not the address of a database. Write for example sqlite:///ledger.db or"
                " postgresql+psycopg://user:password@host:5432/name; an @ in the password is written %40."
            )
        try:
            if not made:
                require_ledger(url)
            return cls(engine_of(url))
        except LayoutTooNew as newer:
            raise LedgerTooNew(str(newer)) from newer
        except (ImportError, NoSuchModuleError):
            raise LedgerUnreachable(
                f"The ledger {place} cannot be opened: nothing is installed that speaks to such a database."
                " Set VOBO_LEDGER_URL to sqlite:/// or postgresql+psycopg://, or install its driver."
            ) from None
        except ValueError:  # what a driver says of a parameter may repeat it, and it may be a secret
            raise LedgerUnreachable(
                f"The ledger {place} cannot be opened: a parameter is wrong. Check VOBO_LEDGER_URL."
            ) from None
        except (SQLAlchemyError, OSError) as failed:
            raise LedgerUnreachable(
                f"The ledger {place} cannot be opened ({why(failed)}). Check VOBO_LEDGER_URL."
            ) from failed

    def append(
        self, tenant: str, events: Iterable[Event], refused: Refused = nobody, noted: Head | None = None
    ) -> Added:
        """Add events in order, leaving out those it has, if the ledger has the head that was `noted` of it.

        An event that the database refuses even alone, which an outage does not, is replaced by a row that says so and
        keeps its id; `refused` is told before.

        Raises:
            LedgerUnreachable: the database is away; what was added so far is left out next time.
            LedgerDiffers: it is another ledger, or an older one; nothing was added.
        """
        return Appending(self.engine, tenant, self._entropy, refused, noted).add(list(events))

    def require(self, tenant: str, noted: Head | None) -> None:
        """See that it is the ledger of which this head was noted.

        Raises:
            LedgerUnreachable: the database does not answer.
            LedgerDiffers: it is another one, or older.
        """
        with reaching(_UNREAD), self.engine.connect() as connection:
            require_head(connection, tenant, noted)

    def newest(self, tenant: str) -> Head:
        """The head of the chain.

        Raises:
            LedgerUnreachable: the database does not answer.
        """
        with reaching(_UNREAD), self.engine.connect() as connection:
            return head_of(connection, tenant)

    def rows(
        self,
        tenant: str,
        *,
        calls: Collection[str] | None = None,
        newest: int | None = None,
        **narrowing: Unpack[Narrowing],
    ) -> list[LedgerRow]:
        """Events in order, narrowed further by calls; with `newest` no more than so many, the newest.

        Raises:
            LedgerUnreachable: the database does not answer.
        """
        wanted = _narrowed(tenant, narrowing)
        wanted += [EVENTS.c.call.in_(calls)] if calls is not None else []
        query = select(EVENTS).where(*wanted).order_by(EVENTS.c.seq.desc()).limit(newest)
        few = newest is not None or narrowing.get("run") is not None or calls is not None  # somebody waits for these
        with reaching(_UNREAD), (self.engine if few else long(self.engine)).connect() as connection:
            found = connection.execute(query).all()[::-1]
            return _kept_all(connection, found, wanted)

    def pages(self, tenant: str, **narrowing: Unpack[Narrowing]) -> Iterator[list[LedgerRow]]:
        """The same, some at a time, so that a ledger need not fit into memory.

        Rows are never changed, so what is appended meanwhile only comes last.

        Raises:
            LedgerUnreachable: the database does not answer (any more).
        """
        wanted = _narrowed(tenant, narrowing)
        last, engine = 0, long(self.engine)
        while True:
            here = [*wanted, EVENTS.c.seq > last]
            with reaching(_UNREAD), engine.connect() as connection:
                found = connection.execute(select(EVENTS).where(*here).order_by(EVENTS.c.seq).limit(AT_ONCE)).all()
                page = _kept_all(connection, found, here)
            if page:
                yield page
            if len(found) < AT_ONCE:
                return
            last = found[-1].seq

    def hash_before(self, tenant: str, seq: int) -> str:
        """The hash that row `seq` follows from."""
        query = select(EVENTS.c.hash).where(EVENTS.c.tenant == tenant, EVENTS.c.seq == seq - 1)
        with reaching(_UNREAD), self.engine.connect() as connection:
            return connection.scalar(query) or GENESIS

    def erase(self, tenant: str, *, person: str | None = None, before: int | None = None) -> int:
        """Forget personal values of a person (a Slack id, or the value itself), or older than an instant (ms).

        The chain stays whole: it holds hashes, which say nothing once their salts are gone. Returns how many values
        were erased. SQLite's log may hold them until `databases.swept`.

        Raises:
            LedgerUnreachable: nothing was erased.
        """
        if not person and before is None:
            raise ValueError("Erasing needs a person or an instant; everything is never meant.")
        with reaching("Nothing was erased"):
            return erase(self.engine, tenant, person=person, before=before)

    def head(self, tenant: str) -> LedgerRow | None:
        """The newest event; None when there is none.

        Raises:
            LedgerUnreachable: the database does not answer.
        """
        query = select(EVENTS).where(EVENTS.c.tenant == tenant).order_by(EVENTS.c.seq.desc()).limit(1)
        with reaching(_UNREAD), self.engine.connect() as connection:
            row = connection.execute(query).one_or_none()
        return _kept(row, {}) if row is not None else None

    def verify(self, tenant: str) -> list[str]:
        """One sentence for everything that does not follow from the row before; empty when all does.

        All rows are read as they stood when it began, some at a time, and nobody who writes waits for it.

        Raises:
            LedgerUnreachable: the database does not answer.
        """
        rows = select(EVENTS).where(EVENTS.c.tenant == tenant).order_by(EVENTS.c.seq)
        apart = select(PERSONAL).where(PERSONAL.c.tenant == tenant)
        with reaching(_UNREAD), snapshot(self.engine).connect() as connection:
            head = connection.execute(select(HEADS).where(HEADS.c.tenant == tenant)).one_or_none()
            some = connection.execution_options(stream_results=True, yield_per=AT_ONCE)
            problems = chain_problems(some.execute(rows), head)
            return [*problems, *personal_problems(some.execute(apart))]

    def hashes(self, tenant: str, numbers: Collection[int]) -> dict[int, str]:
        """The hashes of these rows, by number; those that are gone are left out.

        Raises:
            LedgerUnreachable: the database does not answer.
        """
        wanted, found = sorted(number for number in numbers if 0 < number <= _LAST), dict[int, str]()
        with reaching(_UNREAD), self.engine.connect() as connection:
            for start in range(0, len(wanted), AT_ONCE):
                here = (EVENTS.c.tenant == tenant, EVENTS.c.seq.in_(wanted[start : start + AT_ONCE]))
                rows = connection.execute(select(EVENTS.c.seq, EVENTS.c.hash).where(*here))
                found |= {row.seq: row.hash for row in rows}
        return found


def _narrowed(tenant: str, asked: Narrowing) -> list[ColumnElement[bool]]:
    exact = {"run": asked.get("run"), "actor": asked.get("actor"), "tool": asked.get("tool")}
    types, since, until = asked.get("types", ()), asked.get("since"), asked.get("until")
    wanted = [EVENTS.c.tenant == tenant]
    wanted += [EVENTS.c[column] == value for column, value in exact.items() if value]
    wanted += [EVENTS.c.type.in_(types)] if types else []
    wanted += [EVENTS.c.at >= since] if since is not None else []
    wanted += [EVENTS.c.at < until] if until is not None else []
    return wanted


def _kept_all(connection: Connection, found: Sequence[Any], wanted: Sequence[ColumnElement[bool]]) -> list[LedgerRow]:
    """The rows with the personal values that belong to them and are not erased."""
    if not found:
        return []
    same = and_(PERSONAL.c.tenant == EVENTS.c.tenant, PERSONAL.c.seq == EVENTS.c.seq)
    within = EVENTS.c.seq.between(found[0].seq, found[-1].seq)
    values = select(PERSONAL.c.hash, PERSONAL.c.value).join(EVENTS, same).where(*wanted, within)
    personal = {row.hash: row.value for row in connection.execute(values)}
    return [_kept(row, personal) for row in found]


def _kept(row: Any, personal: Mapping[str, str]) -> LedgerRow:
    raw: dict[str, str] = json.loads(row.body)
    return LedgerRow(row.seq, row.event_id, row.at, row.type, rejoined(raw, personal), row.hash, raw)
