"""Whether a ledger is the one that Redis handed its events to.

Every time events leave Redis it notes the head that the ledger had then, so a database that is another one, or that
came back older, does not pass for it.
"""

from pathlib import Path
from typing import NamedTuple, Self

from sqlalchemy import URL, Connection, func, inspect, select
from sqlalchemy.engine import make_url

from approvals.databases import engine_of, shown
from approvals.errors import ApprovalsError
from approvals.ledger_rows import GENESIS
from approvals.ledger_tables import EVENTS

#: The highest number a row can have; whoever writes to Redis may note any.
_DIGITS = 18
#: What is done about a ledger that nobody can bring back.
LOST = "Only when it is lost for good: `vobo unfreeze --reconciled --new-ledger`."
#: The number of a head that is none: somebody else has written it.
_FOREIGN = -1


class LedgerDiffers(ApprovalsError):
    """The database is not the ledger that Redis handed its events to, or is older. Nothing is moved into it.

    `lacks` says so with the rows in question, as of now; `standing` says the same whenever it is asked, and what to do.
    """

    def __init__(self, what: str, remedy: str, *, rows: str = "") -> None:
        self.lacks = f"{what}: {rows}" if rows else what
        self.standing = f"{what}. {remedy.removesuffix('.')}"
        super().__init__(f"{self.lacks}. {remedy}")


class LedgerAbsent(LedgerDiffers):
    """There is no ledger at all where one should be."""


class Head(NamedTuple):
    """A row of the chain. Row 0 is what the first one follows from, so every ledger has it."""

    seq: int
    hash: str

    def __str__(self) -> str:
        return f"{self.seq}:{self.hash}" if self.seq != _FOREIGN else self.hash

    @classmethod
    def read(cls, text: str) -> Self:
        """What `str` gave; of any other text a row that no ledger has, which `str` gives back as it was."""
        seq, _, digest = text.partition(":")
        head = cls(int(seq), digest) if seq.isdecimal() and len(seq) <= _DIGITS else cls(_FOREIGN, text)
        return head if str(head) == text else cls(_FOREIGN, text)


#: The head of a ledger without rows.
BEGINNING = Head(0, GENESIS)


def head_of(connection: Connection, tenant: str) -> Head:
    """The newest row; row 0 when there is none."""
    query = select(EVENTS.c.seq, EVENTS.c.hash).where(EVENTS.c.tenant == tenant).order_by(EVENTS.c.seq.desc()).limit(1)
    row = connection.execute(query).one_or_none()
    return Head(row.seq, row.hash) if row is not None else BEGINNING


def require_head(connection: Connection, tenant: str, noted: Head | None) -> None:
    """See that the ledger has this row. None is noted by a Redis of an earlier version, or one that begins.

    Raises:
        LedgerDiffers: it has not.
    """
    if noted is None:
        return
    query = select(EVENTS.c.hash).where(EVENTS.c.tenant == tenant, EVENTS.c.seq == noted.seq)
    if noted.hash == (connection.scalar(query) if noted.seq else GENESIS):
        return
    newest = connection.scalar(select(func.max(EVENTS.c.seq)).where(EVENTS.c.tenant == tenant)) or 0
    here = f"its newest row is {newest}" if newest < noted.seq else "that row is another one here"
    handed = f"events were handed over up to row {noted.seq}, and {here}"
    raise LedgerDiffers(
        f"The ledger {where(connection.engine.url)} is older than Redis, or another database",
        "Nothing is moved into it. Set VOBO_LEDGER_URL right, or bring its newest"
        " rows back; to go on with it as it is: `vobo unfreeze --reconciled`.",
        rows=handed if noted.seq != _FOREIGN else "what Redis noted of it was not written by vobo",
    )


def require_ledger(url: str) -> None:
    """See that there is a ledger, without making one.

    Raises:
        LedgerAbsent: there is none.
    """
    parsed = make_url(url)
    if not _is_file(parsed) or Path(str(parsed.database)).is_file():
        engine = engine_of(url)
        try:
            if inspect(engine).has_table(EVENTS.name):
                return
        finally:
            engine.dispose()
    raise LedgerAbsent(
        f"There is no ledger at {where(parsed)}, and Redis has handed events over to one",
        "Mount or restore it, or set VOBO_LEDGER_URL right, for the clock as for `vobo`; a relative address begins"
        f" where a process runs. {LOST}",
    )


def where(url: URL) -> str:
    """The address without password; a file by its whole path, since that is how two of one name are told apart."""
    return shown(url.set(database=str(Path(str(url.database)).resolve())) if _is_file(url) else url)


def _is_file(url: URL) -> bool:
    return url.get_backend_name() == "sqlite" and url.database not in {None, "", ":memory:"}
