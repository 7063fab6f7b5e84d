"""Asks a tool what became of a call whose outcome nobody saw."""

import structlog

from approvals.lifecycle import State
from approvals.models import Call
from approvals.queue import JobTimeout
from approvals.store import Store
from policies.arguments import ArgumentsRefused
from worker.actions import CannotTell
from worker.deps import Deps
from worker.door import Door, receipt

JOB = "reconcile_call"
#: A provider that could not be asked is asked again, at the earliest and at the latest after so long.
SOON_MS, LATE_MS = 5_000, 300_000
#: How what a provider said begins, behind why nobody knows.
_ASKED = "The provider was asked: "
CANNOT_TELL = f"{_ASKED}it cannot tell."
_HOUR_S = 3600

_log = structlog.get_logger(__name__)


async def reconcile(deps: Deps, key: str) -> None:
    """Settle an unknown call if its tool can tell; otherwise ask again later, or ask ops when it never will."""
    call = deps.store.calls.load(key)
    run = deps.store.runs.load(call.run) if call else None
    if call is None or run is None or call.state is not State.UNKNOWN:
        return
    async with deps.loaded(run.agent, deps.watch()) as loaded:
        door = loaded.doors.get((call.agent, call.tool))
        if door is None or door.action is None or door.action.reconcile is None:
            _ask_ops(deps, call)
            return
        await _ask(deps, call, door)


async def _ask(deps: Deps, call: Call, door: Door) -> None:
    reconcile_with = door.action.reconcile if door.action else None
    try:
        args = door.exactly(call.content.arguments).args
        found = await reconcile_with(call.idempotency_key, args) if reconcile_with else None
    except JobTimeout:
        raise
    except ArgumentsRefused:  # a tool that changed would answer about something else
        _ask_ops(deps, call)
        return
    except CannotTell:
        _ask_ops(deps, call, CANNOT_TELL)
        return
    # A boundary: the provider may be down for the very reason that made the call unknown.
    except Exception as error:  # noqa: BLE001
        _log.warning("reconcile failed", call=call.key, error=type(error).__name__)
        deps.store.wakeups.postpone(JOB, call.key, delay_ms=again_ms(call, deps.store.now()))
        return
    if found is not None:
        deps.store.effects.settle(
            call.key, happened=True, by="reconcile", reason="The provider has it.", receipt=receipt(found)
        )
        return
    wait_ms = still_at_work_ms(deps.store, call.key, call.at_work_until)
    if wait_ms > 0:  # "not found" says nothing before it can have come to an end
        deps.store.wakeups.postpone(JOB, call.key, delay_ms=wait_ms)
        return
    told = forgotten(deps.store, door, begun=call.claimed_at or 0)
    if told is not None:
        _ask_ops(deps, call, told)
        return
    deps.store.effects.settle(call.key, happened=False, by="reconcile", reason="The provider does not have it.")


def _ask_ops(deps: Deps, call: Call, told: str | None = None) -> None:
    """The tool will never tell; `told` is what it said. The deadline stands for a worker that is lost before this."""
    deps.store.effects.alert_unknown(call.key, reason=saying_too(call.reason, told) if told else "")
    deps.store.wakeups.drop(JOB, call.key)


def again_ms(call: Call, now: int) -> int:
    """As long again as the call has been unknown about: growing pauses that need no counter."""
    return min(LATE_MS, max(SOON_MS, now - (call.claimed_at or now)))


def forgotten(store: Store, door: Door, *, begun: int) -> str | None:
    """What ops reads where "not found" says nothing any more about what was begun then: its key may be dropped there.

    None while it says that it did not happen.
    """
    remembers_s = door.action.remembers_s if door.action else None
    if remembers_s is not None and store.now() - begun > remembers_s * 1000:
        return forgot(remembers_s)
    return None


def forgot(remembers_s: float) -> str:
    """That what was begun so long ago is not found."""
    number, unit = (remembers_s / 3600, "hour") if remembers_s >= _HOUR_S else (remembers_s / 60, "minute")
    span = f"{number:.4g} {unit}{'' if number == 1 else 's'}"
    return f"{_ASKED}it does not have it, but it was begun more than {span} ago and may be forgotten there."


def saying_too(reason: str | None, told: str) -> str:
    """Why the outcome is unknown, with what the provider says by now instead of what it said before."""
    why = (reason or "").partition(_ASKED)[0].strip().rstrip(".")
    return f"{why}. {told}" if why else told


def still_at_work_ms(store: Store, subject: str, until: int | None) -> int:
    """How long the effect of a call, or of `undo:call`, may still be at work: by its time limit, or as it is there.

    What an action does in a thread goes on when its time is over; its process says so as long as there is one.
    """
    return max((until or 0) - store.now(), store.effects.present_ms(subject), 0)
