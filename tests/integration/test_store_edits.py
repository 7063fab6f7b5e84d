import redis

from approvals.lifecycle import Cause, State
from approvals.outcomes import Answer, Outcome
from approvals.store import Store
from builders import (
    ANA,
    BEN,
    a_call,
    a_content,
    a_requirement,
    approve,
    edit,
    events,
    loaded,
    move,
    owed,
    paused,
    reject,
    waking,
)
from policies.money import eur

EDITED = '{"payment_id":"pay_2"}'


def refresh(store: Store, *, drift: bool = False, version: int = 2, **changes: object) -> Answer:
    arguments = {"content": a_content(EDITED, facts='{"checked":true}'), "seal": "seal-2", **changes}
    return store.calls.refresh("call_1", version=version, drift=drift, **arguments)


def test_an_edit_makes_the_next_version_which_waits_for_its_check(store: Store) -> None:
    paused(store, a_call("call_1"))
    assert edit(store) == (Outcome.OK, {"version": "2"})
    call = loaded(store, "call_1")
    assert (call.state, call.version, call.refreshing, call.seal) == (State.PENDING_REVIEW, 2, True, "")
    assert call.content.arguments == EDITED
    assert waking(store) == {"refresh_call:call_1"}
    assert approve(store, by=BEN, version=2).outcome is Outcome.REFRESHING
    assert edit(store, by=BEN, version=2).outcome is Outcome.REFRESHING
    assert approve(store, by=BEN, version=1).outcome is Outcome.STALE_VERSION
    assert events(store, "call_1") == ["proposed", "edited"]


def test_the_same_edit_again_gets_the_same_answer_and_another_one_does_not(store: Store) -> None:
    paused(store, a_call("call_1"))
    edit(store)
    assert edit(store) == (Outcome.REPEATED, {"version": "2"})
    assert edit(store, arguments='{"payment_id":"pay_3"}').outcome is Outcome.STALE_VERSION
    assert edit(store, by=BEN).outcome is Outcome.STALE_VERSION
    refresh(store)
    assert edit(store) == (Outcome.REPEATED, {"version": "2"})


def test_edits_keep_a_call_open_for_24_hours_after_its_posting_at_most(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    batch = loaded(store).batch or ""
    lapse_s = int(redis_client.hget(store.keys.batch(batch), "lapse_s") or 0)
    posted_at = store.now() - (24 * 3600 - lapse_s - 60) * 1000  # one minute is left
    move(redis_client, store.keys.batch(batch), posted_at=posted_at)
    assert edit(store).ok
    check_by = int(redis_client.hget(store.keys.call("call_1"), "check_by") or 0)
    assert check_by == posted_at + (24 * 3600 - lapse_s) * 1000


def test_a_checked_edit_without_drift_counts_as_its_editors_approval(store: Store) -> None:
    paused(store, a_call("call_1"))
    edit(store)
    assert refresh(store) == (Outcome.OK, {"verdict": "approved", "missing": "0"})
    assert refresh(store) == (Outcome.REPEATED, {"verdict": "approved", "missing": "0"})
    call = loaded(store, "call_1")
    assert (call.state, call.seal, call.refreshing) == (State.APPROVED, "seal-2", False)
    assert call.content.facts == '{"checked":true}'
    assert [(d.reviewer, d.verdict, d.version) for d in call.decisions] == [(ANA, "edit", 1), (ANA, "approve", 2)]
    assert waking(store) == {"execute_batch:batch_a"}
    assert events(store, "call_1") == ["proposed", "edited", "refreshed", "approved"]


def test_earlier_approvals_fall_with_an_edit(store: Store) -> None:
    paused(store, a_call("call_1", content=a_content(requirement=a_requirement(reviewers=2))))
    approve(store, by=BEN)
    edit(store, by=ANA)
    two = a_content(EDITED, requirement=a_requirement(reviewers=2))
    assert refresh(store, content=two) == (Outcome.OK, {"verdict": "pending", "missing": "1"})
    assert approve(store, by=ANA, version=2).outcome is Outcome.REPEATED
    assert approve(store, by=BEN, version=2) == (Outcome.OK, {"verdict": "approved", "missing": "0"})


def test_an_edit_for_which_the_law_asks_one_person_needs_its_editor_only(store: Store) -> None:
    paused(store, a_call("call_1", content=a_content(requirement=a_requirement(reviewers=2))))
    edit(store)
    one = a_content(EDITED, requirement=a_requirement(reviewers=1))
    assert refresh(store, content=one).detail["verdict"] == "approved"


def test_drift_drops_the_editors_approval_and_tells_them(store: Store) -> None:
    paused(store, a_call("call_1"))
    edit(store)
    assert refresh(store, drift=True) == (Outcome.OK, {"verdict": "pending", "missing": "1"})
    call = loaded(store, "call_1")
    assert (call.state, call.seal, call.refreshing) == (State.PENDING_REVIEW, "seal-2", False)
    assert [d for d in call.decisions if d.version == call.version] == []
    assert "notice:call_1" in owed(store)
    assert approve(store, by=ANA, version=2).detail["verdict"] == "approved"


def test_an_edit_that_the_law_forbids_is_rejected_by_policy_without_a_veto(store: Store) -> None:
    paused(store, a_call("call_1"))
    edit(store)
    assert refresh(store, rejected="over the day's cap").detail["verdict"] == "rejected"
    call = loaded(store, "call_1")
    assert (call.state, call.cause, call.reason) == (State.REJECTED, Cause.POLICY, "over the day's cap")
    assert store.vetoes.of_thread("C0PAY", "1700000000.000100") == {}
    assert "resume_run:run_1" in waking(store)


def test_a_no_works_while_an_edit_is_checked_and_ends_the_check(store: Store) -> None:
    paused(store, a_call("call_1"))
    edit(store)
    assert reject(store, by=BEN, version=2).outcome is Outcome.OK
    assert waking(store) == {"resume_run:run_1"}
    assert refresh(store) == (Outcome.WRONG_STATE, {"state": "rejected"})


def test_a_check_of_another_version_or_of_no_edit_is_refused(store: Store) -> None:
    paused(store, a_call("call_1"))
    assert refresh(store, version=1) == (Outcome.WRONG_STATE, {"state": "pending_review"})
    edit(store)
    assert refresh(store, version=3) == (Outcome.STALE_VERSION, {"version": "2"})
    assert store.calls.refresh("x", version=1, content=a_content(), seal="s", drift=False).outcome is Outcome.NOT_FOUND


def test_an_edit_at_the_last_moment_has_two_minutes_and_its_siblings_have_not(
    store: Store, redis_client: redis.Redis
) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    edit(store)
    move(redis_client, store.keys.batch("batch_a"), decide_by=store.now() - 1)
    assert store.deadlines.apply("decide:batch_a") == (Outcome.OK, {"expired": "1"})
    assert loaded(store, "call_2").state is State.EXPIRED
    assert loaded(store, "call_1").state is State.PENDING_REVIEW
    later = redis_client.zscore(store.keys.deadlines, "decide:batch_a")
    assert abs((later or 0) - store.now() - 120_000) < 5_000
    assert refresh(store).detail["verdict"] == "approved"


def test_an_edit_that_is_not_checked_in_time_expires_and_says_so(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    edit(store)
    over = store.now() - 1
    move(redis_client, store.keys.batch("batch_a"), decide_by=over)
    move(redis_client, store.keys.call("call_1"), check_by=over)
    assert refresh(store) == (Outcome.EXPIRED, {"decide_by": str(over)})
    assert store.deadlines.apply("decide:batch_a").outcome is Outcome.OK
    call = loaded(store, "call_1")
    assert (call.state, call.cause, call.reason) == (State.EXPIRED, Cause.NOBODY, "not checked in time")
    assert waking(store) == {"resume_run:run_1"}


def test_an_edit_changes_what_the_call_counts_for_in_its_run(store: Store) -> None:
    paused(store, a_call("call_1", content=a_content(requirement=a_requirement(counts={"refunds": eur(90)}))))
    edit(store)
    refresh(store, content=a_content(EDITED, requirement=a_requirement(counts={"refunds": eur(40)})))
    assert store.runs.counts("run_1") == {("refunds", "EUR"): 4_000}
