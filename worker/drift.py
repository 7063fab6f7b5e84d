"""What changed in the team's own data between a decision and now, row by row."""

from collections.abc import Iterator
from typing import Any

from approvals.models import CallContent
from policies.arguments import read_json


def difference(old: CallContent, new: CallContent) -> list[str]:
    """One sentence per row, fact or problem that is not as it was when people decided; empty when nothing changed."""
    lines = _rows(old, new)
    if old.facts != new.facts:
        lines += list(_facts(read_json(old.facts), read_json(new.facts), ""))
    if new.problem and new.problem != old.problem:
        lines.append(new.problem)
    return list(dict.fromkeys(lines))


def kept_difference(old: CallContent, new: CallContent) -> list[str]:
    """The same for an edit, which may drop rows: only what the new version still rests on is compared."""
    before, after = old.preview.precondition, new.preview.precondition
    lines = before.only(set(after.rows)).difference(after) if before and after else []
    lines += list(_kept_facts(read_json(old.facts), read_json(new.facts), ""))
    if new.problem and new.problem != old.problem:
        lines.append(new.problem)
    return list(dict.fromkeys(lines))


def _rows(old: CallContent, new: CallContent) -> list[str]:
    before, after = old.preview.precondition, new.preview.precondition
    if before is None or after is None:
        return [] if before is after else ["What the call rests on can no longer be told"]
    lines = before.difference(after)
    if before.sentence != after.sentence:
        lines.append(f"{before.sentence} -> {after.sentence}")
    return lines


def _facts(old: Any, new: Any, path: str) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            place = f"{path} {key.replace('_', ' ')}".strip()
            if key not in new:
                yield f"{place}: gone"
            elif key not in old:
                yield f"{place}: new"
            else:
                yield from _facts(old[key], new[key], place)
    elif old != new:
        yield f"{path or 'facts'}: {_short(old)} -> {_short(new)}"


def _kept_facts(old: Any, new: Any, path: str) -> Iterator[str]:
    """Changed values under keys that both have; a key that came with an edit is no drift, nor one that left."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() & new.keys():
            yield from _kept_facts(old[key], new[key], f"{path} {key.replace('_', ' ')}".strip())
    elif old != new and not isinstance(old, list):  # lists follow the arguments, which were edited
        yield f"{path or 'facts'}: {_short(old)} -> {_short(new)}"


def _short(value: Any) -> str:
    return f"{len(value)} entries" if isinstance(value, list | dict) else str(value)[:80]
