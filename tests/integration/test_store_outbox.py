import pytest
import redis

from approvals.store import Store
from builders import CHANNEL, LONG, a_store, move, start_run

CARD = "card:batch_x"


@pytest.fixture
def store(redis_client: redis.Redis) -> Store:
    store = a_store(redis_client)
    store.outbox.owe("card", "batch_x", channel=CHANNEL)
    return store


def test_what_is_owed_is_due_until_its_newest_version_is_delivered(store: Store) -> None:
    [entry] = store.outbox.due()
    assert (entry.id, entry.kind, entry.subject, entry.desired, entry.delivered, entry.channel) == (
        CARD,
        "card",
        "batch_x",
        1,
        0,
        CHANNEL,
    )
    store.outbox.owe("card", "batch_x")
    store.outbox.delivered(CARD, version=1, channel=CHANNEL, ts="5.5")
    [entry] = store.outbox.due()
    assert (entry.desired, entry.delivered, entry.ts) == (2, 1, "5.5")
    store.outbox.delivered(CARD, version=2, channel=CHANNEL, ts="5.5")
    assert store.outbox.due() == []
    assert store.outbox.begin(CARD, token="relay") is None


def test_an_older_delivery_that_arrives_late_takes_nothing_back(store: Store) -> None:
    store.outbox.owe("card", "batch_x")
    store.outbox.delivered(CARD, version=2, channel=CHANNEL, ts="5.5")
    store.outbox.delivered(CARD, version=1, channel=CHANNEL, ts="4.4")
    entry = store.outbox.load(CARD)
    assert entry is not None
    assert (entry.delivered, entry.ts) == (2, "5.5")
    assert store.outbox.due() == []


def test_the_oldest_come_first_and_no_more_than_asked_for(store: Store, redis_client: redis.Redis) -> None:
    store.outbox.owe("notice", "call_1")
    redis_client.zadd(store.keys.outbox, {CARD: 1})
    assert [entry.id for entry in store.outbox.due(limit=1)] == [CARD]
    assert [entry.id for entry in store.outbox.due()] == [CARD, "notice:call_1"]


def test_a_crash_between_begin_and_delivered_shows_to_the_next_relay(store: Store) -> None:
    assert store.outbox.lead("relay-1", ttl_ms=LONG)
    first = store.outbox.begin(CARD, token="relay-1")
    assert first is not None
    assert not first.sending
    again = store.outbox.begin(CARD, token="relay-1")
    assert again is not None
    assert again.sending
    [entry] = store.outbox.due()
    assert entry.sending


def test_another_relay_leaves_an_entry_alone_while_its_sender_leads(store: Store, redis_client: redis.Redis) -> None:
    store.outbox.lead("relay-1", ttl_ms=LONG)
    store.outbox.begin(CARD, token="relay-1")
    assert store.outbox.begin(CARD, token="relay-2") is None
    move(redis_client, store.keys.lead, until=store.now())
    assert store.outbox.lead("relay-2", ttl_ms=LONG)
    taken = store.outbox.begin(CARD, token="relay-2")
    assert taken is not None
    assert taken.sending


def test_one_relay_leads_until_its_time_is_over(store: Store, redis_client: redis.Redis) -> None:
    assert store.outbox.lead("relay-1", ttl_ms=LONG)
    assert not store.outbox.lead("relay-2", ttl_ms=LONG)
    assert store.outbox.lead("relay-1", ttl_ms=LONG)
    move(redis_client, store.keys.lead, until=store.now())
    assert store.outbox.lead("relay-2", ttl_ms=LONG)


@pytest.mark.parametrize("unsure", [True, False])
def test_a_postponed_entry_comes_later_and_tells_whether_slack_may_have_it(store: Store, *, unsure: bool) -> None:
    store.outbox.lead("relay-1", ttl_ms=LONG)
    store.outbox.begin(CARD, token="relay-1")
    store.outbox.postpone(CARD, delay_ms=LONG, error="ratelimited", unsure=unsure)
    assert store.outbox.due() == []
    entry = store.outbox.load(CARD)
    assert entry is not None
    assert (entry.attempts, entry.sending) == (1, unsure)
    store.outbox.owe("card", "batch_x")
    assert store.outbox.due() == [], "a new version does not overrule what Slack asked for"
    assert store.outbox.begin(CARD, token="relay-2") is not None


def test_what_is_given_up_is_told_to_ops_once_and_an_alert_never(store: Store) -> None:
    store.outbox.give_up(CARD, error="channel_not_found", version=1)
    store.outbox.give_up(CARD, error="channel_not_found", version=1)
    [alert] = store.outbox.due()
    assert (alert.id, alert.desired) == ("alert:outbox:card:batch_x", 1)
    store.outbox.give_up(alert.id, error="channel_not_found", version=1)
    assert store.outbox.due() == []


def test_postponing_what_is_no_longer_owed_owes_nothing(store: Store) -> None:
    store.outbox.delivered(CARD, version=1, channel=CHANNEL, ts="5.5")
    store.outbox.postpone(CARD, delay_ms=0, error="timeout")
    store.outbox.delivered("card:nowhere", version=1, channel=CHANNEL, ts="5.5")
    assert store.outbox.due() == []
    assert store.outbox.load("card:nowhere") is None


def test_a_wakeup_comes_up_again_until_its_verb_takes_it_out(store: Store, redis_client: redis.Redis) -> None:
    start_run(store)
    assert store.wakeups.due(again_ms=0) == [("start_run", "run_1", 1)]
    assert store.wakeups.due() == [("start_run", "run_1", 2)]
    assert store.wakeups.due() == []
    redis_client.zadd(store.keys.wakeups, {"start_run:run_1": 1})
    assert store.wakeups.due() == [("start_run", "run_1", 3)]


def test_a_wakeup_can_be_postponed_and_dropped(store: Store) -> None:
    assert store.wakeups.peek() is None
    start_run(store)
    assert store.wakeups.postpone("start_run", "run_1", delay_ms=LONG)
    assert store.wakeups.due() == []
    assert (store.wakeups.peek() or 0) > store.now()
    store.wakeups.drop("start_run", "run_1")
    assert not store.wakeups.postpone("start_run", "run_1", delay_ms=0)
    assert store.wakeups.peek() is None


def test_an_attempt_number_is_never_used_twice_for_the_same_work(store: Store) -> None:
    start_run(store)
    assert store.wakeups.due() == [("start_run", "run_1", 1)]
    lease = store.runs.lease("run_1", token="t", ttl_ms=LONG)
    assert lease is not None
    assert store.runs.give_back(lease, delay_ms=0)
    assert store.wakeups.due() == [("start_run", "run_1", 2)]
