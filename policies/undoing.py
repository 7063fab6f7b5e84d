"""What taking a call back needs: as much as the call did, and what the law asks of such a call by now."""

from datetime import datetime

from policies.evaluate import Proposal, evaluate
from policies.judge import of_known_tier
from policies.law import Law
from policies.money import Money
from policies.requirement import STRICTEST_TIER, Requirement
from policies.risk import Mode


def undo_requirement(
    law: Law, decided: Requirement, proposal: Proposal, *, requester: str, now: datetime
) -> Requirement:
    """The stricter of what was sealed with the call and what the law asks of it now, on its own.

    What its run and others took up before it is in what was sealed. What they took up since, or only asked for, says
    nothing about this call: it must not lock out whoever could have taken it back a minute ago. What is forbidden or
    asks nobody by now may still be taken back, as it was decided.
    """
    (need,) = evaluate(law, [proposal], requester=requester, spent={}, vetoes={}, now=now)
    return _stricter(decided, need) if need.mode is Mode.HUMAN else of_known_tier(law.reviewers, decided)


def people_needed(need: Requirement) -> int:
    """How many people must want a call back: as many as must approve it."""
    return need.reviewers if need.mode is Mode.HUMAN else 1


def _stricter(decided: Requirement, need: Requirement) -> Requirement:
    amount = _higher(decided.amount, need.amount)
    if decided.mode is not Mode.HUMAN:
        return need.model_copy(update={"amount": amount})
    tier = STRICTEST_TIER if decided.tier == STRICTEST_TIER else need.tier
    reviewers = max(decided.reviewers, need.reviewers)
    return need.model_copy(update={"tier": tier, "reviewers": reviewers, "amount": amount})


def _higher(decided: Money | None, need: Money | None) -> Money | None:
    """The amount that limits are compared with; in another currency than before it is what people decided on."""
    if decided is None or need is None:
        return need if decided is None else decided
    return max(decided, need) if decided.currency == need.currency else decided
