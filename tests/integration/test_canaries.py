"""Canaries on a real store: they ask like any call, and there are three reasons of their own why none can ever run."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
import redis

from approvals.canaries import AGENT
from approvals.drain import drain_once
from approvals.ledger import Ledger
from approvals.lifecycle import Cause, RunState, State
from approvals.metrics import Timings, exposed
from approvals.models import BatchLease, Call
from approvals.outcomes import Outcome
from approvals.pause_write import PauseMalformedError
from approvals.planting import NoCanaries, plant
from approvals.recordings import Recordings
from approvals.sealing import intact
from approvals.vault import Vault
from builders import (
    STATE_KEY,
    TENANT,
    a_call,
    a_content,
    a_pause,
    a_requirement,
    a_store,
    approve,
    edit,
    events,
    lease_run,
    loaded,
    move,
    reject,
    start_run,
    try_claim,
    waking,
)
from canaries import ASKER, CANARIES, CHANNEL, OPENED, a_canary, a_canary_content, planted
from policies.budgets import Budgets
from policies.requirement import Canary
from policies.risk import Mode
from worker import batches
from worker.refusals import AgentRefused
from workshop import ANA, BEN, LEA, REVIEWERS, Workshop, a_law, saying, shipping

LAW = a_law(reviewers=REVIEWERS + CANARIES)
TWO = a_law(reviewers=REVIEWERS + CANARIES.replace('tier = "desk"', 'tier = "desk"\nreviewers = 2'))


@pytest.fixture
def workshop(redis_client: redis.Redis) -> Workshop:
    """A shop whose team has opted in, and whose model says nothing, since nobody may ask it."""
    found = Workshop(a_store(redis_client), redis_client)
    found.law = LAW
    return found


def owed(workshop: Workshop) -> set[str]:
    return {entry.kind for entry in workshop.store.outbox.due()}


def marks(workshop: Workshop, run: str) -> set[tuple[str, str]]:
    """Events of a run that do not say that it is a canary."""
    rows = workshop.store.ledger.of_run(run)
    assert rows
    return {(row["type"], row.get("canary", "")) for row in rows if row.get("canary") != "1"}


def nothing_came_of_it(workshop: Workshop, call: Call, state: RunState = RunState.COMPLETED) -> None:
    """The run is over, nobody is woken for it, no model heard of it, and nothing was shipped."""
    store, run = workshop.store, call.run
    assert workshop.run(run).state is state
    assert waking(store) == set()
    workshop.advance(run)
    workshop.execute(run)
    assert not workshop.script.calls
    assert workshop.shop.done == []
    assert marks(workshop, run) == set()
    assert store.vetoes.of_thread(CHANNEL, OPENED) == store.vetoes.corrections_of_thread(CHANNEL, OPENED) == {}
    assert store.inbox.decided(ANA) == []
    assert {"card", "answer"} <= owed(workshop)
    assert owed(workshop).isdisjoint({"outcome", "alert"})
    assert store.tallies.read().pending.total() == 0


def test_it_asks_as_any_call_does(workshop: Workshop) -> None:
    call = planted(workshop.store, workshop.law)
    batch = workshop.store.batches.load(str(call.batch))
    assert batch
    assert (call.state, call.needed, batch.ttl_s, batch.lapse_s) == (State.PENDING_REVIEW, 1, batch.ttl_s, 3_600)
    assert batch.notify == (ANA, BEN, LEA)
    assert workshop.store.attention.heard([ANA]).times == {ANA: 1}, "an interruption like any other"
    assert intact(call, tenant=TENANT, requester=ASKER)
    run = workshop.run(call.run)
    assert (run.state, run.canary, run.requester, run.agent) == (RunState.PAUSED, True, ASKER, AGENT)
    assert owed(workshop) == {"card"}, "its opening message is posted already"
    assert waking(workshop.store) == set()
    assert workshop.store.tallies.read().pending["stock of ann"] == 1


def test_what_marks_it_is_sealed_with_the_rest(workshop: Workshop) -> None:
    call = planted(workshop.store, workshop.law)
    bare = call.content.requirement.model_copy(update={"canary": None})
    unmarked = call.model_copy(update={"content": call.content.model_copy(update={"requirement": bare})})
    assert not intact(unmarked, tenant=TENANT, requester=ASKER)


def test_approved_by_everybody_it_needs_it_is_rejected_instead(workshop: Workshop) -> None:
    workshop.law = TWO
    call = planted(workshop.store, workshop.law)
    assert approve(workshop.store, call.key).detail["verdict"] == "pending"
    assert workshop.run(call.run).state is RunState.PAUSED
    assert approve(workshop.store, call.key, by=BEN).detail["verdict"] == "rejected"
    after = loaded(workshop.store, call.key)
    assert (after.state, after.cause, after.execute_by) == (State.REJECTED, Cause.CANARY, None)
    assert events(workshop.store, call.key) == ["proposed", "approval_counted", "canary_missed"]
    nothing_came_of_it(workshop, call)
    assert approve(workshop.store, call.key, by=BEN).outcome is Outcome.REPEATED
    assert approve(workshop.store, call.key, by=LEA).outcome is Outcome.ALREADY_DECIDED


@pytest.mark.parametrize("correction", [False, True])
def test_rejected_it_is_caught_and_vetoes_nothing(workshop: Workshop, *, correction: bool) -> None:
    call = planted(workshop.store, workshop.law)
    assert reject(workshop.store, call.key, reason="That account is new.", correction=correction).ok
    assert events(workshop.store, call.key) == ["proposed", "canary_caught"]
    assert loaded(workshop.store, call.key).cause is Cause.PERSON
    nothing_came_of_it(workshop, call)


@pytest.mark.parametrize("posted", [True, False])
def test_when_nobody_decides_ops_is_not_called(workshop: Workshop, *, posted: bool) -> None:
    call = planted(workshop.store, workshop.law, posted=posted)
    past = workshop.store.now() - 1
    kind, field = ("decide", "decide_by") if posted else ("post", "post_by")
    move(workshop.client, workshop.store.keys.batch(str(call.batch)), **{field: past})
    assert workshop.store.deadlines.apply(f"{kind}:{call.batch}").ok
    assert events(workshop.store, call.key) == ["proposed", "canary_unseen"]
    assert loaded(workshop.store, call.key).state is State.EXPIRED
    nothing_came_of_it(workshop, call)


def test_it_can_be_cancelled(workshop: Workshop) -> None:
    call = planted(workshop.store, workshop.law)
    assert workshop.store.runs.cancel(call.run, by=ASKER, name="Asa").ok
    assert loaded(workshop.store, call.key).cause is Cause.WITHDRAWN
    nothing_came_of_it(workshop, call, RunState.STOPPED)


def test_nobody_can_edit_it(workshop: Workshop) -> None:
    call = planted(workshop.store, workshop.law)
    assert edit(workshop.store, call.key).outcome is Outcome.NOT_PENDING
    assert loaded(workshop.store, call.key).version == 1
    assert approve(workshop.store, call.key, by=ASKER).outcome is Outcome.REQUESTER


# --- Three locks, each with the others open ---------------------------------------------------------------------------


def forged(workshop: Workshop) -> tuple[Call, BatchLease]:
    """Somebody writes into Redis that a canary was approved and may be claimed."""
    call = planted(workshop.store, workshop.law)
    store, batch = workshop.store, str(call.batch)
    later = store.now() + 600_000
    workshop.client.hset(store.keys.votes(call.key), ANA, f"approve {store.now()} Ana")
    workshop.client.hset(
        store.keys.call(call.key), mapping={"state": "approved", "execute_by": later, "decided_by": ANA}
    )
    lease = store.batches.lease(batch, token="forger", ttl_ms=600_000)
    assert lease
    return loaded(store, call.key), lease


def test_the_store_lets_no_worker_claim_one_that_is_marked_as_approved(workshop: Workshop) -> None:
    call, lease = forged(workshop)
    answer, claim = try_claim(workshop.store, lease, call.key, people=[ANA])
    assert (answer.outcome, claim) == (Outcome.WRONG_STATE, None)
    assert "claimed" not in events(workshop.store, call.key)


def test_the_gate_refuses_one_before_any_claim_and_tells_ops(workshop: Workshop) -> None:
    call, lease = forged(workshop)
    workshop.client.hdel(workshop.store.keys.batch(lease.batch), "token", "lease_until")
    workshop.client.hset(workshop.store.keys.call(call.key), "canary", "")  # the store's own locks are gone as well
    with_door = replace(workshop.deps, factories={AGENT: workshop.build})
    asyncio.run(batches.execute(with_door, lease.batch))
    assert workshop.shop.done == []
    after = loaded(workshop.store, call.key)
    assert (after.state, after.cause) == (State.REJECTED, Cause.POLICY)
    assert {"canary_at_gate", "refused"} <= {row["type"] for row in workshop.store.ledger.of_run(call.run)}
    assert workshop.store.outbox.load(f"alert:seal:{call.key}")


def test_there_is_no_door_for_it(workshop: Workshop) -> None:
    call, lease = forged(workshop)
    workshop.client.hdel(workshop.store.keys.batch(lease.batch), "token", "lease_until")
    with pytest.raises(AgentRefused, match='No agent is called "canary"'):
        workshop.execute(call.run)
    assert loaded(workshop.store, call.key).claimed_at is None


def test_a_run_that_was_made_to_go_on_ends_before_its_model_is_called(workshop: Workshop) -> None:
    call = planted(workshop.store, workshop.law)
    workshop.client.hset(workshop.store.keys.run(call.run), "state", "ready")
    workshop.advance(call.run)
    assert workshop.run(call.run).state is RunState.FAILED
    assert not workshop.script.calls


def test_no_agent_can_propose_one(workshop: Workshop) -> None:
    start_run(workshop.store)
    lease = lease_run(workshop.store)
    with pytest.raises(PauseMalformedError, match="no agent may propose one"):
        workshop.store.runs.pause(lease, a_pause(a_call("call_1", content=a_canary_content())))


def test_a_later_request_in_its_thread_tells_the_model_nothing_of_it(workshop: Workshop) -> None:
    call = planted(workshop.store, workshop.law)
    assert reject(workshop.store, call.key).ok
    workshop.script.extend([[saying("hello")]])
    workshop.start("run_2", request="label the cup", parent=call.run)
    heard = str(workshop.script.last_call)
    assert "label the cup" in heard
    assert "pans" not in heard


# --- What it counts as ------------------------------------------------------------------------------------------------


def test_only_the_canaries_own_events_are_counted(workshop: Workshop) -> None:
    workshop.law = TWO
    call = planted(workshop.store, workshop.law)
    approve(workshop.store, call.key)
    approve(workshop.store, call.key, by=BEN)
    counted = {event.kind for event in workshop.store.tallies.read().events}
    assert counted == {"canary_missed"}
    registry = exposed(workshop.store, Timings())
    assert registry.get_sample_value("vobo_decisions_total", {"tenant": TENANT, "verdict": "approve"}) == 0


def test_simulations_never_replay_one(workshop: Workshop, ledger: Ledger) -> None:
    recordings = Recordings(ledger.engine, Vault.from_text(STATE_KEY))
    planted(workshop.store, workshop.law)
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    while drain_once(workshop.store, ledger):
        continue
    (kept,) = recordings.since(TENANT, 0).calls
    assert kept.run == "run_1"


def test_it_is_forgotten_a_week_after_its_end(workshop: Workshop, ledger: Ledger) -> None:
    call = planted(workshop.store, workshop.law)
    reject(workshop.store, call.key)
    drain_once(workshop.store, ledger)
    workshop.client.zadd(workshop.store.keys.deadlines, {f"retire:{call.run}": 1})
    assert workshop.store.deadlines.apply(f"retire:{call.run}").ok
    assert workshop.store.calls.load(call.key) is workshop.store.runs.load(call.run) is None


# --- Planting ---------------------------------------------------------------------------------------------------------


def test_without_opting_in_there_are_none(workshop: Workshop) -> None:
    workshop.law = a_law()
    with pytest.raises(NoCanaries, match="shows how to opt in"):
        plant(workshop.store, workshop.law, 0)


def test_the_draw_chooses_the_call(workshop: Workshop) -> None:
    table = CANARIES.index("[[canaries.calls]]")
    more = CANARIES + CANARIES[table:].replace("40 pans", "41 pans")
    workshop.law = a_law(reviewers=REVIEWERS + more)
    found = []
    for draw in (0, 1, 2):
        tried = plant(workshop.store, workshop.law, draw)
        found += [call.content.preview.headline for call in workshop.store.calls.of_pause(str(tried.run), 1)]
    assert found == ["Ship 40 pans", "Ship 41 pans", "Ship 40 pans"]
    assert owed(workshop) == {"opening", "card"}


def at_the_limit(workshop: Workshop) -> None:
    workshop.law = replace(workshop.law, budgets=Budgets(interruptions_per_hour=1))
    for user in (ANA, BEN, LEA):
        workshop.client.zadd(workshop.store.keys.heard(user), {"batch_other": workshop.store.now()})


def asleep(workshop: Workshop) -> None:
    quiet = f'[[quiet_hours]]\nfor = ["{ANA}", "{BEN}", "{LEA}"]\nfrom = "00:00"\nto = "00:00"\n'
    workshop.law = a_law(reviewers=REVIEWERS + quiet + CANARIES)


def nobody(workshop: Workshop) -> None:
    workshop.law = a_law(reviewers=REVIEWERS + CANARIES.replace('tier = "desk"', 'tier = "desk"\nreviewers = 4'))


def frozen(workshop: Workshop) -> None:
    workshop.store.switches.freeze(by="Omar", reason="the provider answers twice")


def withdrawn(workshop: Workshop) -> None:
    workshop.client.hset(workshop.store.keys.withdrawn, "ship", workshop.store.now() + 60_000)


@pytest.mark.parametrize(
    ("when", "why"),
    [
        (at_the_limit, "asked again within this hour"),
        (asleep, "awake"),
        (nobody, "reviewers.toml names three"),
        (frozen, "frozen"),
        (withdrawn, "withdrawn for an hour"),
    ],
)
def test_nobody_is_asked_who_could_not_be_asked_anything(
    workshop: Workshop, when: Callable[[Workshop], None], why: str
) -> None:
    when(workshop)
    tried = plant(workshop.store, workshop.law, 0)
    assert tried.run is None
    assert why in tried.why
    assert owed(workshop) <= {"alert"}


def test_the_script_itself_counts_interruptions_and_knows_its_runs(workshop: Workshop) -> None:
    one = a_canary()
    assert workshop.store.canaries.plant(one, interruptions=1).ok
    assert workshop.store.canaries.plant(one, interruptions=9).outcome is Outcome.REPEATED
    other = one.model_copy(update={"run": "run_d", "batch": "batch_d", "call": "call_d"})
    assert workshop.store.canaries.plant(other, interruptions=1).outcome is Outcome.CAP_REACHED
    assert workshop.store.runs.load("run_d") is None
    for need in (a_requirement(), a_requirement(canary=Canary(), mode=Mode.AUTO)):
        wrong = other.model_copy(update={"content": a_content(requirement=need)})
        with pytest.raises(ValueError, match="is no canary"):
            workshop.store.canaries.plant(wrong, interruptions=9)
