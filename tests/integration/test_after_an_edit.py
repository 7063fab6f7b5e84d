"""What a reviewer edited down is asked of a person again, and the card says what it follows (C44)."""

import pytest

from approvals.lifecycle import State
from policies.risk import Mode
from workshop import Line, Ship, Workshop, saying, shipping

FOLLOWS = "It follows an edit. Ana edited ship before: cup count: 3 -> 2"


def edited(workshop: Workshop, *later: object) -> None:
    """Three cups were asked for, Ana made them two, and the agent goes on."""
    workshop.script.extend([[shipping(("cup", 3))], *later])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.edit(call, Ship(lines=[Line(item="cup", count=2)])).ok
    workshop.refresh(call)


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
