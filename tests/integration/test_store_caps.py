"""What a claim reserves, and when it is given back."""

import pytest
import redis

from approvals.lifecycle import State
from approvals.models import BatchLease
from approvals.outcomes import Outcome
from approvals.store import Store
from builders import (
    a_call,
    a_content,
    a_requirement,
    approve,
    claim,
    lease_batch,
    loaded,
    paused,
    try_claim,
)
from policies.money import CurrencyMixed, Money, eur
from policies.requirement import Spending


def approved(store: Store, *calls: object, **changes: object) -> BatchLease:
    """Approved calls of one batch (by default `call_1`), and the batch's lease."""
    paused(store, *(calls or (a_call("call_1"),)), **changes)
    for key in store.batches.view("batch_a").batch.calls:
        approve(store, key)
    return lease_batch(store)


def capped(limit: int, amount: int = 100, **changes: object) -> object:
    spends = (Spending(cap="per customer", amounts={"cus:1 %": eur(amount)}, limit=eur(limit), **changes),)
    return a_content(requirement=a_requirement(spends=spends))


def reserved(client: redis.Redis) -> list[bytes]:
    return [value for key in client.scan_iter("*:cap:*") for value in client.hgetall(key).values()]


def test_a_cap_counts_what_others_hold_and_never_the_call_itself(store: Store, redis_client: redis.Redis) -> None:
    calls = [a_call(f"call_{n}", number=n, content=capped(250)) for n in (1, 2, 3)]
    lease = approved(store, *calls)
    taken = [claim(store, lease, "call_1", token="c1"), claim(store, lease, "call_2", token="c2")]
    assert try_claim(store, lease, "call_3", token="c3")[0].outcome is Outcome.CAPS_MOVED  # neither runs for sure
    assert all(store.effects.intend(each).ok for each in taken)
    answer, _ = try_claim(store, lease, "call_3", token="c3")
    expected = {"cap": "per customer", "key": "cus:1 %", "limit": "25000", "used": "20000"}
    assert answer == (Outcome.CAP_REACHED, expected)
    assert loaded(store, "call_3").state is State.APPROVED
    assert try_claim(store, lease, "call_2", token="c2")[0].outcome is Outcome.REPEATED
    assert store.effects.fail(taken[0], reason="nothing happened").outcome is Outcome.OK
    claim(store, lease, "call_3", token="c3")
    assert reserved(redis_client) == [b"10000", b"10000"]


def test_caps_of_a_day_a_run_and_a_currency_are_their_own(store: Store, redis_client: redis.Redis) -> None:
    dollars = Spending(
        cap="per customer",
        amounts={"cus:1 %": Money(minor=9_000, currency="USD")},
        limit=Money(minor=10_000, currency="USD"),
    )
    lease = approved(
        store,
        a_call("call_1", content=capped(100)),
        a_call("call_2", number=2, content=capped(100, window="run")),
        a_call("call_3", number=3, content=a_content(requirement=a_requirement(spends=(dollars,)))),
        a_call("call_4", number=4, content=capped(100)),
    )
    for key in ("call_1", "call_2", "call_3"):
        assert store.effects.intend(claim(store, lease, key, token=key)).ok
    assert try_claim(store, lease, "call_4", token="c4")[0].outcome is Outcome.CAP_REACHED
    assert claim(store, lease, "call_4", token="c4", day="2026-11-30")
    assert len(reserved(redis_client)) == 4


def test_a_cap_named_twice_is_taken_once_with_both_amounts(store: Store, redis_client: redis.Redis) -> None:
    spends = tuple(Spending(cap="c", amounts={"k": eur(60)}, limit=eur(limit)) for limit in (200, 100))
    lease = approved(store, a_call("call_1", content=a_content(requirement=a_requirement(spends=spends))))
    answer, _ = try_claim(store, lease)
    assert (answer.outcome, answer.detail["limit"]) == (Outcome.CAP_REACHED, "10000")
    assert reserved(redis_client) == []


def test_a_cap_in_another_currency_than_its_amount_stops_the_claim(store: Store) -> None:
    spending = Spending(cap="c", amounts={"k": Money(minor=1, currency="USD")}, limit=eur(1))
    lease = approved(store, a_call("call_1", content=a_content(requirement=a_requirement(spends=(spending,)))))
    with pytest.raises(CurrencyMixed, match="is asked for"):
        try_claim(store, lease)


@pytest.mark.parametrize(
    ("ending", "kept"), [("succeed", True), ("abandon", True), ("fail", False), ("unclaim", False), ("release", False)]
)
def test_an_amount_is_given_back_when_provably_nothing_happened(
    store: Store, redis_client: redis.Redis, ending: str, *, kept: bool
) -> None:
    lease = approved(store, a_call("call_1", content=capped(100)))
    taken = claim(store, lease)
    if ending in {"succeed", "abandon"}:
        store.effects.intend(taken)
    endings = {
        "succeed": lambda: store.effects.succeed(taken, receipt="{}"),
        "abandon": lambda: store.effects.abandon("call_1", token=taken.token, reason="timeout"),
        "fail": lambda: store.effects.fail(taken, reason="refused"),
        "unclaim": lambda: store.effects.unclaim("call_1", token=taken.token),
        "release": lambda: store.effects.release(taken, content=capped(100), seal="s2", difference=["changed"]),
    }
    assert endings[ending]().outcome is Outcome.OK
    assert bool(reserved(redis_client)) is kept
    if ending == "abandon":
        store.effects.settle("call_1", happened=False, by="U0OPS", reason="not there")
        assert reserved(redis_client) == []


def test_what_the_call_itself_already_holds_is_not_counted_against_it(store: Store, redis_client: redis.Redis) -> None:
    lease = approved(store, a_call("call_1", content=capped(100)))
    redis_client.hset(store.keys.cap("per customer", "EUR", "cus:1 %", "day-2026-11-29"), "call_1", 10_000)
    assert claim(store, lease)
    assert reserved(redis_client) == [b"10000"]


def test_a_claim_whose_judgement_was_told_of_other_amounts_takes_nothing(
    store: Store, redis_client: redis.Redis
) -> None:
    calls = [a_call(f"call_{n}", number=n, content=capped(300)) for n in (1, 2)]
    lease = approved(store, *calls)
    place = store.keys.cap("per customer", "EUR", "cus:1 %", "day-2026-11-29")
    claim(store, lease, "call_1", token="c1", read={place: 0})
    answer, _ = try_claim(store, lease, "call_2", token="c2", read={place: 0})
    assert (answer.outcome, loaded(store, "call_2").state) == (Outcome.CAPS_MOVED, State.APPROVED)
    assert reserved(redis_client) == [b"10000"]
    assert try_claim(store, lease, "call_1", token="c1", read={place: 0})[0].outcome is Outcome.REPEATED
    assert store.effects.unclaim("call_1", token="c1").ok
    assert try_claim(store, lease, "call_2", token="c2", read={place: 10_000})[0].outcome is Outcome.CAPS_MOVED
    assert claim(store, lease, "call_2", token="c2", read={place: 0})


def test_what_a_call_still_holds_itself_is_not_what_others_hold(store: Store, redis_client: redis.Redis) -> None:
    lease = approved(store, a_call("call_1", content=capped(100)))
    place = store.keys.cap("per customer", "EUR", "cus:1 %", "day-2026-11-29")
    redis_client.hset(place, mapping={"call_1": 10_000, "call_9": 0})
    assert claim(store, lease, read={place: 0})


def test_a_claim_after_midnight_that_was_judged_by_the_day_before_takes_nothing(store: Store) -> None:
    lease = approved(store, a_call("call_1", content=capped(100)))
    read = {store.keys.cap("per customer", "EUR", "cus:1 %", "day-2026-11-29"): 0}
    assert try_claim(store, lease, read=read, day="2026-11-30")[0].outcome is Outcome.CAPS_MOVED
    assert claim(store, lease, read={store.keys.cap("of the run", "EUR", "run", "run-run_1"): 0}, day="2026-11-30")
