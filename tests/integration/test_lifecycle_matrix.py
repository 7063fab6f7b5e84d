"""Walks every verb from every state on a real server and compares with the one table."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import redis

from approvals.drifts import Drift
from approvals.lifecycle import TABLE, Cause, State, Verb
from approvals.models import BatchLease, Claim
from approvals.outcomes import Answer, Outcome
from approvals.store import Store
from builders import (
    ANA,
    a_call,
    a_content,
    a_pause,
    a_requirement,
    a_store,
    an_auto,
    approve,
    edit,
    lease_run,
    loaded,
    move,
    paused,
    reject,
    start_run,
    try_claim,
)
from canaries import a_canary

# A late word of the claim's own worker about an unknown call is a settlement, under the same method.
EXPECTED = {
    **TABLE,
    (Verb.SUCCEED, State.UNKNOWN): frozenset({State.SUCCEEDED}),
    (Verb.FAIL, State.UNKNOWN): frozenset({State.FAILED}),
}
TOKEN = "claim-1"


@dataclass(frozen=True)
class World:
    """One run with one call, of one kind: `one` or `two` reviewers needed, `auto`, or `canary`."""

    store: Store
    client: redis.Redis
    kind: str
    run: str

    @property
    def call(self) -> str:
        return f"{self.run}_call"

    @property
    def batch(self) -> str:
        return f"{self.run}_batch"

    @property
    def state(self) -> State:
        return loaded(self.store, self.call).state

    def lease(self) -> BatchLease:
        """The batch's lease, whether or not a worker would find anything to do."""
        until = self.store.now() + 600_000
        fields = {"token": "worker", "epoch": "7", "lease_until": str(until), "generation": "1"}
        self.client.hset(self.store.keys.batch(self.batch), mapping=fields)
        return BatchLease(batch=self.batch, run=self.run, token="worker", epoch=7, generation=1)

    def token(self) -> Claim:
        version = loaded(self.store, self.call).version
        return Claim(call=self.call, run=self.run, batch=self.batch, token=TOKEN, version=version, lease_until=0)

    def claim(self) -> Answer:
        return try_claim(self.store, self.lease(), self.call, token=TOKEN)[0]


def begin(store: Store, client: redis.Redis, kind: str, run: str) -> World:
    world = World(store, client, kind, run)
    if kind == "canary":
        one = a_canary(run=run, batch=world.batch, call=world.call)
        assert store.canaries.plant(one, interruptions=99).ok
        store.outbox.delivered(f"opening:{run}", version=1, channel="C0PAY", ts="1.0")
        assert store.batches.record_posted(world.batch, channel="C0PAY", ts="1.1").ok
        return world
    if kind == "auto":
        call = an_auto(world.call, held=True, batch=world.batch)
    else:
        content = a_content(requirement=a_requirement(reviewers=2 if kind == "two" else 1))
        call = a_call(world.call, batch=world.batch, content=content)
    paused(store, call, run=run)
    return world


def never(world: World, state: State) -> bool:
    """Whether a call of this kind is never in this state, whatever is done to it."""
    if world.kind == "canary":
        return state not in {State.PENDING_REVIEW, State.REJECTED}
    return state is (State.PENDING_REVIEW if world.kind == "auto" else State.PROPOSED)


def reach(world: World, state: State, *, intended: bool) -> bool:
    """Bring the call into a state by verbs alone; False when its kind never gets there."""
    store, key = world.store, world.call
    auto = world.kind == "auto"
    if never(world, state):
        return False
    if state in {State.PROPOSED, State.PENDING_REVIEW}:
        return True
    if state is State.REJECTED:
        return store.calls.withdraw(key, by="U0REQ").ok
    if auto:
        store.calls.auto_approve(key, lease=world.lease())
    else:
        approve(store, key)
        if world.kind == "two":
            approve(store, key, by="U0BEN")
    if state is State.EXPIRED:
        move(world.client, store.keys.call(key), execute_by=store.now() - 1)
        return store.deadlines.apply(f"lapse:{key}").ok
    if state is State.APPROVED:
        return True
    world.claim()
    if intended or state is State.UNKNOWN:
        store.effects.intend(world.token())
    endings: dict[State, Callable[[], Answer]] = {
        State.SUCCEEDED: lambda: store.effects.succeed(world.token(), receipt="{}"),
        State.FAILED: lambda: store.effects.fail(world.token(), reason="refused by the provider"),
        State.UNKNOWN: lambda: store.effects.abandon(key, token=TOKEN, reason="timeout"),
    }
    if state in endings:
        assert endings[state]().ok
    return True


def due(world: World, kind: str) -> Answer:
    """Let the time of the batch or the call be over, and the clock come by."""
    now = world.store.now() - 1
    if kind == "decide":
        move(world.client, world.store.keys.batch(world.batch), decide_by=now)
        return world.store.deadlines.apply(f"decide:{world.batch}")
    move(world.client, world.store.keys.call(world.call), execute_by=now)
    return world.store.deadlines.apply(f"lapse:{world.call}")


def refreshed(world: World, **how: Any) -> Answer:
    """The check of an edit; made first where one is possible."""
    if world.state is State.PENDING_REVIEW:
        edit(world.store, world.call, by=ANA)
    reviewers = 2 if world.kind == "two" else 1
    content = a_content(requirement=a_requirement(reviewers=reviewers))
    version = loaded(world.store, world.call).version
    arguments = {"content": content, "seal": "seal-refreshed", "drift": False, **how}
    return world.store.calls.refresh(world.call, version=version, **arguments)


def verbs(world: World) -> dict[Verb, list[Callable[[], Answer]]]:
    """Every way to do each verb."""
    key, calls, effects = world.call, world.store.calls, world.store.effects
    version = loaded(world.store, key).version
    after: dict[str, Any] = {"content": a_content(), "seal": "seal-next"}
    return {
        Verb.AUTO_APPROVE: [lambda: calls.auto_approve(key, lease=world.lease())],
        Verb.FORBID: [lambda: calls.forbid(key, lease=world.lease(), reason="the law says no")],
        Verb.APPROVE: [lambda: approve(world.store, key, by="U0CYD", version=version)],
        Verb.REJECT: [lambda: reject(world.store, key, by="U0CYD", version=version)],
        Verb.EDIT: [lambda: edit(world.store, key, by="U0CYD", version=version)],
        Verb.REFRESH: [
            lambda: refreshed(world),
            lambda: refreshed(world, drift=True),
            lambda: refreshed(world, rejected="the law forbids this edit"),
        ],
        Verb.EXPIRE: [lambda: due(world, "decide")],
        Verb.WITHDRAW: [lambda: calls.withdraw(key, by="U0OTHER")],
        Verb.CLAIM: [world.claim],
        Verb.LAPSE: [lambda: due(world, "lapse")],
        Verb.REFUSE: [lambda: effects.refuse(key, lease=world.lease(), cause=Cause.CAP, reason="cap reached")],
        Verb.REVOKE: [lambda: effects.revoke(key, lease=world.lease(), reason="no longer a reviewer", **after)],
        Verb.SUCCEED: [lambda: effects.succeed(world.token(), receipt='{"id": 1}')],
        Verb.FAIL: [lambda: effects.fail(world.token(), reason="card expired")],
        Verb.RELEASE: [lambda: effects.release(world.token(), difference=["pay_1 is gone"], **after)],
        Verb.ABANDON: [lambda: effects.abandon(key, token=TOKEN, reason="timeout")],
        Verb.UNCLAIM: [lambda: effects.unclaim(key, token=TOKEN)],
        Verb.SETTLE: [
            lambda: effects.settle(key, happened=True, by="U0OPS", reason="seen at the provider"),
            lambda: effects.settle(key, happened=False, by="U0OPS", reason="not seen at the provider"),
        ],
    }


def worlds(store: Store, client: redis.Redis, state: State, names: Iterator[int]) -> Iterator[World]:
    for kind, intended in itertools.product(("one", "two", "auto", "canary"), (False, True)):
        if intended and state is not State.EXECUTING:
            continue
        world = begin(store, client, kind, f"run_{next(names)}")
        if reach(world, state, intended=intended):
            assert world.state is state
            yield world


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("verb", [verb for verb in Verb if verb is not Verb.SUBMIT])
def test_every_verb_from_every_state_does_what_the_table_says(
    redis_client: redis.Redis, verb: Verb, state: State
) -> None:
    store, names, seen = a_store(redis_client), itertools.count(1), set()
    for way in range(3):
        for world in worlds(store, redis_client, state, names):
            ways = verbs(world)[verb]
            if way >= len(ways):
                continue
            before = redis_client.hgetall(store.keys.call(world.call))
            answer = ways[way]()
            if answer.outcome is Outcome.OK:
                seen.add(world.state)
            else:
                unchanged = {**redis_client.hgetall(store.keys.call(world.call)), b"execute_by": b""}
                # lapse and late receipts are tested by moving an instant or are kept beside the state
                kept = {name: value for name, value in unchanged.items() if not name.startswith(b"late_")}
                assert kept == {**before, b"execute_by": b""}, answer
    assert seen == EXPECTED.get((verb, state), frozenset())


def test_submitting_is_what_a_pause_does_with_a_call_for_people(redis_client: redis.Redis) -> None:
    world = begin(a_store(redis_client), redis_client, "one", "run_1")
    proposed = next(event for _, event in world.store.ledger.read() if event["type"] == "proposed")
    assert {State(proposed["state"])} == TABLE[Verb.SUBMIT, State.PROPOSED]


@pytest.mark.parametrize("state", list(State))
def test_a_call_key_is_never_proposed_again_whatever_became_of_it(redis_client: redis.Redis, state: State) -> None:
    store = a_store(redis_client)
    for number, world in enumerate(worlds(store, redis_client, state, itertools.count(1))):
        other = f"other_{number}"
        start_run(store, other)
        write = a_pause(a_call(world.call, batch=f"{other}_batch"))
        answer = store.runs.pause(lease_run(store, other), write)
        assert answer == (Outcome.WRONG_STATE, {"call": world.call})
        assert world.state is state


@pytest.mark.parametrize("state", list(State))
def test_a_look_at_its_data_is_asked_for_and_noted_while_a_call_waits_and_decides_nothing(
    redis_client: redis.Redis, state: State
) -> None:
    store = a_store(redis_client)
    for world in worlds(store, redis_client, state, itertools.count(1)):
        version, now = loaded(store, world.call).version, store.now()
        before = redis_client.hgetall(store.keys.call(world.call))
        found = Drift(rows=1, of=2, lines=("pay_1 is gone",))
        asked = store.calls.ask_look(world.call)
        noted = store.calls.note_looked(world.call, version=version, began=now, drift=found)
        after = redis_client.hgetall(store.keys.call(world.call))
        if state is State.PENDING_REVIEW:
            assert (asked.outcome, noted.outcome) == (Outcome.OK, Outcome.OK)
            assert {name: after[name] for name in before} == before, "state, version, seal and votes are as they were"
        else:
            assert asked == noted == (Outcome.WRONG_STATE, {"state": state})
            assert after == before
