import redis

from approvals.lifecycle import Cause, State
from approvals.outcomes import Outcome
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
    event = store.ledger.read()[-2][1]
    assert (event["type"], event["cause"], event["actor"], event["reason"]) == ("rejected", "person", BEN, "disputed")
    assert events(store)[-1] == "ready"
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
