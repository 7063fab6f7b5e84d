"""What a database that cannot be used is called, everywhere in the same words."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from approvals.errors import ApprovalsError


class LedgerUnreachable(ApprovalsError):
    """The ledger's database cannot be reached; events wait in Redis. Check VOBO_LEDGER_URL."""


class LedgerTooNew(LedgerUnreachable):
    """The ledger's tables are of a newer version than this program; the text says what to do."""


def why(failed: BaseException) -> str:
    """The kind of failure, without what a driver says, which may quote a value or a password."""
    kind = type(failed).__name__
    own = type(failed.orig).__name__ if isinstance(failed, DBAPIError) and failed.orig is not None else kind
    return kind if own == kind else f"{kind}, {own}"


@contextmanager
def reaching(what: str) -> Iterator[None]:
    """Whatever the database answers inside becomes one sentence: `what` was not done.

    Raises:
        LedgerUnreachable: it failed, or somebody else held what was needed for too long.
    """
    try:
        yield
    except SQLAlchemyError as failed:
        raise LedgerUnreachable(f"{what} ({why(failed)}). Check VOBO_LEDGER_URL.") from failed
