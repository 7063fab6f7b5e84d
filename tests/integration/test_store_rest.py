"""People, switches, the ledger's stream, keys, and the façade."""

import inspect
import re

import pytest
import redis

from approvals.keys import BadIdError, Keys
from approvals.outcomes import Outcome
from approvals.scripts import names, source
from approvals.store import Store, random_id
from approvals.vault import BlobTampered, Vault
from builders import ANA, STATE_KEY, TENANT, a_call, a_person, a_store, approve, events, loaded, owed, paused, start_run


def test_a_snapshot_bears_the_stores_time_of_its_fetch(store: Store) -> None:
    assert store.people.get(ANA) is None
    kept = store.people.put(a_person(ANA, usergroups=("S1", "S2"), fetched_at=5))
    assert abs(kept.fetched_at - store.now()) < 5_000
    assert store.people.get(ANA) == kept


def test_a_freeze_is_in_the_ledger_once_and_can_be_lifted(store: Store) -> None:
    assert store.switches.frozen() is None
    assert store.switches.freeze("U0OPS", "restored from a backup").outcome is Outcome.OK
    assert store.switches.freeze("U0OPS", "restored from a backup").outcome is Outcome.REPEATED
    assert store.switches.frozen() == "frozen by U0OPS: restored from a backup"
    assert store.switches.unfreeze("U0OPS").outcome is Outcome.OK
    assert store.switches.unfreeze("U0OPS").outcome is Outcome.REPEATED
    assert store.switches.frozen() is None
    assert events(store) == ["frozen", "unfrozen"]


def test_whoever_freezes_for_another_reason_is_added_to_it_noted_and_told(store: Store) -> None:
    switches = store.switches
    assert switches.freeze("olga", "upgrade").outcome is Outcome.OK
    told = {entry for entry in owed(store) if entry.startswith("alert:")}
    assert switches.freeze("omar", "upgrade").outcome is Outcome.OK, "somebody else"
    assert switches.freeze("olga", "refunds look wrong").outcome is Outcome.OK, "the same person, for another reason"
    for again in (("olga", "upgrade"), ("omar", "upgrade"), ("olga", "refunds look wrong")):
        assert switches.freeze(*again).outcome is Outcome.REPEATED
    assert switches.frozen() == "frozen by olga: upgrade; by omar: upgrade; by olga: refunds look wrong"
    assert [(one.by, one.reason, one.guard) for one in switches.freezes()] == [
        ("olga", "upgrade", False),
        ("omar", "upgrade", False),
        ("olga", "refunds look wrong", False),
    ]
    assert events(store) == ["frozen", "frozen", "frozen"]
    more = {entry for entry in owed(store) if entry.startswith("alert:")}
    assert more > told, "a message of its own: an edit of the first one would be seen by nobody"
    wanted = {entry: store.outbox.load(entry).desired for entry in more}
    assert switches.unfreeze("olga", "all is well").ok
    assert all(store.outbox.load(entry).desired > wanted[entry] for entry in more), "each says that it is over"


def test_nobody_lifts_a_freeze_whose_reasons_are_not_those_they_saw(store: Store) -> None:
    assert store.switches.freeze("olga", "upgrade").ok
    seen = store.switches.freezes()
    assert store.switches.guard("Redis is older than the ledger").ok
    answer = store.switches.unfreeze("olga", "upgraded", seen=len(seen))
    assert (answer.outcome, answer.detail) == (Outcome.STALE_VERSION, {"version": "2"})
    assert len(store.switches.freezes()) == 2
    assert store.switches.unfreeze("olga", "upgraded", seen=2).outcome is Outcome.OK


def test_a_freeze_that_an_older_version_left_is_read_added_to_and_lifted(
    store: Store, redis_client: redis.Redis
) -> None:
    redis_client.hset(store.keys.frozen, mapping={"by": "vobo", "reason": "Redis is older", "at": "1700000000000"})
    redis_client.hset(store.keys.entry("alert:switch:frozen"), "desired", 1)
    assert store.switches.frozen() == "frozen by vobo: Redis is older"
    assert store.switches.freezes()[0].guard, "only the guard was called so; who cannot know is careful"
    assert store.switches.guard("Redis is older").outcome is Outcome.REPEATED
    assert store.switches.freeze("vobo", "Redis is older").outcome is Outcome.OK
    assert [one.guard for one in store.switches.freezes()] == [True, False], "the user of that name is not the guard"
    assert store.switches.unfreeze("ops", "reconciled").outcome is Outcome.OK
    assert store.outbox.load("alert:switch:frozen").desired == 2, "its message says that it is over"


def test_self_approval_is_off_unless_it_was_switched_on(store: Store) -> None:
    assert not store.switches.self_approval()
    store.switches.set_self_approval(True)
    assert store.switches.self_approval()
    store.switches.set_self_approval(False)
    assert not store.switches.self_approval()


def test_an_event_stays_in_the_stream_until_it_is_dropped(store: Store) -> None:
    paused(store, a_call("call_1"))
    approve(store)
    first = store.ledger.read(count=2)
    assert [fields["type"] for _, fields in first] == ["run_started", "paused"]
    assert store.ledger.read(count=2) == first
    store.ledger.drop([event_id for event_id, _ in first])
    store.ledger.drop([event_id for event_id, _ in first])
    store.ledger.drop([])
    assert events(store) == ["proposed", "posted", "approved"]


def test_an_event_says_who_did_what_to_which_version_and_when(store: Store) -> None:
    paused(store, a_call("call_1"))
    start_run(store, "run_2")
    approve(store)
    event = store.ledger.of_run("run_1")[-1]
    assert event.pop("id")
    assert abs(int(event.pop("at")) - store.now()) < 5_000
    assert int(event.pop("decide_by")) > store.now()
    assert event == {
        "type": "approved",
        "run": "run_1",
        "batch": "batch_a",
        "call": "call_1",
        "tool": "refund_payments",
        "version": "1",
        "seal": "seal-call_1-1",
        "law": "law-1",
        "actor": ANA,
        "name": "U0Ana",
    }
    assert [event["type"] for event in store.ledger.of_run("run_2")] == ["run_started"]


def test_scripts_build_the_same_keys_as_python(redis_client: redis.Redis) -> None:
    keys = Keys(TENANT)
    from_python = {name: value for name, value in vars(keys).items() if name != "prefix"}
    for name, method in inspect.getmembers(keys, inspect.ismethod):
        if name not in {"__init__", "cap"}:  # caps are passed in: their names are free text
            from_python[name] = method(*("a", "b")[: len(inspect.signature(method).parameters)])
    lua = (
        source("note").partition("-- Prelude 2")[0]
        + """
        local found = {}
        for name, value in pairs(key) do
          found[#found + 1] = name
          found[#found + 1] = type(value) == 'string' and value or value('a', 'b')
        end
        return found
    """
    )
    flat = [item.decode() for item in redis_client.eval(lua, 1, keys.prefix)]
    assert dict(zip(flat[::2], flat[1::2], strict=True)) == from_python


def test_every_script_is_one_the_server_understands(redis_client: redis.Redis) -> None:
    for name in names():
        assert redis_client.script_load(source(name))


def test_a_script_that_the_server_forgot_is_loaded_again(store: Store, redis_client: redis.Redis) -> None:
    start_run(store)
    redis_client.script_flush()
    assert start_run(store).outcome is Outcome.REPEATED


def test_free_text_in_a_cap_cannot_reach_another_caps_key() -> None:
    keys = Keys(TENANT)
    assert keys.cap("a:b", "EUR", "c", "day-1") != keys.cap("a", "EUR", "b:c", "day-1")
    assert keys.cap("a", "EUR", "c:day-1", "run-r").count(":day-") == 0


def test_tenants_do_not_see_each_other(redis_client: redis.Redis) -> None:
    one, vault = a_store(redis_client), Vault.from_text(STATE_KEY)
    other = Store.open(redis_client, vault, tenant="T0OTHER")
    start_run(one)
    assert other.runs.load("run_1") is None
    assert other.wakeups.due() == []
    with pytest.raises(BadIdError):
        Store.open(redis_client, vault, tenant="T0:run")


def test_a_stored_content_put_in_another_calls_place_is_noticed(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2))
    content = redis_client.hget(store.keys.call("call_1"), "content")
    redis_client.hset(store.keys.call("call_2"), "content", content)
    assert loaded(store, "call_1")
    with pytest.raises(BlobTampered):
        store.calls.load("call_2")


def test_nothing_of_a_call_that_people_or_data_wrote_is_readable_in_the_store(
    store: Store, redis_client: redis.Redis
) -> None:
    paused(store, a_call("call_1"))
    stored = b"".join(redis_client.hgetall(store.keys.call("call_1")).values())
    assert b"payment_id" not in stored
    assert b"99.00 EUR" not in stored


def test_a_client_that_decodes_would_garble_blobs_and_is_refused(valkey_url: str) -> None:
    with (
        redis.Redis.from_url(valkey_url, decode_responses=True) as client,
        pytest.raises(ValueError, match="redis_check"),
    ):
        Store.open(client, Vault.from_text(STATE_KEY), tenant=TENANT)


def test_a_fresh_id_tells_what_it_names(redis_client: redis.Redis) -> None:
    store = Store.open(redis_client, Vault.from_text(STATE_KEY), tenant=TENANT)
    store.probe()
    assert re.fullmatch(r"call_[a-z2-7]{12}", store.new_id("call"))
    assert re.fullmatch(r"call_[a-z2-7]{12}", store.new_id("call_"))
    assert len({random_id() for _ in range(1000)}) == 1000
