"""A pause of the SDK turned into calls, batches and seals, written in one step."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from approvals.lifecycle import Cause, State
from approvals.models import CallContent, PauseWrite, ProposedCall, Run
from approvals.sealing import Subject, sealed
from approvals.storable import whole_text
from policies.history import corrected
from policies.requirement import Requirement
from policies.risk import Mode
from worker.bounded import Patience
from worker.defuse import NOTHING
from worker.deps import Deps
from worker.earlier_edits import earlier_edits
from worker.judging import Looked, described, judge, look
from worker.load import Loaded
from worker.placing import Placed, place
from worker.saved import ResumeRefused, Saved
from worker.watch import HELD_BACK, Watch, is_call_id


@dataclass(frozen=True, slots=True)
class Asked:
    """One interruption of the SDK."""

    sdk_id: str
    agent: str
    tool: str
    raw: str
    withheld: bool = False


def asked(interruptions: Sequence[Any], watch: Watch) -> list[Asked]:
    """The calls a turn asks for, with the model's own argument text.

    Raises:
        ResumeRefused: a call whose id we did not issue, so a model is not wrapped and nothing about it is certain.
    """
    found = []
    for item in interruptions:
        call_id = item.call_id
        if not is_call_id(call_id) or call_id not in watch.issued:
            raise ResumeRefused(
                f'A call of {item.tool_name} by "{item.agent.name}" bears an id that was not issued here.'
                " Give every agent the model that the factory receives."
            )
        original, _ = watch.malformed.get(call_id, (item.arguments or "", ""))
        held_back = call_id in watch.withheld
        found.append(Asked(call_id, watch.asked_by[call_id], str(item.tool_name), original, held_back))
    return found


async def pause_write(
    deps: Deps,
    loaded: Loaded,
    run: Run,
    calls: Sequence[Asked],
    saved: Saved,
    *,
    watch: Watch,
    read: tuple[str, ...],
    patience: Patience,
) -> PauseWrite:
    """Everything that must be stored for one pause. `read` tells what the agent looked up before.

    `patience` is that of the whole pause, however often it is written.

    Raises:
        ResumeRefused: a tool asked for approval that was not loaded as gated.
    """
    keyed = {deps.store.new_id("call"): call for call in calls}
    turn = [await _looked(loaded, run, key, call, patience) for key, call in keyed.items()]
    corrections = deps.store.vetoes.corrections_of_thread(run.channel, run.thread_ts)
    needs = _needs(deps, run, turn, corrections)
    contents: dict[str, CallContent] = {}
    for looked, need in zip(turn, needs, strict=True):
        content = await described(looked, need, agent_version=loaded.version, patience=patience)
        said = watch.said.get(keyed[looked.key].sdk_id) or None
        contents[looked.key] = content.model_copy(update={"reason": said, "lookups": read})
    tools = {key: call.tool for key, call in keyed.items()}
    placed = place(deps, run, contents, tools, cards=saved.cards)
    number = {key: at for at, key in enumerate(keyed, start=1)}
    proposed = tuple(
        _proposed(deps, run, keyed[key], key, number[key], content, placed) for key, content in contents.items()
    )
    cards = sum(batch.has_card for batch in placed.batches)
    kept = saved.model_copy(update={"cards": saved.cards + cards, "last": placed.spent})
    used = (
        name
        for call in proposed
        if call.state is State.PENDING_REVIEW
        for name in corrected(call.tool, call.content.requirement, corrections)
    )
    return PauseWrite(
        state=kept.stored(),
        turns=watch.turns,
        calls=proposed,
        batches=tuple(placed.batches),
        interruptions=deps.law.budgets.interruptions_per_hour,
        alerts=tuple(placed.alerts),
        withdrawn=tuple(placed.withdrawn),
        corrected=tuple(dict.fromkeys(used)),
    )


async def _looked(loaded: Loaded, run: Run, key: str, call: Asked, patience: Patience) -> Looked:
    door = loaded.doors.get((call.agent, call.tool))
    if door is None:
        raise ResumeRefused(f'"{call.agent}" asked for {call.tool}, which is not among its gated tools.')
    if call.withheld:
        return Looked(key, door, NOTHING, run.requester, problem=HELD_BACK, kind="arguments")
    looked = await look(key, door, call.raw, requester=run.requester, patience=patience)
    return replace(looked, raw=whole_text(call.raw))  # half a character was read and refused, but cannot be stored


def _needs(deps: Deps, run: Run, turn: Sequence[Looked], corrections: dict[str, str]) -> tuple[Requirement, ...]:
    store = deps.store
    return judge(
        deps.law,
        turn,
        requester=run.requester,
        spent=store.runs.counts(run.id),
        vetoes=store.vetoes.of_thread(run.channel, run.thread_ts),
        corrections=corrections,
        edits=earlier_edits(store, deps.law, run),
        held=lambda needs: store.caps.held(needs, run=run.id),
        now_ms=store.now(),
    )


def _proposed(  # noqa: PLR0917 - one value for each field
    deps: Deps, run: Run, call: Asked, key: str, number: int, content: CallContent, placed: Placed
) -> ProposedCall:
    state, cause, reason, held = _state(content.requirement, placed.refused.get(key), held=placed.held)
    subject = Subject(
        tenant=deps.store.tenant, run=run.id, requester=run.requester, key=key, agent=call.agent, tool=call.tool
    )
    return ProposedCall(
        key=key,
        sdk_id=call.sdk_id,
        number=number,
        agent=call.agent,
        tool=call.tool,
        batch=placed.batch_of.get(key),
        state=state,
        cause=cause,
        reason=reason,
        held=held,
        content=content,
        seal=sealed(subject, content, version=1),
    )


def _state(
    need: Requirement, refused: tuple[Cause, str] | None, *, held: bool
) -> tuple[Any, Cause | None, str | None, bool]:
    if refused is not None:
        return State.REJECTED, *refused, False
    if need.mode is Mode.FORBIDDEN:
        return State.REJECTED, Cause.VETO if need.vetoed else Cause.POLICY, " ".join(need.reasons), False
    if need.mode is Mode.HUMAN:
        return State.PENDING_REVIEW, None, None, False
    # Beside calls that wait for people, even what needs nobody waits: it may only make sense together with them.
    return (State.PROPOSED, None, None, True) if held else (State.APPROVED, None, None, False)
