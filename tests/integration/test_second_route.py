import logging
from collections.abc import Iterator

import pytest
import redis

from alert_receiver import Receiver, receiving
from bot_office import OPS, Office, readable, running


@pytest.fixture
def webhook() -> Iterator[Receiver]:
    """Where alerts go when Slack does not take them."""
    with receiving() as receiver:
        yield receiver


def an_alarm(office: Office) -> None:
    office.store.outbox.alarm("tool:call_x", event="tool_gone", reason="deployed away")
    office.bot.deps.wake.set()


@pytest.mark.parametrize("error", ["account_inactive", "token_revoked", "not_in_channel"])
def test_an_alert_that_slack_refuses_reaches_the_webhook_at_once_and_once_and_slack_later(
    valkey_url: str,
    redis_client: redis.Redis,
    webhook: Receiver,
    error: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    url, heard = webhook.url, webhook.heard
    with running(valkey_url, redis_client, alert_webhook=url) as office, caplog.at_level(logging.WARNING):
        office.slack.fault("chat.postMessage", "error", error=error, count=2)
        an_alarm(office)
        office.until(lambda: heard, "the webhook is told")
        office.until(lambda: [m for m in office.slack.messages(OPS) if "A tool is gone" in readable(m)], "Slack too")
    assert len(heard) == 1
    assert "A tool is gone" in heard[0]
    assert error in caplog.text


def test_an_alert_takes_the_webhook_when_slack_is_broken_for_longer_than_a_moment(
    valkey_url: str, redis_client: redis.Redis, webhook: Receiver
) -> None:
    url, heard = webhook.url, webhook.heard
    with running(valkey_url, redis_client, alert_webhook=url) as office:
        office.slack.fault("chat.postMessage", "http", status=500, count=50)
        an_alarm(office)

        def tried_again() -> list[str]:
            if office.store.outbox.load("alert:tool:call_x").attempts < 4:  # type: ignore[union-attr]
                office.client.zadd(office.store.keys.outbox, {"alert:tool:call_x": 0}, xx=True)
                office.bot.deps.wake.set()
            return heard

        office.until(tried_again, "the webhook is told", 15)
        assert len(heard) == 1


def test_a_webhook_that_is_away_loses_nothing_and_is_in_the_log(
    valkey_url: str, redis_client: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        running(valkey_url, redis_client, alert_webhook="http://127.0.0.1:9/alerts") as office,
        caplog.at_level(logging.WARNING),
    ):
        office.slack.fault("chat.postMessage", "error", error="account_inactive", count=1)
        an_alarm(office)
        office.until(lambda: [m for m in office.slack.messages(OPS) if "A tool is gone" in readable(m)], "Slack later")
    assert "VOBO_ALERT_WEBHOOK does not answer" in caplog.text
