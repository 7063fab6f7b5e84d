"""An alert that Slack does not take reaches ops on the second route, whatever happened to either of them before."""

from collections.abc import Callable
from typing import Any

import pytest
import redis

from alert_receiver import hearing
from approvals.store import Store
from bot.relay import Relay
from bot.rendering import Renderer
from bot.sending import SendingFailed
from bot_builders import AnyLaw
from bot_office import OPS

SUBJECT = "tool:call_1"
ALERT = f"alert:{SUBJECT}"
HICCUPS = [
    SendingFailed("ratelimited", unsure=False, retry_after_ms=1_000),
    SendingFailed("HTTP 500", unsure=False),
    SendingFailed("TimeoutError", unsure=False),
]
GONE = SendingFailed("account_inactive", unsure=False)


class Slack:
    """Takes what it is sent, unless it fails in this way."""

    failing: SendingFailed | None = None

    def opened(self, target: object) -> object:
        return target

    def post(self, *_: object) -> str:
        if self.failing:
            raise self.failing
        return "1.0"

    update = post

    def find(self, *_: object, **__: object) -> None:
        """It never took what it refused."""


class Route:
    """A second route that takes nothing while it is `away`."""

    def __init__(self, *, away: bool = False) -> None:
        self.tries, self.away = 0, away
        self.heard: list[str] = []

    def take(self, text: str) -> bool:
        self.tries += 1
        return not self.away and hearing(self.heard)(text)


def relay(
    store: Store, slack: Slack, route: Callable[[str], bool] | None, ops: str | None = OPS, **changes: Any
) -> Relay:
    sender: Any = slack
    return Relay(store, Renderer(store, AnyLaw(), ops), sender, "relay-1", second_route=route, **changes)


@pytest.fixture
def alarmed(store: Store) -> Store:
    store.outbox.owe("alert", SUBJECT)
    return store


def drain(sends: Relay, store: Store, client: redis.Redis) -> None:
    """Once more, and all that is owed is due."""
    for entry in client.zrange(store.keys.outbox, 0, -1):
        client.zadd(store.keys.outbox, {entry: 1})
    sends.drain()


@pytest.mark.parametrize("hiccup", HICCUPS, ids=lambda failed: failed.error)
def test_an_alert_takes_the_second_route_though_slack_had_a_hiccup_before_it_was_gone(
    alarmed: Store, redis_client: redis.Redis, hiccup: SendingFailed
) -> None:
    slack, route = Slack(), Route()
    sends = relay(alarmed, slack, route.take)
    slack.failing = hiccup
    drain(sends, alarmed, redis_client)
    assert route.heard == []
    slack.failing = GONE
    for _ in range(3):
        drain(sends, alarmed, redis_client)
    assert len(route.heard) == 1


def test_what_the_second_route_did_not_take_is_told_again_until_it_does(
    alarmed: Store, redis_client: redis.Redis
) -> None:
    slack, route = Slack(), Route(away=True)
    sends = relay(alarmed, slack, route.take, route_rests_s=0)
    slack.failing = GONE
    drain(sends, alarmed, redis_client)
    assert (route.tries, route.heard) == (1, [])
    route.away = False
    for _ in range(3):
        drain(sends, alarmed, redis_client)
    assert (route.tries, len(route.heard)) == (2, 1)


def test_a_second_route_that_failed_rests_while_everything_else_is_sent(
    alarmed: Store, redis_client: redis.Redis
) -> None:
    slack, route = Slack(), Route(away=True)
    sends = relay(alarmed, slack, route.take)
    slack.failing = GONE
    alarmed.outbox.owe("alert", "tool:call_2")
    for _ in range(3):
        drain(sends, alarmed, redis_client)
    assert route.tries == 1


def test_a_matter_that_comes_up_after_slack_took_it_is_told_elsewhere_anew(
    alarmed: Store, redis_client: redis.Redis
) -> None:
    slack, route = Slack(), Route()
    sends = relay(alarmed, slack, route.take)
    for _ in range(2):
        slack.failing = GONE
        drain(sends, alarmed, redis_client)
        slack.failing = None
        drain(sends, alarmed, redis_client)
        alarmed.outbox.owe("alert", SUBJECT)
    assert len(route.heard) == 2


def test_where_ops_has_no_channel_the_second_route_is_tried_until_it_takes_the_alert(
    alarmed: Store, redis_client: redis.Redis
) -> None:
    route = Route(away=True)
    sends = relay(alarmed, Slack(), route.take, ops=None, route_rests_s=0)
    drain(sends, alarmed, redis_client)
    soon = redis_client.zscore(alarmed.keys.outbox, ALERT) - alarmed.now()
    assert soon < 60_000
    route.away = False
    for _ in range(3):
        drain(sends, alarmed, redis_client)
    assert len(route.heard) == 1
    assert redis_client.zscore(alarmed.keys.outbox, ALERT) - alarmed.now() > 3_000_000


@pytest.mark.parametrize("ops", [OPS, None], ids=["Slack takes none", "no ops channel"])
def test_what_is_new_about_an_alert_is_told_elsewhere_too_and_at_once(
    alarmed: Store, redis_client: redis.Redis, ops: str | None
) -> None:
    slack, route = Slack(), Route()
    slack.failing = GONE
    sends = relay(alarmed, slack, route.take, ops=ops)
    for _ in range(2):
        drain(sends, alarmed, redis_client)
    assert len(route.heard) == 1
    alarmed.outbox.owe("alert", SUBJECT)
    assert [entry.id for entry in alarmed.outbox.due()] == [ALERT]
    for _ in range(2):
        drain(sends, alarmed, redis_client)
    assert len(route.heard) == 2


def test_what_is_new_about_an_alert_leaves_slack_alone_for_as_long_as_it_asked(
    alarmed: Store, redis_client: redis.Redis
) -> None:
    slack = Slack()
    slack.failing = SendingFailed("ratelimited", unsure=False, retry_after_ms=30_000)
    drain(relay(alarmed, slack, Route().take), alarmed, redis_client)
    alarmed.outbox.owe("alert", SUBJECT)
    assert alarmed.outbox.due() == []


@pytest.mark.parametrize("ops", [OPS, None], ids=["Slack takes none", "no ops channel"])
def test_a_second_route_that_is_set_later_is_told_what_nobody_has_heard(
    alarmed: Store, redis_client: redis.Redis, caplog: pytest.LogCaptureFixture, ops: str | None
) -> None:
    slack, route = Slack(), Route()
    slack.failing = GONE
    without = relay(alarmed, slack, None, ops=ops)
    for _ in range(3):
        drain(without, alarmed, redis_client)
    assert caplog.text.count("ops cannot be told in Slack, and VOBO_ALERT_WEBHOOK is not set") == 1
    drain(relay(alarmed, slack, route.take, ops=ops), alarmed, redis_client)
    assert len(route.heard) == 1


def test_what_nobody_owes_any_more_cannot_have_been_told_elsewhere(alarmed: Store) -> None:
    alarmed.outbox.delivered(ALERT, version=1, channel=OPS, ts="1.0")
    alarmed.outbox.told_elsewhere(ALERT, version=1)
    found = alarmed.outbox.load(ALERT)
    assert found
    assert not found.told_elsewhere
