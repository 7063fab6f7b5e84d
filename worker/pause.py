"""A pause of the SDK turned into calls, batches and seals, written in one step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from approvals.lifecycle import Cause, State
from approvals.models import CallContent, PauseWrite, ProposedBatch, ProposedCall, Run
from policies.blast_radius import group
from policies.budgets import cards_left
from policies.requirement import Requirement
from policies.risk import Mode
from worker.deps import Deps
from worker.judging import Looked, described, judge, look
from worker.load import Loaded
from worker.saved import ResumeRefused, Saved
from worker.sealing import Subject, sealed
from worker.watch import Watch, is_call_id

OVER_BUDGET = "The approval budget of this run is exhausted, so nobody is asked."


@dataclass(frozen=True, slots=True)
class Asked:
    """One interruption of the SDK."""

    sdk_id: str
    agent: str
    tool: str
    raw: str


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
        found.append(Asked(call_id, item.agent.name, str(item.tool_name), original))
    return found


async def pause_write(
    deps: Deps, loaded: Loaded, run: Run, calls: Sequence[Asked], saved: Saved, *, watch: Watch, read: tuple[str, ...]
) -> PauseWrite:
    """Everything that must be stored for one pause. `read` tells what the agent looked up before.

    Raises:
        ResumeRefused: a tool asked for approval that was not loaded as gated.
    """
    keyed = {deps.store.new_id("call"): call for call in calls}
    turn = [await _looked(loaded, run, key, call) for key, call in keyed.items()]
    needs = _needs(deps, run, turn)
    contents: dict[str, CallContent] = {}
    for looked, need in zip(turn, needs, strict=True):
        content = await described(looked, need, agent_version=loaded.version)
        said = watch.said.get(keyed[looked.key].sdk_id) or None
        contents[looked.key] = content.model_copy(update={"reason": said, "lookups": read})
    placed = _placed(deps, contents, cards=saved.cards)
    number = {key: at for at, key in enumerate(keyed, start=1)}
    proposed = tuple(
        _proposed(deps, run, keyed[key], key, number[key], content, placed) for key, content in contents.items()
    )
    cards = sum(batch.has_card for batch in placed.batches)
    kept = saved.model_copy(update={"cards": saved.cards + cards, "last": bool(placed.over_budget)})
    return PauseWrite(state=kept.stored(), turns=watch.turns, calls=proposed, batches=placed.batches)


@dataclass(frozen=True, slots=True)
class _Placed:
    """Where policy put each call: its batch, None for one that is refused at once."""

    batches: tuple[ProposedBatch, ...]
    batch_of: Mapping[str, str]
    over_budget: frozenset[str]
    held: bool


async def _looked(loaded: Loaded, run: Run, key: str, call: Asked) -> Looked:
    door = loaded.doors.get((call.agent, call.tool))
    if door is None:
        raise ResumeRefused(f'"{call.agent}" asked for {call.tool}, which is not among its gated tools.')
    return await look(key, door, call.raw, requester=run.requester)


def _needs(deps: Deps, run: Run, turn: Sequence[Looked]) -> tuple[Requirement, ...]:
    store = deps.store
    return judge(
        deps.law,
        turn,
        requester=run.requester,
        spent=store.runs.counts(run.id),
        vetoes=vetoes_for_law(store.vetoes.of_thread(run.channel, run.thread_ts)),
        now_ms=store.now(),
    )


def vetoes_for_law(stored: Mapping[str, str]) -> dict[str, str]:
    """The store marks "no resource" with a star, the law with nothing."""
    return {place.removesuffix("*") if place.endswith("|*") else place: told for place, told in stored.items()}


def _placed(deps: Deps, contents: Mapping[str, CallContent], *, cards: int) -> _Placed:
    needs = {key: content.requirement for key, content in contents.items()}
    human = [(key, need.radius) for key, need in needs.items() if need.mode is Mode.HUMAN]
    groups = group(human, limit=deps.law.budgets.calls_per_card)
    room = cards_left(deps.law.budgets, cards, len(groups))
    batches = [
        _batch(deps, at, each.radius, each.keys, needs, has_card=True) for at, each in enumerate(groups[:room], start=1)
    ]
    over = frozenset(key for each in groups[room:] for key in each.keys)
    autos = tuple(key for key, need in needs.items() if need.mode is Mode.AUTO)
    if autos:
        batches.append(_batch(deps, len(batches) + 1, "runs unasked", autos, needs, has_card=False))
    batch_of = {key: batch.id for batch in batches for key in batch.calls}
    return _Placed(tuple(batches), batch_of, over, held=room > 0)


def _batch(
    deps: Deps,
    number: int,
    radius: str,
    keys: tuple[str, ...],
    needs: Mapping[str, Requirement],
    *,
    has_card: bool,
) -> ProposedBatch:
    """The shortest time of any call counts for the whole card."""
    return ProposedBatch(
        id=deps.store.new_id("batch"),
        radius=radius,
        number=number,
        calls=keys,
        has_card=has_card,
        ttl_s=min(needs[key].ttl_s for key in keys),
        lapse_s=min(needs[key].lapse_s for key in keys),
    )


def _proposed(  # noqa: PLR0917 - one value for each field
    deps: Deps, run: Run, call: Asked, key: str, number: int, content: CallContent, placed: _Placed
) -> ProposedCall:
    state, cause, reason, held = _state(content.requirement, held=placed.held, over_budget=key in placed.over_budget)
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


def _state(need: Requirement, *, held: bool, over_budget: bool) -> tuple[Any, Cause | None, str | None, bool]:
    if over_budget:
        return State.REJECTED, Cause.BUDGET, OVER_BUDGET, False
    if need.mode is Mode.FORBIDDEN:
        return State.REJECTED, Cause.VETO if need.vetoed else Cause.POLICY, " ".join(need.reasons), False
    if need.mode is Mode.HUMAN:
        return State.PENDING_REVIEW, None, None, False
    # Beside calls that wait for people, even what needs nobody waits: it may only make sense together with them.
    return (State.PROPOSED, None, None, True) if held else (State.APPROVED, None, None, False)
