"""Walks every verb of an undo from every state on a real server and compares with the one table."""

import itertools
from collections.abc import Callable, Iterator

import pytest
import redis

from approvals.lifecycle import UNDO_TABLE, State, UndoState, UndoVerb
from approvals.outcomes import Answer, Outcome
from approvals.store import Store
from approvals.undos import undo_seal
from builders import TENANT, a_store
from undos import Ran, ran, reach

# A late word of the worker about an unknown undo is a settlement, under the same method.
EXPECTED = {
    **UNDO_TABLE,
    (UndoVerb.SUCCEED, UndoState.UNKNOWN): frozenset({UndoState.UNDONE}),
    (UndoVerb.FAIL, UndoState.UNKNOWN): frozenset({UndoState.FAILED}),
}


def ways(one: Ran) -> dict[UndoVerb, list[Callable[[], Answer]]]:
    """Every way to do each verb."""
    undos, claimed = one.store.undos, one.claimed
    seal = undo_seal(one.call, tenant=TENANT)
    return {
        UndoVerb.ASK: [lambda: one.ask("U0CYD")],
        UndoVerb.CLAIM: [one.claim],
        UndoVerb.REFUSE: [lambda: undos.refuse(one.key, seal=seal, reason="no longer a reviewer")],
        UndoVerb.LAPSE: [one.over],
        UndoVerb.UNCLAIM: [lambda: undos.unclaim(claimed)],
        UndoVerb.SUCCEED: [lambda: undos.succeed(claimed, receipt='"paid back"')],
        UndoVerb.FAIL: [lambda: undos.fail(claimed, reason="the provider refuses")],
        UndoVerb.ABANDON: [lambda: undos.abandon(claimed, reason="timeout")],
        UndoVerb.SETTLE: [lambda: one.settle(happened=True), lambda: one.settle(happened=False)],
    }


def worlds(store: Store, client: redis.Redis, state: UndoState | None, names: Iterator[int]) -> Iterator[Ran]:
    for kind, intended in itertools.product(("one", "two", "three", "auto"), (False, True)):
        if intended and state is not UndoState.EXECUTING:
            continue
        one = ran(store, client, kind, f"run_{next(names)}")
        if reach(one, state, intended=intended):
            assert one.state is state
            yield one


@pytest.mark.parametrize("state", [None, *UndoState])
@pytest.mark.parametrize("verb", list(UndoVerb))
def test_every_verb_from_every_state_does_what_the_table_says(
    redis_client: redis.Redis, verb: UndoVerb, state: UndoState | None
) -> None:
    store, names, seen = a_store(redis_client), itertools.count(1), set()
    lost = {UndoState.ASKED, UndoState.UNKNOWN}  # what becomes of a lost worker's undo is no lapse
    for way in range(2):
        for one in worlds(store, redis_client, state, names):
            if way >= len(ways(one)[verb]):
                continue
            before = redis_client.hgetall(store.keys.call(one.key))
            answer = ways(one)[verb][way]()
            assert one.call.state is State.SUCCEEDED, "the call itself is what it was"
            if answer.outcome is Outcome.OK:
                seen.add(one.state)
            else:
                kept = redis_client.hgetall(store.keys.call(one.key))
                moved = {b"undo_execute_by", b"undo_lease_until", b"undo_late_receipt"}
                assert {name: kept[name] for name in kept.keys() - moved} == {
                    name: before[name] for name in before.keys() - moved
                }, answer
    if (verb, state) == (UndoVerb.LAPSE, UndoState.EXECUTING):
        assert seen == lost
    else:
        assert seen == EXPECTED.get((verb, state), frozenset())
