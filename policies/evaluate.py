"""The law applied to a whole turn at once: what each call needs, knowing all the others."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from policies.deadlines import ttl_seconds
from policies.history import with_history
from policies.judge import Proposal, judge
from policies.law import Law
from policies.requirement import Requirement
from policies.risk import Mode, Risk
from policies.rule import Spend

__all__ = ["Proposal", "evaluate"]

Counts = Mapping[tuple[str, str], int]
#: Vetoes and corrections, each `tool|resource` -> sentence, and edits, resource -> sentence.
Before = tuple[Mapping[str, str], Mapping[str, str], Mapping[str, str]]
NOTHING: Mapping[str, str] = MappingProxyType({})
NO_CAPS: Mapping[tuple[str, str, str], int] = MappingProxyType({})


def evaluate(
    law: Law,
    proposals: Sequence[Proposal],
    *,
    requester: str,
    spent: Counts,
    vetoes: Mapping[str, str],
    now: datetime,
    corrections: Mapping[str, str] = NOTHING,
    edits: Mapping[str, str] = NOTHING,
    caps: Mapping[tuple[str, str, str], int] = NO_CAPS,
) -> tuple[Requirement, ...]:
    """One requirement per proposal, in order.

    Every rule sees `so_far`: what the run took up before (`spent`: minor units by label and currency) and what all
    other calls of this turn would take up, so that nothing is gained by splitting. `vetoes` maps `tool|resource` to
    the sentence of the person who refused it in this thread; a tool that names no resources is vetoed as `tool|*`.
    `corrections` does the same for rejections that allow one new proposal, which a person decides again.
    `edits` maps a resource to the sentence of the reviewer's edit that a call on it follows; a person decides that too.
    `caps` is what other calls hold: minor units by cap, currency and key.
    `now` is an aware instant. Nothing a rule does wrong makes a call automatic.
    """
    before = (vetoes, corrections, edits)
    first = _pass(law, proposals, requester, [Spend(spent, caps)] * len(proposals), before)
    taken = [_counts(need) for need in first]
    turn = Counter(spent)
    for counts in taken:
        turn.update(counts)
    so_far = [Spend({key: turn[key] - counts.get(key, 0) for key in turn}, caps) for counts in taken]
    return tuple(
        _finish(law, proposal, need, now)
        for proposal, need in zip(proposals, _pass(law, proposals, requester, so_far, before), strict=True)
    )


def _pass(
    law: Law, proposals: Sequence[Proposal], requester: str, so_far: Sequence[Spend], before: Before
) -> list[Requirement]:
    judged = [judge(law, proposal, requester, spend) for proposal, spend in zip(proposals, so_far, strict=True)]
    return with_history(proposals, judged, *before)


def _counts(need: Requirement) -> dict[tuple[str, str], int]:
    """What a call would take up; nothing when it cannot run, or one bad call would drag the others with it."""
    if need.mode is Mode.FORBIDDEN:
        return {}
    return {(label, amount.currency): amount.minor for label, amount in need.counts.items()}


def _finish(law: Law, proposal: Proposal, need: Requirement, now: datetime) -> Requirement:
    rule = law.rules.get(proposal.tool)
    risk, undo = (rule.risk, rule.undo) if rule else (Risk.IRREVERSIBLE, None)
    return need.model_copy(
        update={
            "risk": risk,
            "undo": undo,
            "ttl_s": ttl_seconds(law.deadlines, risk=risk, undo=undo, now=now),
            "lapse_s": law.deadlines.lapse_s,
            "law": law.version,
        }
    )
