"""What a run, a pause and a claim rest on must be said exactly: the state before, the seal, all who approved."""

import pytest
import redis

from approvals.codec import person_text
from approvals.models import BatchLease
from approvals.outcomes import Outcome
from approvals.store import Store
from builders import ANA, BEN, a_call, a_pause, approve, lease_batch, lease_run, paused, start_run, try_claim

CYD = "U0CYD"


def approved(store: Store) -> BatchLease:
    paused(store, a_call("call_1"))
    approve(store)
    return lease_batch(store)


def test_an_end_is_repeated_by_the_same_lease_in_the_same_way_only(store: Store, redis_client: redis.Redis) -> None:
    start_run(store)
    lease = lease_run(store)
    assert store.runs.complete(lease, answer="done").outcome is Outcome.OK
    assert store.runs.complete(lease, answer="done").outcome is Outcome.REPEATED
    assert store.runs.fail(lease, reason="no").outcome is Outcome.LEASE_LOST
    other = lease.model_copy(update={"epoch": lease.epoch + 1})
    assert store.runs.complete(other, answer="done").outcome is Outcome.LEASE_LOST


def test_a_turn_is_kept_again_only_as_it_was(store: Store) -> None:
    start_run(store)
    lease = lease_run(store)

    def save(revision: int, blob: str) -> Outcome:
        return store.runs.ask("save_turn", lease.run, lease.token, lease.epoch, revision, blob, 1).outcome

    assert save(1, "one") is Outcome.OK
    assert save(1, "one") is Outcome.REPEATED
    assert save(1, "other") is Outcome.LEASE_LOST
    assert save(3, "one") is Outcome.LEASE_LOST
    assert save(3, "three") is Outcome.LEASE_LOST
    assert save(2, "two") is Outcome.OK


def test_a_pause_follows_the_state_it_was_made_from(store: Store) -> None:
    start_run(store)
    lease = lease_run(store)
    write = a_pause(a_call("call_1"))
    assert store.runs.save_turn(lease, state=b"one", turns=1)
    head = (lease.run, lease.token, lease.epoch, 5, "blob", 1, 12, 0, 0, 0, 0, 0)
    assert store.runs.ask("pause_run", *head).outcome is Outcome.LEASE_LOST
    assert store.runs.pause(lease, write).outcome is Outcome.OK


def test_a_claim_under_another_seal_or_of_another_version_is_stale(store: Store) -> None:
    lease = approved(store)
    person = store.people.put(store.people.get(ANA) or pytest.fail("Ana has approved, so she was seen"))

    def take(seal: str, version: int) -> Outcome:
        head = ("call_1", lease.batch, lease.token, lease.epoch, "token", seal, version, 60_000)
        return store.effects.ask("claim", *head, 1, ANA, person_text(person), 0, 0).outcome

    assert take("another", 1) is Outcome.STALE_VERSION
    assert take("seal-call_1-1", 2) is Outcome.STALE_VERSION
    assert take("seal-call_1-1", 1) is Outcome.OK


def test_a_claim_waits_for_every_approver(store: Store) -> None:
    lease = approved(store)
    assert try_claim(store, lease, people=())[0].outcome is Outcome.STALE_PERSON
    assert try_claim(store, lease, people=(BEN, CYD))[0].outcome is Outcome.STALE_PERSON
    assert try_claim(store, lease, people=(ANA,))[0].outcome is Outcome.OK
