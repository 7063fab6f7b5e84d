"""Looks the data of a waiting call up again, so that its card can say what has changed. Decides nothing."""

import asyncio
from typing import NamedTuple

from approvals.drifts import Drift
from approvals.lifecycle import State
from approvals.models import Call, CallContent, Run
from worker.deps import Deps
from worker.door import Door
from worker.drift import changed_rows, difference
from worker.judging import Looked, described, look
from worker.refusals import AgentRefused

#: A reviewer waits for it, and a worker has better things to do than to look for longer.
LONGEST_S = 20.0
#: Lines kept, and characters of one: beyond this nobody reads what else has changed.
LINES, LINE = 200, 500


class _Seen(NamedTuple):
    """A look's result. `failed`: nobody can tell how the data is now."""

    drift: Drift | None = None
    failed: bool = False


async def look_again(deps: Deps, key: str) -> None:
    """Compare the data of a waiting call with what was sealed and note the difference. Safe to call at any time."""
    call = deps.store.calls.load(key)
    run = deps.store.runs.load(call.run) if call else None
    if call is None or run is None or call.state is not State.PENDING_REVIEW or call.refreshing:
        deps.store.wakeups.drop("look_again", key)
        return
    began = deps.store.now()
    # A canary rests on nothing, and must not be told from other cards by what is said about its data.
    seen = _Seen() if call.canary else await _seen(deps, run, call)
    if seen is None:
        deps.store.wakeups.drop("look_again", key)
        return
    deps.store.calls.note_looked(key, version=call.version, began=began, drift=seen.drift, failed=seen.failed)


async def _seen(deps: Deps, run: Run, call: Call) -> _Seen | None:
    """What a look finds; None when the call rests on nothing that could be looked up."""
    try:
        async with asyncio.timeout(LONGEST_S), deps.loaded(run.agent, deps.watch()) as loaded:
            door = loaded.doors.get((call.agent, call.tool))
            if door is None:
                return _Seen(failed=True)
            if not _rests_on_data(door, call.content):
                return None
            looked = await look(call.key, door, call.content, requester=run.requester)
            # By the requirement that was sealed: what the law asks now is told apart from what the data says.
            now = await described(looked, call.content.requirement, agent_version=loaded.version)
    except (TimeoutError, AgentRefused):
        return _Seen(failed=True)
    if looked.kind == "facts" or (looked.problem is None and now.preview.generic and not call.content.preview.generic):
        return _Seen(failed=True)  # the check or the preview raised, which says nothing about the data
    return _Seen(drift_of(call.content, now, looked))


def _rests_on_data(door: Door, content: CallContent) -> bool:
    return door.action is not None and (door.action.check is not None or content.preview.precondition is not None)


def drift_of(old: CallContent, new: CallContent, looked: Looked) -> Drift | None:
    """What the gate would find different, counted and cut to what somebody reads; None when nothing is."""
    if looked.kind == "arguments":  # the gate refuses it, with this sentence
        return Drift(lines=((looked.problem or "")[:LINE],), refused=True)
    lines = difference(old, new)
    if not lines:
        return None
    rows, of = changed_rows(old, new)
    kept = tuple(line[:LINE] for line in lines[:LINES])
    return Drift(rows=rows, of=of, lines=kept, more=len(lines) - len(kept))
