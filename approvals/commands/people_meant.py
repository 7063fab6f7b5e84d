"""Whom somebody may have meant by a name that is not in the ledger as it was typed."""

import difflib
from collections.abc import Iterable

from approvals.ledger_rows import NOBODY, LedgerRow
from approvals.questions import Question, actor_of

#: So many of the newest events are looked at for names, and so many people are named at most.
LOOKED_AT, NAMED = 5_000, 5


def people_of(rows: Iterable[LedgerRow]) -> dict[str, str]:
    """Everybody who did something in these events: id and the newest name."""
    found: dict[str, str] = {}
    for row in rows:
        actor = row.body.get("actor", "")
        if actor and actor not in NOBODY and actor_of(Question(by=actor)):
            # There `name` is the agent's.
            name = "" if row.type == "run_started" else row.body.get("name", "")
            found[actor] = name or found.get(actor, "")
    return found


def nothing_of(by: str, people: dict[str, str]) -> str:
    """Why a question by this name or id finds nothing, and how it is asked."""
    wanted = by.casefold()
    if any(wanted in {user.casefold(), name.casefold()} for user, name in people.items()):
        return f"Nothing that {by} did fits the rest of the question."
    close = difflib.get_close_matches(wanted, [name.casefold() for name in people.values() if name], n=NAMED)
    meant = [
        f'"{name}" ({user})' if name else user
        for user, name in people.items()
        if wanted in name.casefold() or name.casefold() in close or wanted in user.casefold()
    ]
    asked = f"Nobody in the ledger is called {by}; a name is written whole, as it was at the time"
    return f"{asked}. Did you mean {' or '.join(meant[:NAMED])}?" if meant else f"{asked}, or a Slack id (U...)."
