import pytest
import redis

from approvals.lifecycle import Cause, RunState, State
from approvals.models import Run
from approvals.outcomes import Outcome
from approvals.store import Store
from bot_office import BRUNO, CHANNEL, OMAR, ROSA, Office, a_refund, readable
from builders import (
    REQUESTER,
    a_call,
    an_auto,
    approve,
    claim,
    events,
    lease_batch,
    lease_run,
    loaded,
    move,
    owed,
    paused,
    start_run,
    waking,
)

FIRST = "call_000000000001"


def run_of(store: Store, run: str = "run_1") -> Run:
    found = store.runs.load(run)
    assert found
    return found


def cancel(store: Store) -> Outcome:
    return store.runs.cancel("run_1", by=REQUESTER, name="Rosa").outcome


def test_cancelling_withdraws_every_call_that_was_not_claimed_and_ends_the_run(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2), an_auto("call_3", number=3, held=True))
    approve(store, "call_2")
    assert cancel(store) is Outcome.OK
    calls = store.calls.of_pause("run_1", 1)
    assert {(call.state, call.cause) for call in calls} == {(State.REJECTED, Cause.WITHDRAWN)}
    run = run_of(store)
    assert (run.state, run.reason) == (RunState.STOPPED, "cancelled by @Rosa")
    assert not waking(store) & {"start_run:run_1", "resume_run:run_1"}
    assert store.runs.lease("run_1", token="late", ttl_ms=1000) is None
    assert {"opening:run_1", "answer:run_1", "outcome:run_1:1", "card:batch_a"} <= owed(store)
    assert store.vetoes.of_thread(CHANNEL, "1700000000.000100") == {}


def test_cancelling_twice_or_too_late_changes_nothing(store: Store) -> None:
    start_run(store)
    assert cancel(store) is Outcome.OK
    assert cancel(store) is Outcome.REPEATED
    assert events(store).count("cancelled") == 1
    assert events(store).count("stopped") == 1
    start_run(store, "run_2")
    store.runs.complete(lease_run(store, "run_2"), answer="done")
    assert store.runs.cancel("run_2", by=REQUESTER, name="Rosa").outcome is Outcome.WRONG_STATE
    assert run_of(store, "run_2").cancelled_by is None
    assert store.runs.cancel("run_x", by=REQUESTER, name="Rosa").outcome is Outcome.NOT_FOUND


def test_whoever_drives_a_cancelled_run_loses_it(store: Store) -> None:
    start_run(store)
    lease = lease_run(store)
    assert cancel(store) is Outcome.OK
    assert not store.runs.save_turn(lease, state=b"{}", turns=1)
    assert not store.runs.renew(lease, ttl_ms=1000)
    assert not store.runs.complete(lease, answer="too late").ok
    assert run_of(store).state is RunState.STOPPED


def test_what_is_executing_is_waited_for_and_its_receipt_is_kept(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2, batch="batch_b"))
    approve(store)
    taken = claim(store, lease_batch(store))
    store.effects.intend(taken)
    assert cancel(store) is Outcome.OK
    assert loaded(store, "call_2").cause is Cause.WITHDRAWN
    assert run_of(store).state is RunState.PAUSED
    assert store.effects.succeed(taken, receipt="{}").ok
    assert loaded(store, "call_1").state is State.SUCCEEDED
    assert run_of(store).state is RunState.STOPPED
    assert "resume_run:run_1" not in waking(store)


@pytest.mark.parametrize("how", ["unclaimed", "lease lost"])
def test_a_claim_given_back_after_the_cancelling_is_withdrawn(
    store: Store, redis_client: redis.Redis, how: str
) -> None:
    paused(store, a_call("call_1"))
    approve(store)
    taken = claim(store, lease_batch(store))
    assert cancel(store) is Outcome.OK
    if how == "unclaimed":
        assert store.effects.unclaim("call_1", token=taken.token).ok
    else:
        move(redis_client, store.keys.call("call_1"), lease_until=store.now() - 1)
        assert store.deadlines.apply("lease:call_1").ok
    assert (loaded(store, "call_1").state, loaded(store, "call_1").cause) == (State.REJECTED, Cause.WITHDRAWN)
    assert run_of(store).state is RunState.STOPPED


def test_what_was_claimed_and_not_begun_when_its_run_was_cancelled_is_not_begun(store: Store) -> None:
    paused(store, a_call("call_1"))
    approve(store)
    taken = claim(store, lease_batch(store))
    assert cancel(store) is Outcome.OK
    assert store.effects.intend(taken).outcome is Outcome.WRONG_STATE
    assert store.effects.unclaim("call_1", token=taken.token).ok
    call = loaded(store)
    assert (call.state, call.cause) == (State.REJECTED, Cause.WITHDRAWN)
    assert "intended" not in events(store, "call_1")


def test_drift_found_after_the_cancelling_asks_nobody_again(store: Store) -> None:
    paused(store, a_call("call_1"))
    approve(store)
    taken = claim(store, lease_batch(store))
    assert cancel(store) is Outcome.OK
    content = loaded(store, "call_1").content
    assert store.effects.release(taken, content=content, seal="seal-2", difference=["two rows went"]).ok
    assert loaded(store, "call_1").cause is Cause.WITHDRAWN
    assert run_of(store).state is RunState.STOPPED


def opening(office: Office, run: str) -> str:
    entry = office.until(lambda: _delivered(office, f"opening:{run}"), "the opening is posted")
    return str(entry)


def _delivered(office: Office, entry: str) -> str | None:
    found = office.store.outbox.load(entry)
    return found.ts if found else None


def test_the_requester_cancels_with_the_button_of_the_opening_and_late_clicks_are_answered_privately(
    office: Office,
) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    card = office.card_with(batch, "decide by")
    ts = opening(office, run)
    office.slack.click(ROSA, CHANNEL, ts, "run.cancel", "run")
    office.until(lambda: run_of(office.store, run).state is RunState.STOPPED, "the run ends")
    office.slack.click(BRUNO, CHANNEL, card["ts"], "call.approve", f"call:{FIRST}", stale=True)
    office.told(BRUNO, "Already withdrawn by Rosa")
    office.card_with(batch, "Withdrawn")
    office.until(lambda: "run.cancel" not in readable(office.slack.message(CHANNEL, ts)), "the button goes")


def test_nobody_but_the_requester_and_ops_cancels(office: Office) -> None:
    run, _ = office.start()
    ts = opening(office, run)
    office.slack.click(BRUNO, CHANNEL, ts, "run.cancel", "run")
    office.told(BRUNO, "Only ops may do this")
    assert run_of(office.store, run).cancelled_by is None
    assert "press_refused" in events(office.store)
    office.slack.click(OMAR, CHANNEL, ts, "run.cancel", "run")
    office.until(lambda: run_of(office.store, run).state is RunState.STOPPED, "ops cancels")
    assert run_of(office.store, run).reason == "cancelled by @Omar Ops"


def expire(office: Office, batch: str) -> None:
    office.card(batch)
    over = office.store.now() - 1
    move(office.client, office.store.keys.batch(batch), decide_by=over)
    assert office.store.deadlines.apply(f"decide:{batch}").outcome is Outcome.OK
    office.bot.deps.wake.set()


def test_whoever_asked_asks_the_same_again_once_and_nobody_else(office: Office) -> None:
    run, thread = office.start("refund the failed payments")
    batch = office.pause(run, a_refund(31240))
    expire(office, batch)
    card = office.card_with(batch, "Ask again")
    office.slack.click(ROSA, CHANNEL, card["ts"], "run.ask_again", "run")
    office.told(ROSA, "I am working on")  # the old run first hears that nobody decided
    lease = office.store.runs.lease(run, token="w", ttl_ms=60_000)
    assert lease
    office.store.runs.complete(lease, answer="Nobody decided.")

    office.slack.click(BRUNO, CHANNEL, card["ts"], "run.ask_again", "run")
    office.told(BRUNO, "Only whoever asked")
    for _ in range(2):
        office.slack.click(ROSA, CHANNEL, card["ts"], "run.ask_again", "run")
    again = office.until(lambda: _other(office, thread, run), "a new run")
    assert (again.request, again.parent, again.requester) == ("refund the failed payments", run, ROSA)
    office.told(ROSA, f"`{again.id}` waits for a worker")
    assert events(office.store).count("run_started") == 2


def _other(office: Office, thread: str, run: str) -> Run | None:
    newest = office.store.runs.newest_in_thread(CHANNEL, thread)
    return newest if newest and newest.id != run else None
