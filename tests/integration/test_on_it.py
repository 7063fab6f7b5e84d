""" "I'm on it" keeps others from being asked only for as long as whoever said it can still do something."""

import redis

from approvals.models import ProposedCall
from approvals.outcomes import Outcome
from approvals.store import Store
from bot_office import BRUNO, CHANNEL, Office, a_refund
from builders import ANA, BEN, a_call, a_content, a_requirement, approve, edit, events, lease_batch, paused, reject


def two(key: str = "call_1", number: int = 1, *, reviewers: int = 2) -> ProposedCall:
    return a_call(key, number=number, content=a_content(requirement=a_requirement(reviewers=reviewers)))


def at(store: Store, kind: str) -> int:
    """When the reviewers are reminded, or the next tier is asked (ms); 0 when they will not be."""
    return store.deadlines.at(f"{kind}:batch_a") or 0


def on_it(store: Store, by: str = ANA) -> Outcome:
    return store.batches.on_it("batch_a", by=by, name=by.title()).outcome


def whose(store: Store) -> str | None:
    found = store.batches.load("batch_a")
    assert found
    return found.on_it


def test_who_approves_all_that_waits_is_on_it_no_longer_and_the_next_tier_is_asked_when_it_would_have_been(
    store: Store,
) -> None:
    paused(store, two(), two("call_2", 2))
    half, late = at(store, "remind"), at(store, "escalate")
    on_it(store)
    approve(store)
    assert (whose(store), at(store, "escalate")) == (ANA, 0), "the other one is still theirs"
    approve(store, "call_2")
    assert (whose(store), at(store, "remind"), at(store, "escalate")) == (None, half, late)
    on_it(store, BEN)
    assert (whose(store), at(store, "escalate")) == (BEN, 0)


def test_what_was_due_while_somebody_was_on_it_is_due_at_once(store: Store, redis_client: redis.Redis) -> None:
    paused(store, two())
    past = {f"{kind}:batch_a": store.now() - 1_000 for kind in ("remind", "escalate")}
    redis_client.zadd(store.keys.deadlines, past)
    on_it(store)
    assert store.deadlines.remind("batch_a", users=[], interruptions=12).ok
    before = store.now()
    approve(store)
    assert before <= at(store, "remind") <= store.now()
    assert before <= at(store, "escalate") <= store.now()


def test_who_was_reminded_before_is_not_reminded_again(store: Store, redis_client: redis.Redis) -> None:
    paused(store, two())
    redis_client.zadd(store.keys.deadlines, {"remind:batch_a": 1})
    assert store.deadlines.remind("batch_a", users=[ANA, BEN], interruptions=12).ok
    late = at(store, "escalate")
    on_it(store)
    approve(store)
    assert (at(store, "remind"), at(store, "escalate")) == (0, late)


def test_what_nobody_comes_after_is_not_escalated_later(store: Store) -> None:
    paused(store, two())
    store.deadlines.drop("escalate", "batch_a")
    on_it(store)
    approve(store)
    assert (whose(store), at(store, "escalate")) == (None, 0)


def test_who_is_on_it_stays_while_others_approve(store: Store) -> None:
    paused(store, two(reviewers=3))
    on_it(store)
    approve(store, by=BEN)
    assert (whose(store), at(store, "escalate")) == (ANA, 0)


def test_who_has_approved_the_rest_is_on_it_no_longer_once_somebody_else_decides_the_other_one(store: Store) -> None:
    paused(store, two(), two("call_2", 2))
    late = at(store, "escalate")
    on_it(store)
    approve(store)
    reject(store, "call_2", by=BEN)
    assert (whose(store), at(store, "escalate")) == (None, late)


def test_who_has_approved_all_that_waits_cannot_say_it_and_may_again_once_that_was_changed(store: Store) -> None:
    paused(store, two(), two("call_2", 2))
    approve(store)
    assert on_it(store) is Outcome.OK
    approve(store, "call_2")
    assert on_it(store) is Outcome.ALREADY_DECIDED
    assert events(store).count("on_it") == 1
    edit(store, by=BEN)
    assert on_it(store) is Outcome.OK


def test_a_card_that_comes_back_is_nobodys_and_has_instants_of_its_own(store: Store, redis_client: redis.Redis) -> None:
    paused(store, two(reviewers=1))
    on_it(store)
    approve(store)
    said = {"content": a_content(), "seal": "another", "reason": "the law became stricter"}
    assert store.effects.revoke("call_1", lease=lease_batch(store), **said).ok
    assert whose(store) is None
    assert not {b"remind_at", b"escalate_at"} & set(redis_client.hkeys(store.keys.batch("batch_a")))
    assert store.now() < at(store, "remind") < at(store, "escalate")


def test_a_button_of_an_older_card_says_nothing(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    card = office.card_with(batch, "decide by")
    office.client.hincrby(office.store.keys.batch(batch), "generation", 1)
    office.slack.click(BRUNO, CHANNEL, card["ts"], "batch.on_it", None)
    office.told(BRUNO, "The card has changed since you saw it")
    found = office.store.batches.load(batch)
    assert found
    assert found.on_it is None
