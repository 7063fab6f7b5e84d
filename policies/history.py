"""What people refused before, and what other calls of the turn touch, weighs on a call."""

from collections import Counter
from collections.abc import Mapping, Sequence

from policies.judge import Proposal
from policies.plain_text import visible
from policies.requirement import STRICTEST_TIER, Requirement
from policies.risk import Mode, Risk

#: The resource of a veto on a call that named none.
WHOLE_TOOL = "*"


def with_history(
    proposals: Sequence[Proposal],
    judged: Sequence[Requirement],
    vetoes: Mapping[str, str],
    corrections: Mapping[str, str],
    edits: Mapping[str, str],
) -> list[Requirement]:
    """The judged requirements of one turn, made stricter where a refusal, an edit or a sibling bears on them.

    `edits` maps resources to sentences about what a reviewer changed of them before.
    """
    settled = [
        _after_edits(_after_refusals(proposal.tool, need, vetoes, corrections), edits)
        for proposal, need in zip(proposals, judged, strict=True)
    ]
    touched = Counter(
        (proposal.tool, resource)
        for proposal, need in zip(proposals, settled, strict=True)
        if need.mode is not Mode.FORBIDDEN
        for resource in set(need.resources)
    )
    return [_beside_siblings(proposal.tool, need, touched) for proposal, need in zip(proposals, settled, strict=True)]


def corrected(tool: str, need: Requirement, corrections: Mapping[str, str]) -> tuple[str, ...]:
    """The places (`tool|resource`) of rejections that asked for a correction and that this call would be it for."""
    places = (f"{tool}|{resource}" for resource in need.resources or (WHOLE_TOOL,))
    return tuple(place for place in places if place in corrections)


def _after_refusals(
    tool: str, need: Requirement, vetoes: Mapping[str, str], corrections: Mapping[str, str]
) -> Requirement:
    if need.risk is Risk.READ_ONLY:
        return need
    for resource in need.resources or (WHOLE_TOOL,):
        cause = vetoes.get(f"{tool}|{resource}")
        if cause is not None:
            why = f"A person refused this before and it may not come back: {visible(cause)}"
            return need.model_copy(update={"mode": Mode.FORBIDDEN, "vetoed": True, "reasons": (why,)})
    for key, cause in sorted({**corrections, **vetoes}.items()):
        other, _, resource = key.partition("|")
        if other != tool and resource != WHOLE_TOOL and resource in need.resources:
            return _following(need, f"It follows a refusal: {visible(cause)}", tier=STRICTEST_TIER)
    for place in corrected(tool, need, corrections):
        why = f"It is the one corrected proposal after a rejection: {visible(corrections[place])}"
        return _following(need, why, tier=need.tier)
    return need


def _after_edits(need: Requirement, edits: Mapping[str, str]) -> Requirement:
    """What touches a resource that a reviewer had edited is a person's, and says what was changed, whichever tool."""
    for why in dict.fromkeys(edits[resource] for resource in need.resources if resource in edits):
        need = _following(need, f"It follows an edit. {visible(why)}", tier=need.tier)
    return need


def keeping(frozen: Requirement, need: Requirement) -> Requirement:
    """What a call needs now, never less than the rejections it follows made it need when it was proposed."""
    for why in frozen.follows:
        need = _following(need, why, tier=STRICTEST_TIER if frozen.tier == STRICTEST_TIER else need.tier)
    return need


def _following(need: Requirement, why: str, *, tier: str) -> Requirement:
    if need.mode is Mode.FORBIDDEN or why in need.follows:
        return need
    return _asked(need, why).model_copy(update={"tier": tier, "follows": (*need.follows, why)})


def _beside_siblings(tool: str, need: Requirement, touched: Mapping[tuple[str, str], int]) -> Requirement:
    shared = [resource for resource in need.resources if touched[tool, resource] > 1]
    if not shared or need.mode is Mode.FORBIDDEN:
        return need
    return _asked(need, f"Another call of this turn touches {visible(shared[0])} too.")


def _asked(need: Requirement, why: str) -> Requirement:
    """At least a person; what spoke for running unasked is forgotten. What is forbidden stays so."""
    if need.mode is Mode.FORBIDDEN:
        return need
    reasons = (why,) if need.mode is Mode.AUTO else (*need.reasons, why)
    return need.model_copy(update={"mode": Mode.HUMAN, "reasons": reasons})
