"""What keeps canaries from being shown, or from looking like any other call."""

from collections.abc import Collection, Iterator

from policies.canaries import CanaryCall
from policies.notices import nobody_ever
from policies.requirement import STRICTEST_TIER, Requirement
from policies.reviewers import entitled
from policies.roster import Reviewers


def canary_notes(tools: Collection[str], reviewers: Reviewers) -> Iterator[str]:
    """One sentence each; nothing without `[canaries]`. `tools` are those that have a rule."""
    asked = reviewers.canaries
    if asked is None:
        return
    if reviewers.starters is not None and asked.requester not in reviewers.starters:
        yield (
            f"reviewers.toml, canaries: the requester {asked.requester} is not named under starters, so cards in that"
            " name look odd, unless one of those usergroups has them."
        )
    for number, one in enumerate(asked.calls, start=1):
        for what in _of_call(one, tools, reviewers, asked.requester):
            yield f"reviewers.toml, canaries.calls, number {number} ({one.tool}): {what}"


def _of_call(one: CanaryCall, tools: Collection[str], reviewers: Reviewers, requester: str) -> Iterator[str]:
    need = Requirement(radius=one.radius, tier=one.tier, reviewers=one.reviewers, amount=one.amount)
    if one.tool not in tools:
        yield "no rule is about this tool, so no other card is like it."
    if one.tier not in reviewers.tiers and one.tier != STRICTEST_TIER:
        yield f"the tier {one.tier} is not defined under [tiers], so it is never shown."
        return
    never = nobody_ever(reviewers, need, requester=requester)
    if never is not None:
        yield f"it is never shown. {never}"
        return
    who = entitled(reviewers, need, escalated=True)
    within = [user for user in who.users if user != requester]
    if not who.usergroups and len(within) < one.reviewers:
        yield f"too few may approve {one.amount}, so nobody can be found out to have approved it; lower it."
