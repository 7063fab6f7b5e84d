"""The job that looks the data of a waiting call up again, as the gate would, and the clock that asks for it."""

import asyncio
from typing import Any

import pytest
from agents import Agent

from approvals.canaries import Planted
from approvals.lifecycle import State
from approvals.models import Call
from builders import CHANNEL, REQUESTER, a_content, a_requirement, events, loaded, move, waking
from clocks import a_clock
from policies.requirement import Canary
from worker import jobs, looking
from worker.actions import Precondition, Preview
from worker.refusals import AgentRefused
from workshop import Line, Ship, Workshop, function_call, function_tool, saying, shipping


def waiting(workshop: Workshop, *steps: Any) -> Call:
    """The first of these calls, which wait for people."""
    workshop.script.extend([list(steps) or [shipping(("cup", 3), ("pot", 2))], [saying()]])
    workshop.start()
    workshop.post_cards()
    return workshop.calls()[0]


def look(workshop: Workshop, call: Call) -> Call:
    """Ask for a look, and do it."""
    move(workshop.client, workshop.store.keys.call(call.key), look_asked_at=1)
    assert workshop.store.calls.ask_look(call.key).ok
    asyncio.run(looking.look_again(workshop.deps, call.key))
    assert waking(workshop.store) == set(), "the hint is used up"
    return loaded(workshop.store, call.key)


def lines(call: Call) -> tuple[str, ...]:
    assert call.drifted is not None
    return call.drifted.lines


def test_the_job_has_the_name_that_stands_in_redis() -> None:
    assert callable(jobs.look_again)


def test_data_that_is_the_same_is_no_drift(workshop: Workshop) -> None:
    call = look(workshop, waiting(workshop))
    assert call.looked_at is not None
    assert (call.drifted, call.look_failed_at) == (None, None)


def test_a_changed_row_is_told_with_its_number_and_the_way_back_too(workshop: Workshop) -> None:
    call = waiting(workshop)
    workshop.shop.stock["cup"] = 2
    call = look(workshop, call)
    assert call.drifted is not None
    assert (call.drifted.rows, call.drifted.of, call.drifted.lines) == (1, 2, ("cup: stock 50 -> 2",))
    assert (call.state, call.version, call.content.previous) == (State.PENDING_REVIEW, 1, ())
    workshop.shop.stock["cup"] = 50
    assert look(workshop, call).drifted is None
    assert events(workshop.store, call.key)[-2:] == ["drift_noticed", "drift_over"]


def test_a_changed_fact_is_told_like_at_the_gate(workshop: Workshop) -> None:
    call = waiting(workshop)
    workshop.shop.owners["cup"] = "eve"
    call = look(workshop, call)
    assert lines(call) == ("owner of cup: ann -> eve",)
    assert call.drifted is not None
    assert (call.drifted.rows, call.drifted.refused) == (0, False)
    assert workshop.decide(call).ok
    workshop.execute()
    (back,) = workshop.calls()
    assert back.content.previous == lines(call), "the gate finds what the look found"


def test_what_the_check_refuses_now_is_told_in_its_words(workshop: Workshop) -> None:
    call = waiting(workshop)
    del workshop.shop.owners["pot"]
    call = look(workshop, call)
    assert lines(call) == ("There is no pot.",)
    assert call.drifted is not None
    assert call.drifted.refused


def test_another_order_or_an_immaterial_column_is_no_drift(workshop: Workshop) -> None:
    rows = [{"id": "p1", "amount": 1, "note": "a"}, {"id": "p2", "amount": 2, "note": "b"}]
    previewed(workshop, rows)
    call = waiting(workshop)
    rows.reverse()
    rows[0]["note"] = "other"
    assert look(workshop, call).drifted is None
    rows[0]["amount"] = 3
    assert lines(look(workshop, call)) == ("p2: amount 2 -> 3",)


def previewed(workshop: Workshop, rows: list[dict[str, Any]]) -> None:
    """Shipping is shown by these rows from here on."""
    tool = workshop.shop.tools()[0]

    async def preview(_: Any) -> Preview:
        kept = Precondition.over("items", rows, key="id", material=("id", "amount"))
        return Preview(headline="Ship", precondition=kept)

    tool.preview = preview
    workshop.build = lambda model: Agent(name="desk", model=model, tools=[tool])


def test_a_tool_without_a_preview_is_looked_up_by_its_check(workshop: Workshop) -> None:
    tool = workshop.shop.tools()[0]
    tool.preview = None
    workshop.build = lambda model: Agent(name="desk", model=model, tools=[tool])
    call = look(workshop, waiting(workshop))
    assert call.looked_at is not None
    assert (call.drifted, call.look_failed_at) == (None, None)


def test_a_row_that_is_new_is_counted_among_all_there_are(workshop: Workshop) -> None:
    rows = [{"id": "p1", "amount": 1}]
    previewed(workshop, rows)
    call = waiting(workshop)
    rows[:] = [{"id": "p2", "amount": 1}]
    found = look(workshop, call).drifted
    assert found is not None
    assert (found.rows, found.of) == (2, 2)


def test_a_very_long_difference_is_cut_and_says_how_much_is_missing(workshop: Workshop) -> None:
    rows: list[dict[str, Any]] = [{"id": f"p{at}", "amount": 1} for at in range(300)]
    previewed(workshop, rows)
    call = waiting(workshop)
    for row in rows:
        row["amount"] = "9" * 2_000
    found = look(workshop, call).drifted
    assert found is not None
    assert (found.rows, len(found.lines), found.more) == (300, looking.LINES, 100)
    assert max(map(len, found.lines)) == looking.LINE


@pytest.mark.parametrize("what", ["check", "preview", "agent", "agent gone", "tool gone"])
def test_a_look_that_fails_says_only_that_it_failed(workshop: Workshop, what: str) -> None:
    call = waiting(workshop)
    if what == "check":
        workshop.shop.check_fails = True
    elif what == "preview":
        workshop.shop.stock.clear()
    elif what == "agent":
        workshop.build = refused
    elif what == "tool gone":
        workshop.build = lambda model: Agent(name="desk", model=model, tools=[])
    else:
        workshop.build = lambda model: Agent(name="other", model=model, tools=workshop.shop.tools())
    call = look(workshop, call)
    assert call.look_failed_at is not None
    assert (call.looked_at, call.drifted) == (None, None)
    assert "drift_noticed" not in events(workshop.store, call.key)


def refused(_: Any) -> Any:
    raise AgentRefused("no such agent")


def test_a_look_that_takes_too_long_is_given_up(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    call = waiting(workshop)
    monkeypatch.setattr(looking, "LONGEST_S", 0.05)
    tool = workshop.shop.tools()[0]

    async def hangs(_: Any) -> Any:
        await asyncio.sleep(30)

    tool.check = hangs
    workshop.build = lambda model: Agent(name="desk", model=model, tools=[tool])
    assert look(workshop, call).look_failed_at is not None


def test_a_tool_that_rests_on_nothing_is_not_said_to_have_been_looked_up(workshop: Workshop) -> None:
    @function_tool
    async def burn(what: str) -> str:
        """Burn it."""
        return what

    workshop.build = lambda model: Agent(name="desk", model=model, tools=[burn])
    call = look(workshop, waiting(workshop, function_call("burn", {"what": "all"}, call_id="c1")))
    assert (call.looked_at, call.look_failed_at) == (None, None)


def test_what_could_not_be_known_when_it_was_asked_and_can_be_now_has_changed(workshop: Workshop) -> None:
    workshop.shop.check_fails = True
    call = waiting(workshop)
    assert look(workshop, call).look_failed_at is not None
    workshop.shop.check_fails = False
    assert look(workshop, call).drifted is not None


@pytest.mark.parametrize("what", ["decided", "refreshing", "unknown"])
def test_what_does_not_wait_is_not_looked_up_and_its_hint_is_dropped(workshop: Workshop, what: str) -> None:
    call = waiting(workshop)
    workshop.shop.before_check = AssertionError("looked up")
    key = call.key
    if what == "decided":
        assert workshop.decide(call, "reject").ok
    elif what == "refreshing":
        assert workshop.edit(call, Ship(lines=[Line(item="cup", count=1)])).ok
    else:
        key = "call_gone"
    workshop.client.zadd(workshop.store.keys.wakeups, {f"look_again:{key}": 1})
    asyncio.run(looking.look_again(workshop.deps, key))
    assert f"look_again:{key}" not in waking(workshop.store)
    if what != "unknown":
        after = loaded(workshop.store, key)
        assert (after.looked_at, after.look_failed_at) == (None, None)


def test_a_canary_is_told_from_no_other_card_by_what_is_said_about_its_data(workshop: Workshop) -> None:
    content = a_content(requirement=a_requirement(canary=Canary(agent="desk")))
    about = {"sdk_id": "c1", "tool": "ship", "seal": "seal-1", "request": "ship", "requester": REQUESTER}
    where = {"channel": CHANNEL, "started_as": "desk", "notify": ()}
    canary = Planted(run="run_9", batch="batch_9", call="call_1", content=content, **about, **where)
    assert workshop.store.canaries.plant(canary, interruptions=12).ok
    call = look(workshop, loaded(workshop.store))
    assert call.canary is not None
    assert call.looked_at is not None
    assert (call.drifted, call.look_failed_at) == (None, None)


@pytest.mark.parametrize("kind", ["remind", "escalate"])
def test_the_clock_has_every_waiting_call_of_a_card_looked_up_when_its_time_runs_out(
    workshop: Workshop, kind: str
) -> None:
    waiting(workshop, shipping(("cup", 3), call_id="c1"), shipping(("pot", 2), call_id="c2"))
    first, second = waits = workshop.calls()
    assert workshop.decide(first, "reject").ok
    tick(workshop, second, kind)
    assert waking(workshop.store) & {f"look_again:{call.key}" for call in waits} == {f"look_again:{second.key}"}


def tick(workshop: Workshop, call: Call, kind: str) -> None:
    """One round of the clock at this instant of a card's time."""
    members = {f"{one}:{call.batch}": 1 if one == kind else 1 << 52 for one in ("remind", "escalate")}
    workshop.client.zadd(workshop.store.keys.deadlines, members)
    a_clock(workshop.store, workshop.law).tick()


def test_a_card_whose_time_is_over_is_not_looked_up_any_more(workshop: Workshop) -> None:
    call = waiting(workshop)
    move(workshop.client, workshop.store.keys.batch(call.batch or ""), decide_by=workshop.store.now() - 1)
    tick(workshop, call, "remind")
    assert waking(workshop.store) == set()
