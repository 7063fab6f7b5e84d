"""Whom a waiting card reminds, and whom it is escalated to: the law says who, the store when and how often."""

from datetime import UTC, datetime

from approvals.errors import ApprovalsError
from approvals.lifecycle import State
from approvals.models import BatchView, Call
from approvals.store import Store
from policies.law import Law
from policies.reviewers import Reviewers, entitled

KINDS = frozenset({"remind", "escalate"})


def attend(store: Store, law: Law, kind: str, batch_id: str) -> None:
    """Do what is due for a card that may still wait: remind those who have not answered, or add the next tier."""
    batch = store.batches.load(batch_id)
    if batch is None or (batch.decide_by or 0) <= store.now():  # missed; after an outage there may be thousands
        store.deadlines.drop(kind, batch_id)
        return
    try:
        view = store.batches.view(batch_id)
    except ApprovalsError:  # a record that cannot be read; ops is told by whoever reads it, the thread is reminded
        view = None
    waiting = [call for call in view.calls if call.state is State.PENDING_REVIEW] if view else []
    if view is None or not waiting:
        if kind == "remind":
            store.deadlines.apply(f"{kind}:{batch_id}")
        else:
            store.deadlines.drop(kind, batch_id)
        return
    people = law.people_at(datetime.fromtimestamp(view.now / 1000, UTC))
    limit = law.budgets.interruptions_per_hour
    if kind == "remind":
        store.deadlines.remind(batch_id, users=silent(people, view, waiting), interruptions=limit)
        return
    users, groups = following(people, view, waiting)
    if users or groups:
        store.deadlines.escalate(batch_id, users=users, interruptions=limit)
    else:
        store.deadlines.drop("escalate", batch_id)


def silent(people: Reviewers, view: BatchView, waiting: list[Call]) -> list[str]:
    """Users whom the card was put to and who have not decided all they could; nobody once somebody is on it."""
    if view.batch.on_it:
        return []
    asked = dict.fromkeys(
        user
        for call in waiting
        for user in entitled(people, call.content.requirement).users
        if not _answered(call, user)
    )
    told = view.batch.notify
    return [user for user in _present(people, view, asked) if told is None or user in told]


def following(people: Reviewers, view: BatchView, waiting: list[Call]) -> tuple[list[str], list[str]]:
    """The users and usergroups who may decide only after escalation. Whose limit is too low may lower it or reject."""
    users: dict[str, None] = {}
    groups: dict[str, None] = {}
    for call in waiting:
        before, after = (people.tiers_for(call.content.requirement, escalated=late) for late in (False, True))
        known = {user for tier in before for user in (*tier.users, *tier.usergroups)}
        users |= dict.fromkeys(user for tier in after for user in tier.users if user not in known)
        groups |= dict.fromkeys(group for tier in after for group in tier.usergroups if group not in known)
    return _present(people, view, users), list(groups)


def _present(people: Reviewers, view: BatchView, users: dict[str, None]) -> list[str]:
    own = view.run.requester if not people.development.self_approval else ""
    return [user for user in users if user != own and user not in people.away]


def _answered(call: Call, user: str) -> bool:
    return any(one.reviewer == user and one.version == call.version for one in call.decisions)
