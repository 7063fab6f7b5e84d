"""Tokens, leases and intents: who may still speak about a claim, and in which states."""

from collections.abc import Callable

import pytest
import redis

from approvals.lifecycle import State
from approvals.models import Claim
from approvals.outcomes import Answer, Outcome
from approvals.store import Store
from builders import a_call, a_content, approve, claim, lease_batch, loaded, move, paused, try_claim

FOREIGN = "somebody-else"


@pytest.fixture
def taken(store: Store) -> Claim:
    """A claim on call_1 that was not intended yet."""
    paused(store, a_call("call_1"))
    approve(store)
    return claim(store, lease_batch(store))


def foreign(taken: Claim) -> Claim:
    return taken.model_copy(update={"token": FOREIGN})


def run_out(store: Store, client: redis.Redis) -> None:
    """The claim's lease is over."""
    move(client, store.keys.call("call_1"), lease_until=store.now() - 1)


Verb = Callable[[Store, Claim], Answer]
VERBS: dict[str, Verb] = {
    "abandon": lambda store, taken: store.effects.abandon(taken.call, token=taken.token, reason="no answer"),
    "unclaim": lambda store, taken: store.effects.unclaim(taken.call, token=taken.token),
    "release": lambda store, taken: store.effects.release(taken, content=a_content(), seal="s2", difference=["gone"]),
    "succeed": lambda store, taken: store.effects.succeed(taken, receipt="{}"),
    "fail": lambda store, taken: store.effects.fail(taken, reason="refused"),
    "intend": lambda store, taken: store.effects.intend(taken),
}


@pytest.mark.parametrize("verb", ["abandon", "unclaim", "release", "intend"])
@pytest.mark.parametrize("ended", [State.SUCCEEDED, State.FAILED])
@pytest.mark.parametrize("intended", [True, False])
def test_after_its_end_a_call_is_neither_started_nor_given_back_nor_doubted(
    store: Store,
    taken: Claim,
    verb: str,
    ended: State,
    intended: bool,  # noqa: FBT001 - parametrized
) -> None:
    if intended:
        assert store.effects.intend(taken).ok
    end = VERBS["succeed" if ended is State.SUCCEEDED else "fail"]
    assert end(store, taken).outcome is Outcome.OK
    refused = Outcome.LEASE_LOST if verb == "intend" else Outcome.WRONG_STATE
    assert VERBS[verb](store, taken).outcome is refused
    assert loaded(store).state is ended


@pytest.mark.parametrize("verb", ["abandon", "unclaim", "release", "succeed", "fail", "intend"])
@pytest.mark.parametrize("over", [False, True])
def test_a_foreign_token_changes_no_claim_while_its_lease_lasts_or_after_it(
    store: Store,
    redis_client: redis.Redis,
    taken: Claim,
    verb: str,
    over: bool,  # noqa: FBT001 - parametrized
) -> None:
    if verb == "abandon":
        assert store.effects.intend(taken).ok
    if over:
        run_out(store, redis_client)
    assert VERBS[verb](store, foreign(taken)).outcome is Outcome.LEASE_LOST
    assert loaded(store).state is State.EXECUTING


def test_without_a_token_a_claim_is_doubted_only_once_its_lease_is_over(
    store: Store, redis_client: redis.Redis, taken: Claim
) -> None:
    assert store.effects.intend(taken).ok
    assert store.effects.abandon("call_1", reason="gone").outcome is Outcome.LEASE_LOST
    run_out(store, redis_client)
    assert store.effects.abandon("call_1", reason="gone").outcome is Outcome.OK
    assert store.effects.abandon("call_1", reason="gone").outcome is Outcome.REPEATED
    assert store.effects.abandon("call_1", token=FOREIGN, reason="gone").outcome is Outcome.WRONG_STATE


def test_without_a_token_a_claim_is_undone_only_once_its_lease_is_over(
    store: Store, redis_client: redis.Redis, taken: Claim
) -> None:
    assert store.effects.unclaim("call_1").outcome is Outcome.LEASE_LOST
    run_out(store, redis_client)
    assert store.effects.unclaim("call_1").outcome is Outcome.OK
    assert store.effects.unclaim("call_1", token=FOREIGN).outcome is Outcome.WRONG_STATE


def test_after_the_intent_a_claim_is_neither_undone_nor_released(store: Store, taken: Claim) -> None:
    assert store.effects.intend(taken).ok
    assert VERBS["unclaim"](store, taken).outcome is Outcome.WRONG_STATE
    assert VERBS["release"](store, taken).outcome is Outcome.WRONG_STATE
    assert store.effects.unclaim("call_1").outcome is Outcome.WRONG_STATE
    assert (loaded(store).state, loaded(store).version) == (State.EXECUTING, 1)


def test_before_the_intent_nobody_can_doubt_an_effect(store: Store, redis_client: redis.Redis, taken: Claim) -> None:
    run_out(store, redis_client)
    assert VERBS["abandon"](store, taken).outcome is Outcome.WRONG_STATE
    assert store.effects.abandon("call_1", reason="gone").outcome is Outcome.WRONG_STATE
    assert loaded(store).state is State.EXECUTING


def test_an_intent_needs_its_token_its_lease_and_its_claim(
    store: Store, redis_client: redis.Redis, taken: Claim
) -> None:
    run_out(store, redis_client)
    assert store.effects.intend(taken).outcome is Outcome.LEASE_LOST
    assert store.effects.renew(taken, ttl_ms=1000) is False
    assert store.effects.unclaim("call_1", token=taken.token).ok
    move(redis_client, store.keys.call("call_1"), lease_until=store.now() + 60_000)
    redis_client.hset(store.keys.call("call_1"), "token", taken.token)
    assert store.effects.intend(taken).outcome is Outcome.LEASE_LOST  # approved again, and not claimed
    assert store.effects.renew(taken, ttl_ms=1000) is False
    assert not loaded(store).intended


def test_only_the_holder_renews_a_claim(store: Store, taken: Claim) -> None:
    assert store.effects.renew(foreign(taken), ttl_ms=1000) is False
    assert store.effects.renew(taken, ttl_ms=1000) is True


def test_a_release_must_be_about_the_version_that_was_claimed(store: Store, taken: Claim) -> None:
    other = taken.model_copy(update={"version": 2})
    assert VERBS["release"](store, other).outcome is Outcome.LEASE_LOST
    assert (loaded(store).state, loaded(store).version) == (State.EXECUTING, 1)


def test_a_receipt_counts_under_the_token_of_the_claim_and_is_kept_under_any_other(store: Store, taken: Claim) -> None:
    assert store.effects.intend(taken).ok
    assert store.effects.succeed(foreign(taken), receipt='{"id": 2}').outcome is Outcome.LEASE_LOST
    assert (loaded(store).state, store.effects.late_receipt("call_1")) == (State.EXECUTING, '{"id": 2}')
    assert store.effects.succeed(taken, receipt='{"id": 1}').outcome is Outcome.OK
    assert store.effects.succeed(foreign(taken), receipt='{"id": 3}').outcome is Outcome.LEASE_LOST
    assert (loaded(store).receipt, store.effects.late_receipt("call_1")) == ('{"id": 1}', '{"id": 2}')


def test_a_receipt_of_a_call_that_was_given_back_is_kept_and_settles_nothing(store: Store, taken: Claim) -> None:
    assert store.effects.unclaim("call_1", token=taken.token).ok
    assert store.effects.succeed(taken, receipt='{"id": 1}').outcome is Outcome.LEASE_LOST
    assert loaded(store).state is State.APPROVED


def test_claiming_again_under_the_same_token_is_a_repetition_only_while_it_executes(store: Store, taken: Claim) -> None:
    lease = store.batches.lease("batch_a", token="worker-2", ttl_ms=1000)
    assert lease is not None
    assert try_claim(store, lease, token=taken.token)[0].outcome is Outcome.REPEATED
    assert try_claim(store, lease, token=FOREIGN)[0].outcome is Outcome.WRONG_STATE
    assert store.effects.intend(taken).ok
    assert store.effects.succeed(taken, receipt="{}").ok
    assert try_claim(store, lease, token=taken.token)[0].outcome is Outcome.WRONG_STATE
