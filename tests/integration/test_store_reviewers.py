"""Who may decide, as the store judges it."""

import pytest
import redis

from approvals.outcomes import Answer, Outcome
from approvals.store import Store
from builders import (
    ANA,
    BEN,
    REQUESTER,
    a_call,
    a_decision,
    a_person,
    approve,
    move,
    paused,
    reject,
)


def test_the_requester_decides_nothing_unless_the_development_switch_is_on(store: Store) -> None:
    paused(store, a_call("call_1"))
    assert approve(store, by=REQUESTER).outcome is Outcome.REQUESTER
    assert reject(store, by=REQUESTER).outcome is Outcome.REQUESTER
    store.switches.set_self_approval(True)
    assert approve(store, by=REQUESTER).outcome is Outcome.OK


def decide_as(store: Store, **snapshot: object) -> Answer:
    person = store.people.put(a_person(ANA, **snapshot))
    return store.calls.approve("call_1", version=1, decision=a_decision("call_1"), person=person)


@pytest.mark.parametrize(
    "snapshot", [{"deactivated": True}, {"guest": True}, {"bot": True}, {"stranger": True}, {"team": "T0OTHER"}]
)
def test_only_full_members_of_the_home_team_decide(store: Store, snapshot: dict[str, object]) -> None:
    paused(store, a_call("call_1"))
    assert decide_as(store, **snapshot) == (Outcome.STALE_PERSON, {"user": ANA})


def test_nobody_decides_before_the_home_team_is_known(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    redis_client.hdel(store.keys.switches, "home_team")
    assert decide_as(store).outcome is Outcome.STALE_PERSON


def test_a_snapshot_older_than_a_minute_decides_nothing(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    person = store.people.put(a_person(ANA))
    move(redis_client, store.keys.person(ANA), fetched_at=store.now() - 60_001)
    decision = a_decision("call_1")
    assert store.calls.approve("call_1", version=1, decision=decision, person=person).outcome is Outcome.STALE_PERSON
    move(redis_client, store.keys.person(ANA), fetched_at=store.now() - 50_000)
    assert store.calls.approve("call_1", version=1, decision=decision, person=person).outcome is Outcome.OK


def test_a_snapshot_of_later_than_now_decides_nothing_since_a_clock_was_set_back(
    store: Store, redis_client: redis.Redis
) -> None:
    paused(store, a_call("call_1"))
    person = store.people.put(a_person(ANA))
    move(redis_client, store.keys.person(ANA), fetched_at=store.now() + 60_000)
    decision = a_decision("call_1")
    assert store.calls.approve("call_1", version=1, decision=decision, person=person).outcome is Outcome.STALE_PERSON


def test_a_snapshot_that_is_not_the_stored_one_decides_nothing(store: Store) -> None:
    paused(store, a_call("call_1"))
    seen = store.people.put(a_person(ANA, usergroups=("S0BILLING",)))
    decision = a_decision("call_1")
    assert store.calls.approve("call_1", version=1, decision=decision, person=a_person(ANA)).ok is False
    store.people.put(a_person(ANA))
    assert store.calls.approve("call_1", version=1, decision=decision, person=seen).outcome is Outcome.STALE_PERSON


def test_a_decision_is_handed_in_by_its_own_reviewer_only(store: Store) -> None:
    paused(store, a_call("call_1"))
    person = store.people.put(a_person(BEN))
    with pytest.raises(ValueError, match="refuse the click"):
        store.calls.approve("call_1", version=1, decision=a_decision("call_1", by=ANA), person=person)


def test_a_decision_counts_for_the_call_and_version_it_names_only(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    person = store.people.put(a_person(ANA))
    for decision in (a_decision("call_2"), a_decision("call_1", version=2)):
        with pytest.raises(ValueError, match="was handed in for call_1 v1"):
            store.calls.approve("call_1", version=1, decision=decision, person=person)
