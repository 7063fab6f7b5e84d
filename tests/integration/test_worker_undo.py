"""An undo from a person's word to what became of it, on a real store: never without its checks, never twice."""

import asyncio
import contextlib
import time
from dataclasses import replace
from typing import Any

import pytest
from agents import Agent, Model
from rq.timeouts import JobTimeoutException

from approvals.job_time import JobAlarm
from approvals.lifecycle import RunState, State, UndoState
from approvals.models import Call
from approvals.outcomes import Outcome
from approvals.queue import JobTimeout
from builders import REQUESTER, events, move, owed, waking
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import rule
from worker.actions import ActionContext, CannotTell, NothingHappened, action
from workshop import (
    ANA,
    BEN,
    LEA,
    REVIEWERS,
    Label,
    Stock,
    Workshop,
    a_law,
    find,
    function_call,
    label,
    saying,
    ship,
)


def labelled(workshop: Workshop) -> Call:
    """A label that was stuck on, unasked, in a run that is over."""
    workshop.script.extend([[function_call("label", {"item": "cup"}, call_id="c1")], [saying()]])
    workshop.start()
    workshop.execute()
    workshop.advance()
    (call,) = workshop.calls()
    assert (call.state, workshop.run().state) == (State.SUCCEEDED, RunState.COMPLETED)
    return call


def a_judged_law(judge: Any, reviewers: str = REVIEWERS) -> Any:
    judge.__name__ = "label"
    return a_law([ship, rule(Label, risk=Risk.REVERSIBLE, undo="Peel the label off.")(judge), find], reviewers)


def undo_of(workshop: Workshop, call: Call) -> tuple[UndoState, str | None]:
    now = workshop.store.calls.load(call.key)
    assert now is not None
    assert now.undo is not None
    return now.undo.state, now.undo.reason


def test_what_ran_unasked_is_taken_back_once_with_its_receipt_and_a_key_of_its_own(workshop: Workshop) -> None:
    call = labelled(workshop)
    answered = workshop.run().answer
    assert workshop.undo(call).outcome is Outcome.OK
    key = f"vobo-run_1-{call.key}"
    assert workshop.shop.undone == [("cup", None, f"{key}-undo", key)]
    assert undo_of(workshop, call) == (UndoState.UNDONE, None)
    now = workshop.store.calls.load(call.key)
    assert now is not None
    assert (now.state, workshop.store.undos.receipt(now)) == (State.SUCCEEDED, '{"peeled": "cup"}')
    assert (workshop.run().state, workshop.run().answer) == (RunState.COMPLETED, answered), "the run is what it was"
    workshop.shop.found_undone = lambda key: pytest.fail(f"nobody wonders about {key}")
    for _ in range(2):
        workshop.take_back(call)
    assert workshop.undo(call, by=BEN).outcome is Outcome.ALREADY_DECIDED
    assert len(workshop.shop.undone) == 1


def test_the_intent_is_in_the_ledger_before_the_undo_runs(workshop: Workshop) -> None:
    call = labelled(workshop)
    seen: list[list[str]] = []
    workshop.shop.before_undo = lambda: seen.append(events(workshop.store, call.key)[-2:])
    workshop.undo(call)
    assert seen == [["undo_claimed", "undo_intended"]]


def test_a_provider_that_says_no_has_taken_nothing_back(workshop: Workshop) -> None:
    call = labelled(workshop)
    workshop.shop.before_undo = lambda: (_ for _ in ()).throw(NothingHappened("It is sold."))
    workshop.undo(call)
    assert undo_of(workshop, call) == (UndoState.FAILED, "It is sold.")
    workshop.shop.before_undo = lambda: None
    assert workshop.undo(call).outcome is Outcome.OK
    assert len(workshop.shop.undone) == 1


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (ConnectionError("reset"), "The undo raised ConnectionError."),
        (asyncio.CancelledError(), "The undo raised CancelledError."),
        (TimeoutError("read timed out"), "The undo raised TimeoutError."),
        (JobTimeout(), "The worker was stopped while it ran."),
    ],
)
def test_an_undo_that_breaks_off_leaves_nobody_knowing_and_is_never_begun_again(
    workshop: Workshop, failure: BaseException, reason: str
) -> None:
    call = labelled(workshop)

    def fail() -> None:
        workshop.shop.undone.append(("perhaps", None, "", None))
        raise failure

    workshop.shop.before_undo = fail
    if isinstance(failure, JobTimeout):
        with pytest.raises(JobTimeout):
            workshop.undo(call)
    else:
        workshop.undo(call)
    assert undo_of(workshop, call) == (UndoState.UNKNOWN, reason)
    assert f"alert:undo:{call.key}" in owed(workshop.store)
    for _ in range(3):
        workshop.take_back(call)
    assert len(workshop.shop.undone) == 1


def test_an_undo_that_takes_too_long_is_unknown(workshop: Workshop) -> None:
    workshop.shop.timeout_s = 0.05
    call = labelled(workshop)
    workshop.shop.before_undo = lambda: asyncio.sleep(5)
    workshop.undo(call)
    assert undo_of(workshop, call) == (UndoState.UNKNOWN, "It gave no answer within 0.05 seconds.")


def test_an_undo_that_swallows_its_time_limit_is_not_believed(workshop: Workshop) -> None:
    workshop.shop.timeout_s = 0.05
    call = labelled(workshop)

    async def stubborn() -> None:
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            return

    workshop.shop.before_undo = stubborn
    workshop.undo(call)
    assert undo_of(workshop, call)[0] is UndoState.UNKNOWN


def test_the_alarm_of_a_job_makes_an_undo_unknown_and_ends_the_job(workshop: Workshop) -> None:
    call = labelled(workshop)

    async def swallows_everything() -> None:
        with contextlib.suppress(Exception):
            time.sleep(30)  # noqa: ASYNC251 - a tool that blocks
        raise ConnectionError("reset")

    workshop.shop.before_undo = swallows_everything
    with pytest.raises(JobTimeout), JobAlarm(1, JobTimeoutException):  # type: ignore[no-untyped-call]
        workshop.undo(call)
    assert undo_of(workshop, call)[0] is UndoState.UNKNOWN


def unknown(workshop: Workshop) -> Call:
    call = labelled(workshop)
    workshop.shop.before_undo = lambda: (_ for _ in ()).throw(ConnectionError("reset"))
    workshop.undo(call)
    assert undo_of(workshop, call)[0] is UndoState.UNKNOWN
    return call


def test_an_unknown_undo_is_settled_by_what_the_tool_finds(workshop: Workshop) -> None:
    call = unknown(workshop)
    asked: list[str] = []

    def look(key: str) -> str:
        asked.append(key)
        return "peeled at noon"

    workshop.shop.found_undone = look
    workshop.take_back(call)
    assert asked == [f"vobo-run_1-{call.key}-undo"]
    assert undo_of(workshop, call) == (UndoState.UNDONE, "The provider has taken it back.")
    now = workshop.store.calls.load(call.key)
    assert now is not None
    assert workshop.store.undos.receipt(now) == '"peeled at noon"'


def test_not_found_counts_only_once_no_orphan_can_be_at_work(workshop: Workshop) -> None:
    call = unknown(workshop)
    workshop.take_back(call)
    assert undo_of(workshop, call)[0] is UndoState.UNKNOWN
    workshop.client.delete(workshop.store.keys.at_work(f"undo:{call.key}"))
    workshop.take_back(call)
    assert undo_of(workshop, call)[0] is UndoState.UNKNOWN, "its time limit and the margin are not over"
    workshop.nobody_at_work(call.key)
    workshop.store.effects.stay(f"undo:{call.key}")
    workshop.take_back(call)
    assert undo_of(workshop, call)[0] is UndoState.UNKNOWN, "whoever began it is still there"
    workshop.nobody_at_work(call.key)
    workshop.take_back(call)
    assert undo_of(workshop, call) == (UndoState.FAILED, "The provider has not taken it back.")


@pytest.mark.parametrize(("failure", "again"), [(ConnectionError("down"), True), (CannotTell("no log"), False)])
def test_a_provider_that_does_not_answer_is_asked_again_unless_it_never_will(
    workshop: Workshop,
    failure: Exception,
    again: bool,  # noqa: FBT001 - a parameter
) -> None:
    call = unknown(workshop)
    workshop.shop.found_undone = lambda key: (_ for _ in ()).throw(failure)  # noqa: ARG005
    workshop.take_back(call)
    assert undo_of(workshop, call)[0] is UndoState.UNKNOWN
    assert (f"undo_call:{call.key}" in waking(workshop.store)) is again


def test_a_reviewer_who_lost_their_place_since_the_click_takes_nothing_back(workshop: Workshop) -> None:
    call = labelled(workshop)
    workshop.law = a_law(reviewers=REVIEWERS.replace(f'users = ["{LEA}", "{BEN}"]', f'users = ["{BEN}"]'))
    workshop.undo(call)
    assert workshop.shop.undone == []
    assert undo_of(workshop, call) == (UndoState.FAILED, "U0Lea may not take this back any more (not_in_tier).")
    assert f"undo:{call.key}" in owed(workshop.store), "whoever asked is told"


@pytest.mark.parametrize("changes", [{"deactivated": True}, {"guest": True}, {"team": "T0OTHER"}])
def test_who_slack_no_longer_knows_as_a_member_takes_nothing_back(
    workshop: Workshop, changes: dict[str, object]
) -> None:
    call = labelled(workshop)
    assert workshop.ask_back(call, by=LEA).ok
    workshop.see(LEA, **changes)
    workshop.take_back(call)
    assert workshop.shop.undone == []
    assert undo_of(workshop, call)[0] is UndoState.FAILED


def test_nobody_is_believed_under_an_old_snapshot_and_the_undo_waits(workshop: Workshop) -> None:
    call = labelled(workshop)
    assert workshop.ask_back(call, by=LEA).ok
    move(workshop.client, workshop.store.keys.person(LEA), fetched_at=workshop.store.now() - 61_000)
    workshop.take_back(call)
    assert (workshop.shop.undone, undo_of(workshop, call)[0]) == ([], UndoState.ASKED)
    workshop.see(LEA)
    workshop.take_back(call)
    assert len(workshop.shop.undone) == 1


def test_whoever_asked_for_the_run_takes_back_what_ran_on_their_word(workshop: Workshop) -> None:
    call = labelled(workshop)
    assert workshop.undo(call, by=REQUESTER).outcome is Outcome.OK
    assert len(workshop.shop.undone) == 1


def test_a_law_that_asks_a_person_by_now_asks_one_for_the_undo_too(workshop: Workshop) -> None:
    call = labelled(workshop)
    workshop.law = a_judged_law(lambda ask, so_far: Requirement(radius="labels").needs("desk"))  # noqa: ARG005
    workshop.undo(call, by=REQUESTER)
    assert workshop.shop.undone == []
    assert undo_of(workshop, call) == (UndoState.FAILED, "U0Req may not take this back any more (requester).")
    workshop.undo(call, by=ANA)
    assert len(workshop.shop.undone) == 1


def test_a_law_that_asks_two_people_by_now_wants_two_for_the_undo(workshop: Workshop) -> None:
    call = labelled(workshop)
    workshop.law = a_judged_law(lambda ask, so_far: Requirement(radius="labels").needs("desk", reviewers=2))  # noqa: ARG005
    assert workshop.undo(call, by=ANA).detail["state"] == "wanted"
    assert workshop.shop.undone == []
    workshop.undo(call, by=BEN)
    assert len(workshop.shop.undone) == 1


def test_what_the_law_forbids_by_now_may_still_be_taken_back(workshop: Workshop) -> None:
    call = labelled(workshop)
    workshop.law = a_judged_law(
        lambda ask, so_far: Requirement(radius="labels").forbid_when(True, "No more labels.")  # noqa: ARG005
    )
    workshop.undo(call)
    assert len(workshop.shop.undone) == 1


def test_who_decided_at_the_strictest_tier_is_held_to_it(workshop: Workshop) -> None:
    call = labelled(workshop)
    assert workshop.undo(call, by=ANA).outcome is Outcome.OK, "whether she may is the caller's question"
    assert workshop.shop.undone == []
    assert undo_of(workshop, call)[1] == "U0Ana may not take this back any more (not_in_tier)."


def decided(workshop: Workshop, need: Requirement, *, by: str) -> Call:
    """A label that a person had to decide, and that was stuck on."""
    workshop.law = a_judged_law(lambda ask, so_far: need)  # noqa: ARG005
    workshop.script.extend([[function_call("label", {"item": "cup"}, call_id="c1")], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call, by=by).ok
    workshop.execute()
    (call,) = workshop.calls()
    assert call.state is State.SUCCEEDED
    return call


def test_a_law_that_asks_a_lower_tier_by_now_changes_nothing_for_the_undo(workshop: Workshop) -> None:
    call = decided(workshop, Requirement(radius="labels"), by=LEA)
    workshop.law = a_judged_law(lambda ask, so_far: Requirement(radius="labels").needs("desk"))  # noqa: ARG005
    workshop.undo(call, by=ANA)
    assert workshop.shop.undone == []
    workshop.undo(call, by=LEA)
    assert len(workshop.shop.undone) == 1


def test_a_law_that_asks_nobody_by_now_changes_nothing_for_the_undo(workshop: Workshop) -> None:
    call = decided(workshop, Requirement(radius="labels").needs("desk"), by=ANA)
    workshop.law = a_judged_law(
        lambda ask, so_far: Requirement(radius="labels").auto_when(True, "It can be peeled off.")  # noqa: ARG005
    )
    workshop.undo(call, by=ANA)
    assert len(workshop.shop.undone) == 1


def test_two_who_decided_must_both_still_be_allowed_to(workshop: Workshop) -> None:
    need = Requirement(radius="labels").needs("desk", reviewers=2)
    workshop.law = a_judged_law(lambda ask, so_far: need)  # noqa: ARG005
    workshop.script.extend([[function_call("label", {"item": "cup"}, call_id="c1")], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    assert all(workshop.decide(call, by=user).ok for user in (ANA, BEN))
    workshop.execute()
    assert workshop.undo(call, by=ANA).detail["state"] == "wanted"
    assert workshop.shop.undone == []
    assert workshop.ask_back(workshop.calls()[0], by=BEN).detail["state"] == "asked"
    workshop.see(ANA, deactivated=True)
    workshop.take_back(call)
    assert workshop.shop.undone == []
    assert undo_of(workshop, call) == (UndoState.FAILED, "U0Ana may not take this back any more (deactivated).")
    for user in (ANA, BEN):
        workshop.undo(call, by=user)
    assert len(workshop.shop.undone) == 1


def test_nothing_is_taken_back_while_frozen_and_time_ends_it(workshop: Workshop) -> None:
    call = labelled(workshop)
    assert workshop.ask_back(call, by=LEA).ok
    workshop.store.switches.freeze("Omar", "looking into it")
    workshop.take_back(call)
    assert (workshop.shop.undone, undo_of(workshop, call)[0]) == ([], UndoState.ASKED)
    move(workshop.client, workshop.store.keys.call(call.key), undo_execute_by=workshop.store.now() - 1)
    assert workshop.store.deadlines.apply(f"undo:{call.key}").ok
    workshop.store.switches.unfreeze("Omar")
    workshop.take_back(call)
    assert workshop.shop.undone == []


def test_a_freeze_between_claim_and_intent_leaves_it_asked_for(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = labelled(workshop)
    intend = type(workshop.store.undos).intend

    def frozen_first(self: Any, *args: Any, **how: Any) -> Any:
        self.ask("freeze", "Omar", "now", False)
        return intend(self, *args, **how)

    monkeypatch.setattr(type(workshop.store.undos), "intend", frozen_first)
    workshop.undo(call)
    assert (workshop.shop.undone, undo_of(workshop, call)[0]) == ([], UndoState.ASKED)


def test_a_call_whose_record_was_changed_is_not_taken_back_and_ops_is_told(workshop: Workshop) -> None:
    call = labelled(workshop)
    assert workshop.ask_back(call, by=LEA).ok
    workshop.client.hset(workshop.store.keys.call(call.key), "seal", "forged")
    workshop.take_back(call)
    assert workshop.shop.undone == []
    assert undo_of(workshop, call)[0] is UndoState.FAILED
    assert f"alert:seal:{call.key}" in owed(workshop.store)


def test_a_receipt_that_came_since_the_click_must_be_looked_at_first(workshop: Workshop) -> None:
    call = labelled(workshop)
    asked_about = call.model_copy(update={"receipt": '"another"'})
    assert workshop.ask_back(asked_about, by=LEA).ok
    workshop.take_back(call)
    assert workshop.shop.undone == []
    state, reason = undo_of(workshop, call)
    assert state is UndoState.FAILED
    assert "has changed since it was asked" in (reason or "")


def tools_with(**changes: Any) -> Any:
    """The desk with another `label` tool."""

    def build(model: Model) -> Any:
        @action(changes.pop("arguments", Label), **changes)
        async def label(ctx: ActionContext, args: Any) -> None:
            """Stick a label on an item."""

        return Agent(name="desk", instructions="Keep the shop.", model=model, tools=[label])

    return build


def test_a_tool_that_no_longer_has_an_undo_takes_nothing_back(workshop: Workshop) -> None:
    call = labelled(workshop)
    workshop.build = tools_with()
    workshop.undo(call)
    assert undo_of(workshop, call) == (UndoState.FAILED, "label no longer says how it is undone.")


def test_a_rule_that_no_longer_promises_an_undo_takes_nothing_back(workshop: Workshop) -> None:
    call = labelled(workshop)
    promised = workshop.law.rules["label"]
    workshop.law = a_law([ship, replace(promised, undo=None, risk=Risk.IRREVERSIBLE), find])
    workshop.undo(call)
    assert workshop.shop.undone == []
    assert undo_of(workshop, call) == (UndoState.FAILED, "label no longer says how it is undone.")


def test_a_tool_that_was_changed_since_takes_nothing_back(workshop: Workshop) -> None:
    call = labelled(workshop)

    async def peel(ctx: ActionContext, args: Any, receipt: Any) -> None:
        workshop.shop.undone.append(("another thing", None, "", None))

    class Label2(Label):
        """Stick a label on an item; what it says can still be read, and means something else now."""

        colour: str = "red"

    workshop.law = a_law([ship, replace(label, arguments=Label2), find])
    workshop.build = tools_with(arguments=Label2, undo=peel)
    workshop.undo(call)
    assert workshop.shop.undone == []
    state, reason = undo_of(workshop, call)
    assert state is UndoState.FAILED
    assert "The tool was changed since the call ran" in (reason or "")


def test_a_call_that_the_law_can_no_longer_read_is_not_taken_back(workshop: Workshop) -> None:
    call = labelled(workshop)
    workshop.law = a_law([ship, replace(label, facts=Stock), find])

    async def counted(args: Any) -> Stock:
        return Stock(owner_of={})

    def counting(model: Model) -> Any:
        tools = workshop.shop.tools()
        (labels,) = (tool for tool in tools if tool.name == "label")
        labels.check = counted
        return Agent(name="desk", instructions="Keep the shop.", model=model, tools=tools)

    workshop.build = counting
    workshop.undo(call)
    assert workshop.shop.undone == []
    state, reason = undo_of(workshop, call)
    assert (state, (reason or "")[:32]) == (UndoState.FAILED, "label takes other arguments now:")


def test_a_tool_that_is_gone_takes_nothing_back_and_a_missing_agent_is_waited_for(workshop: Workshop) -> None:
    call = labelled(workshop)
    workshop.build = lambda model: Agent(name="other", instructions="-", model=model, tools=workshop.shop.tools())
    workshop.undo(call)
    assert undo_of(workshop, call)[0] is UndoState.ASKED
    workshop.build = lambda model: Agent(name="desk", instructions="-", model=model, tools=workshop.shop.tools()[:1])
    workshop.take_back(call)
    assert undo_of(workshop, call) == (UndoState.FAILED, "label is no longer a tool of desk.")


def test_an_unknown_undo_of_a_tool_that_cannot_tell_is_left_to_ops(workshop: Workshop) -> None:
    call = unknown(workshop)
    workshop.build = tools_with()
    workshop.take_back(call)
    assert undo_of(workshop, call)[0] is UndoState.UNKNOWN
    assert f"undo_call:{call.key}" not in waking(workshop.store)


def test_a_hint_about_nothing_does_nothing(workshop: Workshop) -> None:
    call = labelled(workshop)
    workshop.client.zadd(workshop.store.keys.wakeups, {f"undo_call:{call.key}": 1, "undo_call:call_gone": 1})
    workshop.take_back(call)
    workshop.take_back(call.model_copy(update={"key": "call_gone"}))
    assert not {name for name in waking(workshop.store) if name.startswith("undo_call")}
