"""How often people may be asked, on a real store: cards of a run, and interruptions of a reviewer's hour."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import redis

from approvals.lifecycle import Cause, RunState, State
from approvals.outcomes import Outcome
from block_rules import mentioned
from bot.rendering import Renderer
from bot.standing import ReviewersLaw
from builders import a_call, a_pause, a_store, lease_run, owed, start_run
from policies.budgets import Budgets
from workshop import (
    ANA,
    BEN,
    LEA,
    REVIEWERS,
    Ship,
    Workshop,
    a_law,
    find,
    label,
    saying,
    ship,
    shipping,
)  # fmt: skip


def budget(workshop: Workshop, **changes: int) -> None:
    workshop.law = replace(workshop.law, budgets=Budgets(**changes))


def alert(workshop: Workshop, subject: str) -> str:
    message = Renderer(workshop.store, ReviewersLaw(workshop.law.reviewers), "C_OPS").alert(subject)
    assert message is not None
    return message.text


def card(workshop: Workshop, batch: str) -> Any:
    entry = workshop.store.outbox.load(f"card:{batch}")
    assert entry is not None
    rendered = Renderer(workshop.store, ReviewersLaw(workshop.law.reviewers), None).render(entry)
    assert rendered is not None
    return rendered.message


def times(workshop: Workshop) -> dict[str, int]:
    return {user: number for user, number in workshop.store.attention.heard([ANA, BEN, LEA]).times.items() if number}


def test_a_card_counts_once_for_everybody_it_notifies(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3)), shipping(("pot", 4), call_id="c2")]])
    workshop.start()
    (batch,) = {call.batch for call in workshop.calls()}
    assert times(workshop) == {ANA: 1, BEN: 1, LEA: 1}
    assert workshop.store.batches.load(str(batch)).notify == (ANA, BEN, LEA)


def test_a_reviewer_at_the_limit_is_not_mentioned_and_may_decide_all_the_same(workshop: Workshop) -> None:
    budget(workshop, interruptions_per_hour=1)
    workshop.client.zadd(workshop.store.keys.heard(ANA), {"batch_other": workshop.store.now()})
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    (call,) = workshop.calls()
    shown = card(workshop, str(call.batch))
    assert mentioned(shown.blocks) == {BEN, LEA}
    assert shown.text.endswith(f" For <@{BEN}> <@{LEA}>")
    assert workshop.decide(call, by=ANA).ok


def test_the_hour_slides(workshop: Workshop) -> None:
    budget(workshop, interruptions_per_hour=1)
    heard, now = workshop.store.keys.heard(ANA), workshop.store.now()
    workshop.client.zadd(heard, {"batch_old": now - 3_600_001})
    assert workshop.store.attention.heard([ANA]).times == {ANA: 0}
    workshop.client.zadd(heard, {"batch_young": now - 3_590_000})
    assert workshop.store.attention.heard([ANA]).times == {ANA: 1}


def test_with_nobody_left_the_call_is_refused_and_its_tool_withdrawn_for_the_hour(workshop: Workshop) -> None:
    budget(workshop, interruptions_per_hour=1, cards_per_run=9)
    workshop.script.extend([[shipping(("cup", 3))], [shipping(("pot", 3))], [shipping(("pan", 3))], [saying()]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0]).ok
    workshop.execute()
    workshop.advance()
    (second,) = workshop.calls()
    assert (second.state, second.cause, second.batch) == (State.REJECTED, Cause.BUDGET, None)
    assert second.reason == (
        "Approval budget exhausted: too few of those who may decide ship can be asked again within this hour,"
        " so the tool is withdrawn for an hour."
    )
    assert "alert:budget:run_1" in owed(workshop.store)
    assert alert(workshop, "budget:run_1") == (
        "Approval budget exhausted. Run `run_1`, asked by <@U0REQ> in <#C0PAY>: 1 call of ship refused, approval"
        " budget exhausted. Nobody was asked about it and nothing ran."
    )
    for user in (ANA, BEN, LEA):  # their hour is over, the tool's is not
        workshop.client.delete(workshop.store.keys.heard(user))
    workshop.advance()
    (third,) = workshop.calls()
    assert third.cause is Cause.BUDGET
    assert str(third.reason).startswith("Approval budget exhausted: ship is withdrawn until ")
    workshop.client.hset(workshop.store.keys.withdrawn, "ship", workshop.store.now() - 1)
    assert workshop.store.attention.withdrawn() == {}
    workshop.advance()
    assert workshop.run().state is RunState.COMPLETED, "the run goes on without those calls"
    assert workshop.told()[-1]["sentence"].startswith("NOT executed.")


def test_only_the_calls_concerned_are_refused_when_too_few_reviewers_are_left(workshop: Workshop) -> None:
    two = workshop.law.rules["ship"]
    budget(workshop, interruptions_per_hour=1)

    def judge(ask: Any, so_far: Any) -> Any:
        need = two.judge(ask, so_far)
        return need.needs("desk", reviewers=2 if ask.args.lines[0].item == "pan" else 1)

    workshop.law = replace(workshop.law, rules={**workshop.law.rules, "ship": replace(two, judge=judge)})
    for user in (ANA, BEN):
        workshop.client.zadd(workshop.store.keys.heard(user), {"batch_other": workshop.store.now()})
    workshop.script.extend([[shipping(("pan", 3)), shipping(("cup", 3), call_id="c2")]])
    workshop.start()
    first, second = workshop.calls()
    assert (first.state, first.cause) == (State.REJECTED, Cause.BUDGET)
    assert second.state is State.PENDING_REVIEW
    assert workshop.run().state is RunState.PAUSED


def test_a_run_that_asked_too_often_has_one_last_turn_without_tools_and_ops_is_told(workshop: Workshop) -> None:
    budget(workshop, cards_per_run=1)
    workshop.script.extend([[shipping(("cup", 3)), shipping(("pan", 4), call_id="c2")], [saying("That is all.")]])
    workshop.start()
    first, second = workshop.calls()
    assert (second.state, second.cause, second.reason) == (
        State.REJECTED,
        Cause.BUDGET,
        "Approval budget exhausted: this run has asked people as often as one run may, so nobody is asked.",
    )
    assert "alert:budget:run_1" in owed(workshop.store)
    assert workshop.decide(first, "reject").ok
    workshop.advance()
    assert workshop.run().state is RunState.COMPLETED
    assert workshop.script.last_call is not None
    assert list(workshop.script.last_call.tools) == []


def test_a_call_that_comes_back_costs_nobody_anything(workshop: Workshop) -> None:
    budget(workshop, cards_per_run=1, interruptions_per_hour=1)
    workshop.script.extend([[shipping(("cup", 3), ("pot", 2))], [saying()]])
    workshop.start()
    assert workshop.edit(workshop.calls()[0], Ship(lines=[{"item": "cup", "count": 2}])).ok
    workshop.refresh(workshop.calls()[0])
    workshop.shop.stock["cup"] = 7
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.version) == (State.PENDING_REVIEW, 3)
    assert times(workshop) == {ANA: 1, BEN: 1, LEA: 1}
    assert workshop.decide(call).ok
    workshop.execute()
    assert len(workshop.shop.done) == 1


def test_two_runs_cannot_both_take_the_last_interruption_of_an_hour(redis_client: redis.Redis) -> None:
    store = a_store(redis_client)
    answers = []
    for number in (1, 2):
        start_run(store, f"run_{number}")
        call = a_call(f"call_{number}", batch=f"batch_{number}")
        write = a_pause(call, notify=(ANA,)).model_copy(update={"interruptions": 1})
        answers.append(store.runs.pause(lease_run(store, f"run_{number}"), write))
    assert [answer.outcome for answer in answers] == [Outcome.OK, Outcome.CAP_REACHED]
    assert answers[1].detail == {"cap": "interruptions per hour", "key": ANA, "limit": "1", "used": "1"}
    assert store.calls.load("call_2") is None, "nothing of the second pause was written"


def test_a_pause_that_lost_the_race_for_an_interruption_is_placed_anew(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget(workshop, interruptions_per_hour=1)
    real: Callable[..., Any] = type(workshop.store.attention).heard
    looked: list[int] = []

    def heard(attention: Any, ids: Any) -> Any:
        found = real(attention, ids)
        if not looked:  # another run asks Ana right after this one looked
            workshop.client.zadd(workshop.store.keys.heard(ANA), {"batch_other": workshop.store.now()})
        looked.append(1)
        return found

    monkeypatch.setattr(type(workshop.store.attention), "heard", heard)
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    (call,) = workshop.calls()
    assert len(looked) == 2
    assert workshop.store.batches.load(str(call.batch)).notify == (BEN, LEA)


def test_a_tier_without_people_means_refused_at_once_and_ops_is_told_once(workshop: Workshop) -> None:
    empty = REVIEWERS.replace(f'users = ["{ANA}", "{BEN}", "{LEA}"]', "")
    workshop.law = a_law(reviewers=empty)
    workshop.script.extend([[shipping(("cup", 3))], [shipping(("pot", 3))], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    assert (call.state, call.cause) == (State.REJECTED, Cause.POLICY)
    assert call.reason == (
        "Nobody may approve it: reviewers.toml names nobody for desk beside whoever started the run."
    )
    workshop.advance()
    entry = workshop.store.outbox.load("alert:tier:desk")
    assert entry is not None
    assert entry.desired == 1
    assert alert(workshop, "tier:desk") == (
        "Nobody may approve. Nobody may approve what is asked of the tier *desk*, so such calls are refused at once."
    )


def test_in_a_tier_with_turns_each_card_goes_to_the_next(workshop: Workshop) -> None:
    turns = REVIEWERS.replace(f'users = ["{ANA}", "{BEN}", "{LEA}"]', f'users = ["{ANA}", "{BEN}"]\nrotate = 1')
    workshop.law = a_law([ship, label, find], reviewers=turns)
    workshop.script.extend([[shipping(("cup", 3))], [shipping(("pot", 3))], [shipping(("pan", 3))], [saying()]])
    workshop.start()
    notified = []
    for _ in range(3):
        (call,) = workshop.calls()
        notified.append(workshop.store.batches.load(str(call.batch)).notify)
        assert workshop.decide(call, "reject").ok
        workshop.advance()
    assert notified == [(ANA,), (BEN,), (ANA,)]
