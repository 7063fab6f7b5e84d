"""What has happened, from both places where events are: those kept in SQL, and those that wait in Redis for the drain.

Whoever looks in Slack wants the click of a second ago as well, and something even while the database is away.
"""

from collections.abc import Sequence
from typing import NamedTuple

from approvals.ledger import Ledger, LedgerUnreachable
from approvals.ledger_rows import LedgerRow
from approvals.questions import Found, Question, actor_of, fits, rows_of, versions_of
from approvals.store import Store
from approvals.stories import VERSIONS, stories

#: Of what waits for the drain no more than this is looked at, the newest.
WAITING = 2_000


class Past(NamedTuple):
    """Events in order. `whole` is False when the database did not answer and only what waits in Redis is here."""

    found: tuple[Found, ...]
    whole: bool


def past(store: Store, ledger: Ledger | None, question: Question, *, newest: int | None = None) -> Past:
    """The events that fit; at most the `newest` of those that are in SQL."""
    waiting = store.ledger.waiting(WAITING)  # first: the drain moves them
    kept, versions, whole = list[LedgerRow](), list[LedgerRow](), ledger is not None
    wanted = [row for row in waiting if _wanted(row, question)]
    try:
        if ledger is not None:
            kept = rows_of(ledger, store.tenant, question, newest=newest)
            versions = versions_of(ledger, store.tenant, [*kept, *wanted])
    except LedgerUnreachable:
        kept, versions, whole = [], [], False
    told = stories(_joined(versions, [row for row in waiting if row.type in VERSIONS])).calls
    found = (Found(row, told.get(row.body.get("call", ""))) for row in _joined(kept, wanted))
    return Past(tuple(one for one in found if fits(one, question)), whole)


def _joined(kept: Sequence[LedgerRow], waiting: Sequence[LedgerRow]) -> list[LedgerRow]:
    """What is in SQL, then what is not there yet; what was drained between two looks is in both."""
    known = {row.event_id for row in kept}
    return [*kept, *(row for row in waiting if row.event_id not in known)]


def _wanted(row: LedgerRow, question: Question) -> bool:
    """As SQL chooses, for an event that is not there yet."""
    body = row.body
    exact = (
        (body.get("run"), question.run),
        (body.get("tool"), question.tool),
        (body.get("actor"), actor_of(question)),
    )
    if any(value and has != value for has, value in exact):
        return False
    if question.types and row.type not in question.types:
        return False
    return (question.since is None or row.at >= question.since) and (question.until is None or row.at < question.until)
