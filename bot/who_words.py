"""Who is asked about a call and who has said what so far, in the reader's language."""

from collections.abc import Collection

from approvals.models import Call
from bot.card_text import NAME
from bot.language import say, say_choice, say_count, say_list
from bot.text import cut, one_line
from policies.requirement import STRICTEST_TIER, Requirement
from policies.reviewers import Reviewers, entitled
from policies.tally import tally

#: Of many people so many are named in one sentence.
_NAMED = 5


def who_decides(reviewers: Reviewers, requirement: Requirement) -> str:
    """`billing: Bruno or Olga; 2 different people`."""
    who = entitled(reviewers, requirement)
    names = [reviewers.name_of(user) for user in who.users]
    names = names or [say("anyone of {usergroup}", usergroup=usergroup) for usergroup in who.usergroups]
    tier = reviewers.tier_of(requirement).replace("_", " ")
    people = f"{tier}: {say_choice(names) if names else say('nobody')}"
    if requirement.reviewers == 1:
        return people
    return say_count(requirement.reviewers, "{who}; one person", "{who}; {number} different people", who=people)


def others(reviewers: Reviewers, requirement: Requirement, but: Collection[str], *, escalated: bool = False) -> str:
    """`Bruno or Olga`: who may decide besides these, a few of many; empty when nobody is left, or nobody knows."""
    who = entitled(reviewers, requirement, escalated=escalated)
    names = [cut(one_line(reviewers.name_of(user)), NAME) for user in who.users if user not in but]
    if len(names) > _NAMED + 1:
        left = len(names) - _NAMED
        names[_NAMED:] = [say_count(left, "{number} other person", "{number} other people")]
    return say_choice(names or [say("anyone of {usergroup}", usergroup=usergroup) for usergroup in who.usergroups])


def so_far(call: Call) -> str:
    """Who has approved the version that is shown, and what is missing."""
    said = tally(call.content.requirement, call.decisions, version=call.version)
    approvals = {one.reviewer: one for one in call.decisions if one.reviewer in said.approved_by}
    names = [cut(one_line(one.name), NAME) for one in approvals.values()]
    if said.verdict != "pending":
        return say("Approved by {names}.", names=say_list(names)) if names else said.sentence
    if names:
        return say_count(
            said.missing,
            "Approved by {names}; one more approval needed, by somebody else.",
            "Approved by {names}; {number} more approvals needed, by different people.",
            names=say_list(names),
        )
    tier = call.content.requirement.tier
    return say_count(
        said.missing,
        "Waiting for one approval from {tier}.",
        "Waiting for {number} approvals from {tier}, by different people.",
        tier=say("the strictest tier") if tier == STRICTEST_TIER else tier.replace("_", " "),
    )
