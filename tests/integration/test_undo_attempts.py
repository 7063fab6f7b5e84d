"""Two attempts at one undo: what is said of the first binds the first, and a receipt of it forbids the second."""

from collections.abc import Callable

import pytest
import redis

from approvals.lifecycle import UndoState
from approvals.outcomes import Answer, Outcome
from approvals.store import Store
from approvals.stuck import open_alerts
from approvals.vault import Binding, BlobTampered
from bot.relay import Relay
from bot.rendering import Renderer
from bot.sending import SendingFailed
from bot_builders import AnyLaw
from builders import ANA, BEN, TENANT, a_person, events, owed, waking
from orphans import nobody_at_work
from undos import FIRST, Ran, ran, reach

SECOND = "undo-2"


@pytest.fixture
def one(store: Store, redis_client: redis.Redis) -> Ran:
    return ran(store, redis_client)


def settled_as_not_undone(one: Ran) -> None:
    """Nobody saw the end of the first attempt; ops was wrong about it."""
    reach(one, UndoState.UNKNOWN)
    assert one.settle(happened=False).ok


def orphan_reports(one: Ran) -> Answer:
    return one.store.undos.succeed(one.claimed, receipt='"late"')


def second_attempt(one: Ran) -> None:
    settled_as_not_undone(one)
    assert one.ask().ok
    assert one.claim(SECOND).ok
    assert one.store.undos.intend(one.claim_of(SECOND), longest_ms=5_000).ok


# A receipt that came late.


def test_what_a_late_receipt_proves_undone_is_not_asked_for_again(one: Ran) -> None:
    settled_as_not_undone(one)
    orphan_reports(one)
    for user in (ANA, BEN):
        answer = one.ask(user)
        assert (answer.outcome, answer.detail["state"]) == (Outcome.ALREADY_DECIDED, "contradicted")
    assert one.state is UndoState.FAILED
    assert events(one.store, one.key).count("undo_asked") == 1


def test_what_was_asked_for_again_before_the_receipt_came_is_not_begun(one: Ran) -> None:
    settled_as_not_undone(one)
    assert one.ask().ok
    orphan_reports(one)
    assert one.claim(SECOND) == (Outcome.WRONG_STATE, {"state": "contradicted"})


def test_what_was_claimed_before_the_receipt_came_is_not_intended_and_can_be_given_back(one: Ran) -> None:
    settled_as_not_undone(one)
    assert one.ask().ok
    assert one.claim(SECOND).ok
    orphan_reports(one)
    second = one.claim_of(SECOND)
    answer = one.store.undos.intend(second, longest_ms=5_000)
    assert answer == (Outcome.WRONG_STATE, {"state": "contradicted"})
    assert one.store.undos.unclaim(second).ok
    assert one.claim("undo-3").outcome is Outcome.WRONG_STATE
    assert events(one.store, one.key).count("undo_intended") == 1


def test_a_contradiction_stays_with_ops_until_ops_closes_it(one: Ran, redis_client: redis.Redis) -> None:
    settled_as_not_undone(one)
    assert one.ask().ok
    redis_client.delete(one.store.keys.outbox)
    orphan_reports(one)
    assert {f"alert:undo:{one.key}", f"undo:{one.key}", "outcome:run_1:1"} <= owed(one.store)
    assert f"undo:{one.key}" in open_alerts(one.store.outbox), "it is not settled by itself"
    undo = one.call.undo
    assert undo is not None
    assert one.store.undos.refuse(one.key, seal=undo.seal, reason="undone already").ok
    assert redis_client.sismember(one.store.keys.dead_letters, f"undo:{one.key}")


@pytest.mark.parametrize("end", ["refused", "lapsed"])
def test_a_contradiction_that_ops_has_closed_is_not_opened_by_the_end_of_the_second_attempt(
    one: Ran, redis_client: redis.Redis, end: str
) -> None:
    settled_as_not_undone(one)
    assert one.ask().ok
    orphan_reports(one)
    assert one.store.operators.close(f"undo:{one.key}", by=a_person("U0OPS")).ok
    undo = one.call.undo
    assert undo is not None
    if end == "lapsed":
        assert one.over().ok
    else:
        assert one.store.undos.refuse(one.key, seal=undo.seal, reason="undone already").ok
    assert one.state is UndoState.FAILED
    assert not redis_client.smembers(one.store.keys.dead_letters), "nobody is told, so nobody could close it"


def test_only_a_receipt_contradicts_what_was_settled(one: Ran) -> None:
    reach(one, UndoState.UNKNOWN)
    assert one.settle(happened=True).ok
    assert one.store.undos.fail(one.claimed, reason="no").outcome is Outcome.WRONG_STATE
    assert one.call.undo is not None
    assert not one.call.undo.contradicted
    assert "undo_contradicted" not in events(one.store, one.key)


# A word about one attempt.


@pytest.mark.parametrize("happened", [True, False])
@pytest.mark.parametrize("needed", [1, 2])
def test_a_word_about_the_first_attempt_says_nothing_of_the_second(one: Ran, *, happened: bool, needed: int) -> None:
    reach(one, UndoState.UNKNOWN)
    read_before = one.call
    assert one.settle(happened=False, by="U0OTHER").ok
    assert one.ask().ok
    assert one.claim(SECOND).ok
    second = one.claim_of(SECOND)
    assert one.store.undos.intend(second, longest_ms=5_000).ok
    assert one.store.undos.abandon(second, reason="no answer").ok
    word = {"happened": happened, "by": "U0OPS", "name": "Omar", "reason": "not there", "needed": needed}
    assert one.store.undos.settle(read_before, **word) == (Outcome.WRONG_STATE, {"state": "unknown"})
    assert one.store.undos.settle(one.call, attempt=FIRST, **word).outcome is Outcome.WRONG_STATE
    assert (one.state, one.store.undos.marked(one.key)) == (UndoState.UNKNOWN, None)
    nobody_at_work(one.store, one.key)
    assert one.store.undos.settle(one.call, attempt=SECOND, **word).ok


@pytest.mark.parametrize("late", ["succeed", "fail", "abandon"])
def test_the_worker_of_the_first_attempt_does_not_end_the_second(one: Ran, late: str) -> None:
    second_attempt(one)
    undos, claim = one.store.undos, one.claimed
    ways: dict[str, Callable[[], Answer]] = {
        "succeed": lambda: undos.succeed(claim, receipt="1"),
        "fail": lambda: undos.fail(claim, reason="no"),
        "abandon": lambda: undos.abandon(claim, reason="lost"),
    }
    assert ways[late]().outcome is Outcome.LEASE_LOST
    assert one.state is UndoState.EXECUTING


@pytest.mark.parametrize("state", [UndoState.UNKNOWN, UndoState.UNDONE, UndoState.FAILED])
def test_a_claim_that_has_ended_is_not_repeated(one: Ran, state: UndoState) -> None:
    reach(one, state)
    assert one.claim(FIRST) == (Outcome.WRONG_STATE, {"state": state.value})


def test_ops_is_told_again_when_a_late_word_of_the_worker_ends_an_unknown_undo(
    one: Ran, redis_client: redis.Redis
) -> None:
    reach(one, UndoState.UNKNOWN)
    redis_client.delete(one.store.keys.outbox)
    assert one.store.undos.fail(one.claimed, reason="it said no").ok
    assert f"alert:undo:{one.key}" in owed(one.store)


# How many people it takes.


def test_as_many_must_want_it_as_the_law_asks_now(one: Ran) -> None:
    assert one.ask(needed=2) == (Outcome.OK, {"state": "wanted", "missing": "1"})
    assert one.ask(needed=2) == (Outcome.REPEATED, {"state": "wanted", "missing": "1"})
    assert one.ask(BEN, needed=2) == (Outcome.OK, {"state": "asked", "missing": "0"})
    assert one.claim(needed=3).outcome is Outcome.WRONG_STATE
    assert one.claim(needed=2).ok


def test_never_fewer_must_want_it_than_had_to_approve(store: Store, redis_client: redis.Redis) -> None:
    two = ran(store, redis_client, "two")
    assert two.ask(needed=1) == (Outcome.OK, {"state": "wanted", "missing": "1"})


def test_a_wish_is_enough_as_soon_as_the_law_asks_for_no_more(one: Ran) -> None:
    assert one.ask(needed=2).detail["state"] == "wanted"
    assert one.ask(needed=1) == (Outcome.OK, {"state": "asked", "missing": "0"})
    assert one.call.undo is not None
    assert one.call.undo.name == ANA.title()
    assert f"undo_call:{one.key}" in waking(one.store)


def test_who_wanted_it_in_vain_may_want_it_again(one: Ran) -> None:
    assert one.ask(needed=2).ok
    assert one.over() == (Outcome.OK, {"state": "failed"})
    assert one.ask(needed=2) == (Outcome.OK, {"state": "wanted", "missing": "1"})
    assert one.call.undo is not None
    assert one.call.undo.name == ANA.title()


# Receipts belong to a run.


def test_the_receipts_of_an_undo_open_under_no_other_run(one: Ran) -> None:
    reach(one, UndoState.UNDONE)
    assert one.store.undos.receipt(one.call) == '"paid back"'
    other = one.call.model_copy(update={"run": "run_of_somebody_else"})
    with pytest.raises(BlobTampered, match="undo_receipt"):
        one.store.undos.receipt(other)
    assert any(entry.startswith("alert:blob:changed:undo_receipt:") for entry in owed(one.store))


def test_a_late_receipt_and_one_that_was_settled_with_open_under_no_other_run(one: Ran) -> None:
    reach(one, UndoState.UNKNOWN)
    assert one.settle(happened=False, receipt='"seen"').ok
    orphan_reports(one)
    other = one.call.model_copy(update={"run": "run_of_somebody_else"})
    assert (one.store.undos.receipt(one.call), one.store.undos.late_receipt(one.call)) == ('"seen"', '"late"')
    for read in (one.store.undos.receipt, one.store.undos.late_receipt):
        with pytest.raises(BlobTampered):
            read(other)


@pytest.mark.parametrize("kind", ["call", "receipt", "kept", "undo_receipt", "drifted"])
def test_what_is_a_calls_is_neither_sealed_nor_opened_without_its_run(one: Ran, kind: str) -> None:
    with pytest.raises(ValueError, match="name it"):
        one.store.undos.seal(kind, one.key, 1, "{}")
    unbound = one.store.undos.vault.seal_blob(b"{}", Binding(TENANT, kind, one.key, 1))
    with pytest.raises(BlobTampered, match="names no run"):
        one.store.undos.open(kind, one.key, 1, unbound)
    assert f"alert:blob:changed:{kind}:{one.key}" in owed(one.store)


# Its message in the thread.


class Refusing:
    """A workspace that takes nothing."""

    def opened(self, target: object) -> object:
        return target

    def post(self, *_: object) -> str:
        raise SendingFailed("invalid_blocks", unsure=False)


def relay(store: Store) -> Relay:
    sender: object = Refusing()
    return Relay(store, Renderer(store, AnyLaw(), "C0OPS"), sender, "relay-1")  # type: ignore[arg-type]


def only(one: Ran, redis_client: redis.Redis) -> str:
    """Nothing but the message about the undo is owed; its id."""
    mine = f"undo:{one.key}"
    redis_client.zrem(one.store.keys.outbox, *(entry.id for entry in one.store.outbox.due() if entry.id != mine))
    return mine


def test_an_undo_that_is_asked_for_again_before_its_end_was_told_alerts_nobody(
    one: Ran, redis_client: redis.Redis
) -> None:
    reach(one, UndoState.FAILED)
    assert one.ask().ok
    mine = only(one, redis_client)
    relay(one.store).drain()
    assert owed(one.store) == set()
    assert one.claim().ok
    assert one.intend().ok
    assert one.store.undos.fail(one.claimed, reason="no").ok
    assert mine in owed(one.store), "the next end is told again"


def test_what_is_owed_anew_meanwhile_is_not_given_up(one: Ran, redis_client: redis.Redis) -> None:
    reach(one, UndoState.FAILED)
    mine = only(one, redis_client)
    one.store.outbox.owe("undo", one.key)
    one.store.outbox.give_up(mine, error="its subject is no longer kept", version=1)
    assert owed(one.store) == {mine}


def test_an_end_that_slack_refuses_to_show_is_told_to_ops(one: Ran, redis_client: redis.Redis) -> None:
    reach(one, UndoState.FAILED)
    mine = only(one, redis_client)
    relay(one.store).drain()
    assert owed(one.store) == {f"alert:outbox:{mine}"}
