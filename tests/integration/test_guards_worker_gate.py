"""Guards of the gate that show only when something happens at exactly the wrong moment."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from agents import Agent, Model

from approvals.lifecycle import Cause, State
from approvals.models import Call
from builders import move
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import rule
from worker.gate import Gate, Passed
from workshop import (
    ANA,
    BEN,
    Ship,
    Stock,
    Workshop,
    a_law,
    find,
    label,
    saying,
    shipping,
)


class Meanwhile(dict[str, int]):
    """A stock that is looked at while something else happens."""

    def __init__(self, stock: dict[str, int], happens: Callable[[], Any]) -> None:
        super().__init__(stock)
        self._happens = happens

    def __getitem__(self, item: str) -> int:
        self._happens()
        return super().__getitem__(item)


@pytest.fixture
def approved(workshop: Workshop) -> Call:
    """A call of three cups, approved by Ana; nothing has run yet."""
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call).ok
    return call


def meanwhile(workshop: Workshop, happens: Callable[[], Any]) -> None:
    workshop.shop.stock = Meanwhile(workshop.shop.stock, happens)


def a_ship_rule(judge: Callable[[Any], Requirement]) -> Any:
    def ship(ask: Any, so_far: Any) -> Requirement:
        return judge(ask)

    return rule(Ship, Stock, risk=Risk.IRREVERSIBLE)(ship)


def test_a_freeze_between_the_claim_and_the_effect_stops_it(workshop: Workshop, approved: Call) -> None:
    meanwhile(workshop, lambda: workshop.store.switches.freeze("U0OPS", "stop"))
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.intended, workshop.shop.done) == (State.APPROVED, False, [])


def test_a_claim_lost_while_looking_again_has_no_effect(workshop: Workshop, approved: Call) -> None:
    """The clock has given the call back, and another worker holds it by now."""

    def lose() -> None:
        move(workshop.client, workshop.store.keys.call(approved.key), lease_until=1)
        workshop.store.deadlines.apply(f"lease:{approved.key}")

    meanwhile(workshop, lose)
    workshop.execute()
    assert (workshop.calls()[0].state, workshop.shop.done) == (State.APPROVED, [])


def test_both_leases_are_kept_alive_while_an_effect_runs(workshop: Workshop, approved: Call) -> None:
    beating: list[str] = []
    workshop.shop.before_effect = lambda: beating.extend(thread.name for thread in threading.enumerate())
    workshop.execute()
    assert len(workshop.shop.done) == 1
    assert beating.count("heartbeat") == 2


def test_a_tool_that_takes_too_long_is_told_apart_from_one_that_raises(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.shop.timeout_s = 0.05
    workshop.shop.before_effect = lambda: asyncio.sleep(1)
    workshop.start()
    assert workshop.decide(workshop.calls()[0]).ok
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.reason) == (State.UNKNOWN, "It gave no answer within 0.05 seconds.")


def test_what_the_check_refuses_by_now_is_refused_and_not_asked_again(workshop: Workshop, approved: Call) -> None:
    del workshop.shop.owners["cup"]
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.cause, call.reason) == (State.REJECTED, Cause.POLICY, "There is no cup.")
    assert workshop.shop.done == []


def forbidding(owner: str, reviewers: int = 1) -> Any:
    """The law of the workshop, under which nobody may ship what belongs to this owner."""

    def judge(ask: Any) -> Requirement:
        need = Requirement(radius="stock", resources=tuple(ask.facts.owner_of))
        return need.forbid_when(owner in ask.facts.owner_of.values(), f"Nothing of {owner}.").needs(
            "desk", reviewers=reviewers
        )

    return a_law([a_ship_rule(judge), label, find])


def test_what_the_law_forbids_on_the_facts_of_now_is_refused_and_not_asked_again(workshop: Workshop) -> None:
    workshop.law = forbidding("zoe")
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0]).ok
    workshop.shop.owners["cup"] = "zoe"
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.cause, call.reason) == (State.REJECTED, Cause.POLICY, "Nothing of zoe.")
    assert workshop.shop.done == []


def test_a_law_that_forbids_now_refuses_what_was_approved(workshop: Workshop, approved: Call) -> None:
    workshop.law = forbidding("ann")
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.cause, workshop.shop.done) == (State.REJECTED, Cause.POLICY, [])


def test_asking_again_about_what_the_check_refuses_by_now_is_a_refusal(workshop: Workshop, approved: Call) -> None:
    workshop.law = forbidding("zoe", reviewers=2)
    del workshop.shop.owners["cup"]
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.cause, call.reason) == (State.REJECTED, Cause.POLICY, "There is no cup.")


def test_asking_again_about_what_the_law_forbids_on_the_facts_of_now_is_a_refusal(
    workshop: Workshop, approved: Call
) -> None:
    workshop.law = forbidding("zoe", reviewers=2)
    workshop.shop.owners["cup"] = "zoe"
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.cause, call.reason) == (State.REJECTED, Cause.POLICY, "Nothing of zoe.")


def test_a_batch_that_another_worker_took_over_is_left_at_once(workshop: Workshop) -> None:
    """Ana approved two calls; the lease goes while the first one runs, so the second one is not touched."""
    workshop.script.extend([[shipping(("cup", 3)), shipping(("pot", 3), call_id="c2")]])
    workshop.start()
    for call in workshop.calls():
        assert workshop.decide(call).ok
    (batch,) = {call.batch for call in workshop.calls()}

    def taken_over() -> None:
        workshop.client.hset(workshop.store.keys.batch(batch or ""), "token", "another-worker")

    workshop.shop.before_effect = taken_over
    workshop.execute()
    assert [call.state for call in workshop.calls()] == [State.SUCCEEDED, State.APPROVED]
    assert len(workshop.shop.done) == 1


@pytest.mark.parametrize("why", ["the law", "the tool", "a cap"])
def test_a_refusal_or_a_question_needs_the_batch_as_well(workshop: Workshop, approved: Call, why: str) -> None:
    """What the gate writes without a claim is fenced by the batch: a worker that lost it says nothing more."""

    def taken_over(*_: Any) -> None:
        workshop.client.hset(workshop.store.keys.batch(approved.batch or ""), "token", "another-worker")

    def judge(ask: Any) -> Requirement:
        taken_over()
        need = Requirement(radius="stock of ann", resources=("cup",)).needs("desk", reviewers=2)
        return need.forbid_when(why == "the law", "No more.")

    if why != "the tool":
        workshop.law = a_law([a_ship_rule(judge), label, find])
    else:

        def build(model: Model) -> Agent[Any]:
            taken_over()
            return Agent(name="desk", model=model, tools=workshop.shop.tools()[1:])

        workshop.build = build
    workshop.execute()
    assert (workshop.calls()[0].state, workshop.shop.done) == (State.APPROVED, [])


def test_with_one_approver_gone_and_one_unknown_nobody_runs(workshop: Workshop) -> None:
    def judge(ask: Any) -> Requirement:
        return Requirement(radius="stock of ann", resources=("cup",)).needs("desk", reviewers=2)

    workshop.law = a_law([a_ship_rule(judge), label, find])
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call).ok
    assert workshop.decide(call, by=BEN).ok
    workshop.client.delete(workshop.store.keys.person(BEN))
    workshop.execute()
    assert (workshop.calls()[0].state, workshop.shop.done) == (State.APPROVED, [])
    workshop.see(BEN)
    workshop.client.hset(workshop.store.keys.person(ANA), "fetched_at", workshop.store.now() - 61_000)
    workshop.execute()
    assert (workshop.calls()[0].state, workshop.shop.done) == (State.APPROVED, [])


def through(workshop: Workshop, call: Call, *, spoilt: bool = False) -> Passed:
    """One call through the gate, under the lease of its batch or under one that was lost."""

    async def take() -> Passed:
        deps, run = workshop.deps, workshop.run()
        lease = workshop.store.batches.lease(call.batch or "", token="worker", ttl_ms=60_000)
        assert lease is not None
        if spoilt:
            lease = lease.model_copy(update={"epoch": lease.epoch + 1})
        async with deps.loaded(run.agent, deps.watch()) as loaded:
            now = workshop.store.calls.load(call.key)
            assert now is not None
            return await Gate(deps, loaded, run, lease).take(now)

    return asyncio.run(take())


def test_the_gate_says_that_a_batch_is_lost_at_the_claim(workshop: Workshop, approved: Call) -> None:
    assert through(workshop, approved, spoilt=True) is Passed.LOST


def test_the_gate_says_that_a_batch_is_lost_at_a_refusal(workshop: Workshop, approved: Call) -> None:
    workshop.law = forbidding("ann")
    assert through(workshop, approved, spoilt=True) is Passed.LOST


def test_the_gate_says_that_a_batch_is_lost_at_a_question(workshop: Workshop, approved: Call) -> None:
    workshop.law = forbidding("zoe", reviewers=2)
    assert through(workshop, approved, spoilt=True) is Passed.LOST


def test_the_gate_says_what_became_of_a_call(workshop: Workshop, approved: Call) -> None:
    workshop.store.switches.freeze("U0OPS", "stop")
    assert through(workshop, approved) is Passed.WAITS
    workshop.store.switches.unfreeze("U0OPS")
    assert through(workshop, approved) is Passed.RAN


def test_the_gate_says_that_a_refused_call_has_ended_and_a_questioned_one_returned(
    workshop: Workshop, approved: Call
) -> None:
    workshop.law = forbidding("zoe", reviewers=2)
    assert through(workshop, approved) is Passed.RETURNED
    (again,) = workshop.calls()
    assert workshop.decide(again).ok
    assert workshop.decide(again, by=BEN).ok
    workshop.law = forbidding("ann")
    assert through(workshop, workshop.calls()[0]) is Passed.ENDED
