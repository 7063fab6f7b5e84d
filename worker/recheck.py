"""Whether an approval still carries: the law now, and the authority of those who gave it."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from approvals.models import Call, Decision
from approvals.store import Store
from policies.judge import of_known_tier
from policies.money import Money
from policies.person import Person
from policies.requirement import STRICTEST_TIER, Requirement, Spending
from policies.reviewers import may_decide
from policies.risk import Mode
from policies.roster import Reviewers

FRESH_MS = 60_000
_RANK = {Mode.AUTO: 0, Mode.HUMAN: 1, Mode.FORBIDDEN: 2}


class Standing(StrEnum):
    """What a look at the approvers says."""

    ENTITLED = "entitled"
    STALE = "stale"  # nobody knows; wait for the bot's next look at Slack
    LOST = "lost"  # at least one may not decide this (any more)


class Authority(NamedTuple):
    """`people` are the snapshots it rests on; `sentence` names who lost what."""

    standing: Standing
    people: tuple[Person, ...] = ()
    sentence: str = ""


def approvals_of(call: Call) -> list[Decision]:
    """The approvals that made this version of a call run."""
    return [
        decision for decision in call.decisions if decision.verdict != "reject" and decision.version == call.version
    ]


def authority(store: Store, reviewers: Reviewers, call: Call, need: Requirement, *, requester: str) -> Authority:
    """Whether everybody who approved may still decide what the law asks now. Stale means wait, never allow.

    `need` is what the law says now; where it asks for less than when people decided, they are held to that.
    """
    need = _at_least(call.content.requirement, need, reviewers)
    people: list[Person] = []
    now = store.now()
    for decision in approvals_of(call):
        person = store.people.get(decision.reviewer)
        if person is None or not 0 <= now - person.fetched_at <= FRESH_MS:
            return Authority(Standing.STALE)
        refusal = may_decide(reviewers, need, person, requester=requester, clicker_team=person.team, escalated=True)
        if refusal is not None:
            return Authority(Standing.LOST, sentence=f"{decision.name} may not decide this any more ({refusal.cause}).")
        people.append(person)
    if need.mode is Mode.HUMAN and len({person.user for person in people}) < need.reviewers:
        return Authority(Standing.LOST, sentence=f"It needs {need.reviewers} approvals and has {len(people)}.")
    return Authority(Standing.ENTITLED, tuple(people))


def _at_least(decided: Requirement, need: Requirement, reviewers: Reviewers) -> Requirement:
    """The tier of now, but never a lower one than the strictest that was asked. A looser law changes nothing."""
    if need.mode is Mode.AUTO:
        return of_known_tier(reviewers, decided)
    return need.model_copy(update={"tier": STRICTEST_TIER}) if decided.tier == STRICTEST_TIER else need


def stricter(old: Requirement, new: Requirement) -> str | None:
    """A sentence when the law asks for more than it did; None when it asks for the same or for less."""
    if _RANK[new.mode] > _RANK[old.mode]:
        return "The policy now asks a person." if new.mode is Mode.HUMAN else "The policy now forbids it."
    if new.mode is Mode.AUTO:
        return None
    if new.reviewers > old.reviewers:
        return f"The policy now asks {new.reviewers} reviewers instead of {old.reviewers}."
    if new.confirm and not old.confirm:
        return "The policy now asks for a second look."
    return _lower_cap(old.spends, new.spends)


def _lower_cap(old: Sequence[Spending], new: Sequence[Spending]) -> str | None:
    """The claim reserves what was sealed, so whatever the law takes from another place, or more of, is stricter."""
    sealed = _taken(old)
    for place, (amount, limit) in _taken(new).items():
        before = sealed.get(place)
        if before is None or limit < before[1]:
            return f"The limit on {place.cap} is now {limit}."
        if amount > before[0]:
            return f"It now takes {amount} from the limit on {place.cap}."
    return None


class _Place(NamedTuple):
    """Where an amount is taken from."""

    cap: str
    currency: str
    window: str
    key: str


def _taken(spends: Sequence[Spending]) -> dict[_Place, tuple[Money, Money]]:
    """What is taken from each place, and the limit there: both amounts under the lower limit, as it is reserved."""
    taken: dict[_Place, tuple[Money, Money]] = {}
    for spending in spends:
        for key, amount in spending.amounts.items():
            place = _Place(spending.cap, amount.currency, spending.window, key)
            before = taken.get(place)
            taken[place] = (before[0] + amount, min(before[1], spending.limit)) if before else (amount, spending.limit)
    return taken
