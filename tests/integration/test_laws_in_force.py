"""Which law a call was judged by is on record; a candidate beside it and a deploy half done change nothing."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from approvals.lifecycle import State
from bot.editing import being_updated, editable
from bot.errors import Refused
from policies.requirement import Requirement
from policies.reviewers import Reviewers
from policies.risk import Risk
from policies.rule import rule
from workshop import ANA, BEN, LEA, REVIEWERS, Ship, Stock, Workshop, a_law, find, label, saying, shipping


def laws(workshop: Workshop, call: str) -> list[tuple[str, str]]:
    events = workshop.store.ledger.of_run("run_1")
    return [(event["type"], event["law"]) for event in events if event.get("call") == call]


def needing(tier: str = "desk", number: int = 1) -> Any:
    def judge(ask: Any, so_far: Any) -> Requirement:
        items = tuple(line.item for line in ask.args.lines)
        return Requirement(radius="stock of ann", resources=items).needs(tier, reviewers=number, because="Stricter.")

    judge.__name__ = "ship"
    return a_law([rule(Ship, Stock, risk=Risk.IRREVERSIBLE)(judge), label, find])


def test_every_event_of_a_call_names_the_law_it_was_judged_by(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call).ok
    workshop.execute()
    assert laws(workshop, call.key) == [
        (kind, "workshop") for kind in ("proposed", "approved", "claimed", "intended", "succeeded")
    ]


def test_a_call_that_came_back_is_judged_by_the_law_of_then(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call).ok
    workshop.law = replace(needing(number=2), version="second")
    workshop.execute()
    assert laws(workshop, call.key)[-1] == ("revoked", "second")
    (call,) = workshop.calls()
    assert call.content.requirement.law == "second"
    assert call.content.previous == ("The policy now asks 2 reviewers instead of 1.",)


def test_a_law_that_asks_another_tier_now_asks_it(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0], by=ANA).ok
    workshop.law = replace(needing("leads"), version="second")
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, workshop.shop.done) == (State.PENDING_REVIEW, [])
    assert call.content.previous == ("Ana may not decide this any more (not_in_tier).",)


def test_who_was_taken_out_of_the_file_takes_an_approval_along(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0], by=ANA).ok
    workshop.law = replace(a_law(reviewers=REVIEWERS.replace(f'"{ANA}", "{BEN}", "{LEA}"', f'"{BEN}"')), version="v2")
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, workshop.shop.done) == (State.PENDING_REVIEW, [])


def test_a_stand_in_decides_while_it_lasts(workshop: Workshop) -> None:
    today = datetime.fromtimestamp(workshop.store.now() / 1000, UTC).date()
    text = REVIEWERS + f'[[standins]]\nfor = "{ANA}"\nby = "U0NEW"\nfrom = "{today}"\nto = "{today}"\n'
    workshop.law = a_law(reviewers=text)
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.store.batches.load(str(call.batch)).notify == (BEN, LEA, "U0NEW"), "who is away is left in peace"
    assert workshop.decide(call, by="U0NEW").ok
    workshop.execute()
    assert len(workshop.shop.done) == 1


def test_a_shadow_law_is_recorded_where_it_differs_and_decides_nothing(workshop: Workshop) -> None:
    deps = replace(workshop.deps, shadow=replace(needing(number=2), version="draft"))
    workshop.script.extend([[shipping(("cup", 1)), shipping(("pan", 3), call_id="c2")], [saying()]])
    type(workshop).deps, before = property(lambda _self: deps), type(workshop).deps
    try:
        workshop.start()
    finally:
        type(workshop).deps = before
    auto, asked = workshop.calls()
    assert (auto.state, asked.state, asked.needed) == (State.PROPOSED, State.PENDING_REVIEW, 1)
    events = [event for event in workshop.store.ledger.of_run("run_1") if event["type"] == "shadow_differs"]
    assert [(event["call"], event["reason"]) for event in events] == [
        (auto.key, "The candidate draft says 2 of desk instead of auto: Stricter."),
        (asked.key, "The candidate draft says 2 of desk instead of 1 of desk: Stricter."),
    ]


def test_a_shadow_law_that_breaks_is_not_noticed_by_the_run(workshop: Workshop) -> None:
    class Broken:
        rules = property(lambda _self: 1 / 0)

    deps = replace(workshop.deps, shadow=Broken())
    workshop.script.extend([[shipping(("cup", 3))]])
    type(workshop).deps, before = property(lambda _self: deps), type(workshop).deps
    try:
        workshop.start()
    finally:
        type(workshop).deps = before
    assert workshop.calls()[0].state is State.PENDING_REVIEW
    assert "shadow_differs" not in {event["type"] for event in workshop.store.ledger.of_run("run_1")}


class BotHalf:
    """What the edit form needs of the bot."""

    def __init__(self, workshop: Workshop) -> None:
        self.store, self.law = workshop.store, workshop.law


def test_in_the_middle_of_a_deploy_edits_wait_and_decisions_go_on(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    bot: Any = BotHalf(workshop)
    assert isinstance(editable(bot, call, 1), Ship), "no worker has said anything yet"
    workshop.store.switches.set_worker("workshop")
    assert isinstance(editable(bot, call, 1), Ship)
    workshop.store.switches.set_worker("second")
    with pytest.raises(Refused) as refused:
        editable(bot, call, 1)
    assert str(refused.value) == being_updated()
    assert being_updated() == (
        "The policy is being updated, so nothing can be edited for a moment. Try again in a minute."
    )
    assert workshop.decide(call).ok, "decisions rest on the requirement as it was sealed"
    bot.law = replace(workshop.law, version="second")
    assert isinstance(editable(bot, call, 1), Ship), "once both have the same law, older calls can be edited again"


def test_a_file_without_stand_ins_is_the_same_every_day() -> None:
    people = Reviewers.from_toml(REVIEWERS)
    assert people.on(datetime(2026, 12, 1, tzinfo=UTC).date()) is people
