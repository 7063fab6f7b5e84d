"""Questions to the ledger: who approved what, by person, time, run, tool, resource and amount."""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from approvals.ledger import Ledger, Narrowing
from approvals.ledger_rows import LedgerRow
from approvals.stories import VERSIONS, CallStory, stories
from policies.money import Money

_SLACK_ID = re.compile(r"[UW][A-Z0-9]{4,}")
#: Databases take only so many values in one condition.
_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked. `by` is a Slack id or a name; instants are ms, `until` not included; `over` is not included.

    Of the events in `causes` only those with this cause fit: what was settled as failed is no success.
    """

    by: str | None = None
    run: str | None = None
    tool: str | None = None
    types: tuple[str, ...] = ()
    causes: Mapping[str, str] = field(default_factory=dict)
    since: int | None = None
    until: int | None = None
    resource: str | None = None
    over: Money | None = None


class Found(NamedTuple):
    """An event, and the call it is about as far as it was told by then."""

    row: LedgerRow
    call: CallStory | None

    @property
    def shown(self) -> dict[str, object]:
        """What was shown of the version this event is about."""
        if self.call is None:
            return {}
        return self.call.versions.get(int(self.row.body.get("version") or 0), {})

    @property
    def amount(self) -> Money | None:
        """The money this event is about."""
        stored = self.shown.get("amount")
        return Money.model_validate(stored) if stored else None


def answer(ledger: Ledger, tenant: str, question: Question, *, newest: int | None = None) -> list[Found]:
    """The events that fit, in order; with `newest` only so many, the newest. Only what fits is held in memory.

    Raises:
        LedgerUnreachable: the database does not answer.
    """
    fitting = deque[Found](maxlen=newest)
    for rows in ledger.pages(tenant, **_chosen(question)):
        told = calls_of(ledger, tenant, rows)
        found = (Found(row, told.get(row.body.get("call", ""))) for row in rows)
        fitting.extend(one for one in found if fits(one, question))
    return [*fitting]


def rows_of(ledger: Ledger, tenant: str, question: Question, *, newest: int | None = None) -> list[LedgerRow]:
    """The events that the database chooses, in order; with `newest` only so many, the newest.

    Raises:
        LedgerUnreachable: the database does not answer.
    """
    return ledger.rows(tenant, newest=newest, **_chosen(question))


def _chosen(question: Question) -> Narrowing:
    """What the database chooses by."""
    return {
        "run": question.run,
        "tool": question.tool,
        "actor": actor_of(question),
        "types": question.types,
        "since": question.since,
        "until": question.until,
    }


def actor_of(question: Question) -> str | None:
    """The Slack id that is asked for; None when it is a name, which may have changed, or nobody."""
    return question.by if question.by and _SLACK_ID.fullmatch(question.by) else None


def calls_of(ledger: Ledger, tenant: str, rows: Sequence[LedgerRow]) -> dict[str, CallStory]:
    """What was asked and shown of every call these events name, by call key."""
    return stories(versions_of(ledger, tenant, rows)).calls


def versions_of(ledger: Ledger, tenant: str, rows: Sequence[LedgerRow]) -> list[LedgerRow]:
    """The events that say what was asked and shown of every call these events name."""
    keys = sorted({row.body["call"] for row in rows if row.body.get("call")})
    return [row for some in _chunks(keys) for row in ledger.rows(tenant, calls=some, types=VERSIONS)]


def _chunks(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    """The keys, so many at once as a database takes."""
    for start in range(0, len(keys), _AT_ONCE):
        yield keys[start : start + _AT_ONCE]


def fits(found: Found, question: Question) -> bool:
    """Whether an event that the database chose fits what it cannot choose by: cause, name, resource and amount."""
    body = found.row.body
    if body.get("cause", "") != question.causes.get(found.row.type, body.get("cause", "")):
        return False
    if question.by and question.by.casefold() not in {
        body.get("actor", "").casefold(),
        body.get("name", "").casefold(),
    }:
        return False
    if question.resource and (found.call is None or question.resource not in found.call.resources):
        return False
    if question.over is None:
        return True
    amount = found.amount
    return amount is not None and amount.currency == question.over.currency and amount > question.over
