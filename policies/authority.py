"""Whether this person may do this now: one function per question, used by every door."""

from typing import Literal

from policies.person import Person
from policies.requirement import Requirement
from policies.roster import Reviewers, Tier
from policies.values import Frozen

Cause = Literal["elsewhere", "bot", "deactivated", "guest", "requester", "not_in_tier", "over_limit", "forbidden"]


class Refusal(Frozen):
    """Why a person may not; `sentence` is for the person alone, the card stays open.

    `about` is what the sentence names: the tier, the agent or the person's limit.
    """

    cause: Cause
    sentence: str
    about: str = ""


def may_decide(
    reviewers: Reviewers,
    requirement: Requirement,
    person: Person,
    *,
    requester: str,
    clicker_team: str,
    verdict: Literal["approve", "edit", "reject"] = "approve",
    escalated: bool = False,
) -> Refusal | None:
    """Why this person may not give this verdict, or None when they may.

    `clicker_team` is the team the signed payload names for the user. A rejection needs no limit.
    """
    refusal = _may_act(reviewers, person, clicker_team)
    if refusal:
        return refusal
    if requirement.mode == "forbidden":
        return Refusal(cause="forbidden", sentence="This call is forbidden by policy; nobody can decide it.")
    if person.user == requester and not reviewers.development.self_approval:
        return Refusal(
            cause="requester",
            sentence="You started this run, so somebody else must decide. You can cancel the run instead.",
        )
    mine = tuple(tier for tier in reviewers.tiers_for(requirement, escalated=escalated) if _in_tier(person, tier))
    if not mine:
        tier = reviewers.tier_of(requirement).replace("_", " ")
        sentence = f"Only {tier} may decide this, and you are not one of them."
        return Refusal(cause="not_in_tier", sentence=sentence, about=tier)
    return _over_limit(reviewers, requirement, person, mine) if verdict != "reject" else None


def may_undo(
    reviewers: Reviewers,
    requirement: Requirement,
    person: Person,
    *,
    requester: str,
    clicker_team: str,
    escalated: bool = False,
) -> Refusal | None:
    """Why this person may not take back a call that needed this, or None when they may.

    Whoever may approve it may take it back, within the same limits. What ran unasked, on its requester's word alone,
    is taken back on that word as well. The sentences of the refusals are about deciding; the bot has others here.
    """
    if requirement.mode == "auto" and person.user == requester:
        return _may_act(reviewers, person, clicker_team)
    return may_decide(
        reviewers, requirement, person, requester=requester, clicker_team=clicker_team, escalated=escalated
    )


def may_start(reviewers: Reviewers, person: Person, *, clicker_team: str, agent: str = "") -> Refusal | None:
    """Why this person may not start a run with this agent (empty: the first of VOBO_AGENT), or None when they may."""
    refusal = _may_act(reviewers, person, clicker_team)
    mine = {person.user, *person.usergroups}
    if refusal:
        return refusal
    if reviewers.starters is not None and not mine & set(reviewers.starters):
        return Refusal(cause="not_in_tier", sentence="You may not start runs here. Ask ops to add you to the starters.")
    access = reviewers.agents.get(agent or "default")
    if access is not None and not mine & set(access.starters):
        name = agent or "default"
        sentence = f"You may not start runs with the agent {name}. Ask ops to add you to its starters."
        return Refusal(cause="not_in_tier", sentence=sentence, about=name)
    return None


def may_operate(reviewers: Reviewers, person: Person, *, clicker_team: str) -> Refusal | None:
    """Why this person may not press the operators' controls, or None when they may."""
    refusal = _may_act(reviewers, person, clicker_team)
    if refusal or person.user in reviewers.ops:
        return refusal
    return Refusal(cause="not_in_tier", sentence="Only ops may do this, and you are not listed in reviewers.toml.")


def may_look_back(
    reviewers: Reviewers, person: Person, *, clicker_team: str, requester: str | None = None
) -> Refusal | None:
    """Why this person may not read what happened, or None when they may: ops, and whoever may decide something.

    `requester` is who started the run that is asked about, and may read its story too; None: the question is about all.
    """
    refusal = _may_act(reviewers, person, clicker_team)
    if refusal or person.user in reviewers.ops or person.user == requester:
        return refusal
    if any(_in_tier(person, tier) for tier in reviewers.tiers.values()):
        return None
    return Refusal(cause="not_in_tier", sentence="Only ops and reviewers may read this.")


def _may_act(reviewers: Reviewers, person: Person, clicker_team: str) -> Refusal | None:
    """Refusals that hold for everything: who is not a full, living member of the home workspace does nothing."""
    if clicker_team != reviewers.team or person.team != reviewers.team or person.stranger:
        return Refusal(
            cause="elsewhere", sentence="Only members of the home workspace may do this; you are from another."
        )
    if person.bot:
        return Refusal(cause="bot", sentence="Apps may not do this; a person must.")
    if person.deactivated:
        return Refusal(cause="deactivated", sentence="This account is deactivated, so it may not do this.")
    if person.guest:
        return Refusal(cause="guest", sentence="Guests may not do this; ask a full member of the workspace.")
    return None


def _in_tier(person: Person, tier: Tier) -> bool:
    return person.user in tier.users or bool(set(person.usergroups) & set(tier.usergroups))


def _over_limit(
    reviewers: Reviewers, requirement: Requirement, person: Person, tiers: tuple[Tier, ...]
) -> Refusal | None:
    amount = requirement.amount
    if amount is None:
        return None
    limit = reviewers.limit_of(person.user, tiers, amount.currency)
    if limit is None:
        sentence = f"No limit in {amount.currency} is set for you, so you cannot approve {amount}. Ask ops to set one."
    elif amount > limit:
        sentence = f"This comes to {amount}; your limit is {limit}. You can lower it with Edit, or reject it."
    else:
        return None
    return Refusal(cause="over_limit", sentence=sentence, about=str(limit or ""))
