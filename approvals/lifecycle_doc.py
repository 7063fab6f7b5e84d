"""Writes docs/lifecycle.md from the one table: `python -m approvals.lifecycle_doc > docs/lifecycle.md`."""

import sys
from collections.abc import Iterator

from approvals.lifecycle import FINAL, TABLE, State

_INTRODUCTION = """\
# Lifecycle of a call

Generated from `approvals/lifecycle.py`; write it anew with `python -m approvals.lifecycle_doc > docs/lifecycle.md`.
Each verb is one script in `approvals/scripts`. A test walks every verb from every state on a real server and compares
the result with this table.
"""


def document() -> str:
    """The whole page."""
    return "\n".join([_INTRODUCTION, *_table(), "", *_diagram(), "", *_final(), ""])


def _table() -> Iterator[str]:
    yield "| from | verb | to |"
    yield "|---|---|---|"
    for (verb, source), targets in sorted(TABLE.items(), key=lambda row: _order(row[0][1])):
        yield f"| {source} | {verb} | {', '.join(_sorted(targets))} |"


def _diagram() -> Iterator[str]:
    yield "```mermaid"
    yield "stateDiagram-v2"
    yield f"    [*] --> {State.PROPOSED}"
    for (verb, source), targets in sorted(TABLE.items(), key=lambda row: _order(row[0][1])):
        yield from (f"    {source} --> {target}: {verb}" for target in _sorted(targets))
    yield from (f"    {state} --> [*]" for state in _sorted(FINAL))
    yield "```"


def _final() -> Iterator[str]:
    names = ", ".join(_sorted(FINAL))
    yield f"Final: {names}. A run waits for an `{State.UNKNOWN}` call until that is settled, or answered as unknown."


def _order(state: State) -> int:
    return list(State).index(state)


def _sorted(states: frozenset[State]) -> list[State]:
    return sorted(states, key=_order)


if __name__ == "__main__":
    sys.stdout.write(document())
