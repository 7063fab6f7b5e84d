"""Whom a waiting card reminds, and whom it is escalated to: the law says who, the store when and how often."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from approvals.errors import ApprovalsError
from approvals.lifecycle import State
from approvals.models import BatchView, Call
from approvals.store import Store
from policies.law import Law
from policies.reviewers import Reviewers, entitled

KINDS = frozenset({"remind", "escalate"})


def attend(store: Store, law: Law, kind: str, batch_id: str) -> None:
    """Do what is due for a card that may still wait: remind those who have not answered, or add the next tier.

    Either way its data is looked up again, so that whoever is hurried reads what has changed.
    """
    batch = store.batches.load(batch_id)
    if batch is None or (batch.decide_by or 0) <= store.now():  # missed; after an outage there may be thousands
        store.deadlines.drop(kind, batch_id)
        return
    try:
        view = store.batches.view(batch_id)
    # A record that cannot be read, or that a newer version wrote in another form: the thread is reminded all the same.
    except (ApprovalsError, ValueError):
        view = None
    waiting = [call for call in view.calls if call.state is State.PENDING_REVIEW] if view else []
    if view is None or not waiting:
        if kind == "remind":
            store.deadlines.apply(f"{kind}:{batch_id}")
        else:
            store.deadlines.drop(kind, batch_id)
        return
    for call in waiting:
        store.calls.ask_look(call.key)
    people = law.people_at(datetime.fromtimestamp(view.now / 1000, UTC))
    members = store.people.known_members(people.usergroups())
    people = people.opened(members)
    limit = law.budgets.interruptions_per_hour
    if kind == "remind":
        told = awake(people, silent(people, view, waiting, members))
        store.deadlines.remind(batch_id, users=told, interruptions=limit)
        return
    added = following(people, view, waiting)
    if added:  # they may decide, whoever of them is awake to be told
        store.deadlines.escalate(batch_id, users=awake(people, added), interruptions=limit)
    else:
        store.deadlines.drop("escalate", batch_id)


def awake(people: Reviewers, found: list[str]) -> list[str]:
    """Those of them who have no quiet hours now."""
    return [one for one in found if one not in people.quiet]


def silent(people: Reviewers, view: BatchView, waiting: list[Call], members: Mapping[str, Sequence[str]]) -> list[str]:
    """Whom the card was put to and who have not decided all they could; nobody once somebody is on it.

    Where too few were awake when it was posted, everybody entitled. `members` are those of usergroups that may have
    been told as a whole.
    """
    if view.batch.on_it:
        return []
    asked: dict[str, None] = {}
    for call in waiting:
        who = entitled(people, call.content.requirement)
        asked |= dict.fromkeys(user for user in who.users if not _answered(call, user))
        asked |= dict.fromkeys(who.usergroups)
    told = None if view.batch.quiet else view.batch.notify
    if told is None:
        return _present(people, view, asked)
    known = {*told, *(user for group in told for user in members.get(group, ()))}
    return [one for one in _present(people, view, asked) if one in known]


def following(people: Reviewers, view: BatchView, waiting: list[Call]) -> list[str]:
    """Users and usergroups that may decide only after escalation. Whose limit is too low may lower it or reject."""
    found: dict[str, None] = {}
    for call in waiting:
        before, after = (people.tiers_for(call.content.requirement, escalated=late) for late in (False, True))
        known = {one for tier in before for one in (*tier.users, *tier.usergroups)}
        found |= dict.fromkeys(one for tier in after for one in (*tier.users, *tier.usergroups) if one not in known)
    return _present(people, view, found)


def _present(people: Reviewers, view: BatchView, found: dict[str, None]) -> list[str]:
    own = view.run.requester if not people.development.self_approval else ""
    return [one for one in found if one != own and one not in people.away]


def _answered(call: Call, user: str) -> bool:
    return any(one.reviewer == user and one.version == call.version for one in call.decisions)
