"""A repeated verb gets the same answer; one that differs in anything that counts is not a repetition."""

from typing import Any

import pytest
import redis

from approvals.lifecycle import Cause, State
from approvals.models import BatchLease, Claim
from approvals.outcomes import Outcome
from approvals.store import Store
from builders import (
    ANA,
    BEN,
    a_call,
    a_content,
    an_auto,
    approve,
    claim,
    edit,
    lease_batch,
    loaded,
    move,
    paused,
    reject,
)

CYD = "U0CYD"


def refreshed(store: Store, *, drift: bool = False, version: int = 2, seal: str = "seal-2") -> Any:
    return store.calls.refresh("call_1", version=version, content=a_content(), seal=seal, drift=drift)


def approved(store: Store) -> BatchLease:
    paused(store, a_call("call_1"))
    approve(store)
    return lease_batch(store)


def held(store: Store) -> BatchLease:
    """An auto call that waited for a person, who has said no; its batch is leased."""
    paused(store, a_call("asked"), an_auto("call_1", held=True, number=2))
    reject(store, "asked")
    return lease_batch(store, "batch_auto")


def unknown(store: Store) -> Claim:
    taken = claim(store, approved(store))
    assert store.effects.intend(taken).ok
    assert store.effects.abandon("call_1", token=taken.token, reason="no answer").ok
    return taken


def test_a_repeated_no_is_told_that_it_rejected(store: Store) -> None:
    paused(store, a_call("call_1"))
    assert reject(store).outcome is Outcome.OK
    assert reject(store) == (Outcome.REPEATED, {"verdict": "rejected", "missing": "0", "state": "rejected"})


def test_a_click_on_an_old_card_is_stale_even_from_somebody_who_has_decided_the_new_version(store: Store) -> None:
    paused(store, a_call("call_1"))
    assert edit(store, by=ANA).ok
    assert refreshed(store).detail["verdict"] == "approved"  # counts as Ana's approval of version 2
    taken = claim(store, lease_batch(store))
    assert store.effects.release(taken, content=a_content(), seal="seal-3", difference=["gone"]).ok
    assert approve(store, by=BEN, version=2).outcome is Outcome.STALE_VERSION
    assert approve(store, by=ANA, version=3).ok
    assert approve(store, by=ANA, version=2).outcome is Outcome.ALREADY_DECIDED
    assert approve(store, by=ANA, version=3).outcome is Outcome.REPEATED


def test_who_approved_the_new_version_cannot_approve_the_old_one(store: Store) -> None:
    two = a_content(requirement=a_content().requirement.model_copy(update={"reviewers": 2}))
    paused(store, a_call("call_1", content=two))
    assert edit(store, by=ANA).ok
    assert store.calls.refresh("call_1", version=2, content=two, seal="s2", drift=False).detail["verdict"] == "pending"
    assert approve(store, by=ANA, version=1).outcome is Outcome.STALE_VERSION


def test_the_same_edit_of_the_next_version_is_another_edit(store: Store) -> None:
    paused(store, a_call("call_1"))
    assert edit(store, by=ANA, version=1).outcome is Outcome.OK
    assert edit(store, by=ANA, version=1).outcome is Outcome.REPEATED
    assert refreshed(store, drift=True).ok
    assert edit(store, by=ANA, version=2).outcome is Outcome.OK
    assert loaded(store).version == 3


def test_another_persons_equal_edit_and_another_edit_of_the_same_person_are_stale(store: Store) -> None:
    paused(store, a_call("call_1"))
    assert edit(store, by=ANA).ok
    assert edit(store, by=BEN).outcome is Outcome.STALE_VERSION
    assert edit(store, by=ANA, arguments='{"payment_id":"pay_9"}').outcome is Outcome.STALE_VERSION


def test_a_check_is_repeated_only_for_its_version_and_seal_and_after_an_edit(store: Store) -> None:
    paused(store, a_call("call_1"))
    assert refreshed(store, version=1, seal="seal-call_1-1").outcome is Outcome.WRONG_STATE  # nobody edited it
    assert edit(store, by=ANA).ok
    assert refreshed(store, drift=True).outcome is Outcome.OK
    assert refreshed(store, drift=True).outcome is Outcome.REPEATED
    assert refreshed(store, seal="another").outcome is Outcome.WRONG_STATE
    assert refreshed(store, version=1).outcome is Outcome.WRONG_STATE


def test_a_withdrawal_is_repeated_by_the_same_person_only(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    assert store.calls.withdraw("call_1", by=ANA).outcome is Outcome.OK
    assert store.calls.withdraw("call_1", by=ANA).outcome is Outcome.REPEATED
    assert store.calls.withdraw("call_1", by=BEN).outcome is Outcome.WRONG_STATE
    assert reject(store, "call_2", by=ANA).ok
    assert store.calls.withdraw("call_2", by=ANA).outcome is Outcome.WRONG_STATE


def test_a_refusal_is_repeated_for_the_same_cause_and_reason_only(store: Store, redis_client: redis.Redis) -> None:
    lease = approved(store)

    def refuse(cause: Cause, reason: str) -> Outcome:
        return store.effects.refuse("call_1", lease=lease, cause=cause, reason=reason).outcome

    assert refuse(Cause.CAP, "reached") is Outcome.OK
    assert refuse(Cause.CAP, "reached") is Outcome.REPEATED
    assert refuse(Cause.CAP, "another") is Outcome.WRONG_STATE
    assert refuse(Cause.POLICY, "reached") is Outcome.WRONG_STATE


def test_what_lapsed_was_not_refused(store: Store, redis_client: redis.Redis) -> None:
    lease = approved(store)
    move(redis_client, store.keys.call("call_1"), execute_by=1)
    assert store.deadlines.apply("lapse:call_1").ok
    again = store.effects.refuse("call_1", lease=lease, cause=Cause.LAPSED, reason="not executed in time")
    assert again.outcome is Outcome.WRONG_STATE
    ban = store.calls.forbid("call_1", lease=lease, cause=Cause.LAPSED, reason="not executed in time")
    assert ban.outcome is Outcome.WRONG_STATE


def test_a_ban_is_repeated_for_the_same_cause_and_reason_only(store: Store) -> None:
    lease = held(store)

    def forbid(cause: Cause, reason: str) -> Outcome:
        return store.calls.forbid("call_1", lease=lease, cause=cause, reason=reason).outcome

    assert forbid(Cause.POLICY, "no") is Outcome.OK
    assert forbid(Cause.POLICY, "no") is Outcome.REPEATED
    assert forbid(Cause.POLICY, "never") is Outcome.WRONG_STATE
    assert forbid(Cause.VETO, "no") is Outcome.WRONG_STATE


def test_an_automatic_yes_is_repeated_only_while_it_waits_to_run(store: Store) -> None:
    lease = held(store)
    assert store.calls.auto_approve("call_1", lease=lease).outcome is Outcome.OK
    assert store.calls.auto_approve("call_1", lease=lease).outcome is Outcome.REPEATED
    claim(store, lease)
    assert store.calls.auto_approve("call_1", lease=lease).outcome is Outcome.WRONG_STATE


def test_a_call_that_a_person_approved_is_not_approved_by_policy(store: Store) -> None:
    lease = approved(store)
    assert store.calls.auto_approve("call_1", lease=lease).outcome is Outcome.WRONG_STATE


def test_an_undone_claim_is_undone_again_only_while_nobody_claimed_it_anew(store: Store) -> None:
    lease = approved(store)
    assert store.effects.unclaim("call_1", token="never-claimed").outcome is Outcome.WRONG_STATE
    first = claim(store, lease, token="first")
    assert store.effects.unclaim("call_1", token=first.token).outcome is Outcome.OK
    assert store.effects.unclaim("call_1", token=first.token).outcome is Outcome.REPEATED
    assert store.effects.unclaim("call_1", token="another").outcome is Outcome.WRONG_STATE
    claim(store, lease, token="second")
    assert store.effects.unclaim("call_1", token=first.token).outcome is Outcome.LEASE_LOST
    assert loaded(store).state is State.EXECUTING


@pytest.mark.parametrize("kind", ["person", "auto"])
def test_a_release_is_repeated_for_its_version_and_seal_until_somebody_decides(store: Store, kind: str) -> None:
    if kind == "person":
        lease = approved(store)
    else:
        lease = held(store)
        assert store.calls.auto_approve("call_1", lease=lease).ok
    taken = claim(store, lease)

    def release(seal: str, version: int = 1) -> Outcome:
        old = taken.model_copy(update={"version": version})
        return store.effects.release(old, content=a_content(), seal=seal, difference=["gone"]).outcome

    assert release("seal-2") is Outcome.OK
    assert release("seal-2") is Outcome.REPEATED
    assert release("another") is Outcome.WRONG_STATE
    assert release("seal-2", version=4) is Outcome.WRONG_STATE
    if kind == "person":
        assert approve(store, version=2).ok
    else:
        assert store.calls.auto_approve("call_1", lease=lease).ok
    assert release("seal-2") is Outcome.WRONG_STATE


@pytest.mark.parametrize("kind", ["person", "auto"])
def test_a_revocation_is_repeated_for_its_version_and_seal_until_somebody_decides(store: Store, kind: str) -> None:
    if kind == "person":
        lease = approved(store)
    else:
        lease = held(store)
        assert store.calls.auto_approve("call_1", lease=lease).ok

    def revoke(seal: str, version: int = 2) -> Outcome:
        """Straight to the script: the store's method works the version out from what it finds."""
        head = (lease.batch, lease.token, lease.epoch, "the law is stricter", version)
        return store.effects.ask("revoke", "call_1", *head, "blob", seal, 1, "", "law-1").outcome

    assert store.effects.revoke("call_1", lease=lease, content=a_content(), seal="seal-2", reason="why").ok
    assert revoke("seal-2") is Outcome.REPEATED
    assert revoke("another") is Outcome.WRONG_STATE
    assert revoke("seal-2", version=3) is Outcome.WRONG_STATE
    if kind == "person":
        assert approve(store, version=2).ok
    else:
        assert store.calls.auto_approve("call_1", lease=lease).ok
    assert revoke("seal-2") is Outcome.STALE_VERSION
    assert revoke("seal-4", version=4) is Outcome.STALE_VERSION
    assert store.effects.revoke("call_1", lease=lease, content=a_content(), seal="seal-3", reason="why").ok
    assert loaded(store).version == 3


def test_a_settlement_is_repeated_for_the_same_end_by_the_same_person_only(store: Store) -> None:
    unknown(store)

    def settle(by: str, *, happened: bool) -> Outcome:
        return store.effects.settle("call_1", happened=happened, by=by, reason="looked").outcome

    assert settle(ANA, happened=True) is Outcome.OK
    assert settle(ANA, happened=True) is Outcome.REPEATED
    assert settle(BEN, happened=True) is Outcome.WRONG_STATE
    assert settle(ANA, happened=False) is Outcome.WRONG_STATE
    assert loaded(store).state is State.SUCCEEDED
