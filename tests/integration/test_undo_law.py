"""An undo under a law that has changed, and beside what its run did since: bot and worker ask for the same people."""

from dataclasses import replace
from typing import Any

import pytest

from approvals.lifecycle import State, UndoState
from approvals.models import Call, UndoClaim
from approvals.outcomes import Outcome
from builders import REQUESTER, move
from policies.money import Money
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import Ask, Spend, rule
from workshop import ANA, BEN, REVIEWERS, Label, Workshop, a_law, find, function_call, saying, ship

EACH, MOST = Money(minor=3_000, currency="EUR"), Money(minor=5_000, currency="EUR")


def law(judge: Any) -> Any:
    judge.__name__ = "label"
    return a_law([ship, rule(Label, risk=Risk.REVERSIBLE, undo="Peel the label off.")(judge), find])


def by_the_sum(ask: Ask[Label, Any], so_far: Spend) -> Requirement:
    """A label is 30.00; above 50.00 in a run two people decide."""
    need = Requirement(radius="labels", resources=(f"label-{ask.args.item}",)).counting("labels", EACH)
    return need.auto_when(EACH + so_far.in_run("labels") <= MOST, "Small.").needs("desk", reviewers=2)


def asking(reviewers: int) -> Any:
    def judge(ask: Ask[Label, Any], so_far: Spend) -> Requirement:
        return Requirement(radius="labels").needs("desk", reviewers=reviewers)

    return law(judge)


def labelling(workshop: Workshop, *items: str) -> Call:
    """One call after another; the first has run."""
    for number, item in enumerate(items, start=1):
        workshop.script.extend([[function_call("label", {"item": item}, call_id=f"c{number}")]])
    workshop.script.extend([[saying()]])
    workshop.start()
    (first,) = workshop.calls()
    if first.state is State.PENDING_REVIEW:
        assert workshop.decide(first, by=ANA).ok
    workshop.execute()
    workshop.advance()
    (first,) = workshop.calls(pause=1)
    assert first.state is State.SUCCEEDED
    return first


def undo_of(workshop: Workshop, call: Call) -> tuple[UndoState, str | None]:
    now = workshop.store.calls.load(call.key)
    assert now is not None
    assert now.undo is not None
    return now.undo.state, now.undo.reason


def test_what_its_run_asked_for_since_keeps_nobody_from_taking_a_call_back(workshop: Workshop) -> None:
    workshop.law = law(by_the_sum)
    first = labelling(workshop, "cup", "pot")
    assert [call.state for call in workshop.calls()] == [State.PENDING_REVIEW], "the second waits for two people"
    assert workshop.undo(first, by=REQUESTER).ok
    assert undo_of(workshop, first)[0] is UndoState.UNDONE


def test_where_the_law_asks_two_by_now_two_can_take_it_back(workshop: Workshop) -> None:
    workshop.law = asking(1)
    call = labelling(workshop, "cup")
    workshop.law = asking(2)
    assert workshop.undo(call, by=ANA).detail == {"state": "wanted", "missing": "1"}
    assert workshop.shop.undone == []
    assert workshop.undo(call, by=BEN).detail["state"] == "asked"
    assert undo_of(workshop, call) == (UndoState.UNDONE, None)


def test_where_the_tier_that_decided_is_gone_the_strictest_takes_it_back(workshop: Workshop) -> None:
    workshop.law = asking(1)
    call = labelling(workshop, "cup")
    unasked = law(lambda ask, so_far: Requirement(radius="labels").auto_when(True, "Small."))  # noqa: ARG005
    workshop.law = replace(unasked, reviewers=a_law(reviewers=REVIEWERS.replace("desk", "bench")).reviewers)
    assert workshop.undo(call, by=BEN).ok
    assert undo_of(workshop, call) == (UndoState.UNDONE, None)


def test_a_law_that_changes_between_the_press_and_the_worker_is_told_and_then_obeyed(workshop: Workshop) -> None:
    workshop.law = asking(1)
    call = labelling(workshop, "cup")
    assert workshop.ask_back(call, by=ANA).detail["state"] == "asked"
    workshop.law = asking(2)
    workshop.take_back(call)
    assert undo_of(workshop, call) == (UndoState.FAILED, "By now it needs 2 people, and 1 asked for it.")
    for user in (ANA, BEN):
        assert workshop.undo(call, by=user).ok
    assert undo_of(workshop, call) == (UndoState.UNDONE, None)


def test_what_a_late_receipt_proves_undone_is_not_begun_and_the_thread_is_told_why(workshop: Workshop) -> None:
    workshop.law = asking(1)
    call = labelling(workshop, "cup")
    undos = workshop.store.undos
    workshop.shop.before_undo = lambda: (_ for _ in ()).throw(ConnectionError("reset"))
    workshop.undo(call, by=ANA)
    unknown = workshop.store.calls.load(call.key)
    assert unknown is not None
    assert unknown.undo is not None
    workshop.nobody_at_work(call.key)
    assert undos.settle(unknown, happened=False, by="U0OPS", name="Omar", reason="not there").ok
    workshop.shop.before_undo = lambda: None
    assert workshop.ask_back(unknown, by=ANA).ok
    orphan = UndoClaim(call=call.key, run=call.run, version=call.version, token=unknown.undo.token)
    assert undos.succeed(orphan, receipt="1").outcome is Outcome.LEASE_LOST
    workshop.take_back(call)
    assert workshop.shop.undone == []
    state, reason = undo_of(workshop, call)
    assert (state, (reason or "")[:35]) == (UndoState.FAILED, "A receipt came late that says it wa")


@pytest.mark.parametrize("never", [False, True])
def test_nobody_is_refused_for_what_slack_said_long_ago_or_never_said(workshop: Workshop, *, never: bool) -> None:
    workshop.law = asking(1)
    call = labelling(workshop, "cup")
    assert workshop.ask_back(call, by=ANA).ok
    workshop.see(ANA, deactivated=True)
    place = workshop.store.keys.person(ANA)
    if never:
        workshop.client.delete(place)
    else:
        move(workshop.client, place, fetched_at=workshop.store.now() - 61_000)
    workshop.take_back(call)
    assert (workshop.shop.undone, undo_of(workshop, call)) == ([], (UndoState.ASKED, None))


def test_a_word_lost_between_the_look_and_the_claim_is_missed_by_the_number_of_now(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.law = asking(1)
    call = labelling(workshop, "cup")
    workshop.law = asking(2)
    for user in (ANA, BEN):
        assert workshop.ask_back(call, by=user).ok
    claim = type(workshop.store.undos).claim

    def one_less(self: Any, *args: Any, **how: Any) -> Any:
        self.client.hdel(self.keys.undo_votes(call.key), BEN)
        return claim(self, *args, **how)

    monkeypatch.setattr(type(workshop.store.undos), "claim", one_less)
    workshop.take_back(call)
    assert (workshop.shop.undone, undo_of(workshop, call)[0]) == ([], UndoState.ASKED)
