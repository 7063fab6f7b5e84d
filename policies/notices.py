"""Whom a card notifies, and when an agent has asked people often enough."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from policies.budgets import Budgets
from policies.requirement import Requirement
from policies.reviewers import Reviewers, entitled
from policies.roster import Tier, in_words


@dataclass(frozen=True, slots=True)
class Heard:
    """How often each Slack id (user or usergroup) was notified within the last hour, and when last (ms)."""

    times: Mapping[str, int] = field(default_factory=dict)
    last: Mapping[str, int] = field(default_factory=dict)

    def also(self, ids: Iterable[str], at: int) -> "Heard":
        """The same after one more card that notifies these."""
        ids = tuple(ids)
        times = Counter(self.times)
        times.update(ids)
        return Heard(times, {**self.last, **dict.fromkeys(ids, at)})


@dataclass(frozen=True, slots=True)
class Notice:
    """Whom one call's card notifies. `quiet`: too few of those who may decide are awake to be told."""

    ids: tuple[str, ...] = ()
    quiet: bool = False

    def __bool__(self) -> bool:
        return bool(self.ids) or self.quiet


def nobody_ever(reviewers: Reviewers, need: Requirement, *, requester: str) -> str | None:
    """Why nobody could ever approve this, escalated or not; None when somebody could.

    Personal limits are left out: whose limit is too low may lower the amount, or reject.
    """
    tiers = reviewers.tiers_for(need, escalated=True)
    if any(tier.usergroups for tier in tiers):
        return None
    people = _users(reviewers, tiers, requester)
    if len(people) >= need.reviewers:
        return None
    tier = reviewers.tier_of(need).replace("_", " ")
    beside = "" if reviewers.development.self_approval else " beside whoever started the run"
    if not people:
        return f"Nobody may approve it: reviewers.toml names nobody for {tier}{beside}."
    wanted, there = in_words(need.reviewers), in_words(len(people))
    return f"Nobody may approve it: it needs {wanted} people of {tier}, and reviewers.toml names {there}{beside}."


def to_notify(reviewers: Reviewers, budgets: Budgets, need: Requirement, *, requester: str, heard: Heard) -> Notice:
    """Whom one call's card notifies; nothing at all when too few are left within their hourly budget.

    `reviewers` are those of the moment (`Law.people_at`), known members of usergroups among them (`Reviewers.opened`).
    Who is away is left to the stand-in; who has quiet hours is left in peace, also when nobody else is there: the card
    is posted all the same. A usergroup whose members nobody knows counts as one id, and as awake.
    """
    for escalated in (False, True):
        users, groups, rotate = _candidates(reviewers, need, requester, escalated=escalated)
        if users or groups:
            break
    in_budget = [user for user in users if heard.times.get(user, 0) < budgets.interruptions_per_hour]
    free = [user for user in in_budget if user not in reviewers.quiet]
    free_groups = [group for group in groups if heard.times.get(group, 0) < budgets.interruptions_per_hour]
    wanted = min(need.reviewers, max(1, len(users)))
    if not free_groups and len(free) < wanted:
        return Notice(tuple(free), quiet=True) if len(in_budget) >= wanted else Notice()
    if rotate is None:
        return Notice((*free, *free_groups))
    turn = sorted(free, key=lambda user: (heard.last.get(user, 0), heard.times.get(user, 0)))
    chosen = turn[: max(rotate, need.reviewers)]
    return Notice(tuple(chosen) if len(chosen) >= need.reviewers else (*chosen, *free_groups))


def _candidates(
    reviewers: Reviewers, need: Requirement, requester: str, *, escalated: bool
) -> tuple[list[str], tuple[str, ...], int | None]:
    tiers = reviewers.tiers_for(need, escalated=escalated)
    within = entitled(reviewers, need, escalated=escalated)
    everybody = _users(reviewers, tiers, requester)
    # Nobody's limit is high enough: those who can lower it or reject it are told.
    users = [user for user in within.users if user in everybody] or everybody
    present = [user for user in users if user not in reviewers.away] or users
    return present, within.usergroups, tiers[0].rotate if tiers else None


def _users(reviewers: Reviewers, tiers: Sequence[Tier], requester: str) -> list[str]:
    users = dict.fromkeys(user for tier in tiers for user in tier.users)
    return [user for user in users if user != requester or reviewers.development.self_approval]
