"""Undos for tests: calls that ran, and every state that taking them back can be in."""

import json
from dataclasses import dataclass
from typing import Any

import redis

from approvals.lifecycle import UndoState
from approvals.models import Call, UndoClaim
from approvals.outcomes import Answer
from approvals.sealing import Subject, sealed
from approvals.store import Store
from approvals.undos import undo_seal
from builders import (
    ANA,
    BEN,
    LONG,
    REQUESTER,
    TENANT,
    a_call,
    a_content,
    a_person,
    a_requirement,
    an_auto,
    approve,
    claim,
    lease_batch,
    loaded,
    move,
    paused,
)
from orphans import nobody_at_work
from policies.risk import Mode

FIRST = "undo-1"


@dataclass(frozen=True)
class Ran:
    """One call that ran. Kinds: `one`, `two` or `three` reviewers were needed, or `auto`."""

    store: Store
    client: redis.Redis
    kind: str
    key: str

    @property
    def call(self) -> Call:
        return loaded(self.store, self.key)

    @property
    def state(self) -> UndoState | None:
        return self.call.undo.state if self.call.undo else None

    @property
    def claimed(self) -> UndoClaim:
        """The claim of the first worker, whether or not it holds."""
        return self.claim_of(FIRST)

    def claim_of(self, token: str) -> UndoClaim:
        """The claim of the worker with this token, whether or not there is one."""
        return UndoClaim(call=self.key, run=self.call.run, version=1, token=token)

    def ask(self, by: str = ANA, *, needed: int = 1, **changes: Any) -> Answer:
        person = self.store.people.put(a_person(by, **changes))
        return self.store.undos.ask_for(self.call, person=person, needed=needed)

    def claim(self, token: str = FIRST, *, people: tuple[str, ...] = (ANA, BEN), **changes: Any) -> Answer:
        snapshots = [self.store.people.put(a_person(user)) for user in people]
        seal = undo_seal(self.call, tenant=TENANT)
        fields = {"token": token, "seal": seal, "ttl_ms": LONG, "people": snapshots, "needed": 1, **changes}
        return self.store.undos.claim(self.call, **fields)[0]

    def intend(self) -> Answer:
        return self.store.undos.intend(self.claimed, longest_ms=5_000)

    def settle(self, *, happened: bool, by: str = "U0OPS", **changes: Any) -> Answer:
        fields = {"name": by.title(), "reason": "looked it up", **changes}
        return self.store.undos.settle(self.call, happened=happened, by=by, **fields)

    def over(self) -> Answer:
        """Whatever its time is, it is over, and the clock comes by."""
        now = self.store.now() - 1
        move(self.client, self.store.keys.call(self.key), undo_execute_by=now, undo_lease_until=now)
        return self.store.deadlines.apply(f"undo:{self.key}")


def ran(store: Store, client: redis.Redis, kind: str = "one", run: str = "run_1") -> Ran:
    """A call that was decided, claimed and had its effect."""
    key, batch = f"{run}_call", f"{run}_batch"
    needed = {"two": 2, "three": 3}.get(kind, 1)
    need = a_requirement(reviewers=needed, undo="Pay it back.")
    content = a_content(requirement=need.model_copy(update={"mode": Mode.AUTO}) if kind == "auto" else need)
    subject = Subject(tenant=TENANT, run=run, requester=REQUESTER, key=key, agent="desk", tool="refund_payments")
    fields: dict[str, Any] = {"batch": batch, "content": content, "seal": sealed(subject, content, version=1)}
    paused(store, an_auto(key, **fields) if kind == "auto" else a_call(key, **fields), run=run)
    voters = (ANA, BEN, "U0EVE")[:needed] if kind != "auto" else ()
    for user in voters:
        assert approve(store, key, by=user).ok
    taken = claim(store, lease_batch(store, batch), key, people=voters)
    assert store.effects.intend(taken).ok
    assert store.effects.succeed(taken, receipt=json.dumps({"paid": 99})).ok
    return Ran(store, client, kind, key)


def reach(one: Ran, state: UndoState | None, *, intended: bool = False) -> bool:
    """Bring the undo into a state by verbs alone; False when its kind never gets there."""
    if state is None:
        return True
    assert one.ask().ok
    if state is UndoState.WANTED:
        return one.kind in {"two", "three"}
    if one.kind == "three":
        return False
    if one.kind == "two":
        assert one.ask(BEN).ok
    if state is UndoState.ASKED:
        return True
    assert one.claim().ok
    if intended or state is not UndoState.EXECUTING:
        assert one.intend().ok
    if state is UndoState.UNDONE:
        assert one.store.undos.succeed(one.claimed, receipt='"paid back"').ok
    elif state is UndoState.FAILED:
        assert one.store.undos.fail(one.claimed, reason="the provider said no").ok
    elif state is UndoState.UNKNOWN:
        assert one.store.undos.abandon(one.claimed, reason="no answer").ok
        nobody_at_work(one.store, one.key)
    return True
