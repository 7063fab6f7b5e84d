"""One message that cannot be made or sent, in whatever way, keeps no other from being posted."""

from typing import Any

import pytest
import redis

from alert_receiver import hearing
from approvals.store import Store
from bot.relay import Relay
from bot.rendering import Renderer
from bot_builders import AnyLaw
from bot_office import OPS, Office, a_refund, readable
from builders import a_call, paused

CARD = "card:batch_a"


class Moody(AnyLaw):
    """A law whose sentences fail at some of the times they are asked for, in a way that nobody foresaw."""

    def __init__(self, *fails: int) -> None:
        self.fails, self.asked = fails, 0

    def switches(self) -> str:
        self.asked += 1
        if self.asked in self.fails:
            raise KeyError("unforeseen")
        return ""


class Slack:
    """Takes everything; `after` is raised once it has taken a message."""

    def __init__(self, after: Exception | None = None) -> None:
        self.after = after
        self.posted: list[str] = []

    def opened(self, target: object) -> object:
        return target

    def post(self, _target: object, _message: object, entry_id: str) -> str:
        self.posted.append(entry_id)
        error, self.after = self.after, None
        if error is not None:
            raise error
        return f"{len(self.posted)}.0"

    def update(self, *_: object) -> None:
        """It took it."""

    def find(self, _target: object, entry_id: str, **_: object) -> str | None:
        return "1.0" if entry_id in self.posted else None


def relay(store: Store, slack: Slack, law: AnyLaw | None = None, told: list[str] | None = None) -> Relay:
    sender: Any = slack
    second = hearing(told if told is not None else [])
    return Relay(store, Renderer(store, law or AnyLaw(), OPS), sender, "relay-1", second_route=second)


def only(store: Store, client: redis.Redis, *ids: str) -> None:
    """Nothing else is owed."""
    client.delete(store.keys.outbox)
    client.zadd(store.keys.outbox, {entry: at for at, entry in enumerate(ids, start=1)})


def alert(store: Store, entry: str) -> int:
    """How often ops was told about it."""
    found = store.outbox.load(f"alert:unsent:{entry}")
    return found.desired if found else 0


def test_a_kind_of_message_that_this_version_does_not_know_delays_no_card(office: Office) -> None:
    unknown: Any = "poster"
    office.store.outbox.owe(unknown, "of a newer version")
    office.bot.deps.wake.set()
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    assert office.card_with(batch, "decide by")
    told = office.until(lambda: office.slack.messages(OPS), "ops is told")
    assert "A message cannot be made" in readable(told[0])
    entry = "poster:of a newer version"
    assert alert(office.store, entry) == 1
    assert office.client.zscore(office.store.keys.outbox, entry) > office.store.now(), "it stays owed"


@pytest.mark.parametrize("at", [1, 2], ids=["before it is begun", "after it was begun"])
def test_a_card_that_fails_is_put_off_told_once_and_the_next_one_is_posted(
    store: Store, redis_client: redis.Redis, at: int
) -> None:
    paused(store, a_call("call_1"), posted=False)
    store.outbox.owe("alert", "tool:call_1")
    only(store, redis_client, CARD, "alert:tool:call_1")
    slack = Slack()
    relay(store, slack, Moody(at)).drain()
    assert slack.posted == ["alert:tool:call_1"]
    entry = store.outbox.load(CARD)
    assert entry is not None
    assert (entry.attempts, entry.sending, alert(store, CARD)) == (1, False, 1)
    assert redis_client.zscore(store.keys.outbox, CARD) > store.now()
    only(store, redis_client, CARD)
    relay(store, slack, Moody(1)).drain()
    assert alert(store, CARD) == 1
    pause = redis_client.zscore(store.keys.outbox, CARD) - store.now()
    assert 1_000 < pause <= 2_000
    only(store, redis_client, CARD)
    assert relay(store, slack).drain() == 1
    assert slack.posted[-1] == CARD


def test_what_fails_after_slack_took_it_is_looked_for_and_not_posted_twice(
    store: Store, redis_client: redis.Redis
) -> None:
    paused(store, a_call("call_1"), posted=False)
    only(store, redis_client, CARD)
    slack = Slack(after=TypeError("unforeseen"))
    assert relay(store, slack).drain() == 0
    assert alert(store, CARD) == 1
    only(store, redis_client, CARD)
    assert relay(store, slack).drain() == 1
    assert slack.posted == [CARD]


def test_a_store_that_is_away_is_no_fault_of_an_entry(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"), posted=False)
    only(store, redis_client, CARD)
    with pytest.raises(redis.ConnectionError):
        relay(store, Slack(after=redis.ConnectionError("away"))).drain()
    assert alert(store, CARD) == 0


def test_an_alert_about_such_a_message_that_fails_as_well_takes_the_second_route_once(
    store: Store, redis_client: redis.Redis
) -> None:
    store.outbox.owe("alert", f"unsent:{CARD}")
    told: list[str] = []
    for _ in range(2):
        only(store, redis_client, f"alert:unsent:{CARD}")
        relay(store, Slack(after=TypeError("unforeseen")), told=told).drain()
    assert told == [f"A message of ops ({CARD}) cannot be made. See the bot's log."]
    assert alert(store, f"alert:unsent:{CARD}") == 0
