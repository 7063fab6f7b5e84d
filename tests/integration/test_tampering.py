"""Whoever can write to Redis can stop things; they cannot make them happen. Ops is told every time."""

import pytest

from approvals.lifecycle import RunState, State
from approvals.models import Call, Decision
from approvals.store import Store
from approvals.vault import BlobKeyMissing, BlobTampered, Vault, new_key
from bot.rendering import Renderer
from bot_builders import AnyLaw
from bot_office import BRUNO, CHANNEL, OPS, Office, a_refund, readable
from builders import STATE_KEY, TEAM, TENANT, events, owed
from workshop import ANA, LEA, Line, Ship, Workshop, saying, shipping

FIRST, SECOND = "call_000000000001", "call_000000000002"


def alerts(store: Store) -> dict[str, str]:
    """What ops would read now, by subject."""
    render = Renderer(store, AnyLaw(), OPS).alert
    subjects = [entry.removeprefix("alert:") for entry in owed(store) if entry.startswith("alert:")]
    return {subject: str(message.text) for subject in subjects if (message := render(subject))}


def ready(workshop: Workshop) -> None:
    """One call approved and run; the run is ready to be resumed."""
    workshop.script.extend([[shipping(("cup", 3))], [saying("Shipped.")]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0]).ok
    workshop.execute()
    assert workshop.run().state is RunState.READY


# At the click.


@pytest.mark.parametrize(
    ("field", "value"), [("tool", "delete_customers"), ("agent", "clerk"), ("seal", "0" * 64), ("seal", "")]
)
def test_a_changed_record_fails_its_seal_at_the_click(office: Office, field: str, value: str) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240), a_refund(9900, number=2))
    office.card(batch)
    office.client.hset(office.store.keys.call(FIRST), field, value)
    office.press(BRUNO, batch, "call.approve", FIRST)
    office.told(BRUNO, "is not what was sealed")
    assert office.call(FIRST).state is State.PENDING_REVIEW
    office.until(lambda: [one for one in office.slack.messages(OPS) if FIRST in readable(one)], "ops is told")
    assert "seal_broken" in events(office.store, FIRST)
    office.press(BRUNO, batch, "call.approve", SECOND)
    office.state(SECOND, State.APPROVED)


def test_approving_all_leaves_out_what_was_changed(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240), a_refund(9900, number=2))
    office.card(batch)
    office.client.hset(office.store.keys.call(FIRST), "seal", "0" * 64)
    office.press(BRUNO, batch, "batch.approve_all")
    office.state(SECOND, State.APPROVED)
    office.told(BRUNO, "is not what was sealed")
    assert office.call(FIRST).state is State.PENDING_REVIEW


def test_contents_swapped_between_two_calls_open_for_neither_and_nothing_is_approved(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240), a_refund(9900, number=2))
    ts = office.card(batch)["ts"]
    keys = [office.store.keys.call(key) for key in (FIRST, SECOND)]
    first, second = (office.client.hget(key, "content") for key in keys)
    office.client.hset(keys[0], "content", second)
    office.client.hset(keys[1], "content", first)
    office.slack.click(BRUNO, CHANNEL, ts, "call.approve", f"call:{FIRST}")
    office.told(BRUNO, "is not what was sealed")
    assert office.client.hget(keys[0], "state") == b"pending_review"
    office.until(lambda: [one for one in office.slack.messages(OPS) if "changed" in readable(one)], "ops is told")
    with pytest.raises(BlobTampered):
        office.call(FIRST)


def test_what_was_stored_of_a_call_opens_under_no_other_run(workshop: Workshop) -> None:
    ready(workshop)
    (call,) = workshop.calls()
    place = workshop.store.keys.call(call.key)
    assert workshop.store.calls.load(call.key) == call
    workshop.client.hset(place, "run", "run_of_somebody_else")
    with pytest.raises(BlobTampered, match="The stored call"):
        workshop.store.calls.load(call.key)


def test_a_receipt_opens_under_no_other_run(workshop: Workshop) -> None:
    ready(workshop)
    (call,) = workshop.calls()
    foreign = workshop.store.calls.seal("receipt", call.key, call.version, "{}", run="run_of_somebody_else")
    workshop.client.hset(workshop.store.keys.call(call.key), "receipt", foreign)
    with pytest.raises(BlobTampered, match="The stored receipt"):
        workshop.store.calls.load(call.key)


def test_the_requester_cannot_be_changed_to_let_them_approve_their_own_call(office: Office) -> None:
    run, _ = office.start(user=BRUNO)
    batch = office.pause(run, a_refund(31240))
    office.card(batch)
    office.client.hset(office.store.keys.run(run), "requester", "U0005")
    office.press(BRUNO, batch, "call.approve", FIRST)
    office.told(BRUNO, "is not what was sealed")
    assert office.call(FIRST).state is State.PENDING_REVIEW


# Decisions.


def written(workshop: Workshop, call: Call, entry: str) -> None:
    """Everything that a plain client has to write so that a call looks approved."""
    keys, now = workshop.store.keys, workshop.store.now()
    workshop.see(ANA)
    workshop.client.rpush(keys.decisions(call.key), entry)
    workshop.client.hset(keys.votes(call.key), ANA, f"approve {now} Ana")
    workshop.client.hset(keys.call(call.key), mapping={"state": "approved", "execute_by": now + 600_000})
    workshop.client.srem(keys.batch_open(str(call.batch)), call.key)
    workshop.client.hincrby(keys.batch(str(call.batch)), "generation", 1)
    workshop.client.zadd(keys.wakeups, {f"execute_batch:{call.batch}": now})
    workshop.execute()


def asked(workshop: Workshop) -> Call:
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    (call,) = workshop.calls()
    return call


@pytest.mark.parametrize("mark", ["", "0" * 64])
def test_a_decision_that_was_written_into_the_store_is_none_and_ops_is_told(workshop: Workshop, mark: str) -> None:
    call = asked(workshop)
    word = Decision(call=call.key, version=1, verdict="approve", reviewer=ANA, name="Ana", mark=mark)
    written(workshop, call, f"{workshop.store.now()} {word.model_dump_json()}")
    assert workshop.shop.done == []
    assert workshop.calls()[0].state is State.PENDING_REVIEW
    assert workshop.calls()[0].decisions == ()
    assert "decision" in alerts(workshop.store)[f"blob:changed:decision:{call.key}"]


def test_a_genuine_decision_counts_for_no_other_call_and_no_other_version(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3)), shipping(("pot", 2), call_id="c2")]])
    workshop.start()
    first, second = workshop.calls()
    assert workshop.decide(first).ok
    (entry,) = workshop.client.lrange(workshop.store.keys.decisions(first.key), 0, -1)
    written(workshop, second, entry.decode())
    written(workshop, second, entry.decode().replace(first.key, second.key))
    assert [line for line in workshop.shop.done if "pot" in str(line)] == []
    assert workshop.calls()[1].decisions == ()


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ('"verdict":"reject"', '"verdict":"approve"'),
        ('"reason":"no"', '"reason":"yes"'),
        ('"version":1', '"version":2'),
        ("Ana", "Ben"),
        ('"correction":false', '"correction":true'),
    ],
)
def test_a_decision_whose_words_were_changed_is_none(workshop: Workshop, was: str, now: str) -> None:
    call = asked(workshop)
    assert workshop.decide(call, "reject", reason="no").ok
    place = workshop.store.keys.decisions(call.key)
    (entry,) = workshop.client.lrange(place, 0, -1)
    assert len(workshop.calls()[0].decisions) == 1
    assert was in entry.decode()
    workshop.client.lset(place, 0, entry.decode().replace(was, now))
    assert workshop.calls()[0].decisions == ()


def test_decisions_outlive_a_rotation_of_the_keys(workshop: Workshop) -> None:
    call = asked(workshop)
    assert workshop.decide(call).ok
    vault = Vault.from_text(f"{new_key()},{STATE_KEY}")
    rotated = Store.open(workshop.client, vault, tenant=TENANT)
    found = rotated.calls.load(call.key)
    assert found is not None
    assert [decision.verdict for decision in found.decisions] == ["approve"]


# At the gate and before a resume.


@pytest.mark.parametrize(("field", "value"), [("tool", "label"), ("agent", "clerk"), ("seal", "0" * 64)])
def test_a_changed_record_does_not_pass_the_gate_and_ops_is_told(workshop: Workshop, field: str, value: str) -> None:
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call).ok
    workshop.client.hset(workshop.store.keys.call(call.key), field, value)
    workshop.execute()
    assert (workshop.calls()[0].state, workshop.shop.done) == (State.REJECTED, [])
    assert "not what was sealed" in alerts(workshop.store)[f"seal:{call.key}"]


@pytest.mark.parametrize(("field", "value"), [("seal", "0" * 64), ("seal", ""), ("tool", "label"), ("agent", "clerk")])
def test_a_run_whose_calls_were_changed_since_is_not_resumed(workshop: Workshop, field: str, value: str) -> None:
    ready(workshop)
    (call,) = workshop.calls()
    workshop.client.hset(workshop.store.keys.call(call.key), field, value)
    workshop.advance()
    assert workshop.run().state is RunState.FAILED
    assert f"call {call.key} is not what was sealed" in (workshop.run().reason or "")
    assert len(workshop.script.calls) == 1
    assert workshop.store.runs.load_state("run_1") is not None


def test_an_edit_that_expired_unchecked_was_never_sealed_and_does_not_stop_the_resume(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))], [saying("Nobody looked.")]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.edit(call, Ship(lines=[Line(item="cup", count=2)])).ok
    batch = workshop.store.keys.batch(call.batch or "")
    workshop.client.hset(batch, "decide_by", 1)
    workshop.client.hset(workshop.store.keys.call(call.key), "check_by", 1)
    assert workshop.store.deadlines.apply(f"decide:{call.batch}").ok
    workshop.advance()
    assert workshop.run().answer == "Nobody looked."


@pytest.mark.parametrize("change", ["cut", "flipped", "older", "of another run"])
def test_a_state_that_is_not_the_newest_one_of_its_run_is_refused_and_told_to_ops(
    workshop: Workshop, change: str
) -> None:
    ready(workshop)
    saved = workshop.store.keys.saved("run_1")
    blob = workshop.client.hget(saved, "blob")
    assert isinstance(blob, bytes)
    older = Vault.from_text(STATE_KEY)
    put = {
        "cut": lambda: blob[:-1],
        "flipped": lambda: blob[:40] + bytes([blob[40] ^ 1]) + blob[41:],
        "older": lambda: stored_at(workshop, older, "run_1", 1),
        "of another run": lambda: stored_at(workshop, older, "run_2", 2),
    }[change]()
    workshop.client.hset(saved, "blob", put)
    workshop.advance()
    run = workshop.run()
    assert (run.state, len(workshop.script.calls)) == (RunState.FAILED, 1)
    assert "was changed or belongs elsewhere" in (run.reason or "")
    told = alerts(workshop.store)
    assert "was changed, is older than it must be" in told["blob:changed:state:run_1"]
    assert "blob_changed" in events(workshop.store)
    assert workshop.client.hget(saved, "blob") == put, "it is kept as it is, for whoever looks into it"


def stored_at(workshop: Workshop, vault: Vault, run: str, revision: int) -> bytes:
    """A blob that is genuine, elsewhere."""
    store = Store.open(workshop.client, vault, tenant=TENANT)
    return store.runs.seal("state", run, revision, b"{}")


def test_ops_is_told_once_however_often_a_bad_record_is_read(workshop: Workshop) -> None:
    ready(workshop)
    workshop.client.hset(workshop.store.keys.saved("run_1"), "blob", b"\x01" + b"x" * 64)
    for _ in range(3):
        with pytest.raises(BlobKeyMissing):
            workshop.store.runs.load_state("run_1")
    entry = workshop.store.outbox.load("alert:blob:no_key:state:run_1")
    assert entry is not None
    assert entry.desired == 1
    assert events(workshop.store).count("blob_no_key") == 1


# Keys that are rotated.


def with_keys(workshop: Workshop, *keys: str) -> None:
    """The same installation after a restart with these VOBO_STATE_KEYS."""
    store = Store.open(workshop.client, Vault.from_text(",".join(keys)), tenant=TENANT)
    store.people.set_home_team(TEAM)
    workshop.store = store


def test_a_run_that_waits_survives_a_rotation_and_is_rewritten_under_the_new_key(workshop: Workshop) -> None:
    fresh = new_key()
    workshop.script.extend([[shipping(("cup", 3))], [shipping(("pot", 2), call_id="c2")], [saying("Both.")]])
    workshop.start()
    with_keys(workshop, fresh, STATE_KEY)
    assert workshop.decide(workshop.calls()[0]).ok
    workshop.execute()
    workshop.advance()
    with_keys(workshop, fresh, STATE_KEY)
    assert workshop.run().pause == 2
    only_new = Store.open(workshop.client, Vault.from_text(fresh), tenant=TENANT)
    assert only_new.runs.load_state("run_1") is not None, "new writes use the new key"
    assert [call.state for call in only_new.calls.of_pause("run_1", 2)] == [State.PENDING_REVIEW]
    assert workshop.decide(workshop.calls()[0]).ok
    workshop.execute()
    workshop.advance()
    assert (workshop.run().answer, len(workshop.shop.done)) == ("Both.", 2)


def test_a_worker_that_still_has_the_old_key_first_reads_what_others_wrote_with_the_new_one(
    workshop: Workshop,
) -> None:
    fresh = new_key()
    with_keys(workshop, fresh)
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    with_keys(workshop, STATE_KEY, fresh)  # the same two keys in another order
    assert workshop.decide(workshop.calls()[0]).ok
    workshop.execute()
    assert len(workshop.shop.done) == 1


def test_a_key_that_was_removed_too_early_fails_the_run_tells_ops_and_loses_nothing(workshop: Workshop) -> None:
    ready(workshop)
    fresh = new_key()
    with_keys(workshop, fresh)
    workshop.advance()
    state = workshop.client.hget(workshop.store.keys.run("run_1"), "state")
    assert state == b"failed"
    told = alerts_without_reading(workshop)
    assert any("VOBO_STATE_KEYS does not hold any more" in text for text in told)
    with_keys(workshop, fresh, STATE_KEY)
    assert "Add the old key after the newest one" in (workshop.run().reason or "")
    assert workshop.store.runs.requeue("run_1", by=LEA).ok
    workshop.advance()
    assert (workshop.run().answer, len(workshop.shop.done)) == ("Shipped.", 1)


def alerts_without_reading(workshop: Workshop) -> list[str]:
    render = Renderer(workshop.store, AnyLaw(), OPS).alert
    subjects = [entry.removeprefix("alert:") for entry in owed(workshop.store) if entry.startswith("alert:blob:")]
    return [message.text for subject in subjects if (message := render(subject))]


def test_an_approved_call_whose_key_is_gone_is_not_run_and_stays_approved(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call).ok
    with_keys(workshop, new_key())
    with pytest.raises(BlobKeyMissing):
        workshop.store.calls.load(call.key)
    with_keys(workshop, STATE_KEY)
    assert (workshop.calls()[0].state, workshop.shop.done) == (State.APPROVED, [])
