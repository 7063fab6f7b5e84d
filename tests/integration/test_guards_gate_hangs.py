"""A check or a preview that gives no answer, to a call that is asked or is to run, keeps nothing from others."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest
from agents import Agent
from rq.timeouts import JobTimeoutException

from approvals.job_time import JobAlarm
from approvals.lifecycle import Cause, State
from approvals.preview import Preview
from approvals.queue import JobTimeout
from approvals.stuck import open_alerts
from policies.requirement import STRICTEST_TIER
from policies.rule import Ask
from worker import bounded, gate
from worker.actions import ActionContext, action
from worker.looking import LONGEST_S
from workshop import ANA, Line, Ship, Stock, Workshop, saying, shipping

Part = Callable[[], Awaitable[None]]
#: Much longer than any machine takes for what is not waited for.
HANGS_S = 90


async def sleeps() -> None:
    await asyncio.sleep(HANGS_S)


async def swallows() -> None:
    """Answers all the same, as what it awaited had been stopped."""
    try:
        await asyncio.sleep(HANGS_S)
    except asyncio.CancelledError:
        return


async def goes_on() -> None:
    """Begins anew when it is stopped, once."""
    try:
        await asyncio.sleep(HANGS_S)
    except asyncio.CancelledError:
        await asyncio.sleep(HANGS_S)


async def is_cancelled() -> None:
    """What it called was stopped by somebody else."""
    inner = asyncio.ensure_future(asyncio.sleep(HANGS_S))
    asyncio.get_running_loop().call_soon(inner.cancel)
    await inner


async def blocks() -> None:
    time.sleep(30)  # noqa: ASYNC251


class Hanging:
    """An agent that ships several items; check or preview of those in `items` do `part` once calls are decided."""

    def __init__(
        self, workshop: Workshop, part: Part, *, where: str = "check", items: tuple[str, ...] = ("cup",)
    ) -> None:
        self.workshop, self.now = workshop, False

        async def maybe(here: str, args: Ship) -> None:
            if self.now and here == where and args.lines[0].item in items:
                await part()

        async def check(args: Ship) -> Stock:
            await maybe("check", args)
            return Stock(owner_of={line.item: "ann" for line in args.lines})

        async def show(ask: Ask[Ship, Stock]) -> Preview:
            await maybe("preview", ask.args)
            return Preview(headline=f"Ship {ask.args.lines[0].item}")

        @action(Ship, check=check, preview=show)
        async def ship(ctx: ActionContext, args: Ship) -> None:
            """Send items away for good."""
            workshop.shop.done.append(args.lines[0].item)  # type: ignore[arg-type]

        workshop.build = lambda model: Agent(name="desk", instructions="Keep.", model=model, tools=[ship])

    def decided(self, *items: str) -> None:
        calls = [shipping((item, 3), call_id=f"c{number}") for number, item in enumerate(items)]
        self.workshop.script.extend([calls, [saying()]])
        self.workshop.start()
        for call in self.workshop.calls():
            assert self.workshop.decide(call).ok
        self.now = True

    def states(self) -> list[State]:
        return [call.state for call in self.workshop.calls()]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of a second instead of a third of a minute."""
    monkeypatch.setattr(gate, "LONGEST_S", 0.1)
    monkeypatch.setattr(bounded, "CLEANS_UP_S", 0.1)
    monkeypatch.setattr(bounded, "CHECK_S", 0.1)
    monkeypatch.setattr(bounded, "MOMENT_S", 0.1)


def reasons(workshop: Workshop) -> list[str]:
    """What the ledger says was told about calls that could not be taken through the gate."""
    return [event["reason"] for _, event in workshop.store.ledger.read() if event["type"] == "gate_failed"]


def gate_alerts(workshop: Workshop) -> list[str]:
    return [subject for subject in open_alerts(workshop.store.runs) if subject.startswith("gate:")]


def test_a_look_at_the_gate_may_take_much_less_than_a_job_begins_effects_for() -> None:
    assert LONGEST_S == 20


@pytest.mark.parametrize("where", ["check", "preview"])
@pytest.mark.parametrize("part", [sleeps, swallows, goes_on])
def test_one_that_gives_no_answer_is_told_once_tried_again_and_stops_no_sibling(
    workshop: Workshop, part: Part, where: str
) -> None:
    hanging = Hanging(workshop, part, where=where)
    hanging.decided("cup", "pot")
    began = time.monotonic()
    for _ in range(2):
        workshop.see(ANA)
        workshop.execute()
    assert time.monotonic() - began < HANGS_S
    cup = workshop.calls()[0]
    assert (hanging.states(), workshop.shop.done) == ([State.APPROVED, State.SUCCEEDED], ["pot"])
    assert gate_alerts(workshop) == [f"gate:{cup.key}"]
    (told,) = reasons(workshop)
    assert told == (
        "ship could not be taken through the gate (its check or preview gave no answer within 0.1 seconds)."
    )
    assert workshop.store.wakeups.wanted("execute_batch", [cup.batch or ""])
    hanging.now = False
    workshop.execute()
    assert workshop.shop.done == ["pot", "cup"]


def test_one_that_was_cancelled_by_what_it_called_itself_stops_no_sibling(workshop: Workshop) -> None:
    hanging = Hanging(workshop, is_cancelled)
    hanging.decided("cup", "pot")
    workshop.execute()
    assert (hanging.states(), workshop.shop.done) == ([State.APPROVED, State.SUCCEEDED], ["pot"])
    (told,) = reasons(workshop)
    assert "its check or preview raised CancelledError" in told


def test_one_that_is_stopped_may_clean_up_before_anything_else_is_done(workshop: Workshop) -> None:
    done: list[object] = workshop.shop.done  # type: ignore[assignment]

    async def cleans_up() -> None:
        try:
            await asyncio.sleep(HANGS_S)
        finally:
            await asyncio.sleep(0.01)
            done.append("cleaned up")

    Hanging(workshop, cleans_up).decided("cup", "pot")
    workshop.execute()
    assert done == ["cleaned up", "pot"]


def test_one_that_is_to_be_asked_again_and_gives_no_answer_stops_no_sibling(workshop: Workshop) -> None:
    hanging = Hanging(workshop, sleeps)
    hanging.decided("cup", "pot")
    cup, _ = workshop.calls()
    workshop.see(ANA, deactivated=True)  # so both go back to people, which looks their data up
    workshop.execute()
    assert hanging.states() == [State.APPROVED, State.PENDING_REVIEW]
    assert gate_alerts(workshop) == [f"gate:{cup.key}"]


def test_those_that_use_up_the_time_of_one_job_come_last_in_the_next(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.batches.BEGIN_UNTIL_MS", 50)
    hanging = Hanging(workshop, sleeps, items=("cup", "pan"))
    hanging.decided("cup", "pan", "pot")
    ran = []
    for _ in range(3):
        workshop.see(ANA)
        workshop.execute()
        ran.append(list(workshop.shop.done))
    assert ran == [[], [], ["pot"]]


def test_one_that_blocks_the_worker_until_the_job_ends_comes_last_in_the_next(workshop: Workshop) -> None:
    hanging = Hanging(workshop, blocks)
    hanging.decided("cup", "pot")
    for _ in range(2):
        workshop.see(ANA)
        batch = workshop.calls()[0].batch or ""
        workshop.client.hset(workshop.store.keys.batch(batch), "lease_until", 0)
        with pytest.raises(JobTimeout), JobAlarm(1, JobTimeoutException):  # type: ignore[no-untyped-call]
            workshop.execute()
    assert (hanging.states(), workshop.shop.done) == ([State.APPROVED, State.SUCCEEDED], ["pot"])
    (told,) = reasons(workshop)
    assert told == "The check or preview of ship blocked the worker."


def test_a_job_that_ends_while_a_look_has_time_left_blames_no_call(workshop: Workshop) -> None:
    async def over() -> None:
        raise JobTimeout

    Hanging(workshop, over).decided("cup")
    with pytest.raises(JobTimeout):
        workshop.execute()
    assert gate_alerts(workshop) == []


def test_an_alert_that_a_newer_version_told_keeps_no_batch_from_running(workshop: Workshop) -> None:
    hanging = Hanging(workshop, sleeps)
    hanging.decided("cup", "pot")
    workshop.execute()
    (cup, _) = workshop.calls()
    workshop.client.hset(workshop.store.keys.entry(f"alert:gate:{cup.key}"), "desired", "of another form")
    hanging.now = False
    workshop.see(ANA)
    workshop.execute()
    assert workshop.shop.done == ["pot", "cup"]


def test_one_that_never_answers_lapses_alone(workshop: Workshop) -> None:
    hanging = Hanging(workshop, sleeps)
    hanging.decided("cup", "pot")
    workshop.execute()
    key = workshop.calls()[0].key
    workshop.client.hset(workshop.store.keys.call(key), "execute_by", 1)
    workshop.store.deadlines.apply(f"lapse:{key}")
    assert workshop.calls()[0].cause is Cause.LAPSED
    assert hanging.states() == [State.EXPIRED, State.SUCCEEDED]


@pytest.mark.parametrize(
    ("where", "told"), [("check", "so nobody knows the facts"), ("preview", "so the strictest tier decides")]
)
@pytest.mark.parametrize(
    ("part", "why"), [(swallows, "it gave no answer within 0.1 seconds"), (is_cancelled, "it raised CancelledError")]
)
def test_one_that_gives_no_answer_when_its_call_is_asked_has_failed_and_stops_no_sibling(
    workshop: Workshop, part: Part, why: str, where: str, told: str
) -> None:
    hanging = Hanging(workshop, part, where=where)
    hanging.now = True
    workshop.script.extend([[shipping(("cup", 3)), shipping(("pot", 3), call_id="c2")]])
    workshop.start()
    cup, pot = workshop.calls()
    assert hanging.states() == [State.PENDING_REVIEW] * 2
    assert (cup.content.requirement.tier, pot.content.requirement.tier) == (STRICTEST_TIER, "desk")
    said = " ".join(cup.content.requirement.reasons)
    assert why in said
    assert told in said
    assert pot.content.preview.headline == "Ship pot"


@pytest.mark.parametrize("where", ["check", "preview"])
def test_an_edit_is_checked_although_the_data_give_no_answer(workshop: Workshop, where: str) -> None:
    hanging = Hanging(workshop, sleeps, where=where)
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.edit(call, Ship(lines=[Line(item="cup", count=2)])).ok
    hanging.now = True
    workshop.refresh(call)
    (call,) = workshop.calls()
    assert (call.state, call.refreshing) == (State.PENDING_REVIEW, False)
    assert call.content.requirement.tier == STRICTEST_TIER


def test_all_of_a_turn_together_use_up_no_job(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bounded.TURN_S == 180
    monkeypatch.setattr(bounded, "CHECK_S", 15)
    monkeypatch.setattr(bounded, "TURN_S", 0.1)
    hanging = Hanging(workshop, sleeps, items=("cup", "pan"))
    hanging.now = True
    workshop.script.extend([[shipping((item, 3), call_id=item) for item in ("cup", "pan", "pot")]])
    began = time.monotonic()
    workshop.start()
    assert time.monotonic() - began < HANGS_S
    assert [call.content.problem is None for call in workshop.calls()] == [False, False, True]
