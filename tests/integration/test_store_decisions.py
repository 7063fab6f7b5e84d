import pytest
import redis

from approvals.lifecycle import Cause, State
from approvals.outcomes import Answer, Outcome
from approvals.store import Store
from builders import (
    ANA,
    BEN,
    CHANNEL,
    REQUESTER,
    THREAD,
    a_call,
    a_content,
    a_decision,
    a_person,
    a_requirement,
    a_store,
    an_auto,
    approve,
    claim,
    events,
    lease_batch,
    loaded,
    move,
    owed,
    paused,
    reject,
    waking,
)


@pytest.fixture
def store(redis_client: redis.Redis) -> Store:
    return a_store(redis_client)


def two_of(key: str = "call_1") -> object:
    return a_call(key, content=a_content(requirement=a_requirement(reviewers=2)))


def test_one_yes_approves_and_settles_the_batch(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    desired = store.outbox.load("card:batch_a")
    assert approve(store) == (Outcome.OK, {"verdict": "approved", "missing": "0"})
    call = loaded(store, "call_1")
    assert (call.state, call.execute_by, waking(store)) == (State.APPROVED, None, set())
    assert [(d.reviewer, d.verdict, d.version) for d in call.decisions] == [(ANA, "approve", 1)]
    assert abs(call.decisions[0].at - store.now()) < 5_000
    bumped = store.outbox.load("card:batch_a")
    assert desired is not None
    assert bumped is not None
    assert bumped.desired > desired.desired
    reject(store, "call_2")
    call = loaded(store, "call_1")
    assert abs((call.execute_by or 0) - store.now() - 600_000) < 5_000
    assert waking(store) == {"execute_batch:batch_a"}
    assert [key.key for key in store.batches.claimable("batch_a")] == ["call_1"]


def test_with_the_barrier_pause_nothing_runs_before_every_batch_is_settled(store: Store) -> None:
    other = a_call("call_2", number=2, batch="batch_b")
    paused(store, a_call("call_1"), other, an_auto("call_3", number=3), barrier="pause")
    approve(store, "call_1")
    assert waking(store) == set()
    assert store.batches.claimable("batch_a") == []
    assert store.batches.claimable("batch_auto") == []
    reject(store, "call_2")
    assert waking(store) == {"execute_batch:batch_a", "execute_batch:batch_auto"}
    assert [call.key for call in store.batches.claimable("batch_a")] == ["call_1"]


def test_with_the_barrier_batch_a_refund_does_not_wait_for_a_deploy(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2, batch="batch_b"))
    approve(store, "call_1")
    assert waking(store) == {"execute_batch:batch_a"}


def test_two_different_reviewers_are_needed_where_the_rule_says_so(store: Store) -> None:
    paused(store, two_of())
    assert approve(store, by=ANA) == (Outcome.OK, {"verdict": "pending", "missing": "1"})
    assert approve(store, by=ANA).outcome is Outcome.REPEATED
    assert loaded(store, "call_1").state is State.PENDING_REVIEW
    assert approve(store, by=BEN) == (Outcome.OK, {"verdict": "approved", "missing": "0"})
    assert events(store, "call_1") == ["proposed", "approval_counted", "approved"]
    assert [decision.reviewer for decision in loaded(store, "call_1").decisions] == [ANA, BEN]


def test_a_repeated_yes_gets_the_same_answer_before_and_after_the_end(store: Store) -> None:
    paused(store, a_call("call_1"))
    approve(store)
    assert approve(store) == (Outcome.REPEATED, {"verdict": "approved", "missing": "0", "state": "approved"})
    store.effects.succeed(claim(store, lease_batch(store)), receipt="{}")
    assert approve(store).outcome is Outcome.REPEATED
    assert events(store, "call_1").count("approved") == 1


def test_a_different_late_decision_is_told_who_decided_and_when(store: Store) -> None:
    paused(store, a_call("call_1"))
    approve(store, by=ANA)
    at = str(loaded(store, "call_1").decisions[0].at)
    expected = {"by": ANA, "name": "U0Ana", "at": at, "verdict": "approve", "state": "approved"}
    assert reject(store, by=BEN) == (Outcome.ALREADY_DECIDED, expected)
    assert approve(store, by=BEN) == (Outcome.ALREADY_DECIDED, expected)
    assert reject(store, by=ANA) == (Outcome.ALREADY_DECIDED, expected)


def test_a_reviewer_cannot_change_a_decision_that_is_counted_already(store: Store) -> None:
    paused(store, two_of())
    approve(store, by=ANA)
    answer = reject(store, by=ANA)
    assert (answer.outcome, answer.detail["verdict"], answer.detail["by"]) == (
        Outcome.ALREADY_DECIDED,
        "approve",
        ANA,
    )
    assert loaded(store, "call_1").state is State.PENDING_REVIEW


def test_one_no_settles_and_vetoes_tool_and_resources_in_this_thread(store: Store) -> None:
    content = a_content(requirement=a_requirement(resources=("pay_1", "pay_2"), reviewers=2))
    paused(store, a_call("call_1", content=content))
    approve(store, by=ANA)
    assert reject(store, by=BEN, reason="disputed").outcome is Outcome.OK
    call = loaded(store, "call_1")
    assert (call.state, call.cause, call.reason) == (State.REJECTED, Cause.PERSON, "disputed")
    assert store.vetoes.of_thread(CHANNEL, THREAD) == {
        "refund_payments|pay_1": 'U0Ben rejected refund_payments on pay_1: "disputed"',
        "refund_payments|pay_2": 'U0Ben rejected refund_payments on pay_2: "disputed"',
    }
    assert store.vetoes.of_thread(CHANNEL, "another thread") == {}
    assert reject(store, by=BEN).outcome is Outcome.REPEATED


def test_a_call_that_names_no_resource_is_vetoed_as_a_whole(store: Store) -> None:
    paused(store, a_call("call_1", content=a_content(requirement=a_requirement(resources=()))))
    reject(store)
    assert list(store.vetoes.of_thread(CHANNEL, THREAD)) == ["refund_payments|*"]


def test_a_no_that_asks_for_a_correction_vetoes_nothing(store: Store) -> None:
    paused(store, a_call("call_1"))
    reject(store, correction=True, reason="only 50 of it")
    assert loaded(store, "call_1").decisions[0].correction
    assert store.vetoes.of_thread(CHANNEL, THREAD) == {}


def test_what_nobody_can_have_seen_cannot_be_decided(store: Store) -> None:
    paused(store, a_call("call_1"), posted=False)
    assert approve(store).outcome is Outcome.NOT_POSTED
    assert reject(store).outcome is Outcome.NOT_POSTED
    assert loaded(store, "call_1").state is State.PENDING_REVIEW


def test_an_unknown_call_is_not_found(store: Store) -> None:
    assert approve(store, "nowhere").outcome is Outcome.NOT_FOUND
    assert reject(store, "nowhere").outcome is Outcome.NOT_FOUND


def test_a_call_that_nobody_is_asked_about_is_not_pending(store: Store) -> None:
    paused(store, an_auto("call_1", held=True), a_call("call_2", number=2))
    assert approve(store, "call_1") == (Outcome.NOT_PENDING, {"state": "proposed"})


def test_another_version_than_the_one_shown_is_not_decided(store: Store) -> None:
    paused(store, a_call("call_1"))
    assert approve(store, version=2) == (Outcome.STALE_VERSION, {"version": "1", "generation": "0"})


def test_a_click_after_decide_by_loses_although_no_sweep_has_run(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    over = store.now() - 1
    move(redis_client, store.keys.batch("batch_a"), decide_by=over)
    assert approve(store) == (Outcome.EXPIRED, {"decide_by": str(over)})
    assert reject(store) == (Outcome.EXPIRED, {"decide_by": str(over)})
    assert loaded(store, "call_1").state is State.PENDING_REVIEW
    assert store.deadlines.apply("decide:batch_a").ok
    assert approve(store).outcome is Outcome.EXPIRED


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


def test_several_calls_of_a_card_are_decided_each_with_its_own_answer(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2), a_call("call_3", number=3))
    reject(store, "call_2", by=BEN)
    person = store.people.put(a_person(ANA))
    decisions = [
        ("call_1", 1, a_decision("call_1")),
        ("call_2", 1, a_decision("call_2")),
        ("call_3", 1, a_decision("call_3", "reject")),
        ("elsewhere", 1, a_decision("elsewhere")),
        ("call_1", 1, a_decision("call_1", "edit")),
    ]
    outcomes = [Outcome.OK, Outcome.ALREADY_DECIDED, Outcome.OK, Outcome.NOT_FOUND, Outcome.WRONG_STATE]
    answers = store.calls.decide_batch("batch_a", generation=0, decisions=decisions, person=person)
    assert [answer.outcome for _, answer in answers] == outcomes
    again = store.calls.decide_batch("batch_a", generation=0, decisions=decisions, person=person)
    repeated = [Outcome.REPEATED, Outcome.ALREADY_DECIDED, Outcome.REPEATED, Outcome.NOT_FOUND, Outcome.WRONG_STATE]
    assert [answer.outcome for _, answer in again] == repeated


def test_approve_all_of_a_card_that_has_changed_since_approves_nothing(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    person = store.people.put(a_person(ANA))
    decisions = [(key, 1, a_decision(key)) for key in ("call_1", "call_2")]
    answers = store.calls.decide_batch("batch_a", generation=3, decisions=decisions, person=person)
    assert {answer.outcome for _, answer in answers} == {Outcome.STALE_VERSION}
    assert store.batches.claimable("batch_a") == []


def test_a_withdrawn_call_is_final_and_was_nobodys_refusal(store: Store) -> None:
    paused(store, a_call("call_1"))
    assert store.calls.withdraw("call_1", by=REQUESTER).outcome is Outcome.OK
    assert store.calls.withdraw("call_1", by=REQUESTER).outcome is Outcome.REPEATED
    assert store.calls.withdraw("nowhere", by=REQUESTER).outcome is Outcome.NOT_FOUND
    call = loaded(store, "call_1")
    assert (call.state, call.cause) == (State.REJECTED, Cause.WITHDRAWN)
    assert store.vetoes.of_thread(CHANNEL, THREAD) == {}
    assert "resume_run:run_1" in waking(store)
    assert approve(store).detail["verdict"] == "withdraw"


def test_an_approved_call_can_be_withdrawn_until_it_is_claimed(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    approve(store, "call_1")
    approve(store, "call_2")
    lease = lease_batch(store)
    claim(store, lease, "call_1")
    assert store.calls.withdraw("call_1", by=REQUESTER) == (Outcome.WRONG_STATE, {"state": "executing"})
    assert store.calls.withdraw("call_2", by=REQUESTER).outcome is Outcome.OK
    assert [call.key for call in store.batches.claimable("batch_a")] == []


def test_a_refused_attempt_is_noted_and_changes_nothing(store: Store) -> None:
    paused(store, a_call("call_1"))
    before, messages = loaded(store, "call_1"), owed(store)
    store.calls.note("call_1", event="refused_click", person=a_person(BEN), detail="not a reviewer of this tier")
    event = store.ledger.read()[-1][1]
    assert (event["type"], event["actor"], event["reason"]) == ("refused_click", BEN, "not a reviewer of this tier")
    assert (event["run"], event["batch"], event["call"]) == ("run_1", "batch_a", "call_1")
    assert loaded(store, "call_1") == before
    assert owed(store) == messages
