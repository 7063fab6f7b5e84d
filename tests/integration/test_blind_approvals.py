"""What was approved while nobody could look runs by what its rule asks once somebody can."""

from typing import Any

import pytest
from agents import Agent

from approvals.lifecycle import Cause, State
from approvals.models import Call
from approvals.preview import Preview
from policies.money import eur
from policies.requirement import STRICTEST_TIER, Requirement
from policies.risk import Risk
from policies.rule import Ask, NoFacts, Rule, Spend, rule
from worker.actions import ActionContext, NothingHappened, action
from workshop import BEN, LEA, Ship, Workshop, a_law, label, saying, shipping

ANSWERS = "Its check failed when people were asked, and answers now"


def the_rule(reviewers: int, limit: int | None, *, unasked: bool) -> Rule:
    @rule(Ship, risk=Risk.IRREVERSIBLE)
    def ship(ask: Ask[Ship, Any], so_far: Spend) -> Requirement:
        need = Requirement(radius="stock", resources=("cup",)).auto_when(unasked, "Somebody may.")
        need = need.needs("leads", reviewers=reviewers)
        return need if limit is None else need.spending("parcels", {"all": eur(3)}, limit=eur(limit))

    return ship


class Blind:
    """An agent whose check only refuses, so its rule knows no facts and its preview shows no rows."""

    def __init__(
        self, workshop: Workshop, *, reviewers: int = 1, limit: int | None = None, unasked: bool = False
    ) -> None:
        self.workshop = workshop
        self.check_fails = self.preview_fails = False

        async def check(args: Ship) -> NoFacts:
            if self.check_fails:
                raise ConnectionError("the stock database is away")
            if args.lines[0].item == "gone":
                raise NothingHappened("There is no gone.")
            return NoFacts()

        async def show(ask: Ask[Ship, Any]) -> Preview:
            if self.preview_fails:
                raise ConnectionError("the stock database is away")
            return Preview(headline="Ship it")

        @action(Ship, check=check, preview=show)
        async def ship(ctx: ActionContext, args: Ship) -> None:
            """Send items away for good."""
            workshop.shop.done.append(args.lines[0].item)  # type: ignore[arg-type]

        workshop.law = a_law([the_rule(reviewers, limit, unasked=unasked)])
        workshop.build = lambda model: Agent(name="desk", instructions="Keep.", model=model, tools=[ship])

    def asked(self, lines: int = 1) -> Call:
        items = [("cup", 3), *((f"cup{number}", 1) for number in range(1, lines))]
        self.workshop.script.extend([[shipping(*items)], [saying()]])
        self.workshop.start()
        return self.call()

    def call(self) -> Call:
        (call,) = self.workshop.calls()
        return call

    def at_the_gate(self, *, preview_fails: bool = False) -> Call:
        """The check works again, and the approvers are still who they were."""
        self.check_fails, self.preview_fails = False, preview_fails
        for user in (LEA, BEN):
            self.workshop.see(user)
        self.workshop.execute()
        return self.call()


def test_one_person_who_approved_without_facts_does_not_stand_for_the_second_reviewer_of_the_rule(
    workshop: Workshop,
) -> None:
    blind = Blind(workshop, reviewers=2)
    blind.check_fails = True
    assert workshop.decide(blind.asked(), by=LEA).ok
    call = blind.at_the_gate()
    assert (call.state, call.version, workshop.shop.done) == (State.PENDING_REVIEW, 2, [])
    assert call.content.requirement.reviewers == 2
    assert call.content.previous == ("The policy now asks 2 reviewers instead of 1.", ANSWERS)
    for user in (LEA, BEN):
        assert workshop.decide(call, by=user).ok
    assert blind.at_the_gate().state is State.SUCCEEDED


def test_what_was_approved_without_facts_is_held_by_the_caps_of_its_rule(workshop: Workshop) -> None:
    blind = Blind(workshop, limit=2)
    blind.check_fails = True
    assert workshop.decide(blind.asked(), by=LEA).ok
    call = blind.at_the_gate()
    assert (call.state, call.content.previous[0]) == (
        State.PENDING_REVIEW,
        "The limit on parcels is now 2.00 EUR.",
    )
    assert workshop.decide(call, by=LEA).ok
    call = blind.at_the_gate()
    assert (call.state, call.cause, workshop.shop.done) == (State.REJECTED, Cause.CAP, [])


def test_people_hear_that_the_check_answers_now_although_its_rule_asks_for_no_more(workshop: Workshop) -> None:
    blind = Blind(workshop)
    blind.check_fails = True
    assert workshop.decide(blind.asked(), by=LEA).ok
    call = blind.at_the_gate()
    assert (call.state, call.content.previous, call.content.problem) == (State.PENDING_REVIEW, (ANSWERS,), None)


def test_a_preview_that_failed_when_people_were_asked_and_works_now_sends_nothing_back(workshop: Workshop) -> None:
    """They read the arguments as they are, by the rule's own number of people, and its caps were known."""
    blind = Blind(workshop, reviewers=2, limit=5)
    blind.preview_fails = True
    asked = blind.asked()
    assert (asked.content.requirement.tier, asked.content.requirement.reviewers) == (STRICTEST_TIER, 2)
    for user in (LEA, BEN):
        assert workshop.decide(asked, by=user).ok
    assert blind.at_the_gate().state is State.SUCCEEDED


@pytest.mark.parametrize("still", [False, True])
def test_a_tool_that_had_no_rule_when_people_were_asked_is_asked_again_by_the_rule_it_has_now(
    workshop: Workshop,
    still: bool,  # noqa: FBT001
) -> None:
    blind = Blind(workshop, reviewers=2)
    law = workshop.law
    workshop.law = a_law([label])
    asked = blind.asked()
    assert asked.content.requirement.reviewers == 1
    assert workshop.decide(asked, by=LEA).ok
    if not still:
        workshop.law = law
    call = blind.at_the_gate()
    assert (call.state, call.content.requirement.reviewers) == (
        (State.SUCCEEDED, 1) if still else (State.PENDING_REVIEW, 2)
    )


@pytest.mark.parametrize("unasked", [False, True])
@pytest.mark.parametrize("lines", [1, 150])  # so many that the arguments alone could not be shown
def test_a_preview_that_raises_at_the_gate_is_waited_for_and_asks_and_kills_nothing(
    workshop: Workshop,
    unasked: bool,  # noqa: FBT001
    lines: int,
) -> None:
    blind = Blind(workshop, unasked=unasked)
    asked = blind.asked(lines)
    assert unasked or workshop.decide(asked, by=LEA).ok
    for _ in range(2):
        call = blind.at_the_gate(preview_fails=True)
        assert (call.state, call.version, workshop.shop.done) == (State.APPROVED, 1, [])
    (told,) = [event["reason"] for _, event in workshop.store.ledger.read() if event["type"] == "gate_failed"]
    assert told == "ship could not be taken through the gate (its preview failed)."
    assert blind.at_the_gate().state is State.SUCCEEDED


def test_a_preview_that_failed_when_people_were_asked_and_still_fails_is_not_waited_for(workshop: Workshop) -> None:
    """They approved the arguments as they are, which are what runs."""
    blind = Blind(workshop, reviewers=2)
    blind.preview_fails = True
    asked = blind.asked()
    for user in (LEA, BEN):
        assert workshop.decide(asked, by=user).ok
    assert blind.at_the_gate(preview_fails=True).state is State.SUCCEEDED


def test_an_action_whose_preview_was_taken_away_since_is_asked_about_anew_and_not_waited_for(
    workshop: Workshop,
) -> None:
    blind = Blind(workshop)
    assert workshop.decide(blind.asked(), by=LEA).ok

    @action(Ship)
    async def ship(ctx: ActionContext, args: Ship) -> None:
        """Send items away for good."""

    workshop.build = lambda model: Agent(name="desk", instructions="Keep.", model=model, tools=[ship])
    call = blind.at_the_gate()
    assert (call.state, call.content.previous) == (
        State.PENDING_REVIEW,
        ("The policy now asks for a second look.",),
    )


def test_what_the_rule_forbids_needs_no_preview_to_be_refused(workshop: Workshop) -> None:
    blind = Blind(workshop)
    assert workshop.decide(blind.asked(), by=LEA).ok
    assert blind.call().content.preview.generic is False

    @rule(Ship, risk=Risk.IRREVERSIBLE)
    def ship(ask: Ask[Ship, Any], so_far: Spend) -> Requirement:
        # Only the second judgement, under the claim, finds it forbidden.
        forbidden = next(judged) > 0
        return Requirement(radius="stock", resources=("cup",)).forbid_when(forbidden, "Nobody may.").needs("leads")

    judged = iter([0, 0, 1, 1, 1, 1])
    workshop.law = a_law([ship])
    call = blind.at_the_gate(preview_fails=True)
    assert (call.state, call.cause, call.reason) == (State.REJECTED, Cause.POLICY, "Nobody may.")
