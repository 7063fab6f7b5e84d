"""Drift, lost leases, late receipts, swallowed timeouts: how a call ends when not all goes well."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from agents import Agent, function_tool
from rq.timeouts import JobTimeoutException

from approvals.job_time import JobAlarm, time_is_over
from approvals.lifecycle import RunState, State
from approvals.queue import JobTimeout
from builders import events, owed, waking
from policies.money import eur
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import rule
from worker.actions import NothingHappened, Precondition, Preview, action
from workshop import LEA, Ship, Stock, Workshop, a_law, find, function_call, label, saying, shipping


def approved(workshop: Workshop, *lines: tuple[str, int]) -> str:
    """One approved call; its key."""
    workshop.script.extend([[shipping(*(lines or (("cup", 3),)))], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call).ok
    return call.key


# What the call rests on.


class Rows:
    """Rows that a call rests on, each with columns that matter and one that does not."""

    def __init__(self, workshop: Workshop) -> None:
        self.rows = [
            {"id": "p1", "amount": "10.00", "status": "failed", "seen": "monday"},
            {"id": "p2", "amount": "20.00", "status": "failed", "seen": "monday"},
            {"id": "p3", "amount": "30.00", "status": "failed", "seen": "monday"},
        ]
        self.ran = 0

        async def facts(args: Ship) -> Stock:
            return Stock(owner_of={line.item: "ann" for line in args.lines})

        async def show(ask: Any) -> Preview:
            over = Precondition.over("failed payments", self.rows, key="id", material=("amount", "status"))
            return Preview(headline="Ship", precondition=over)

        @action(Ship, check=facts, preview=show)
        async def ship(ctx: Any, args: Ship) -> None:
            """Send items away for good."""
            self.ran += 1

        workshop.build = lambda model: Agent(name="desk", model=model, tools=[ship])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda rows: rows.pop(0), ["p1 is gone"]),
        (lambda rows: rows.append({"id": "p4", "amount": "1.00", "status": "failed", "seen": "x"}), ["p4 is new"]),
        (lambda rows: rows[1].update(amount="21.00"), ["p2: amount 20.00 -> 21.00"]),
        (
            lambda rows: (rows[0].update(amount="20.00"), rows[1].update(amount="10.00")),  # same count, same sum
            ["p1: amount 10.00 -> 20.00", "p2: amount 20.00 -> 10.00"],
        ),
        (
            lambda rows: (rows.pop(), rows[0].update(status="refunded", amount="9.00")),
            ["p3 is gone", "p1: amount 10.00 -> 9.00, status failed -> refunded"],
        ),
    ],
)
def test_drift_goes_back_to_review_with_a_difference_row_by_row(
    workshop: Workshop, change: Callable[[Any], Any], told: list[str]
) -> None:
    rows = Rows(workshop)
    approved(workshop)
    change(rows.rows)
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.version, rows.ran) == (State.PENDING_REVIEW, 2, 0)
    assert list(call.content.previous) == told
    assert workshop.decide(call).ok
    workshop.execute()
    assert (workshop.calls()[0].state, rows.ran) == (State.SUCCEEDED, 1)


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.reverse(),
        lambda rows: [row.update(seen="tuesday") for row in rows],
        lambda rows: [row.update(note="new column") for row in rows],
    ],
)
def test_another_order_or_an_immaterial_column_is_no_drift(workshop: Workshop, change: Callable[[Any], Any]) -> None:
    rows = Rows(workshop)
    approved(workshop)
    change(rows.rows)
    workshop.execute()
    assert (workshop.calls()[0].state, rows.ran) == (State.SUCCEEDED, 1)


@pytest.mark.parametrize("ending", ["drift", "nothing happened", "reconciled as not done"])
def test_a_cap_is_given_back_when_nothing_happened(workshop: Workshop, ending: str) -> None:
    def judge(ask: Any, so_far: Any) -> Requirement:
        need = Requirement(radius="stock of ann", resources=(ask.args.lines[0].item,))
        return need.spending("parcels", {"ann": eur(3)}, limit=eur(5)).needs("desk")

    def refuse() -> None:
        raise NothingHappened("The carrier is on strike.")

    def hang_up() -> None:
        raise ConnectionError

    judge.__name__ = "ship"
    workshop.law = a_law([rule(Ship, Stock, risk=Risk.IRREVERSIBLE)(judge), label, find])
    key = approved(workshop)
    if ending == "drift":
        workshop.shop.stock["cup"] = 2
    else:
        workshop.shop.before_effect = refuse if ending == "nothing happened" else hang_up
    workshop.execute()
    if ending == "reconciled as not done":
        assert held(workshop) == [b"300"], "as long as nobody can tell, the amount stays taken"
        workshop.nobody_at_work(key)
        workshop.reconcile(workshop.calls()[0])
    assert held(workshop) == []


def held(workshop: Workshop) -> list[Any]:
    return [value for name in workshop.client.scan_iter("*:cap:*") for value in workshop.client.hvals(name)]


# A worker that is taken for lost and comes back.


def lose_the_lease(workshop: Workshop, key: str) -> None:
    """As the clock does when a worker is not heard of any more."""
    workshop.client.hset(workshop.store.keys.call(key), "lease_until", workshop.store.now() - 1)
    assert workshop.store.deadlines.apply(f"lease:{key}").ok


def test_a_receipt_that_comes_after_the_lease_settles_the_unknown_call(workshop: Workshop) -> None:
    seen: list[State] = []
    key = approved(workshop)

    def taken_for_lost() -> None:
        lose_the_lease(workshop, key)
        seen.append(workshop.calls()[0].state)

    workshop.shop.before_effect = taken_for_lost
    workshop.execute()
    (call,) = workshop.calls()
    assert (seen, call.state, call.receipt) == ([State.UNKNOWN], State.SUCCEEDED, '{"shipped": ["cup"]}')
    assert len(workshop.shop.done) == 1
    workshop.advance()
    assert workshop.told()[0]["status"] == "executed"


def test_a_receipt_that_contradicts_an_operator_changes_nothing_and_is_told_to_ops(workshop: Workshop) -> None:
    key = approved(workshop)

    def settled_meanwhile() -> None:
        lose_the_lease(workshop, key)
        assert workshop.store.effects.settle(key, happened=False, by=LEA, reason="The provider has nothing.").ok

    workshop.shop.before_effect = settled_meanwhile
    workshop.execute()
    assert workshop.calls()[0].state is State.FAILED
    assert "contradicted" in events(workshop.store, key)
    assert f"alert:call:{key}" in owed(workshop.store)
    assert workshop.store.effects.late_receipt(key) == '{"shipped": ["cup"]}'
    workshop.execute()
    assert len(workshop.shop.done) == 1


def test_a_worker_that_lost_its_claim_before_the_intent_has_no_effect(workshop: Workshop) -> None:
    key = approved(workshop)
    build = workshop.shop.tools

    def tools() -> list[Any]:
        made = build()
        check = made[0].check

        async def slow(args: Ship) -> Stock:
            found = await check(args)
            if workshop.client.hget(workshop.store.keys.call(key), "state") == b"executing":
                lose_the_lease(workshop, key)
            return found

        made[0].check = slow
        return made

    workshop.build = lambda model: Agent(name="desk", model=model, tools=tools())
    workshop.execute()
    assert (workshop.calls()[0].state, workshop.shop.done) == (State.APPROVED, [])


# The end of time, also when somebody swallows it.


async def naps() -> None:
    await asyncio.sleep(30)


async def naps_in_a_thread() -> None:
    await asyncio.to_thread(time.sleep, 3)


async def blocks() -> None:
    time.sleep(30)  # noqa: ASYNC251 - what a careless tool does


async def swallows_everything() -> None:
    with contextlib.suppress(Exception):
        time.sleep(30)  # noqa: ASYNC251


async def swallows_its_cancellation() -> None:
    with contextlib.suppress(BaseException):
        await asyncio.sleep(30)


@pytest.mark.parametrize("tool", [naps, naps_in_a_thread, blocks, swallows_everything, swallows_its_cancellation])
def test_the_real_alarm_of_a_job_makes_its_effect_unknown_and_ends_the_job(
    workshop: Workshop, tool: Callable[[], Awaitable[None]]
) -> None:
    workshop.shop.timeout_s = 60
    workshop.shop.before_effect = tool
    key = approved(workshop)
    with pytest.raises(JobTimeout), JobAlarm(1, JobTimeoutException):  # type: ignore[no-untyped-call]
        workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.intended) == (State.UNKNOWN, True)
    assert f"reconcile_call:{key}" in waking(workshop.store)
    workshop.execute()
    assert workshop.run().state is RunState.PAUSED


def test_a_function_tool_of_the_sdk_cannot_swallow_the_alarm(workshop: Workshop) -> None:
    @function_tool
    async def wipe(shelf: str) -> str:
        """Wipe a shelf."""
        time.sleep(30)  # noqa: ASYNC251
        return "wiped"

    workshop.build = lambda model: Agent(name="desk", model=model, tools=[wipe])
    workshop.script.extend([[function_call("wipe", {"shelf": "top"}, call_id="c1")]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0], by=LEA).ok
    with pytest.raises(JobTimeout), JobAlarm(1, JobTimeoutException):  # type: ignore[no-untyped-call]
        workshop.execute()
    assert workshop.calls()[0].state is State.UNKNOWN


def test_a_tool_that_swallows_its_own_time_limit_is_not_believed(workshop: Workshop) -> None:
    workshop.shop.timeout_s = 0.05
    workshop.shop.before_effect = swallows_its_cancellation
    approved(workshop)
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.reason) == (State.UNKNOWN, "It gave no answer within 0.05 seconds.")


def test_the_alarm_of_one_job_says_nothing_about_the_next(workshop: Workshop) -> None:
    with JobAlarm(1, JobTimeoutException):  # type: ignore[no-untyped-call]
        with contextlib.suppress(JobTimeout):
            time.sleep(30)
        assert time_is_over()
    with JobAlarm(60, JobTimeoutException):  # type: ignore[no-untyped-call]
        assert not time_is_over()
        approved(workshop)
        workshop.execute()
    assert workshop.calls()[0].state is State.SUCCEEDED
