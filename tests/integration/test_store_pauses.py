"""One script writes a whole pause; the last answer makes the run ready."""

import pytest

from approvals.lifecycle import Cause, RunState, State
from approvals.models import ProposedBatch
from approvals.outcomes import Outcome
from approvals.pause_write import PauseMalformedError
from approvals.store import Store
from builders import (
    LONG,
    a_call,
    a_content,
    a_pause,
    an_auto,
    events,
    lease_run,
    loaded,
    owed,
    paused,
    reject,
    start_run,
    waking,
)


def test_a_pause_writes_calls_batches_cards_and_deadlines_in_one_step(store: Store) -> None:
    write = paused(store, a_call("call_1"), a_call("call_2", number=2), posted=False)
    run, view = store.runs.load("run_1"), store.batches.view("batch_a")
    assert run is not None
    assert view is not None
    assert (run.state, run.pause, store.runs.load_state("run_1")) == (RunState.PAUSED, 1, write.state)
    assert [call.key for call in view.calls] == ["call_1", "call_2"]
    assert (view.batch.ttl_s, view.batch.decide_by, view.run.id) == (900, None, "run_1")
    assert view.calls[0].content == write.calls[0].content
    assert owed(store) == {"opening:run_1", "card:batch_a"}
    assert waking(store) == set()
    assert store.runs.client.zrange(store.keys.deadlines, 0, -1) == [b"post:batch_a"]
    assert events(store) == ["run_started", "paused", "proposed", "proposed"]


def test_a_pause_written_twice_by_the_same_worker_is_written_once(store: Store) -> None:
    start_run(store)
    lease, write = lease_run(store), a_pause(a_call("call_1"))
    assert store.runs.pause(lease, write) == (Outcome.OK, {"pause": "1", "state": "paused"})
    assert store.runs.pause(lease, write) == (Outcome.REPEATED, {"pause": "1", "state": "paused"})
    assert events(store).count("proposed") == 1


def test_autos_run_at_once_and_held_ones_wait_for_the_people(store: Store) -> None:
    paused(store, an_auto("now"), an_auto("later", held=True, batch="batch_held"), a_call("call_1"))
    assert waking(store) == {"execute_batch:batch_auto"}
    assert [call.key for call in store.batches.claimable("batch_auto")] == ["now"]
    assert store.batches.held("batch_held") == []
    assert store.batches.lease("batch_held", token="t", ttl_ms=LONG) is None
    reject(store)
    assert [call.key for call in store.batches.held("batch_held")] == ["later"]
    assert waking(store) == {"execute_batch:batch_auto", "execute_batch:batch_held"}


def test_an_automatic_decision_is_in_the_ledger_like_any_other(store: Store) -> None:
    paused(store, an_auto("call_1", reason="one refund of at most 50.00"))
    assert events(store, "call_1") == ["proposed", "approved"]
    approved = next(event for _, event in store.ledger.read() if event["type"] == "approved")
    assert (approved["actor"], approved["reason"], approved["seal"]) == (
        "policy",
        "one refund of at most 50.00",
        "seal-call_1-1",
    )


def test_a_pause_in_which_all_is_refused_makes_the_run_ready_at_once(store: Store) -> None:
    refused = {"state": State.REJECTED, "cause": Cause.VETO, "reason": "refused before", "batch": None}
    start_run(store)
    answer = store.runs.pause(lease_run(store), a_pause(a_call("call_1", **refused)))
    assert answer == (Outcome.OK, {"pause": "1", "state": "ready"})
    assert loaded(store, "call_1").cause is Cause.VETO
    assert waking(store) == {"resume_run:run_1"}
    assert "outcome:run_1:1" in owed(store)


def test_the_last_answer_makes_the_run_ready_and_the_next_lease_resumes_it(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    reject(store, "call_1")
    assert store.runs.lease("run_1", token="t", ttl_ms=LONG) is None
    assert "outcome:run_1:1" not in owed(store)
    reject(store, "call_2")
    assert "resume_run:run_1" in waking(store)
    assert "outcome:run_1:1" in owed(store)
    lease = lease_run(store)
    assert lease.resuming
    assert store.runs.pause(lease, a_pause(a_call("call_3", batch="batch_b"))).detail["pause"] == "2"
    assert waking(store) == set()


def test_calls_and_batches_that_do_not_fit_are_refused_before_anything_is_written(store: Store) -> None:
    start_run(store)
    lease = lease_run(store)
    good = a_pause(a_call("call_1"))
    alone = good.model_copy(update={"batches": ()})
    with pytest.raises(PauseMalformedError, match="who belongs where"):
        store.runs.pause(lease, alone)
    with pytest.raises(PauseMalformedError, match="twice"):
        store.runs.pause(lease, a_pause(a_call("call_1"), a_call("call_1")))
    with pytest.raises(PauseMalformedError, match="nobody could ever decide it"):
        store.runs.pause(lease, a_pause(a_call("call_1", batch=None)))
    with pytest.raises(PauseMalformedError, match="only a batch with a card"):
        store.runs.pause(lease, a_pause(a_call("call_1"), an_auto("call_2", batch="batch_a")))
    assert store.calls.load("call_1") is None


def test_a_batch_id_is_never_used_twice(store: Store) -> None:
    paused(store, a_call("call_1"))
    start_run(store, "run_2")
    answer = store.runs.pause(lease_run(store, "run_2"), a_pause(a_call("call_2")))
    assert answer == (Outcome.WRONG_STATE, {"call": "batch_a"})
    assert store.calls.load("call_2") is None


def test_three_hundred_large_calls_pause_in_one_step(store: Store) -> None:
    text = '{"body":"' + "é0" * 20_000 + '"}'
    calls = [a_call(f"call_{n}", number=n, batch=f"batch_{n // 8}", content=a_content(text)) for n in range(300)]
    paused(store, *calls, posted=False)
    stored = store.calls.of_pause("run_1", 1)
    assert [call.key for call in stored] == [call.key for call in calls]
    assert stored[299].content.arguments == text
    assert len(store.batches.waiting()) == 38


def test_a_pause_view_holds_every_call_in_order(store: Store) -> None:
    assert store.runs.pause_view("run_1", 1) is None
    paused(store, a_call("call_1"), an_auto("call_2", number=2))
    view = store.runs.pause_view("run_1", 1)
    assert view is not None
    assert [call.key for call in view.calls] == ["call_1", "call_2"]
    assert store.runs.pause_view("run_1", 2) is None


def test_a_batch_without_calls_is_written_and_waits_for_nothing(store: Store) -> None:
    start_run(store)
    empty = ProposedBatch(id="b", radius="r", number=1, calls=(), has_card=False, ttl_s=1, lapse_s=1)
    answer = store.runs.pause(lease_run(store), a_pause().model_copy(update={"batches": (empty,)}))
    assert answer.detail["state"] == "ready"
