"""Taking a call back, as the store keeps it: once, by whoever may, never begun twice, never in doubt without ops."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import redis
from jsonschema import Draft202012Validator

from approvals.drain import drain_once
from approvals.export import SCHEMA_FILE, export
from approvals.ledger import Ledger
from approvals.lifecycle import State, UndoState
from approvals.models import UndoClaim
from approvals.outcomes import Outcome
from approvals.store import Store
from approvals.stories import stories
from approvals.undos import undo_seal
from builders import (
    ANA,
    BEN,
    REQUESTER,
    TENANT,
    a_call,
    a_person,
    approve,
    events,
    loaded,
    move,
    owed,
    paused,
    waking,
)
from orphans import nobody_at_work
from undos import FIRST, Ran, ran, reach

ASKED = {"state": "asked", "missing": "0"}


@pytest.fixture
def one(store: Store, redis_client: redis.Redis) -> Ran:
    return ran(store, redis_client)


@pytest.fixture
def two(store: Store, redis_client: redis.Redis) -> Ran:
    return ran(store, redis_client, "two")


def undo_events(one: Ran) -> list[str]:
    return [kind for kind in events(one.store, one.key) if kind.startswith("und")]


def test_asking_wakes_a_worker_and_is_in_the_ledger_with_who_and_what(one: Ran) -> None:
    assert one.ask() == (Outcome.OK, ASKED)
    assert f"undo_call:{one.key}" in waking(one.store)
    _, event = one.store.ledger.read()[-1]
    assert (event["type"], event["actor"], event["reason"]) == ("undo_asked", ANA, "Pay it back.")
    undo = one.call.undo
    assert undo is not None
    assert (undo.by, undo.name, undo.seal) == (ANA, ANA.title(), undo_seal(one.call, tenant=TENANT))


def test_the_seal_covers_the_receipt_and_the_calls_own_seal(one: Ran) -> None:
    seals = {
        undo_seal(one.call.model_copy(update=changes), tenant=TENANT)
        for changes in ({}, {"receipt": '{"paid": 98}'}, {"seal": "other"}, {"key": "other"}, {"run": "other"})
    }
    assert len(seals) == 5
    assert undo_seal(one.call, tenant="T0OTHER") not in seals


def test_an_undo_that_goes_well_is_told_and_the_call_stays_what_it_was(one: Ran) -> None:
    assert reach(one, UndoState.UNDONE)
    assert (one.call.state, one.call.receipt) == (State.SUCCEEDED, '{"paid": 99}')
    assert one.store.undos.receipt(one.call) == '"paid back"'
    assert undo_events(one) == ["undo_asked", "undo_claimed", "undo_intended", "undone"]
    assert {f"undo:{one.key}", "outcome:run_1:1"} <= owed(one.store)
    assert f"undo_call:{one.key}" not in waking(one.store)
    assert f"undo:{one.key}" not in one.store.deadlines.due(1000)


def test_two_clicks_in_the_same_moment_ask_for_one_undo(store: Store, redis_client: redis.Redis) -> None:
    one = ran(store, redis_client, "one")
    people = [store.people.put(a_person(f"U{number:04d}")) for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda person: store.undos.ask_for(one.call, person=person, needed=1).outcome, people))
    assert sorted(answers) == [Outcome.ALREADY_DECIDED] * 7 + [Outcome.OK]
    assert undo_events(one) == ["undo_asked"]


def test_whoever_comes_second_reads_who_was_first(one: Ran) -> None:
    one.ask()
    answer = one.ask(BEN)
    assert answer.outcome is Outcome.ALREADY_DECIDED
    assert (answer.detail["by"], answer.detail["name"], answer.detail["state"]) == (ANA, ANA.title(), "asked")
    assert one.ask() == (Outcome.REPEATED, ASKED)
    reach_undone = [one.claim(), one.intend(), one.store.undos.succeed(one.claimed, receipt="1")]
    assert all(answer.ok for answer in reach_undone)
    assert one.ask(BEN).detail["state"] == "undone"
    assert one.ask().outcome is Outcome.REPEATED
    assert undo_events(one).count("undo_asked") == 1


@pytest.mark.parametrize("approved", [False, True])
def test_only_what_ran_can_be_taken_back(store: Store, approved: bool) -> None:  # noqa: FBT001 - a parameter
    paused(store, a_call("call_1"))
    if approved:
        approve(store)
    person = store.people.put(a_person(ANA))
    answer = store.undos.ask_for(loaded(store), person=person, needed=1)
    assert answer == (Outcome.WRONG_STATE, {"state": "approved" if approved else "pending_review"})
    gone = loaded(store).model_copy(update={"key": "call_gone"})
    assert store.undos.ask_for(gone, person=person, needed=1).outcome is Outcome.NOT_FOUND


def test_a_call_that_needed_two_people_needs_two_to_take_it_back(two: Ran) -> None:
    assert two.ask() == (Outcome.OK, {"state": "wanted", "missing": "1"})
    assert two.ask() == (Outcome.REPEATED, {"state": "wanted", "missing": "1"})
    assert f"undo_call:{two.key}" not in waking(two.store)
    assert two.claim().outcome is Outcome.WRONG_STATE
    assert two.ask(BEN) == (Outcome.OK, ASKED)
    assert two.call.undo is not None
    assert two.call.undo.name == f"{ANA.title()}, {BEN.title()}"
    assert two.store.undos.voters(two.key) == [ANA, BEN]
    assert undo_events(two) == ["undo_wanted", "undo_asked"]


def test_a_wish_that_nobody_joined_in_time_counts_no_more(two: Ran, redis_client: redis.Redis) -> None:
    two.ask()
    assert two.over() == (Outcome.OK, {"state": "failed"})
    assert two.ask(BEN) == (Outcome.OK, {"state": "wanted", "missing": "1"})
    move(redis_client, two.store.keys.call(two.key), undo_execute_by=two.store.now() - 1)  # no clock came by
    assert two.ask(ANA) == (Outcome.OK, {"state": "wanted", "missing": "1"})
    assert two.store.undos.voters(two.key) == [ANA]


def test_a_wish_about_something_else_is_not_joined(two: Ran, redis_client: redis.Redis) -> None:
    two.ask()
    redis_client.hset(two.store.keys.call(two.key), "undo_seal", "of another receipt")
    assert two.ask(BEN) == (Outcome.OK, {"state": "wanted", "missing": "1"})
    assert two.ask(ANA) == (Outcome.OK, ASKED)


def test_what_nobody_was_asked_about_is_taken_back_on_one_word(store: Store, redis_client: redis.Redis) -> None:
    one = ran(store, redis_client, "auto")
    redis_client.hset(store.keys.call(one.key), "needed", 2)
    assert one.ask(REQUESTER) == (Outcome.OK, ASKED)
    assert one.claim(people=(REQUESTER,)).outcome is Outcome.OK


def test_who_asked_for_the_run_takes_back_no_decision_of_others(one: Ran) -> None:
    assert one.ask(REQUESTER).outcome is Outcome.REQUESTER
    assert one.state is None
    one.store.switches.set_self_approval(allowed=True)
    assert one.ask(REQUESTER) == (Outcome.OK, ASKED)


def test_nothing_is_asked_for_while_everything_is_frozen(one: Ran) -> None:
    one.store.switches.freeze("Omar", "looking into it")
    assert one.ask().outcome is Outcome.FROZEN
    assert one.state is None


@pytest.mark.parametrize("changes", [{"team": "T0OTHER"}, {"guest": True}, {"deactivated": True}])
def test_only_full_members_as_slack_knows_them_now_may_ask(one: Ran, changes: dict[str, object]) -> None:
    assert one.ask(**changes) == (Outcome.STALE_PERSON, {"user": ANA})
    assert one.state is None


def test_a_word_under_an_old_snapshot_does_not_count(one: Ran, redis_client: redis.Redis) -> None:
    old = one.store.people.put(a_person(ANA))
    move(redis_client, one.store.keys.person(ANA), fetched_at=one.store.now() - 61_000)
    assert one.store.undos.ask_for(one.call, person=old, needed=1).outcome is Outcome.STALE_PERSON


def test_the_claim_asks_for_everything_anew(one: Ran, redis_client: redis.Redis) -> None:
    one.ask()
    keys = one.store.keys
    assert one.claim(seal="of something else").outcome is Outcome.STALE_VERSION
    assert one.claim(people=(BEN,)) == (Outcome.STALE_PERSON, {"user": ANA})
    one.store.switches.freeze("Omar", "looking into it")
    assert one.claim().outcome is Outcome.FROZEN
    one.store.switches.unfreeze("Omar")
    vouched = redis_client.hget(keys.vouched, "server")
    redis_client.hset(keys.vouched, "server", "another server")
    assert one.claim().outcome is Outcome.FROZEN
    redis_client.hset(keys.vouched, "server", vouched)
    redis_client.hdel(keys.undo_votes(one.key), ANA)
    assert one.claim().outcome is Outcome.WRONG_STATE
    assert one.state is UndoState.ASKED


def test_a_word_lost_by_one_of_two_stops_the_claim(two: Ran, redis_client: redis.Redis) -> None:
    two.ask()
    two.ask(BEN)
    redis_client.hdel(two.store.keys.undo_votes(two.key), BEN)
    assert two.claim().outcome is Outcome.WRONG_STATE


def test_one_claim_wins_and_may_be_sent_twice(one: Ran) -> None:
    one.ask()
    assert one.claim().outcome is Outcome.OK
    assert one.claim().outcome is Outcome.REPEATED
    assert one.claim("undo-2") == (Outcome.WRONG_STATE, {"state": "executing"})
    gone = one.call.model_copy(update={"key": "call_gone"})
    answer, claim = one.store.undos.claim(gone, token="t", seal="s", ttl_ms=1, people=[], needed=1)
    assert (answer.outcome, claim) == (Outcome.NOT_FOUND, None)


def test_what_was_asked_too_long_ago_is_not_begun_even_if_no_clock_came_by(one: Ran, redis_client: redis.Redis) -> None:
    one.ask()
    move(redis_client, one.store.keys.call(one.key), undo_execute_by=one.store.now() - 1)
    assert one.claim().outcome is Outcome.LAPSED
    assert one.state is UndoState.FAILED
    assert one.call.undo is not None
    assert one.call.undo.reason == "it could not be begun in time"


def test_no_intent_without_the_claim_or_while_frozen(one: Ran, redis_client: redis.Redis) -> None:
    one.ask()
    assert one.intend().outcome is Outcome.LEASE_LOST
    one.claim()
    stranger = one.claim_of("undo-2")
    assert one.store.undos.intend(stranger, longest_ms=1).outcome is Outcome.LEASE_LOST
    one.store.switches.freeze("Omar", "looking into it")
    assert one.intend().outcome is Outcome.FROZEN
    one.store.switches.unfreeze("Omar")
    lease = redis_client.hget(one.store.keys.call(one.key), "undo_lease_until")
    move(redis_client, one.store.keys.call(one.key), undo_lease_until=one.store.now() - 1)
    assert one.intend().outcome is Outcome.LEASE_LOST
    move(redis_client, one.store.keys.call(one.key), undo_lease_until=int(lease or 0))
    assert (one.intend().outcome, one.intend().outcome) == (Outcome.OK, Outcome.REPEATED)
    assert undo_events(one).count("undo_intended") == 1


def test_a_claim_is_kept_by_its_holder_only_and_not_beyond_its_end(one: Ran, redis_client: redis.Redis) -> None:
    one.ask()
    assert not one.store.undos.renew(one.claimed, ttl_ms=1000)
    one.claim()
    assert one.store.undos.renew(one.claimed, ttl_ms=1000)
    assert not one.store.undos.renew(one.claim_of("undo-2"), ttl_ms=1000)
    move(redis_client, one.store.keys.call(one.key), undo_lease_until=one.store.now() - 1)
    assert not one.store.undos.renew(one.claimed, ttl_ms=1000)


def test_a_claim_is_given_back_by_its_holder_only_and_before_its_intent(one: Ran) -> None:
    one.ask()
    one.claim()
    other = one.claim_of("undo-2")
    assert one.store.undos.unclaim(other).outcome is Outcome.LEASE_LOST
    assert one.store.undos.unclaim(one.claimed).outcome is Outcome.OK
    assert one.store.undos.unclaim(one.claimed).outcome is Outcome.REPEATED
    assert f"undo_call:{one.key}" in waking(one.store)
    one.claim("undo-2")
    assert one.store.undos.unclaim(one.claimed).outcome is Outcome.LEASE_LOST
    one.store.undos.intend(other, longest_ms=1)
    assert one.store.undos.unclaim(other).outcome is Outcome.WRONG_STATE
    gone = UndoClaim(call="call_gone", run="run_1", version=1, token=FIRST)
    assert one.store.undos.unclaim(gone).outcome is Outcome.NOT_FOUND


def test_a_worker_lost_between_intent_and_receipt_leaves_it_unknown_and_it_is_never_begun_again(
    one: Ran, redis_client: redis.Redis
) -> None:
    reach(one, UndoState.EXECUTING, intended=True)
    assert one.over() == (Outcome.OK, {"state": "unknown"})
    assert {f"alert:undo:{one.key}", f"undo:{one.key}"} <= owed(one.store)
    assert redis_client.zscore(one.store.keys.deadlines, f"undo:{one.key}") is None
    assert f"undo_call:{one.key}" in waking(one.store), "the tool is asked what became of it"
    assert one.claim("undo-2") == (Outcome.WRONG_STATE, {"state": "unknown"})
    assert one.intend().outcome is Outcome.LEASE_LOST
    answer = one.ask(BEN)
    assert (answer.outcome, answer.detail["state"]) == (Outcome.ALREADY_DECIDED, "unknown")
    assert one.over().outcome is Outcome.REPEATED
    assert undo_events(one).count("undo_intended") == 1


def test_a_worker_lost_before_the_intent_leaves_it_asked_for(one: Ran) -> None:
    reach(one, UndoState.EXECUTING)
    lease = one.call.undo
    assert lease is not None
    assert one.store.deadlines.apply(f"undo:{one.key}").outcome is Outcome.REPEATED, "its lease is not over"
    assert one.over() == (Outcome.OK, {"state": "asked"})
    assert one.store.deadlines.apply("undo:call_gone").outcome is Outcome.NOT_FOUND


def test_a_clock_that_comes_too_early_changes_nothing(one: Ran, redis_client: redis.Redis) -> None:
    one.ask()
    redis_client.zadd(one.store.keys.deadlines, {f"undo:{one.key}": 0})
    assert one.store.deadlines.apply(f"undo:{one.key}").outcome is Outcome.REPEATED
    assert one.state is UndoState.ASKED
    assert f"undo:{one.key}" not in one.store.deadlines.due(1000)


def test_a_late_receipt_of_the_same_claim_settles_an_unknown_undo(one: Ran) -> None:
    reach(one, UndoState.UNKNOWN)
    assert one.store.undos.succeed(one.claimed, receipt='"paid back"').outcome is Outcome.OK
    assert one.state is UndoState.UNDONE
    assert one.store.undos.succeed(one.claimed, receipt='"paid back"').outcome is Outcome.REPEATED
    assert f"undo_call:{one.key}" not in waking(one.store)


def test_an_unknown_undo_is_abandoned_once(one: Ran) -> None:
    reach(one, UndoState.UNKNOWN)
    assert one.store.undos.abandon(one.claimed, reason="again").outcome is Outcome.REPEATED
    other = one.claim_of("undo-2")
    assert one.store.undos.abandon(other, reason="again").outcome is Outcome.LEASE_LOST
    assert undo_events(one).count("undo_unknown") == 1


def test_no_outcome_counts_without_an_intent(one: Ran) -> None:
    reach(one, UndoState.EXECUTING)
    assert one.store.undos.succeed(one.claimed, receipt="1").outcome is Outcome.WRONG_STATE
    assert one.store.undos.fail(one.claimed, reason="no").outcome is Outcome.WRONG_STATE
    assert one.state is UndoState.EXECUTING
    gone = UndoClaim(call="call_gone", run="run_1", version=1, token=FIRST)
    assert one.store.undos.fail(gone, reason="no").outcome is Outcome.NOT_FOUND


def test_a_receipt_that_contradicts_what_was_settled_is_kept_and_told_once(one: Ran) -> None:
    reach(one, UndoState.UNKNOWN)
    assert one.settle(happened=False).ok
    for _ in range(2):
        assert one.store.undos.succeed(one.claimed, receipt='"late"').outcome is Outcome.WRONG_STATE
    assert one.state is UndoState.FAILED
    assert one.store.undos.late_receipt(one.call) == '"late"'
    assert undo_events(one).count("undo_contradicted") == 1
    assert f"alert:undo:{one.key}" in owed(one.store)


def test_an_orphans_receipt_is_kept_when_it_was_asked_for_again(one: Ran) -> None:
    reach(one, UndoState.UNKNOWN)
    one.settle(happened=False)
    one.ask(BEN)
    assert one.store.undos.succeed(one.claimed, receipt='"late"').outcome is Outcome.LEASE_LOST
    assert one.state is UndoState.ASKED
    assert one.store.undos.late_receipt(one.call) == '"late"'


def test_a_refusal_ends_what_it_was_about_and_nothing_else(one: Ran) -> None:
    refuse, seal = one.store.undos.refuse, undo_seal(one.call, tenant=TENANT)
    assert refuse(one.key, seal=seal, reason="no").outcome is Outcome.WRONG_STATE
    one.ask()
    assert refuse(one.key, seal="another", reason="no").outcome is Outcome.STALE_VERSION
    assert refuse(one.key, seal=seal, reason="no").outcome is Outcome.OK
    assert refuse(one.key, seal=seal, reason="no").outcome is Outcome.REPEATED
    assert refuse(one.key, seal=seal, reason="another").outcome is Outcome.WRONG_STATE
    assert refuse(one.key, seal="another", reason="no").outcome is Outcome.WRONG_STATE
    assert refuse("call_gone", seal=seal, reason="no").outcome is Outcome.NOT_FOUND
    assert (one.state, undo_events(one)) == (UndoState.FAILED, ["undo_asked", "undo_failed"])
    one.ask()
    assert refuse(one.key, seal=seal, reason="no").outcome is Outcome.OK, "asked for anew, refused anew"


def test_what_provably_failed_may_be_asked_for_again_and_runs_once(one: Ran) -> None:
    reach(one, UndoState.FAILED)
    assert f"undo:{one.key}" in owed(one.store)
    assert one.call.undo is not None
    assert one.call.undo.ended_at is not None
    assert one.ask(BEN) == (Outcome.OK, ASKED)
    assert one.call.undo is not None
    assert (one.call.undo.name, one.call.undo.reason, one.call.undo.ended_at) == (BEN.title(), None, None)
    assert one.claim("undo-2").ok
    second = one.claim_of("undo-2")
    assert one.store.undos.intend(second, longest_ms=1).outcome is Outcome.OK
    assert one.store.undos.succeed(second, receipt="1").outcome is Outcome.OK


def test_an_operator_settles_an_unknown_undo_once(one: Ran) -> None:
    one.ask()
    assert one.settle(happened=True).outcome is Outcome.WRONG_STATE
    one.claim()
    one.intend()
    one.store.undos.abandon(one.claimed, reason="no answer")
    assert one.settle(happened=True, receipt='"seen"') == (Outcome.OK, {"state": "undone"})
    assert one.settle(happened=True).outcome is Outcome.REPEATED
    assert one.settle(happened=True, by="U0OTHER").outcome is Outcome.WRONG_STATE
    assert one.settle(happened=False).outcome is Outcome.WRONG_STATE
    assert one.store.undos.receipt(one.call) == '"seen"'
    gone = one.call.model_copy(update={"key": "call_gone"})
    answer = one.store.undos.settle(gone, happened=True, by="U0OPS", name="Omar", reason="seen")
    assert answer.outcome is Outcome.NOT_FOUND


def test_where_two_people_decided_two_operators_must_say_the_same(two: Ran) -> None:
    reach(two, UndoState.UNKNOWN)
    assert two.settle(happened=True, needed=2) == (Outcome.OK, {"state": "unknown"})
    assert two.store.undos.marked(two.key) == ("U0Ops", "undone")
    assert two.settle(happened=True, needed=2).outcome is Outcome.REPEATED
    assert two.settle(happened=False, needed=2, by="U0TWO") == (Outcome.OK, {"state": "unknown"})
    assert two.settle(happened=True, needed=2, by="U0TWO") == (Outcome.OK, {"state": "unknown"})
    assert two.settle(happened=True, needed=2) == (Outcome.OK, {"state": "undone"})
    assert undo_events(two)[-4:] == ["undo_marked", "undo_marked", "undo_marked", "undo_settled"]


def test_ops_may_have_the_tool_asked_again_only_while_it_is_unknown(one: Ran, redis_client: redis.Redis) -> None:
    ops = a_person("U0OPS")
    assert one.store.undos.ask_provider(one.key, by=ops).outcome is Outcome.WRONG_STATE
    assert one.store.undos.ask_provider("call_gone", by=ops).outcome is Outcome.NOT_FOUND
    reach(one, UndoState.UNKNOWN)
    redis_client.delete(one.store.keys.wakeups)
    assert one.store.undos.ask_provider(one.key, by=ops).outcome is Outcome.OK
    assert f"undo_call:{one.key}" in waking(one.store)


def test_an_unknown_undo_is_a_dead_letter_until_it_is_settled(one: Ran, redis_client: redis.Redis) -> None:
    reach(one, UndoState.UNKNOWN)
    assert redis_client.sismember(one.store.keys.dead_letters, f"undo:{one.key}")
    one.settle(happened=True)
    assert not redis_client.sismember(one.store.keys.dead_letters, f"undo:{one.key}")


def test_a_settled_undo_may_be_asked_for_again_without_the_old_words(two: Ran) -> None:
    reach(two, UndoState.UNKNOWN)
    two.settle(happened=False, needed=2)
    two.settle(happened=False, needed=2, by="U0TWO")
    assert two.ask() == (Outcome.OK, {"state": "wanted", "missing": "1"})
    assert two.store.undos.marked(two.key) is None
    assert two.store.undos.voters(two.key) == [ANA]


@pytest.mark.parametrize("state", [None, *UndoState])
def test_a_run_is_forgotten_only_when_nobody_is_at_an_undo(
    store: Store, redis_client: redis.Redis, state: UndoState | None
) -> None:
    one = ran(store, redis_client, "two" if state is UndoState.WANTED else "one")
    reach(one, state)
    redis_client.delete(store.keys.ledger)  # drained
    move(redis_client, store.keys.run("run_1"), ended_at=store.now() - 1)
    redis_client.zadd(store.keys.deadlines, {"retire:run_1": 0})
    done = state in {None, UndoState.UNDONE, UndoState.FAILED}
    assert store.deadlines.apply("retire:run_1").outcome is (Outcome.OK if done else Outcome.REPEATED)
    left = {name.decode() for name in redis_client.scan_iter("*")}
    assert any(one.key in name for name in left) is not done, left


def test_the_story_of_a_call_tells_what_became_of_its_undo(one: Ran, tmp_path: Path) -> None:
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")

    def told() -> str:
        drain_once(one.store, ledger)
        return stories(ledger.rows(TENANT, run="run_1")).calls[one.key].undo

    assert told() == ""
    one.ask()
    assert told() == f"undo asked for by {ANA.title()}"
    one.claim()
    one.intend()
    assert told() == f"undo asked for by {ANA.title()}"
    one.store.undos.abandon(one.claimed, reason="no answer")
    assert told() == "nobody knows whether undone: no answer"
    nobody_at_work(one.store, one.key)
    one.settle(happened=False)
    assert told() == "settled as not undone by U0Ops"
    one.ask(BEN)
    one.claim()
    one.intend()
    one.store.undos.fail(one.claimed, reason="It is sold.")
    assert told() == "not undone: It is sold."
    one.ask()
    one.claim()
    one.intend()
    one.store.undos.succeed(one.claimed, receipt="1")
    assert told() == f"undone, as asked by {ANA.title()}"
    assert ledger.verify(TENANT) == []
    lines = [json.loads(line) for line in export(ledger, TENANT)]
    Draft202012Validator(json.loads(SCHEMA_FILE.read_text())).validate(lines[-1])
    assert (lines[-1]["type"], lines[-1]["actor"]["id"]) == ("undone", ANA)


def test_a_word_for_an_undo_that_was_written_into_the_store_is_none(two: Ran, redis_client: redis.Redis) -> None:
    assert two.ask(ANA).ok
    votes = two.store.keys.undo_votes(two.key)
    genuine = redis_client.hget(votes, ANA)
    assert genuine is not None
    redis_client.hset(votes, mapping={BEN: genuine, "U0EVE": f"{two.store.now()} {'0' * 64} Eve", "U0MAL": "1"})
    assert two.store.undos.voters(two.key) == [ANA]
    redis_client.hset(two.store.keys.call(two.key), "undo_seal", "0" * 64)
    assert two.store.undos.voters(two.key) == []


@pytest.mark.parametrize("state", [UndoState.UNDONE, UndoState.FAILED, UndoState.UNKNOWN])
def test_who_has_reported_an_end_holds_nothing_any_more_although_the_lease_would_run_on(
    one: Ran, state: UndoState
) -> None:
    assert reach(one, state)
    assert one.intend().outcome is Outcome.LEASE_LOST
    assert not one.store.undos.renew(one.claimed, ttl_ms=1_000)


def test_what_nobody_has_claimed_is_given_back_by_nobody(one: Ran) -> None:
    assert reach(one, UndoState.ASKED)
    assert one.store.undos.unclaim(one.claimed).outcome is Outcome.WRONG_STATE
    assert one.claim().ok
    assert one.store.undos.unclaim(one.claimed).ok
    assert one.store.undos.unclaim(one.claim_of("another")).outcome is Outcome.WRONG_STATE


def test_an_unknown_end_is_no_refusal_even_for_the_same_reason(one: Ran) -> None:
    assert reach(one, UndoState.UNKNOWN)
    seal = undo_seal(one.call, tenant=TENANT)
    assert one.store.undos.refuse(one.key, seal=seal, reason="no answer").outcome is Outcome.WRONG_STATE


def test_the_same_operator_settles_alone_once_one_is_enough(one: Ran) -> None:
    assert reach(one, UndoState.UNKNOWN)
    assert one.settle(happened=True, needed=2).detail["state"] == "unknown"
    assert one.settle(happened=True, needed=1).detail["state"] == "undone"
