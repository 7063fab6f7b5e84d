"""Who is asked and who may decide: the door to `policies.roster` (the file) and `policies.authority` (the person)."""

from collections.abc import Iterable

from policies.authority import Refusal, may_decide, may_operate, may_start
from policies.requirement import Requirement
from policies.roster import Reviewers, ReviewersRefused, Tier, in_words
from policies.values import Frozen

__all__ = [
    "Entitled",
    "Refusal",
    "Reviewers",
    "ReviewersRefused",
    "describe",
    "entitled",
    "may_decide",
    "may_operate",
    "may_start",
]


class Entitled(Frozen):
    """Whom Slack ids name as possible deciders; who of them still exists, Slack knows."""

    users: tuple[str, ...]
    usergroups: tuple[str, ...]


def entitled(reviewers: Reviewers, requirement: Requirement, *, escalated: bool = False) -> Entitled:
    """The users and usergroups that may decide, without those whose limit is too low."""
    tiers = reviewers.tiers_for(requirement, escalated=escalated)
    users = dict.fromkeys(user for tier in tiers for user in tier.users)
    within = [user for user in users if within_limit(reviewers, requirement, user, tiers)]
    groups = dict.fromkeys(usergroup for tier in tiers for usergroup in tier.usergroups)
    return Entitled(users=tuple(within), usergroups=tuple(groups))


def within_limit(reviewers: Reviewers, requirement: Requirement, user: str, tiers: Iterable[Tier]) -> bool:
    """Whether the personal limit of a user covers the amount of a requirement, if it has one."""
    amount = requirement.amount
    if amount is None:
        return True
    limit = reviewers.limit_of(user, tiers, amount.currency)
    return limit is not None and amount <= limit


def describe(reviewers: Reviewers, requirement: Requirement, *, escalated: bool = False) -> str:
    """Who is asked, in words: `billing: Bruno or Olga; two different people`."""
    who = entitled(reviewers, requirement, escalated=escalated)
    names = [reviewers.name_of(user) for user in who.users]
    if not names:
        names = [f"anyone of {usergroup}" for usergroup in who.usergroups]
    tier = reviewers.tier_of(requirement).replace("_", " ")
    people = f"{tier}: {alternatives(names) if names else 'nobody'}"
    return people if requirement.reviewers == 1 else f"{people}; {in_words(requirement.reviewers)} different people"


def alternatives(names: list[str]) -> str:
    """`Ann`, `Ann or Bob`, `Ann, Bob or Cy`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
