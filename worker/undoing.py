"""Takes back what a call did: looked at again, claimed, intended, tried once, recorded, as `worker.gate` does."""

import json
from dataclasses import dataclass
from typing import Any

import structlog

from approvals.lifecycle import UndoState
from approvals.models import Call, Run, Undo, UndoClaim
from approvals.queue import JobTimeout
from approvals.sealing import intact
from approvals.undos import undo_seal
from policies.arguments import Arguments, ArgumentsRefused
from worker.actions import ActionContext, CannotTell
from worker.attempt import Ends, attempt
from worker.deps import Deps
from worker.door import Door, receipt
from worker.heartbeat import LEASE_MS, Heartbeat
from worker.load import Loaded
from worker.recheck import Standing
from worker.reconcile import CANNOT_TELL, forgotten, saying_too, still_at_work_ms
from worker.undo_authority import UndoAuthority, undo_authority

JOB = "undo_call"
AGAIN_MS = 30_000

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Matter:
    """One undo that somebody asked for, and what it needs."""

    deps: Deps
    run: Run
    call: Call
    undo: Undo
    door: Door

    @property
    def context(self) -> ActionContext:
        """What the team's code may know: the undo's own key, and the key of what it takes back."""
        return ActionContext(
            run=self.call.run,
            call=self.call.key,
            idempotency_key=self.call.undo_key,
            requester=self.run.requester,
            tenant=self.deps.store.tenant,
            undoes=self.call.idempotency_key,
        )

    @property
    def receipt(self) -> Any:
        """What the effect returned, as plain JSON values."""
        return json.loads(self.call.receipt or "null")

    def arguments(self) -> Arguments | None:
        """The sealed arguments, validated as if from outside.

        Raises:
            ArgumentsRefused: the tool takes others by now, or reads something else out of them.
        """
        return self.door.exactly(self.call.content.arguments).args

    def refuse(self, reason: str) -> None:
        """Nothing happened, and the thread is told why."""
        self.deps.store.undos.refuse(self.call.key, seal=self.undo.seal, reason=reason)


async def undo(deps: Deps, key: str) -> None:
    """Try an undo that was asked for, or find out what became of one. Safe at any time, any number of times."""
    call = deps.store.calls.load(key)
    run = deps.store.runs.load(call.run) if call else None
    if call is None or run is None or call.undo is None:
        deps.store.wakeups.drop(JOB, key)
        return
    async with deps.loaded(run.agent, deps.watch()) as loaded:
        door = loaded.doors.get((call.agent, call.tool))
        if call.undo.state is UndoState.ASKED:
            await _take(deps, run, call, call.undo, loaded, door)
        elif call.undo.state is UndoState.UNKNOWN:
            await _reconcile(deps, run, call, call.undo, door)


async def _take(  # noqa: PLR0917 - what it is about, then what it needs
    deps: Deps, run: Run, call: Call, asked: Undo, loaded: Loaded, door: Door | None
) -> None:
    if not intact(call, tenant=deps.store.tenant, requester=run.requester):
        reason = "What is stored is not what was sealed; ops must look at it."
        deps.store.outbox.alarm(f"seal:{call.key}", event="seal_broken", reason=reason, run=call.run, call=call.key)
        deps.store.undos.refuse(call.key, seal=asked.seal, reason=reason)
        return
    if door is None:
        if call.agent in loaded.agents:  # otherwise the deployment is what is wrong, and time decides
            reason = f"{call.tool} is no longer a tool of {call.agent}."
            deps.store.undos.refuse(call.key, seal=asked.seal, reason=reason)
        return
    matter = _Matter(deps, run, call, asked, door)
    why = _impossible(matter)
    if why is not None:
        matter.refuse(why)
        return
    try:
        args, authority = matter.arguments(), undo_authority(deps, run, call, door)
    except ArgumentsRefused as refused:
        matter.refuse(f"{call.tool} takes other arguments now: {refused.sentence}")
        return
    if authority.seen.standing is Standing.LOST:
        matter.refuse(authority.seen.sentence)
    elif authority.seen.standing is Standing.ENTITLED:
        await _claim(matter, authority, args)


def _impossible(matter: _Matter) -> str | None:
    """Why it cannot be tried (any more), None when it can."""
    call, door = matter.call, matter.door
    if matter.undo.contradicted:
        return "A receipt came late that says it was taken back already; ops compares with the provider."
    if undo_seal(call, tenant=matter.deps.store.tenant) != matter.undo.seal:
        return "What is known about the call has changed since it was asked; look again."
    if door.undo is None or door.rule is None or door.rule.undo is None:
        return f"{call.tool} no longer says how it is undone."
    if door.schema != call.content.tool_schema:
        return "The tool was changed since the call ran, so its undo may mean something else. Take it back by hand."
    return None


async def _claim(matter: _Matter, authority: UndoAuthority, args: Arguments | None) -> None:
    undos = matter.deps.store.undos
    _, claim = undos.claim(
        matter.call,
        token=matter.deps.token(),
        seal=matter.undo.seal,
        ttl_ms=LEASE_MS,
        people=authority.seen.people,
        needed=authority.needed,
    )
    if claim is None:  # frozen, not fresh, or somebody else's: the clock comes by again, or its time is over
        return
    intended = False
    with Heartbeat(lambda: undos.renew(claim, ttl_ms=LEASE_MS)):
        try:
            intended = undos.intend(claim, longest_ms=int(matter.door.timeout_s * 1000)).ok
        finally:
            if not intended:  # nothing can have happened
                undos.unclaim(claim)
        if intended:
            await _run(matter, claim, args)


async def _run(matter: _Matter, claim: UndoClaim, args: Arguments | None) -> None:
    """The undo. From here on nothing is repeated, and every way out is recorded."""
    undos, door = matter.deps.store.undos, matter.door
    undo_with = door.undo

    async def effect() -> str:
        return receipt(await undo_with(matter.context, args, matter.receipt) if undo_with else None)

    ends = Ends(
        fail=lambda reason: undos.fail(claim, reason=reason),
        abandon=lambda reason: undos.abandon(claim, reason=reason),
        succeed=lambda told: undos.succeed(claim, receipt=told),
        stay=lambda: matter.deps.store.effects.stay(f"undo:{matter.call.key}"),
    )
    await attempt(effect, ends, what="undo", call=matter.call, timeout_s=door.timeout_s)


async def _reconcile(deps: Deps, run: Run, call: Call, asked: Undo, door: Door | None) -> None:
    """Settle an unknown undo if its tool can tell; otherwise ask again later, or leave it to ops."""
    store = deps.store
    look_for = door.action.undone if door is not None and door.action is not None else None
    if door is None or look_for is None:
        store.wakeups.drop(JOB, call.key)  # ops was told when it became unknown
        return
    matter = _Matter(deps, run, call, asked, door)
    try:
        found = await look_for(matter.context, matter.arguments(), matter.receipt)
    except JobTimeout:
        raise
    except ArgumentsRefused:  # a tool that changed would answer about something else
        store.wakeups.drop(JOB, call.key)
        return
    except CannotTell:
        _tell_ops(matter, CANNOT_TELL)
        return
    # A boundary: the provider may be down for the very reason that made the undo unknown.
    except Exception as error:  # noqa: BLE001
        _log.warning("undone failed", call=call.key, error=type(error).__name__)
        store.wakeups.postpone(JOB, call.key, delay_ms=AGAIN_MS)
        return
    wait_ms = still_at_work_ms(store, f"undo:{call.key}", asked.at_work_until)
    if found is None and wait_ms > 0:
        store.wakeups.postpone(JOB, call.key, delay_ms=wait_ms)
        return
    told = forgotten(store, door, begun=asked.at) if found is None else None
    if told is not None:
        _tell_ops(matter, told)
        return
    happened = found is not None
    reason = "The provider has taken it back." if happened else "The provider has not taken it back."
    proof = receipt(found) if happened else None
    store.undos.settle(call, happened=happened, by="reconcile", name="", reason=reason, receipt=proof)


def _tell_ops(matter: _Matter, told: str) -> None:
    """The tool will never tell, and ops, who has known since it became unknown, reads what it said."""
    store, undo = matter.deps.store, matter.undo
    store.undos.alert_unknown(matter.call.key, attempt=undo.token, reason=saying_too(undo.reason, told))
    store.wakeups.drop(JOB, matter.call.key)
