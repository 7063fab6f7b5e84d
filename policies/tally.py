"""Where a call stands after the decisions so far."""

from collections.abc import Sequence

from policies.person import Decision
from policies.plain_text import quoted
from policies.requirement import STRICTEST_TIER, Requirement, Standing
from policies.risk import Mode
from policies.roster import in_words


def tally(requirement: Requirement, decisions: Sequence[Decision], *, version: int) -> Standing:
    """The standing of one version of a call. Decisions on other versions do not count.

    One rejection settles; approvals count once per person, and an edit is its editor's approval of the version it made.
    """
    if requirement.mode is Mode.FORBIDDEN:
        return Standing(verdict="rejected", sentence=f"Refused by policy: {_because(requirement)}")
    if requirement.mode is Mode.AUTO:
        return Standing(verdict="approved", sentence=f"Nobody was asked: {_because(requirement)}")
    counted = [decision for decision in decisions if decision.version == version]
    rejection = next((decision for decision in counted if decision.verdict == "reject"), None)
    if rejection:
        return Standing(verdict="rejected", sentence=_rejected(rejection))
    names = {decision.reviewer: decision.name for decision in counted}
    missing = max(0, requirement.reviewers - len(names))
    return Standing(
        verdict="approved" if not missing else "pending",
        approved_by=tuple(names),
        missing=missing,
        sentence=_sentence(requirement, list(names.values()), missing),
    )


def _sentence(requirement: Requirement, names: list[str], missing: int) -> str:
    if not missing:
        return f"Approved by {together(names)}."
    approvals = f"{in_words(missing)} more approval{'s' if missing > 1 else ''}"
    if names:
        by = "somebody else" if missing == 1 else "different people"
        return f"Approved by {together(names)}; {approvals} needed, by {by}."
    tier = "the strictest tier" if requirement.tier == STRICTEST_TIER else requirement.tier.replace("_", " ")
    if missing == 1:
        return f"Waiting for one approval from {tier}."
    return f"Waiting for {in_words(missing)} approvals from {tier}, by different people."


def together(names: list[str]) -> str:
    """`Ann`, `Ann and Bob`, `Ann, Bob and Cy`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _rejected(decision: Decision) -> str:
    if decision.reason is None or not decision.reason.strip():
        return f"Rejected by {decision.name}, who gave no reason."
    return f"Rejected by {decision.name}: {quoted(decision.reason, 300)}."


def _because(requirement: Requirement) -> str:
    reasons = [reason.rstrip(".") for reason in requirement.reasons] or ["the rule gave no reason"]
    return f"{'; '.join(reasons)}."
