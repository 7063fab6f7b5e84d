"""What is wrong with a ledger, in sentences: rows changed, removed, inserted, put elsewhere, cut off at the end."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from approvals.ledger_rows import GENESIS, chained, salted

#: Fields of a body that are searched, and how many characters of each stand beside it.
SEARCHED = {"type": 40, "run": 64, "call": 64, "actor": 64, "tool": 128}


def columns_of(body: Mapping[str, str]) -> dict[str, Any]:
    """What stands beside a body to be searched. It is no more than a copy, and checked to be one."""
    return {"at": int(body.get("at", "0")), **{name: body.get(name, "")[:most] for name, most in SEARCHED.items()}}


def chain_problems(rows: Iterable[Any], head: Any) -> list[str]:
    """One sentence for each row that does not follow from the row before; rows come in order of their number.

    They are looked at one by one, so that a ledger need not fit into memory.
    """
    problems: list[str] = []
    previous, expected, any_row = GENESIS, 1, False
    for row in rows:
        any_row = True
        if row.seq != expected:
            problems.append(f"Row {expected} is missing.")
        problem = _row_problem(row, previous)
        if problem:
            problems.append(problem)
        previous, expected = row.hash, row.seq + 1
    if head is None and any_row:
        problems.append("The record of how many rows were written is gone.")
    if head is not None and head.seq >= expected:
        problems.append(f"The newest rows are gone: {head.seq} were written, {expected - 1} are here.")
    elif head is not None and (head.seq, head.hash) != (expected - 1, previous):
        problems.append(f"Rows were added or changed at the end: {head.seq} were written, {expected - 1} are here.")
    return problems


def _row_problem(row: Any, previous: str) -> str | None:
    name = f"Row {row.seq} ({row.type})"
    try:
        body = json.loads(row.body)
        follows = chained(previous, row.seq, row.event_id, row.body) == row.hash
        copied = all(_copied(row, column, cut, body) for column, cut in columns_of(body).items())
    except (ValueError, TypeError, AttributeError):
        return f"{name} was changed: it cannot be read."
    if not follows:
        return f"{name} was changed, or a row before it was."
    return None if copied else f"{name} was changed beside its body, where it is searched."


def _copied(row: Any, column: str, cut: Any, body: Mapping[str, str]) -> bool:
    """SQLite let 0.1.0 write whole what was too long for its column."""
    return getattr(row, column) in {cut, body.get(column)}


def personal_problems(apart: Iterable[Any]) -> list[str]:
    """One sentence for each personal value that is not what the chain vouches for. Erased ones are no problem."""
    return [
        f"A {one.kind} of row {one.seq} was changed: it does not fit the hash in the chain."
        for one in apart
        if salted(one.salt, one.value) != one.hash
    ]
