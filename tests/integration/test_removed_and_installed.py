"""A workspace that removes the app, and Slack that tells of it late, or again, once somebody has installed it anew."""

import json
import sqlite3
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from prometheus_client import generate_latest
from slack_sdk.signature import SignatureVerifier

from approvals.installed_check import app_installed
from approvals.metrics import Timings, exposed
from bot_office import CHANNEL, SECRET, a_refund
from many_workspaces import ACME, BOLT, Companies, companies


@pytest.fixture
def both(valkey_url: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Companies]:
    with companies(valkey_url, redis_client, tmp_path) as made:
        yield made


def tell(found: Companies, event: dict[str, Any]) -> None:
    """Slack delivers an event once more."""
    body, stamp = json.dumps(event), str(int(time.time()))
    headers = {
        "Content-Type": "application/json",
        "X-Slack-Retry-Num": "2",
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": SignatureVerifier(SECRET).generate_signature(timestamp=stamp, body=body) or "",
    }
    request = urllib.request.Request(f"http://127.0.0.1:{found.port}/slack/events", body.encode(), headers)
    with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310
        assert answer.status == 200


def tokens(tmp_path: Path) -> int:
    with sqlite3.connect(tmp_path / "installations.db") as database:
        return int(database.execute("SELECT count(*) FROM slack_bots").fetchone()[0])


def removed(found: Companies) -> list[dict[str, Any]]:
    """The workspace removes the app; returns what Slack told of it."""
    office = found.office(ACME)
    office.slack.uninstall()
    office.until(lambda: found.fleet.teams == (), "it is served no more")
    return [office.slack.deliveries(kind)[-1]["payload"] for kind in ("tokens_revoked", "app_uninstalled")]


def test_what_slack_tells_late_of_an_earlier_installation_deletes_nothing_newer(
    both: Companies, tmp_path: Path
) -> None:
    both.install(ACME)
    told = removed(both)
    assert tokens(tmp_path) == 0
    time.sleep(1.1)  # Slack tells whole seconds
    both.install(ACME)
    office = both.office(ACME)
    for event in told:
        tell(both, event)
    time.sleep(0.5)  # whatever would wrongly be deleted has had its time
    both.fleet.round()
    assert both.fleet.teams == (ACME,)
    assert tokens(tmp_path) == 1
    run, _ = office.start()
    assert office.card(office.pause(run, a_refund(4_900)))
    for event in told:
        tell(both, {**event, "event_time": int(time.time()) + 1})
    office.until(lambda: both.fleet.teams == (), "one that is about the newer installation counts")


def test_an_event_that_does_not_say_when_deletes_nothing(both: Companies, tmp_path: Path) -> None:
    both.install(ACME)
    event = removed(both)[1]
    both.install(ACME)
    both.office(ACME)
    del event["event_time"]
    tell(both, event)
    time.sleep(0.5)
    assert tokens(tmp_path) == 1


def test_of_a_workspace_that_removed_the_app_nobody_says_that_messages_are_late(
    both: Companies, redis_client: redis.Redis
) -> None:
    both.install(ACME)
    office = both.office(ACME)
    store = office.store
    run, _ = office.start()
    office.card(office.pause(run, a_refund(4_900)))
    removed(both)
    store.outbox.owe("card", "batch_of_then", channel=CHANNEL)
    redis_client.zadd(store.keys.owed, {"card:batch_of_then": store.now() - 600_000})
    assert store.tallies.read().relay_lag_ms == 0
    (said,) = app_installed(store)
    assert f"The workspace {ACME} does not have the app; 1 calls there are not final." in said.sentence
    both.install(ACME)
    both.office(ACME)
    office.until(lambda: not store.switches.removed(), "it has the app again")
    assert list(app_installed(store)) == []
    redis_client.zadd(store.keys.owed, {"card:never_sent": store.now() - 600_000})
    assert store.tallies.read().relay_lag_ms >= 600_000


def test_a_bot_of_several_workspaces_tells_the_metrics_of_each(both: Companies) -> None:
    both.install(ACME)
    both.install(BOLT)
    acme, bolt = both.office(ACME), both.office(BOLT)
    run, _ = acme.start()
    acme.card(acme.pause(run, a_refund(4_900)))
    text = generate_latest(exposed(acme.store, Timings(), bolt.store)).decode()
    assert f'vobo_calls{{state="pending_review",tenant="{ACME}"}} 1.0' in text
    assert f'vobo_store_up{{tenant="{ACME}"}} 1.0\nvobo_store_up{{tenant="{BOLT}"}} 1.0' in text
    assert text.count("# TYPE vobo_store_up ") == 1, "each family once, with all its samples"
    assert f'vobo_relay_lag_seconds{{tenant="{BOLT}"}} 0.0' in text
