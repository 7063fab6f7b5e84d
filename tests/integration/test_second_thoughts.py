"""What a person refused does not come back, by whatever road; a correction comes back once, and to a person."""

from dataclasses import replace
from typing import Any

from agents.testing import function_call

from approvals.lifecycle import Cause, State
from builders import CHANNEL, THREAD
from policies.money import eur
from policies.requirement import STRICTEST_TIER, Requirement
from policies.risk import Mode, Risk
from policies.rule import rule
from workshop import ANA, LEA, Label, Line, Ship, Workshop, a_law, find, label, saying, ship, shipping

FOLLOWS = "It is the one corrected proposal after a rejection: Ana rejected ship on cup"


def vetoes(workshop: Workshop) -> dict[str, str]:
    return workshop.store.vetoes.of_thread(CHANNEL, THREAD)


def test_a_rejection_holds_for_the_later_runs_of_its_thread_and_no_other(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))], [saying()], [shipping(("cup", 2))], [saying()]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0], "reject", reason="too many").ok
    workshop.advance()
    workshop.start("run_2", parent="run_1")
    (again,) = workshop.calls("run_2")
    assert (again.state, again.cause, again.batch) == (State.REJECTED, Cause.VETO, None)
    assert again.reason == (
        'A person refused this before and it may not come back: Ana rejected ship on cup: "too many"'
    )
    workshop.advance("run_2")
    workshop.script.extend([[shipping(("cup", 2))]])
    workshop.start("run_3", thread_ts="1700000000.000999")
    assert workshop.calls("run_3")[0].state is State.PENDING_REVIEW


def test_a_correction_comes_back_once_with_a_card_that_says_what_it_follows(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))], [shipping(("cup", 1))], [shipping(("cup", 1))], [saying()]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0], "reject", reason="only one", correction=True).ok
    assert vetoes(workshop) == {}
    workshop.advance()
    (second,) = workshop.calls()
    assert second.state is State.PENDING_REVIEW, "one item alone would have run unasked"
    assert second.content.requirement.reasons == (f'{FOLLOWS}: "only one"',)
    assert workshop.decide(second).ok
    workshop.execute()
    workshop.advance()
    assert [done[1] for done in workshop.shop.done] == [{"cup": 1}]
    (third,) = workshop.calls()
    assert (third.state, third.cause) == (State.REJECTED, Cause.VETO)


def test_a_corrected_proposal_that_cannot_be_read_does_not_use_the_correction_up(workshop: Workshop) -> None:
    bad = function_call("ship", {"lines": [{"item": "cup", "count": "1"}]}, call_id="c1")
    workshop.script.extend([[shipping(("cup", 3))], [bad], [shipping(("cup", 1))]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0], "reject", correction=True).ok
    workshop.advance()
    assert workshop.calls()[0].cause is Cause.POLICY
    workshop.advance()
    assert workshop.calls()[0].state is State.PENDING_REVIEW


def test_a_correction_may_be_asked_for_again_and_be_refused_for_good(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", count))] for count in (4, 3, 2, 1)])
    workshop.start()
    for _ in range(2):
        assert workshop.decide(workshop.calls()[0], "reject", correction=True).ok
        workshop.advance()
        assert workshop.calls()[0].state is State.PENDING_REVIEW
    assert workshop.decide(workshop.calls()[0], "reject").ok
    assert list(vetoes(workshop)) == ["ship|cup"]
    assert workshop.store.vetoes.corrections_of_thread(CHANNEL, THREAD) == {}
    workshop.advance()
    assert workshop.calls()[0].cause is Cause.VETO


def test_a_corrected_call_is_still_a_persons_after_it_came_back(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))], [shipping(("cup", 1))]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0], "reject", correction=True).ok
    workshop.advance()
    assert workshop.decide(workshop.calls()[0]).ok
    workshop.shop.stock["cup"] = 2
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.content.requirement.mode, workshop.shop.done) == (State.PENDING_REVIEW, Mode.HUMAN, [])
    assert call.content.requirement.reasons == (f"{FOLLOWS} and gave no reason",)


def another_road(workshop: Workshop) -> None:
    """`label` reaches what `ship` reaches."""

    def on_item(ask: Any, so_far: Any) -> Requirement:
        return Requirement(radius="labels", resources=(ask.args.item,)).auto_when(True, "Peels off.").needs("desk")

    on_item.__name__ = "label"
    workshop.law = a_law([ship, rule(Label, risk=Risk.REVERSIBLE, undo="Peel it off.")(on_item), find])


def test_another_tool_on_a_refused_resource_asks_the_strictest_tier_and_is_run_by_it(workshop: Workshop) -> None:
    another_road(workshop)
    workshop.script.extend(
        [[shipping(("cup", 3))], [function_call("label", {"item": "cup"}, call_id="c2")], [saying()]]
    )
    workshop.start()
    assert workshop.decide(workshop.calls()[0], "reject", reason="not now").ok
    workshop.advance()
    (call,) = workshop.calls()
    need = call.content.requirement
    assert (call.state, need.tier) == (State.PENDING_REVIEW, STRICTEST_TIER)
    assert need.reasons == ('It follows a refusal: Ana rejected ship on cup: "not now"',)
    assert workshop.decide(call, by=LEA).ok
    workshop.execute()
    assert [done[0] for done in workshop.shop.done] == ["label"], "whoever the strictest tier is may release it"


def test_at_the_gate_the_strictest_tier_stays_the_strictest(workshop: Workshop) -> None:
    """Whoever left the strictest tier since takes the approval along, though the rule alone would accept them."""
    another_road(workshop)
    workshop.script.extend([[shipping(("cup", 3))], [function_call("label", {"item": "cup"}, call_id="c2")]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0], "reject").ok
    workshop.advance()
    (call,) = workshop.calls()
    assert workshop.decide(call, by=ANA).ok, "the store does not know tiers; the bot asks the law before"
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.version, workshop.shop.done) == (State.PENDING_REVIEW, 2, [])
    assert call.content.previous[0] == "Ana may not decide this any more (not_in_tier)."
    assert call.content.requirement.tier == STRICTEST_TIER


def test_a_tool_that_names_no_resource_is_refused_as_a_whole(workshop: Workshop) -> None:
    def ship_all(ask: Any, so_far: Any) -> Requirement:
        return Requirement(radius="everything").needs("desk", because="It is everything.")

    ship_all.__name__ = "ship"
    checked = workshop.law.rules["ship"].facts
    workshop.law = a_law([rule(Ship, checked, risk=Risk.IRREVERSIBLE)(ship_all), label, find])
    workshop.script.extend([[shipping(("cup", 3))], [shipping(("pan", 2))], [saying()]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0], "reject").ok
    workshop.advance()
    assert workshop.calls()[0].cause is Cause.VETO


def test_what_an_edit_dropped_or_lowered_may_be_proposed_again_to_a_person(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3), ("pot", 9))], [shipping(("pot", 9), ("cup", 2))]])
    workshop.start()
    assert workshop.edit(workshop.calls()[0], Ship(lines=[Line(item="cup", count=2)])).ok
    workshop.refresh(workshop.calls()[0])
    workshop.execute()
    assert vetoes(workshop) == {}
    workshop.advance()
    assert workshop.calls()[0].state is State.PENDING_REVIEW


def test_what_time_policy_or_a_cap_refused_is_no_veto(workshop: Workshop) -> None:
    def capped(ask: Any, so_far: Any) -> Requirement:
        items = tuple(line.item for line in ask.args.lines)
        need = Requirement(radius="x", resources=items).spending("a day", {"all": eur(2)}, limit=eur(1))
        return need.needs("desk", because="Always.")

    capped.__name__ = "ship"
    workshop.law = a_law([rule(Ship, workshop.law.rules["ship"].facts, risk=Risk.IRREVERSIBLE)(capped), label, find])
    workshop.script.extend([[shipping(("cup", 3))], [shipping(("cup", 3))]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0]).ok
    workshop.execute()
    assert workshop.calls()[0].cause is Cause.CAP
    assert vetoes(workshop) == {}
    workshop.law = replace(a_law(), version="next")
    workshop.advance()
    assert workshop.calls()[0].state is State.PENDING_REVIEW
