"""What changed in the team's own data between a decision and now, row by row."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from approvals.kept import masks_of
from approvals.masks import Masks
from approvals.models import CallContent
from approvals.readable import readable_in_full
from policies.arguments import read_json
from policies.risk import Mode
from policies.strict_json import write_json

_UNTOLD = "What the call rests on can no longer be told"
_TOLD_NOW = "What the call rests on can be told now"
_ANSWERS = "Its check failed when people were asked, and answers now"
_NO_PREVIEW = "There is no preview of it any more, only its arguments as they are"
_ANOTHER_TOOL = "The tool was changed since it was proposed"
_TOO_LONG = "It is too long to be read in full now, so nobody can approve it"


def difference(old: CallContent, new: CallContent) -> list[str]:
    """One sentence per row, fact or problem that is not as it was when people decided; empty when nothing changed."""
    masks = _masks(old, new)
    lines = _rows(old, new, masks)
    if old.facts != new.facts:
        lines += list(_facts(read_json(old.facts), read_json(new.facts), "", masks))
    return _told(lines, old, new, masks)


def kept_difference(old: CallContent, new: CallContent) -> list[str]:
    """Why an editor has not seen what the edit would do: only what the new version still rests on is compared.

    An edit takes away, so what is gone says nothing; what came since was seen by nobody, even where it fits the edit.
    """
    masks = _masks(old, new)
    lines = [*_kept_rows(old, new, masks), *_unseen(old, new)] if _can_be_approved(new) else []
    lines += list(_kept_facts(read_json(old.facts), read_json(new.facts), "", masks))
    return _told(lines, old, new, masks)


def changed_rows(old: CallContent, new: CallContent) -> tuple[int, int]:
    """How many of the rows a call rests on are not as they were, and of how many; (0, 0) when it rests on none."""
    before, after = old.preview.precondition, new.preview.precondition
    if not before or not after:
        return 0, 0
    return len(before.difference(after, Masks())), len({*before.rows, *after.rows})


def _masks(old: CallContent, new: CallContent) -> Masks:
    return masks_of(old).also(masks_of(new))


def _told(lines: list[str], old: CallContent, new: CallContent, masks: Masks) -> list[str]:
    """These and a problem that came or went, each once, without what is known to be personal: the ledger keeps them."""
    if new.problem and new.problem != old.problem:
        lines = [*lines, new.problem]
    if old.problem and not new.problem:
        lines = [*lines, _ANSWERS]
    if not lines:
        return []
    return list(dict.fromkeys(masks.scrub("\0".join(lines)).split("\0")))  # one pass: there may be thousands of both


def _rows(old: CallContent, new: CallContent, masks: Masks) -> list[str]:
    before, after = old.preview.precondition, new.preview.precondition
    if before is None or after is None:
        return [] if before is after else [_TOLD_NOW if before is None else _UNTOLD]
    lines = before.difference(after, masks)
    if before.sentence != after.sentence:
        lines.append(f"{before.sentence} -> {after.sentence}")
    return lines


def _facts(old: Any, new: Any, path: str, masks: Masks) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            place = f"{path} {key.replace('_', ' ')}".strip()
            if key not in new:
                yield f"{place}: gone"
            elif key not in old:
                yield f"{place}: new"
            else:
                yield from _facts(old[key], new[key], place, masks)
    elif old != new:
        yield _change(path, old, new, masks)


def _can_be_approved(content: CallContent) -> bool:
    """What the law forbids has no preview by design, and its refusal says why."""
    return content.requirement.mode is not Mode.FORBIDDEN


def _kept_rows(old: CallContent, new: CallContent, masks: Masks) -> list[str]:
    before, after = old.preview.precondition, new.preview.precondition
    if before is None or after is None:
        return [] if before is after else [_UNTOLD]
    return before.only(set(after.rows)).difference(after, masks)


def _unseen(old: CallContent, new: CallContent) -> Iterator[str]:
    """What the editor read and nobody could read of the new version, or what may mean something else now."""
    if new.tool_schema != old.tool_schema:
        yield _ANOTHER_TOOL
    if new.preview.generic and not old.preview.generic:
        yield _NO_PREVIEW
    if not readable_in_full(new):
        yield _TOO_LONG


def _kept_facts(old: Any, new: Any, path: str, masks: Masks) -> Iterator[str]:
    """What changed or came, all the way down; an entry of a list that changed in any way has come."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in new.items():
            place = f"{path} {key.replace('_', ' ')}".strip()
            if key not in old:
                yield f"{place}: new"
            else:
                yield from _kept_facts(old[key], value, place, masks)
    elif isinstance(old, list) and isinstance(new, list):
        came = (Counter(map(write_json, new)) - Counter(map(write_json, old))).total()
        if came:
            yield f"{path}: {came} of {len(new)} entries {'is' if came == 1 else 'are'} new"
    elif old != new:
        yield _change(path, old, new, masks)


def _change(path: str, old: Any, new: Any, masks: Masks) -> str:
    """A fact that is known to be somebody's only changed; what it was and is now stands in the details."""
    if masks.hides(old) or masks.hides(new):
        return f"{path or 'facts'} changed"
    return f"{path or 'facts'}: {_short(old)} -> {_short(new)}"


def _short(value: Any) -> str:
    return f"{len(value)} entries" if isinstance(value, list | dict) else str(value)[:80]
