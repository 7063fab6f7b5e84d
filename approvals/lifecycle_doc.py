"""Writes docs/lifecycle.md from the one table: `python -m approvals.lifecycle_doc > docs/lifecycle.md`."""

import sys
from collections.abc import Iterator

from approvals.lifecycle import FINAL, TABLE, UNDO_TABLE, State, UndoState

_INTRODUCTION = """\
# Lifecycle of a call

Generated from `approvals/lifecycle.py`; write it anew with `python -m approvals.lifecycle_doc > docs/lifecycle.md`.
Each verb but submit (`pause_run.lua`) is one script in `approvals/scripts`. A test walks every verb from every state on
a real server and compares the result with this table. A worker that succeeds or fails late, when its call is unknown by
then, settles it.
"""

_UNDO = """\
## Taking a call back

A call that succeeded can be taken back once, where its rule and its tool say how. That is an effect of its own, with
its own idempotency key (`vobo-<run>-<call>-undo`), claim, intent and receipt. The call stays `succeeded`, and its run
is told nothing. `-` is a call that nobody has asked to take back. Here succeed, fail and abandon share one script,
`finish_undo.lua`; a late word about an unknown undo settles it too.
"""


def document() -> str:
    """The whole page."""
    calls = [*_table(), "", *_diagram(), "", *_final(), ""]
    return "\n".join([_INTRODUCTION, *calls, _UNDO, *_undo_table(), "", *_undo_diagram(), ""])


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


def _undo_table() -> Iterator[str]:
    yield "| from | verb | to |"
    yield "|---|---|---|"
    for (verb, source), targets in UNDO_TABLE.items():
        yield f"| {source or '-'} | {verb} | {', '.join(_in_order(targets))} |"


def _undo_diagram() -> Iterator[str]:
    yield "```mermaid"
    yield "stateDiagram-v2"
    for (verb, source), targets in UNDO_TABLE.items():
        yield from (f"    {source or '[*]'} --> {target}: {verb}" for target in _in_order(targets))
    yield f"    {UndoState.UNDONE} --> [*]"
    yield "```"


def _in_order(states: frozenset[UndoState]) -> list[UndoState]:
    return sorted(states, key=list(UndoState).index)


def _order(state: State) -> int:
    return list(State).index(state)


def _sorted(states: frozenset[State]) -> list[State]:
    return sorted(states, key=_order)


if __name__ == "__main__":
    sys.stdout.write(document())
