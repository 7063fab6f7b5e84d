"""Calls that nobody is asked about, in one pause with calls that people are asked about."""

import asyncio

import pytest
from agents.testing import function_call

from approvals.lifecycle import Cause, RunState, State
from approvals.models import Call, Claim
from approvals.outcomes import Outcome
from approvals.store import Store
from builders import REQUESTER, a_call, a_content, an_auto, approve, claim, lease_batch, move, paused, reject, try_claim
from worker import batches
from workshop import ANA, Workshop, saying, shipping


@pytest.fixture
def pause(workshop: Workshop) -> Workshop:
    """People are asked about a shipment; a label would need nobody."""
    workshop.script.extend([[shipping(("cup", 3)), function_call("label", {"item": "cup"}, call_id="c2")], [saying()]])
    workshop.start()
    return workshop


def of(workshop: Workshop, tool: str) -> Call:
    return next(call for call in workshop.calls() if call.tool == tool)


def execute(workshop: Workshop, tool: str) -> None:
    asyncio.run(batches.execute(workshop.deps, of(workshop, tool).batch or ""))


def test_a_held_call_waits_until_what_people_approved_has_come_to_its_end(pause: Workshop) -> None:
    assert pause.decide(of(pause, "ship")).ok
    execute(pause, "label")
    assert of(pause, "label").state is State.PROPOSED
    pause.shop.stock["cup"] = 10  # drift: it comes back to people
    execute(pause, "ship")
    assert of(pause, "ship").state is State.PENDING_REVIEW
    execute(pause, "label")
    assert of(pause, "label").state is State.PROPOSED
    assert pause.decide(of(pause, "ship"), "reject", by=ANA).ok
    execute(pause, "label")
    assert [done[0] for done in pause.shop.done] == ["label"]


def test_the_last_end_of_what_people_were_asked_about_wakes_what_was_held(pause: Workshop) -> None:
    assert pause.decide(of(pause, "ship")).ok
    held = of(pause, "label")
    assert f"execute_batch:{held.batch}" not in woken(pause)
    execute(pause, "ship")
    assert of(pause, "ship").state is State.SUCCEEDED
    assert f"execute_batch:{held.batch}" in woken(pause)


def test_an_answer_of_unknown_lets_what_was_held_go_on_as_well(pause: Workshop) -> None:
    async def breaks() -> None:
        raise ConnectionError

    pause.shop.before_effect = breaks
    assert pause.decide(of(pause, "ship")).ok
    execute(pause, "ship")
    assert of(pause, "ship").state is State.UNKNOWN
    execute(pause, "label")
    assert of(pause, "label").state is State.PROPOSED
    assert pause.store.effects.answer_unknown(of(pause, "ship").key).ok
    execute(pause, "label")
    assert [done[0] for done in pause.shop.done] == ["label"]


def test_a_held_call_goes_stale_like_an_approval_so_that_its_run_ends(pause: Workshop) -> None:
    store = pause.store
    assert pause.decide(of(pause, "ship"), "reject", by=ANA).ok
    held = of(pause, "label")
    assert store.deadlines.at(f"lapse:{held.key}") == held.execute_by
    move(pause.client, store.keys.call(held.key), execute_by=1)
    pause.client.zadd(store.keys.deadlines, {f"lapse:{held.key}": 1})
    assert store.deadlines.apply(f"lapse:{held.key}").outcome is Outcome.OK
    assert (of(pause, "label").state, of(pause, "label").cause) == (State.EXPIRED, Cause.LAPSED)
    assert pause.run().state is RunState.READY


def test_a_held_call_that_is_judged_too_late_does_not_run(pause: Workshop) -> None:
    assert pause.decide(of(pause, "ship"), "reject", by=ANA).ok
    held = of(pause, "label")
    move(pause.client, pause.store.keys.call(held.key), execute_by=1)
    execute(pause, "label")
    assert of(pause, "label").state is State.EXPIRED
    assert pause.shop.done == []


def test_the_barrier_pause_holds_back_what_was_approved_while_somebody_is_asked_again(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("pan", 3)), shipping(("cup", 3), call_id="c2")], [saying()]])
    workshop.start(barrier="pause")
    pan, cup = workshop.calls()
    assert pan.batch != cup.batch
    assert workshop.decide(pan).ok
    assert workshop.decide(cup).ok
    workshop.shop.stock["pan"] = 10
    asyncio.run(batches.execute(workshop.deps, pan.batch or ""))
    asyncio.run(batches.execute(workshop.deps, cup.batch or ""))
    assert [call.state for call in workshop.calls()] == [State.PENDING_REVIEW, State.APPROVED]
    assert workshop.shop.done == []
    assert workshop.decide(workshop.calls()[0]).ok
    for batch in (pan.batch, cup.batch):
        assert f"execute_batch:{batch}" in woken(workshop)
        asyncio.run(batches.execute(workshop.deps, batch or ""))
    assert len(workshop.shop.done) == 2


def test_a_worker_that_held_the_batch_before_a_sibling_came_back_claims_nothing_of_it_under_the_barrier_pause(
    store: Store,
) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2, batch="batch_b"), barrier="pause")
    assert approve(store).ok
    assert approve(store, "call_2").ok
    mine, other = lease_batch(store, token="w1"), lease_batch(store, "batch_b", token="w2")
    answer = store.effects.revoke(
        "call_2", lease=other, content=a_content(), seal="seal-2", reason="the law is stricter"
    )
    assert answer.ok
    assert try_claim(store, mine)[0].outcome is Outcome.WRONG_STATE
    assert approve(store, "call_2", version=2).ok
    assert try_claim(store, mine)[0].outcome is Outcome.OK


def test_what_the_barrier_pause_holds_back_is_no_workers_work_until_its_sibling_is_decided(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2, batch="batch_b"), barrier="pause")
    assert approve(store).ok
    assert approve(store, "call_2").ok
    mine, other = lease_batch(store, token="w1"), lease_batch(store, "batch_b", token="w2")
    content = a_content()
    assert store.effects.revoke("call_2", lease=other, content=content, seal="seal-2", reason="a stricter law").ok
    assert store.batches.finish(mine)
    assert store.batches.lease("batch_a", token="w3", ttl_ms=1_000) is None
    assert wakes_at(store, "batch_a") is None, "it would be asked for ever"
    assert reject(store, "call_2", version=2).ok
    assert wakes_at(store, "batch_a") is not None
    assert store.batches.lease("batch_a", token="w3", ttl_ms=1_000) is not None


def test_an_approved_call_that_ends_wakes_no_worker_of_another_approved_call(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2, batch="batch_b"))
    assert approve(store).ok
    assert approve(store, "call_2").ok
    lease_batch(store, token="w1")
    awake = wakes_at(store, "batch_a")
    end(store, claim(store, lease_batch(store, "batch_b", token="w2"), "call_2"))
    assert wakes_at(store, "batch_a") == awake


def test_a_held_call_that_ends_wakes_no_worker_of_another_held_call(store: Store) -> None:
    held = [an_auto(key, held=True, batch=f"batch_{key}", number=at) for at, key in enumerate(("call_2", "call_3"), 2)]
    paused(store, a_call("call_1"), *held)
    assert reject(store, "call_1").ok
    lease_batch(store, "batch_call_3", token="w1")
    awake = wakes_at(store, "batch_call_3")
    lease = lease_batch(store, "batch_call_2", token="w2")
    assert store.calls.auto_approve("call_2", lease=lease).ok
    end(store, claim(store, lease, "call_2"))
    assert wakes_at(store, "batch_call_3") == awake


def test_what_is_returned_too_late_after_its_run_was_cancelled_stays_withdrawn(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call).ok
    store = workshop.store
    move(workshop.client, store.keys.batch(call.batch or ""), posted_at=store.now() - 24 * 3600 * 1000 + 61_000)
    workshop.shop.stock["cup"] = 7
    claim = type(store.effects).claim

    def then_cancelled(self: object, *arguments: object, **named: object) -> object:
        answer = claim(self, *arguments, **named)  # type: ignore[arg-type]
        store.runs.cancel("run_1", by=REQUESTER, name="Rosa")
        return answer

    monkeypatch.setattr(type(store.effects), "claim", then_cancelled)
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.cause) == (State.REJECTED, Cause.WITHDRAWN)
    assert workshop.run().state is RunState.STOPPED


def wakes_at(store: Store, batch: str) -> float | None:
    return store.runs.client.zscore(store.keys.wakeups, f"execute_batch:{batch}")  # type: ignore[no-any-return]


def end(store: Store, taken: Claim) -> None:
    assert store.effects.intend(taken).ok
    assert store.effects.succeed(taken, receipt="{}").ok


def woken(workshop: Workshop) -> set[str]:
    return {member.decode() for member in workshop.client.zrange(workshop.store.keys.wakeups, 0, -1)}
