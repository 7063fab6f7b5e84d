"""Messages and alerts: who sends, and when ops is told once more."""

import redis

from approvals.models import Claim
from approvals.store import Store
from builders import a_call, a_content, a_requirement, approve, claim, lease_batch, move, paused, start_run
from policies.money import eur
from policies.requirement import Spending

ENTRY = "opening:run_1"


def unknown(store: Store) -> Claim:
    paused(store, a_call("call_1"))
    approve(store)
    taken = claim(store, lease_batch(store))
    assert store.effects.intend(taken).ok
    assert store.effects.abandon("call_1", token=taken.token, reason="no answer").ok
    assert store.effects.alert_unknown("call_1").ok
    return taken


def times_told(store: Store) -> int:
    entry = store.outbox.load("alert:call:call_1")
    return entry.desired if entry else 0


def test_a_message_that_nobody_owes_is_not_begun(store: Store) -> None:
    assert store.outbox.begin("card:nothing", token="relay") is None


def test_a_relay_begins_although_none_has_ever_led(store: Store) -> None:
    start_run(store)
    assert store.outbox.begin(ENTRY, token="relay") is not None


def test_a_message_is_left_to_its_sender_only_while_that_relay_leads(store: Store, redis_client: redis.Redis) -> None:
    start_run(store)
    assert store.outbox.lead("first", ttl_ms=60_000)
    assert store.outbox.begin(ENTRY, token="first") is not None
    assert store.outbox.begin(ENTRY, token="second") is None
    assert store.outbox.begin(ENTRY, token="first") is not None
    move(redis_client, store.keys.lead, until=store.now() - 1)
    begun = store.outbox.begin(ENTRY, token="second")
    assert begun is not None
    assert begun.sending


def test_ops_is_told_again_when_a_late_receipt_settles_an_unknown_call(store: Store) -> None:
    taken = unknown(store)
    before = times_told(store)
    assert store.effects.succeed(taken, receipt="{}").ok
    assert times_told(store) == before + 1


def test_ops_is_told_again_when_a_late_proof_settles_an_unknown_call(store: Store) -> None:
    taken = unknown(store)
    before = times_told(store)
    assert store.effects.fail(taken, reason="refused").ok
    assert times_told(store) == before + 1


def test_ops_is_not_told_of_what_went_well_or_provably_did_not_happen(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    approve(store, "call_1")
    approve(store, "call_2")
    lease = lease_batch(store)
    assert store.effects.succeed(claim(store, lease, "call_1"), receipt="{}").ok
    assert store.effects.fail(claim(store, lease, "call_2", token="second"), reason="refused").ok
    assert times_told(store) == 0


def test_a_cap_of_a_day_is_forgotten_after_it_and_one_of_a_run_is_not(store: Store, redis_client: redis.Redis) -> None:
    day = Spending(cap="per customer", amounts={"cus_1": eur(10)}, limit=eur(300))
    spends = (day, day.model_copy(update={"cap": "per run", "window": "run"}))
    paused(store, a_call("call_1", content=a_content(requirement=a_requirement(spends=spends))))
    approve(store)
    claim(store, lease_batch(store))
    lasts = redis_client.ttl(store.keys.cap("per customer", "EUR", "cus_1", "day-2026-11-29"))
    assert 7 * 24 * 3600 < int(str(lasts)) <= 8 * 24 * 3600
    assert redis_client.ttl(store.keys.cap("per run", "EUR", "cus_1", "run-run_1")) == -1
