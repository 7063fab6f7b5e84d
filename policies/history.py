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
    proposals: Sequence[Proposal], judged: Sequence[Requirement], vetoes: Mapping[str, str]
) -> list[Requirement]:
    """The judged requirements of one turn, made stricter where a refusal or a sibling bears on them."""
    settled = [_after_refusals(proposal.tool, need, vetoes) for proposal, need in zip(proposals, judged, strict=True)]
    touched = Counter(
        (proposal.tool, resource)
        for proposal, need in zip(proposals, settled, strict=True)
        if need.mode is not Mode.FORBIDDEN
        for resource in set(need.resources)
    )
    return [_beside_siblings(proposal.tool, need, touched) for proposal, need in zip(proposals, settled, strict=True)]


def _after_refusals(tool: str, need: Requirement, vetoes: Mapping[str, str]) -> Requirement:
    if need.risk is Risk.READ_ONLY:
        return need
    for resource in need.resources or (WHOLE_TOOL,):
        cause = vetoes.get(f"{tool}|{resource}")
        if cause is not None:
            why = f"A person refused this before and it may not come back: {visible(cause)}"
            return need.model_copy(update={"mode": Mode.FORBIDDEN, "vetoed": True, "reasons": (why,)})
    for key, cause in sorted(vetoes.items()):
        other, _, resource = key.partition("|")
        if other != tool and resource != WHOLE_TOOL and resource in need.resources:
            why = f"It follows a refusal: {visible(cause)}"
            return _asked(need, why).model_copy(update={"tier": STRICTEST_TIER})
    return need


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
