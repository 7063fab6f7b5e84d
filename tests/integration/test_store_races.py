"""Two at once, with real threads on a real server."""

import threading
from collections.abc import Callable
from typing import TypeVar

from approvals.lifecycle import State
from approvals.outcomes import Answer, Outcome
from approvals.store import Store
from builders import (
    ANA,
    BEN,
    LONG,
    a_call,
    a_content,
    a_decision,
    a_person,
    a_requirement,
    approve,
    events,
    lease_batch,
    loaded,
    paused,
    reject,
    start_run,
    waking,
)
from policies.money import eur
from policies.requirement import Spending

T = TypeVar("T")


def at_once(*works: Callable[[], T]) -> list[T]:
    """Start all at the same moment, each in its own thread; the results in the order of the works."""
    start, results = threading.Barrier(len(works)), {}

    def run(number: int, work: Callable[[], T]) -> None:
        start.wait()
        results[number] = work()

    threads = [threading.Thread(target=run, args=(number, work)) for number, work in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [results[number] for number in range(len(works))]


def test_of_two_reviewers_who_click_at_once_exactly_one_decides(store: Store) -> None:
    calls = [a_call(f"call_{n}", number=n, batch=f"batch_{n // 8}") for n in range(200)]
    paused(store, *calls)
    for n in range(200):
        key = f"call_{n}"
        answers = at_once(lambda key=key: approve(store, key, by=ANA), lambda key=key: reject(store, key, by=BEN))
        outcomes = sorted(answer.outcome for answer in answers)
        assert outcomes == [Outcome.ALREADY_DECIDED, Outcome.OK]
        won = State.APPROVED if answers[0].outcome is Outcome.OK else State.REJECTED
        assert loaded(store, key).state is won
        assert len(loaded(store, key).decisions) == 1
    assert sum(event in {"approved", "rejected"} for event in events(store)) == 200


def test_two_last_approvals_at_once_approve_once(store: Store) -> None:
    two = a_content(requirement=a_requirement(reviewers=2))
    paused(store, *(a_call(f"call_{n}", number=n, batch=f"batch_{n}", content=two) for n in range(40)))
    for n in range(40):
        key = f"call_{n}"
        answers = at_once(lambda key=key: approve(store, key, by=ANA), lambda key=key: approve(store, key, by=BEN))
        assert sorted(answer.detail["verdict"] for answer in answers) == ["approved", "pending"]
    types = events(store)
    assert (types.count("approval_counted"), types.count("approved")) == (40, 40)


def test_the_same_click_delivered_twice_at_once_counts_once(store: Store) -> None:
    two = a_content(requirement=a_requirement(reviewers=2))
    paused(store, *(a_call(f"call_{n}", number=n, batch=f"batch_{n}", content=two) for n in range(40)))
    person = store.people.put(a_person(ANA))

    def click(key: str) -> Answer:
        return store.calls.approve(key, version=1, decision=a_decision(key), person=person)

    for n in range(40):
        key = f"call_{n}"
        answers = at_once(lambda key=key: click(key), lambda key=key: click(key))
        assert sorted(answer.outcome for answer in answers) == [Outcome.OK, Outcome.REPEATED]
        assert loaded(store, key).state is State.PENDING_REVIEW


def test_two_workers_claim_a_call_once(store: Store) -> None:
    paused(store, *(a_call(f"call_{n}", number=n) for n in range(8)))
    for n in range(8):
        approve(store, f"call_{n}")
    lease, person = lease_batch(store), store.people.put(a_person(ANA))

    def take(key: str, token: str) -> bool:
        seal = f"seal-{key}-1"
        _, taken = store.effects.claim(
            key, lease=lease, token=token, seal=seal, ttl_ms=LONG, people=[person], day="2026-11-29"
        )
        return taken is not None

    for n in range(8):
        key = f"call_{n}"
        assert sorted(at_once(lambda key=key: take(key, "w1"), lambda key=key: take(key, "w2"))) == [False, True]


def test_a_cap_holds_however_many_claims_come_at_once(store: Store) -> None:
    spends = (Spending(cap="per customer", amounts={"cus_1": eur(100)}, limit=eur(300)),)
    content = a_content(requirement=a_requirement(spends=spends))
    paused(store, *(a_call(f"call_{n}", number=n, content=content) for n in range(8)))
    for n in range(8):
        approve(store, f"call_{n}")
    lease, person = lease_batch(store), store.people.put(a_person(ANA))

    def take(n: int) -> Outcome:
        key = f"call_{n}"
        answer, _ = store.effects.claim(
            key, lease=lease, token=key, seal=f"seal-{key}-1", ttl_ms=LONG, people=[person], day="2026-11-29"
        )
        return answer.outcome

    outcomes = at_once(*(lambda n=n: take(n) for n in range(8)))
    assert sorted(outcomes) == [Outcome.CAPS_MOVED] * 5 + [Outcome.OK] * 3  # those three may not run after all


def test_a_batch_that_settles_while_another_worker_finishes_is_not_lost(store: Store) -> None:
    for n in range(40):
        run, batch = f"run_{n}", f"batch_{n}"
        first, second = f"first_{n}", f"second_{n}"
        paused(store, a_call(first, batch=batch), a_call(second, number=2, batch=batch), run=run)
        approve(store, first)
        approve(store, second)
        lease = lease_batch(store, batch)
        person = store.people.put(a_person(ANA))
        for key in (first, second):
            _, taken = store.effects.claim(
                key, lease=lease, token=key, seal=f"seal-{key}-1", ttl_ms=LONG, people=[person], day="d"
            )
            assert taken is not None
            if key == first:
                store.effects.succeed(taken, receipt="{}")
            else:
                store.effects.release(taken, content=a_content(), seal=f"seal-{key}-2", difference=["gone"])
        at_once(
            lambda lease=lease: store.batches.finish(lease),
            lambda second=second: approve(store, second, version=2).ok,
        )
        assert f"execute_batch:{batch}" in waking(store)
        assert store.batches.lease(batch, token="next", ttl_ms=LONG) is not None


def test_two_workers_never_drive_a_run_together(store: Store) -> None:
    for n in range(40):
        run = f"run_{n}"
        start_run(store, run)
        leases = at_once(
            lambda run=run: store.runs.lease(run, token="w1", ttl_ms=LONG),
            lambda run=run: store.runs.lease(run, token="w2", ttl_ms=LONG),
        )
        assert [lease is None for lease in leases].count(True) == 1
