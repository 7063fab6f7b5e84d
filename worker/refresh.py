"""Checks an edit against the team's data and the law, so that people can decide it."""

from approvals.lifecycle import State
from approvals.sealing import Subject, sealed
from policies.history import still_asked
from policies.risk import Mode
from worker.bounded import Patience
from worker.deps import Deps
from worker.drift import kept_difference
from worker.gate import judge_again
from worker.judging import described, look


async def refresh(deps: Deps, key: str) -> None:
    """Commit the edited version of a call with its new seal, or refuse it. Safe to call at any time."""
    call = deps.store.calls.load(key)
    if call is None or call.state is not State.PENDING_REVIEW or not call.refreshing:
        return
    run = deps.store.runs.load(call.run)
    if run is None:
        return
    async with deps.loaded(run.agent, deps.watch()) as loaded:
        door = loaded.doors.get((call.agent, call.tool))
        if door is None and call.agent not in loaded.agents:
            # The deployment is what is wrong: the next one may check the edit, until its time is over.
            reason = f"{call.agent} is no longer there."
            deps.store.outbox.alarm(f"tool:{key}", event="tool_gone", reason=reason, run=run.id, call=key)
            return
        if door is None:
            reason = f"{call.tool} is no longer a tool of {call.agent}."
            deps.store.calls.refresh(
                key, version=call.version, content=call.content, seal=call.seal, drift=False, rejected=reason
            )
            return
        patience = Patience()
        looked = await look(key, door, call.content, requester=run.requester, patience=patience)
        judged = judge_again(deps, run, call, looked, vetoes={})
        need = still_asked(call.content.requirement, judged, deps.law.reviewers)
        content = await described(looked, need, agent_version=loaded.version, patience=patience)
    changed = kept_difference(call.content, content)
    told = content.model_copy(
        update={
            "reason": call.content.reason,
            "lookups": call.content.lookups,
            "previous": (*call.content.previous, *changed),
        }
    )
    need = told.requirement
    refused = (looked.problem or " ".join(need.reasons)) if need.mode is Mode.FORBIDDEN else None
    subject = Subject.of(call, tenant=deps.store.tenant, requester=run.requester)
    deps.store.calls.refresh(
        key,
        version=call.version,
        content=told,
        seal=sealed(subject, told, version=call.version),
        drift=bool(changed),
        rejected=refused,
    )
