"""What a reviewer edited down is asked of a person again, and the card says what it follows (C44)."""

import json
from dataclasses import replace

import pytest

from approvals.lifecycle import State
from bot.became_words import all_became
from bot.card_status import status
from bot.outcome import render_outcome
from bot.who_words import so_far
from policies.requirement import STRICTEST_TIER, Requirement
from policies.risk import Mode
from workshop import ANA, BEN, REVIEWERS, Line, Ship, Workshop, a_law, saying, shipping

FOLLOWS = "It follows an edit. Ana edited ship before: cup count: 3 -> 2"


def edited(workshop: Workshop, *later: object) -> None:
    """Three cups were asked for, Ana made them two, and the agent goes on."""
    workshop.script.extend([[shipping(("cup", 3))], *later])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.edit(call, Ship(lines=[Line(item="cup", count=2)])).ok
    workshop.refresh(call)


def edited_to_one(workshop: Workshop) -> None:
    """Three cups were asked for, and Ana made them one, which would have run unasked."""
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.edit(call, Ship(lines=[Line(item="cup", count=1)])).ok


def judge_by(workshop: Workshop, need: Requirement) -> None:
    """From now on the law says this of everything that is shipped."""
    rule = replace(workshop.law.rules["ship"], judge=lambda ask, so_far: need)  # noqa: ARG005 - whatever is asked
    workshop.law = replace(workshop.law, rules={**workshop.law.rules, "ship": rule})


def reasons(workshop: Workshop, run: str = "run_1") -> tuple[str, ...]:
    (call,) = workshop.calls(run)
    assert call.state is State.PENDING_REVIEW
    assert call.content.requirement.mode is Mode.HUMAN
    return call.content.requirement.reasons


@pytest.mark.parametrize("count", [1, 3])
def test_the_rest_and_the_original_come_back_with_a_card_that_says_what_was_edited(
    workshop: Workshop, count: int
) -> None:
    edited(workshop, [shipping(("cup", count))])
    workshop.execute()
    workshop.advance()
    assert [done[1] for done in workshop.shop.done] == [{"cup": 2}]
    assert FOLLOWS in reasons(workshop)


def test_an_edit_is_followed_across_the_runs_of_a_thread(workshop: Workshop) -> None:
    edited(workshop, [saying()], [shipping(("cup", 1))])
    workshop.execute()
    workshop.advance()
    workshop.start("run_2", parent="run_1")
    assert reasons(workshop, "run_2") == (FOLLOWS,), "one cup alone would have run unasked"


def test_another_resource_follows_nothing(workshop: Workshop) -> None:
    edited(workshop, [shipping(("pot", 1))])
    workshop.execute()
    workshop.advance()
    (call,) = workshop.calls()
    assert call.content.requirement.mode is Mode.AUTO


def test_an_edit_that_was_rejected_after_all_is_followed_by_nothing(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3), ("pan", 1))], [shipping(("pan", 1))]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.edit(call, Ship(lines=[Line(item="cup", count=2)])).ok
    assert workshop.decide(call, "reject", correction=True).ok
    workshop.advance()
    (later,) = workshop.calls()
    assert not any("It follows an edit" in reason for reason in later.content.requirement.reasons)


def test_an_edit_to_what_would_run_unasked_is_its_editors_approval_everywhere(workshop: Workshop) -> None:
    edited_to_one(workshop)
    (call,) = workshop.calls()
    workshop.refresh(call)
    (call,) = workshop.calls()
    need = call.content.requirement
    assert (call.state, need.mode, need.tier, need.reviewers) == (State.APPROVED, Mode.HUMAN, "desk", 1)
    assert need.reasons == ("People were asked about it. By now it would run unasked: A single item.",)
    workshop.execute()
    (call,) = workshop.calls()
    assert call.state is State.SUCCEEDED
    assert "Approved by Ana" in "".join(part.get("text", "") for part in status(call))
    assert all_became([call]) == "approved with changes by Ana"
    view = workshop.store.runs.pause_view("run_1", 1)
    assert view is not None
    assert "Approved by Ana." in json.dumps(render_outcome(view).blocks)
    workshop.advance()
    assert workshop.told()[0]["decided_by"] == ["Ana"]


def test_an_edit_whose_data_changed_waits_for_a_person_also_where_it_would_run_unasked(workshop: Workshop) -> None:
    edited_to_one(workshop)
    (call,) = workshop.calls()
    workshop.shop.stock["cup"] = 40
    workshop.refresh(call)
    (call,) = workshop.calls()
    assert (call.state, call.content.requirement.mode) == (State.PENDING_REVIEW, Mode.HUMAN)
    assert so_far(call) == "Waiting for one approval from desk."
    assert workshop.decide(call).detail["verdict"] == "approved"


def test_the_approval_of_an_edit_holds_when_the_law_asks_one_person_again(workshop: Workshop) -> None:
    edited_to_one(workshop)
    (call,) = workshop.calls()
    workshop.refresh(call)
    judge_by(workshop, Requirement(radius="stock of ann", resources=("cup",)).needs("desk", because="Look at it."))
    workshop.execute()
    assert [done[1] for done in workshop.shop.done] == [{"cup": 1}]


@pytest.mark.parametrize("tier", ["desk", STRICTEST_TIER])
def test_what_comes_back_to_its_card_is_asked_of_a_person_also_where_it_would_run_unasked_by_now(
    workshop: Workshop, tier: str
) -> None:
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    need = Requirement(radius="stock of ann", resources=("cup",))
    judge_by(workshop, need.needs(tier, reviewers=2, because="Look at it."))
    workshop.start()
    for by in ("U0BEN", "U0LEA"):
        (call,) = workshop.calls()
        assert workshop.decide(call, by=by).ok
    judge_by(workshop, need.auto_when(True, "All is well.").needs("desk", reviewers=3))
    workshop.shop.stock["cup"] = 40
    workshop.execute()
    (call,) = workshop.calls()
    asked = call.content.requirement
    assert (call.state, asked.mode, asked.tier, asked.reviewers) == (State.PENDING_REVIEW, Mode.HUMAN, tier, 1)
    assert workshop.decide(call, by="U0BEN").detail["verdict"] == "approved"
    workshop.execute()
    assert [done[1] for done in workshop.shop.done] == [{"cup": 3}]


@pytest.mark.parametrize("by", [ANA, BEN])
def test_where_the_tier_that_was_asked_is_gone_the_strictest_is_asked_and_told_why(workshop: Workshop, by: str) -> None:
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    need = Requirement(radius="stock of ann", resources=("cup",))
    judge_by(workshop, need.needs("desk"))
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call, by=by).ok
    workshop.law = replace(workshop.law, reviewers=a_law(reviewers=REVIEWERS.replace("desk", "bench")).reviewers)
    judge_by(workshop, need.auto_when(True, "All is well."))
    workshop.shop.stock["cup"] = 40
    workshop.execute()
    (call,) = workshop.calls()
    asked = call.content.requirement
    assert (call.state, asked.mode, asked.tier) == (State.PENDING_REVIEW, Mode.HUMAN, STRICTEST_TIER)
    assert asked.reasons[1:] == ("reviewers.toml does not define the tier desk, so the strictest tier decides.",)
    lost = [line for line in call.content.previous if "may not decide this any more" in line]
    assert len(lost) == (by == ANA), "Ben is of the strictest tier"
    assert workshop.decide(call, by=BEN).detail["verdict"] == "approved"
    workshop.execute()
    assert [done[1] for done in workshop.shop.done] == [{"cup": 3}]


def test_what_nobody_was_asked_about_is_judged_anew_when_its_data_changed_and_runs_unasked(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 1))], [saying()]])
    workshop.start()
    workshop.shop.stock["cup"] = 40
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.version, call.content.requirement.mode) == (State.PROPOSED, 2, Mode.AUTO)
    workshop.execute()
    assert [done[1] for done in workshop.shop.done] == [{"cup": 1}]
