"""A call that cannot be carried out for hours costs a try now and then, and no row of the ledger for each."""

import time
from collections import Counter

import pytest

from approvals.lifecycle import State
from approvals.models import Call
from approvals.store import Store
from builders import an_auto, claim, lease_batch, move, paused
from worker.batches import pause_ms
from workshop import ANA, LEA, Workshop, saying, shipping


def two_approved(workshop: Workshop, *, second: str = ANA) -> list[Call]:
    """Two approved calls of one batch."""
    workshop.script.extend([[shipping(("cup", 3)), shipping(("pot", 3), call_id="c2")], [saying()]])
    workshop.start()
    cup, pot = workshop.calls()
    assert workshop.decide(cup).ok
    assert workshop.decide(pot, by=second).ok
    return [cup, pot]


def failing(workshop: Workshop) -> str:
    """An approved call whose check fails from now on; its batch."""
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    workshop.start()
    (cup,) = workshop.calls()
    assert workshop.decide(cup).ok
    workshop.shop.check_fails = True
    return str(cup.batch)


def tried(workshop: Workshop, batch: str) -> int:
    """One round; how long the next one waits, in whole seconds."""
    workshop.see(ANA)
    workshop.execute()
    score = workshop.client.zscore(workshop.store.keys.wakeups, f"execute_batch:{batch}")
    assert score is not None
    return round((score - workshop.store.now()) / 1000)


def test_an_outage_writes_one_claim_to_the_ledger_and_draws_no_card_again(workshop: Workshop) -> None:
    batch = failing(workshop)
    tried(workshop, batch)
    drawn = workshop.store.outbox.load(f"card:{batch}")
    for _ in range(5):
        tried(workshop, batch)
    kinds = Counter(event["type"] for _, event in workshop.store.ledger.read())
    assert (kinds["claimed"], kinds["unclaimed"], kinds["gate_failed"]) == (1, 1, 1)
    assert drawn is not None
    assert workshop.store.outbox.load(f"card:{batch}") == drawn


def test_pauses_grow_to_a_minute_and_the_call_runs_when_its_check_answers(workshop: Workshop) -> None:
    batch = failing(workshop)
    assert [tried(workshop, batch) for _ in range(6)] == [4, 8, 16, 32, 60, 60]
    assert pause_ms(1_000) == 60_000
    workshop.shop.check_fails = False
    workshop.execute()
    assert (workshop.calls()[0].state, len(workshop.shop.done)) == (State.SUCCEEDED, 1)


def test_a_round_in_which_nothing_failed_begins_the_pauses_anew(workshop: Workshop) -> None:
    batch = failing(workshop)
    assert [tried(workshop, batch) for _ in range(2)] == [4, 8]
    workshop.client.delete(workshop.store.keys.person(ANA))  # nobody knows whether she may still decide
    workshop.execute()
    assert tried(workshop, batch) == 4


def test_a_call_that_waits_for_something_else_waits_no_longer_for_a_sibling_that_fails(workshop: Workshop) -> None:
    cup, _ = two_approved(workshop, second=LEA)
    workshop.shop.check_fails = True
    workshop.client.delete(workshop.store.keys.person(LEA))
    assert [tried(workshop, str(cup.batch)) for _ in range(3)] == [4, 4, 4]


def test_calls_that_there_was_no_time_for_wait_no_longer_for_one_that_fails(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(dict[str, str]):
        def __contains__(self, item: object) -> bool:  # the check looks here
            time.sleep(1.2)
            raise ConnectionError

    monkeypatch.setattr("worker.batches.BEGIN_UNTIL_MS", 1_000)
    cup, _ = two_approved(workshop)
    workshop.client.hset(workshop.store.keys.batch(str(cup.batch)), "in_vain", 5)
    workshop.shop.owners = Slow()
    assert tried(workshop, str(cup.batch)) == 4


def test_what_is_given_back_when_nobody_holds_the_batch_is_taken_up_at_once(store: Store) -> None:
    paused(store, an_auto("call_1"))
    lease = lease_batch(store, "batch_auto")
    taken = claim(store, lease, people=())
    move(store.runs.client, store.keys.batch("batch_auto"), lease_until=store.now())
    assert store.effects.unclaim("call_1", token=taken.token).ok
    assert ("execute_batch", "batch_auto") in [wakeup[:2] for wakeup in store.wakeups.due()]


def test_what_is_given_back_while_the_batch_is_held_waits_until_that_is_given_back(store: Store) -> None:
    paused(store, an_auto("call_1"))
    lease = lease_batch(store, "batch_auto")
    taken = claim(store, lease, people=())
    assert store.effects.unclaim("call_1", token=taken.token).ok
    assert store.wakeups.due() == []
    assert store.batches.finish(lease, again_ms=9_000)
    assert 5_000 < (store.wakeups.peek() or 0) - store.now() <= 9_000


def test_a_lost_claim_is_taken_up_at_once_although_somebody_holds_the_batch(store: Store) -> None:
    paused(store, an_auto("call_1"))
    lease = lease_batch(store, "batch_auto")
    claim(store, lease, people=())
    move(store.runs.client, store.keys.call("call_1"), lease_until=store.now())
    assert store.effects.unclaim("call_1").ok
    assert ("execute_batch", "batch_auto") in [wakeup[:2] for wakeup in store.wakeups.due()]
