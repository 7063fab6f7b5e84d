"""What a rule limits and forbids holds although its check failed when people were asked."""

from dataclasses import replace
from typing import Any

import pytest

from approvals.lifecycle import Cause, State
from approvals.stuck import open_alerts
from policies.money import eur
from policies.requirement import Requirement
from policies.rule import Spend
from workshop import ANA, LEA, Workshop, saying, shipping


def approved_blindly(workshop: Workshop, count: int) -> None:
    """Asked while the check fails, and approved by the strictest tier; the check still fails."""
    workshop.script.extend([[shipping(("cup", count))], [saying()]])
    workshop.shop.check_fails = True
    workshop.start()
    assert workshop.decide(workshop.calls()[0], by=LEA).ok
    workshop.execute()


def test_it_waits_while_the_check_still_fails_and_ops_is_told_once(workshop: Workshop) -> None:
    approved_blindly(workshop, 3)
    workshop.see(LEA)
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, workshop.shop.done) == (State.APPROVED, [])
    assert [told for told in open_alerts(workshop.store.runs) if told.startswith("gate:")] == [f"gate:{call.key}"]
    (told,) = [event["reason"] for _, event in workshop.store.ledger.read() if event["type"] == "gate_failed"]
    assert "The check of ship failed (ConnectionError)" in told
    assert workshop.store.wakeups.wanted("execute_batch", [call.batch or ""])


def test_what_the_rule_forbids_is_refused_when_the_check_answers(workshop: Workshop) -> None:
    approved_blindly(workshop, 500)
    workshop.shop.check_fails = False
    workshop.see(LEA)
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.cause, workshop.shop.done) == (State.REJECTED, Cause.POLICY, [])
    assert "Nobody may ship more than 100" in (call.reason or "")


def test_people_read_the_facts_when_the_check_answers_and_its_caps_hold(workshop: Workshop) -> None:
    def judge(ask: Any, so_far: Spend) -> Requirement:
        owner = ask.facts.owner_of[ask.args.lines[0].item]
        need = Requirement(radius=owner, resources=("cup",)).needs("desk")
        return need.spending("parcels", {owner: eur(3)}, limit=eur(2))

    workshop.law = replace(
        workshop.law, rules={**workshop.law.rules, "ship": replace(workshop.law.rules["ship"], judge=judge)}
    )
    approved_blindly(workshop, 3)
    workshop.shop.check_fails = False
    workshop.see(LEA)
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.version) == (State.PENDING_REVIEW, 2)
    assert "ann" in call.content.facts
    assert workshop.decide(call, by=LEA).ok
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.cause, workshop.shop.done) == (State.REJECTED, Cause.CAP, [])


@pytest.mark.parametrize("gone", [False, True])
def test_a_check_that_fails_only_at_the_gate_is_waited_for_as_well(workshop: Workshop, gone: bool) -> None:  # noqa: FBT001
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0]).ok
    workshop.shop.check_fails = True
    workshop.see(ANA, deactivated=gone)  # so it is to be asked again, about what nobody knows
    workshop.execute()
    assert (workshop.calls()[0].state, workshop.shop.done) == (State.APPROVED, [])
    workshop.shop.check_fails = False
    workshop.see(ANA, deactivated=gone)
    workshop.execute()
    assert (workshop.calls()[0].state, len(workshop.shop.done)) == (
        (State.PENDING_REVIEW, 0) if gone else (State.SUCCEEDED, 1)
    )
