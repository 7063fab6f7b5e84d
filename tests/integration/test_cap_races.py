"""Two approvals reach for the last of a cap: one effect, and the other is refused and the model told."""

import asyncio
import itertools
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal

import pytest
import redis

from approvals.caps import reservations
from approvals.lifecycle import Cause, State
from approvals.store import Store
from builders import a_store, approve, claim, lease_batch
from policies.money import Money, eur
from policies.requirement import Requirement
from worker import batches
from workshop import BEN, Workshop, saying, shipping

CAPS: dict[str, tuple[str, Literal["day", "run"]]] = {
    "per customer and day": ("owner", "day"),
    "per run": ("run", "run"),
    "of the whole workspace and day": ("all", "day"),
}


def capped(workshop: Workshop, cap: str, *, limit: Money) -> None:
    """Every item shipped takes one euro of the cap."""
    before = workshop.law.rules["ship"]
    key, window = CAPS[cap]

    def judge(ask: Any, so_far: Any) -> Requirement:
        need = before.judge(ask, so_far)
        assert isinstance(need, Requirement)
        owners = {ask.facts.owner_of[line.item]: eur(line.count) for line in ask.args.lines}
        total = eur(sum(line.count for line in ask.args.lines))
        return need.spending(cap, owners if key == "owner" else {key: total}, limit=limit, window=window)

    rules = {**workshop.law.rules, "ship": replace(before, judge=judge)}
    workshop.law = replace(workshop.law, rules=rules)


def little_today(workshop: Workshop, *, reads: bool = True) -> None:
    """Up to five euros a day run unasked, up to ten take one person, more take two; unless the rule looks at no day."""
    before = workshop.law.rules["ship"]

    def judge(ask: Any, so_far: Any) -> Requirement:
        total = eur(ask.args.lines[0].count)
        day = total + so_far.in_cap("per day", "ann") if reads else total
        need = Requirement(radius="x", resources=(ask.args.lines[0].item,))
        need = need.spending("per day", {"ann": total}, limit=eur(50))
        need = need.auto_when(day <= eur(5), "Little today.")
        return need.needs("desk", reviewers=2 if day > eur(10) else 1, because=f"{day} today.")

    rules = {**workshop.law.rules, "ship": replace(before, judge=judge)}
    workshop.law = replace(workshop.law, rules=rules)


def two_runs(workshop: Workshop, count: int) -> tuple[str, str]:
    """Two runs that ship as much each, for one owner; their batches."""
    workshop.script.extend([[shipping(("cup", count))], [shipping(("pot", count))]])
    for run in ("run_1", "run_2"):
        workshop.start(run, thread_ts=f"1700000000.00{run[-1]}")
    one, two = (str(workshop.calls(run)[0].batch) for run in ("run_1", "run_2"))
    return one, two


def place_of(workshop: Workshop) -> str:
    """Where the store counts what is held of the owner's day."""
    (call,) = workshop.calls("run_1")
    day = datetime.fromtimestamp(workshop.store.now() / 1000, UTC).date().isoformat()
    (take,) = reservations(workshop.store.keys, call.content.requirement, run="run_1", day=day)
    return take.place


def execute_meeting(workshop: Workshop, batch: str, *others: Callable[[], object]) -> None:
    """Runs a batch, and each of these between one judgement of its call and the claim that follows it."""
    tokens, waiting = itertools.count(), iter(others)

    def token() -> str:
        number = next(tokens)
        if number and (other := next(waiting, None)):  # the first is the batch's lease, the others are claims
            thread = threading.Thread(target=other)
            thread.start()
            thread.join(30)
        return f"token-{number}"

    asyncio.run(batches.execute(replace(workshop.deps, token=token), batch))


def race(store: Store, workshop: Workshop, ids: list[str]) -> None:
    """Every batch in a thread of its own, let loose together."""
    ready = threading.Barrier(len(ids))

    def work(batch: str) -> None:
        ready.wait(timeout=10)
        asyncio.run(batches.execute(workshop.deps, batch))

    threads = [threading.Thread(target=work, args=(batch,)) for batch in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    for batch in ids:  # what met a claim that was not sure to run yet is tried again
        asyncio.run(batches.execute(workshop.deps, batch))


@pytest.mark.parametrize("cap", [name for name, (_, window) in CAPS.items() if window == "day"])
def test_two_runs_that_race_for_the_last_of_a_cap_have_one_effect(redis_client: redis.Redis, cap: str) -> None:
    store = a_store(redis_client)
    workshop = Workshop(store, redis_client)
    capped(workshop, cap, limit=eur(5))
    workshop.script.extend([[shipping(("cup", 3))], [shipping(("pot", 3))], [saying()], [saying()]])
    for run in ("run_1", "run_2"):
        workshop.start(run, thread_ts=f"1700000000.00{run[-1]}")
        (call,) = workshop.calls(run)
        assert store.batches.record_posted(str(call.batch), channel="C0PAY", ts=f"{run[-1]}.1").ok
        assert approve(store, call.key, by=BEN).ok
    ids = [str(workshop.calls(run)[0].batch) for run in ("run_1", "run_2")]
    race(store, workshop, ids)
    found = {run: workshop.calls(run)[0] for run in ("run_1", "run_2")}
    assert Counter(call.state for call in found.values()) == {State.SUCCEEDED: 1, State.REJECTED: 1}
    assert len(workshop.shop.done) == 1
    (loser,) = [run for run, call in found.items() if call.state is State.REJECTED]
    assert found[loser].cause is Cause.CAP
    key = CAPS[cap][0].replace("owner", "ann")
    sentence = f"The limit on {cap} is reached ({key}: 300 of 500 minor units)."
    assert found[loser].reason == sentence
    workshop.advance(loser)
    (told,) = workshop.told()
    assert told["status"] == "refused"
    assert sentence in told["sentence"]
    assert told["decided_by"] == [BEN.title()]


def test_what_other_runs_took_today_decides_whether_somebody_is_asked(redis_client: redis.Redis) -> None:
    workshop = Workshop(a_store(redis_client), redis_client)
    little_today(workshop)
    workshop.script.extend([[shipping(("cup", 3))], [saying()], [shipping(("pot", 3))], [saying()]])
    workshop.start("run_1")
    workshop.execute("run_1")
    workshop.advance("run_1")
    workshop.start("run_2", thread_ts="1700000000.002")
    (call,) = workshop.calls("run_2")
    assert (call.state, call.content.requirement.reasons) == (State.PENDING_REVIEW, ("6.00 EUR today.",))
    assert [done[1] for done in workshop.shop.done] == [{"cup": 3}]
    workshop.post_cards("run_2")
    assert approve(workshop.store, call.key, by=BEN).ok
    workshop.execute("run_2")
    assert len(workshop.shop.done) == 2, "a call's own reservation does not count against it"


def test_two_cards_of_one_run_that_race_for_its_cap_have_one_effect(redis_client: redis.Redis) -> None:
    store = a_store(redis_client)
    workshop = Workshop(store, redis_client)
    capped(workshop, "per run", limit=eur(5))
    workshop.script.extend([[shipping(("cup", 3)), shipping(("pan", 3), call_id="c2")], [saying()]])
    workshop.start()
    for call in workshop.calls():
        assert workshop.decide(call, by=BEN).ok
    race(store, workshop, [str(call.batch) for call in workshop.calls()])
    assert Counter(call.state for call in workshop.calls()) == {State.SUCCEEDED: 1, State.REJECTED: 1}
    assert len(workshop.shop.done) == 1
    assert list(store.vetoes.of_thread("C0PAY", "1700000000.000100")) == [], "a limit is nobody's refusal"


def test_of_two_runs_that_saw_the_same_day_only_one_runs_unasked(redis_client: redis.Redis) -> None:
    workshop = Workshop(a_store(redis_client), redis_client)
    little_today(workshop)
    one, two = two_runs(workshop, 5)
    execute_meeting(workshop, one, lambda: asyncio.run(batches.execute(workshop.deps, two)))
    assert [done[1] for done in workshop.shop.done] == [{"pot": 5}]
    (late,) = workshop.calls("run_1")
    assert late.state is not State.SUCCEEDED
    assert late.content.requirement.reasons == ("10.00 EUR today.",)


def test_of_runs_that_race_over_one_day_exactly_one_runs_unasked(redis_client: redis.Redis) -> None:
    for _ in range(6):
        redis_client.flushall()
        workshop = Workshop(a_store(redis_client), redis_client)
        little_today(workshop)
        race(workshop.store, workshop, list(two_runs(workshop, 5)))
        assert len(workshop.shop.done) == 1


def test_what_was_approved_is_asked_again_when_the_day_filled_up_between_the_last_look_and_the_claim(
    redis_client: redis.Redis,
) -> None:
    workshop = Workshop(a_store(redis_client), redis_client)
    little_today(workshop)
    one, two = two_runs(workshop, 10)
    for run, batch in (("run_1", one), ("run_2", two)):
        assert workshop.store.batches.record_posted(batch, channel="C0PAY", ts=f"{run[-1]}.1").ok
        assert approve(workshop.store, workshop.calls(run)[0].key, by=BEN).ok
    execute_meeting(workshop, one, lambda: asyncio.run(batches.execute(workshop.deps, two)))
    assert [done[1] for done in workshop.shop.done] == [{"pot": 10}]
    (late,) = workshop.calls("run_1")
    assert (late.state, late.version, late.content.requirement.reviewers) == (State.PENDING_REVIEW, 2, 2)
    assert late.content.previous == ("The policy now asks 2 reviewers instead of 1.",)


def test_a_day_that_is_never_still_leaves_the_call_approved_and_is_tried_again(redis_client: redis.Redis) -> None:
    workshop = Workshop(a_store(redis_client), redis_client)
    little_today(workshop)
    one, _ = two_runs(workshop, 1)
    place = place_of(workshop)
    others = [partial(redis_client.hset, place, f"other_{number}", 1) for number in range(20)]
    execute_meeting(workshop, one, *others)
    (call,) = workshop.calls("run_1")
    assert (call.state, workshop.shop.done) == (State.APPROVED, [])
    assert 1 < redis_client.hlen(place) < 10, "it is judged again some times, not for ever"
    assert redis_client.zscore(workshop.store.keys.wakeups, f"execute_batch:{one}") is not None
    workshop.execute("run_1")
    assert len(workshop.shop.done) == 1


def test_a_rule_that_looks_at_no_day_is_not_held_up_by_others(redis_client: redis.Redis) -> None:
    workshop = Workshop(a_store(redis_client), redis_client)
    little_today(workshop, reads=False)
    one, _ = two_runs(workshop, 5)
    place = place_of(workshop)
    others = [partial(redis_client.hset, place, f"other_{number}", 1) for number in range(20)]
    execute_meeting(workshop, one, *others)
    assert (len(workshop.shop.done), redis_client.hlen(place)) == (1, 2)


def approved_twice(redis_client: redis.Redis) -> tuple[Workshop, str, str]:
    """Two approved calls of two runs that are together over the cap of the day; their batches."""
    workshop = Workshop(a_store(redis_client), redis_client)
    capped(workshop, "of the whole workspace and day", limit=eur(5))
    one, two = two_runs(workshop, 3)
    for run, batch in (("run_1", one), ("run_2", two)):
        assert workshop.store.batches.record_posted(batch, channel="C0PAY", ts=f"{run[-1]}.1").ok
        assert approve(workshop.store, workshop.calls(run)[0].key, by=BEN).ok
    return workshop, one, two


@pytest.mark.parametrize("runs", [False, True])
def test_a_call_that_is_only_looked_at_refuses_no_other_for_good(redis_client: redis.Redis, runs: bool) -> None:  # noqa: FBT001
    workshop, one, _ = approved_twice(redis_client)
    (first,), effects = workshop.calls("run_1"), workshop.store.effects
    day = place_of(workshop).rpartition(":day-")[2]
    taken = claim(workshop.store, lease_batch(workshop.store, one), first.key, people=(BEN,), day=day)
    workshop.execute("run_2")
    assert (workshop.calls("run_2")[0].state, workshop.shop.done) == (State.APPROVED, [])
    assert (effects.intend(taken) if runs else effects.unclaim(first.key, token=taken.token)).ok
    workshop.execute("run_2")
    (second,) = workshop.calls("run_2")
    assert (second.state, second.cause) == ((State.REJECTED, Cause.CAP) if runs else (State.SUCCEEDED, None))


def test_what_others_hold_for_sure_refuses_at_once_although_another_call_is_looked_at(
    redis_client: redis.Redis,
) -> None:
    workshop, one, _ = approved_twice(redis_client)
    (first,), place = workshop.calls("run_1"), place_of(workshop)
    day = place.rpartition(":day-")[2]
    claim(workshop.store, lease_batch(workshop.store, one), first.key, people=(BEN,), day=day)
    redis_client.hset(place, "call_of_yesterday", 300)
    workshop.execute("run_2")
    assert workshop.calls("run_2")[0].cause is Cause.CAP


def test_what_others_take_after_a_claim_sends_nothing_back_that_was_judged_before_them(
    redis_client: redis.Redis,
) -> None:
    workshop = Workshop(a_store(redis_client), redis_client)
    little_today(workshop)
    one, _ = two_runs(workshop, 5)
    place = place_of(workshop)

    class Owners(dict[str, str]):
        def __getitem__(self, item: str) -> str:  # the check looks here, under the claim
            redis_client.hset(place, "call_of_another", 1_000)
            return super().__getitem__(item)

    workshop.shop.owners = Owners(workshop.shop.owners)
    asyncio.run(batches.execute(workshop.deps, one))
    assert [done[1] for done in workshop.shop.done] == [{"cup": 5}]
