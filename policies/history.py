"""What people refused before, and what other calls of the turn touch, weighs on a call."""

from collections import Counter
from collections.abc import Mapping, Sequence

from policies.judge import Judged, Proposal, of_known_tier
from policies.plain_text import visible
from policies.requirement import STRICTEST_TIER, Requirement
from policies.risk import Mode, Risk
from policies.roster import Reviewers

#: The resource of a veto on a call that named none.
WHOLE_TOOL = "*"


def with_history(
    proposals: Sequence[Proposal],
    judged: Sequence[Judged],
    vetoes: Mapping[str, str],
    corrections: Mapping[str, str],
    edits: Mapping[str, str],
) -> list[Requirement]:
    """The judged requirements of one turn, made stricter where a refusal, an edit or a sibling bears on them.

    `edits` maps resources to sentences about what a reviewer changed of them before.
    """
    settled = [
        _after_edits(_after_refusals(proposal.tool, one, vetoes, corrections), edits)
        for proposal, one in zip(proposals, judged, strict=True)
    ]
    touched = Counter(  # by whichever tool; what only reads names no resources
        resource for need in settled if need.mode is not Mode.FORBIDDEN for resource in set(need.resources)
    )
    return [_beside_siblings(need, touched) for need in settled]


def corrected(tool: str, need: Requirement, corrections: Mapping[str, str]) -> tuple[str, ...]:
    """The places (`tool|resource`) of rejections that asked for a correction and that this call would be it for."""
    places = (f"{tool}|{resource}" for resource in need.resources or (WHOLE_TOOL,))
    return tuple(place for place in places if place in corrections)


def _after_refusals(
    tool: str, judged: Judged, vetoes: Mapping[str, str], corrections: Mapping[str, str]
) -> Requirement:
    need = judged.need
    if need.risk is Risk.READ_ONLY:
        return need
    for resource in need.resources or (WHOLE_TOOL,):
        cause = vetoes.get(f"{tool}|{resource}")
        if cause is not None:
            why = f"A person refused this before and it may not come back: {visible(cause)}"
            return need.model_copy(update={"mode": Mode.FORBIDDEN, "vetoed": True, "reasons": (why,)})
    refused = sorted({**corrections, **vetoes}.items())
    bearing = _bearing(tool, need, refused)
    if bearing is not None:
        return _following(need, bearing, tier=STRICTEST_TIER)
    for place in corrected(tool, need, corrections):
        why = f"It is the one corrected proposal after a rejection: {visible(corrections[place])}"
        return _following(need, why, tier=need.tier)
    if judged.blind and refused:
        return _following(need, _of_the_thread(tool, refused), tier=STRICTEST_TIER)
    return need


def _bearing(tool: str, need: Requirement, refused: Sequence[tuple[str, str]]) -> str | None:
    """Which refusal bears on a call by what it touches, in a sentence: of another tool, or of a call nobody knew."""
    for place, cause in refused:
        other, _, resource = place.partition("|")
        if other != tool and resource != WHOLE_TOOL and resource in need.resources:
            return f"It follows a refusal: {visible(cause)}"
        if other == tool and resource == WHOLE_TOOL and need.resources:
            return f"It may follow the refusal of a call of which nobody knew what it touches: {visible(cause)}"
    return None


def _of_the_thread(tool: str, refused: Sequence[tuple[str, str]]) -> str:
    """What bears on a call of which nobody knows what it touches: every refusal, those of its own tool first."""
    causes = list(dict.fromkeys(cause for _, cause in sorted(refused, key=lambda one: _tool(one[0]) != tool)))
    more = f" (this thread has {len(causes) - 1} more)" if len(causes) > 1 else ""
    return f"Nobody knows what it touches, so it may follow a refusal: {visible(causes[0])}{more}"


def _tool(place: str) -> str:
    return place.partition("|")[0]


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


def still_asked(asked: Requirement, need: Requirement, reviewers: Reviewers) -> Requirement:
    """What a call that people were asked about needs now: where the law would ask nobody by now, one of the same tier.

    So its approval is somebody's, whoever reads of it, and holds when the law asks a person again. Where that tier is
    gone, it is one of the strictest.
    """
    if need.mode is not Mode.AUTO:
        return need
    why = " ".join(["People were asked about it. By now it would run unasked:", *need.reasons])
    return of_known_tier(reviewers, _asked(need, why).model_copy(update={"tier": asked.tier, "reviewers": 1}))


def _following(need: Requirement, why: str, *, tier: str) -> Requirement:
    if need.mode is Mode.FORBIDDEN or why in need.follows:
        return need
    return _asked(need, why).model_copy(update={"tier": tier, "follows": (*need.follows, why)})


def _beside_siblings(need: Requirement, touched: Mapping[str, int]) -> Requirement:
    shared = [resource for resource in need.resources if touched[resource] > 1]
    if not shared or need.mode is Mode.FORBIDDEN:
        return need
    return _asked(need, f"Another call of this turn touches {visible(shared[0])} too.")


def _asked(need: Requirement, why: str) -> Requirement:
    """At least a person; what spoke for running unasked is forgotten. What is forbidden stays so."""
    if need.mode is Mode.FORBIDDEN:
        return need
    reasons = (why,) if need.mode is Mode.AUTO else (*need.reasons, why)
    return need.model_copy(update={"mode": Mode.HUMAN, "reasons": reasons})
