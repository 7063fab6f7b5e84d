"""Alerts are owed in the store; that the store itself cannot be used takes another way, once and once more."""

import logging
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
from pydantic import SecretStr

from alert_receiver import Receiver, receiving
from approvals import outages, valkey
from approvals.alert_webhook import AlertWebhook
from approvals.outages import TELL_AFTER_S, OutageWatch
from approvals.queue import WakeupQueue, queue_name
from approvals.redis_check import connect
from approvals.settings import Settings
from approvals.store import Store
from approvals.usable import trouble
from approvals.vault import Vault
from bot_office import STATE_KEY, running
from broken_stores import full
from builders import TENANT
from stack import until
from worker.clock import Clock, watched


@pytest.fixture
def own_server() -> Iterator[Path]:
    """A server of this test's own, which it may stop."""
    data = Path(tempfile.mkdtemp(prefix="vk-"))
    valkey.ensure_server(data)
    yield data
    valkey.stop_server(data)
    shutil.rmtree(data)


@pytest.fixture
def own(own_server: Path) -> Store:
    return Store.open(connect(valkey.server_url(own_server)), Vault.from_text(STATE_KEY), tenant=TENANT)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


class Hands:
    """Seconds that somebody moves."""

    def __init__(self) -> None:
        self.at = 1_000.0

    def __call__(self) -> float:
        return self.at


def a_watch(store: Store, receiver: Receiver, hands: Callable[[], float]) -> OutageWatch:
    return OutageWatch(lambda: trouble(store), AlertWebhook(SecretStr(receiver.url)).send, "the bot", hands)


def test_a_server_that_is_gone_for_a_minute_is_told_once_and_that_it_is_back_once(
    own: Store, own_server: Path, receiver: Receiver
) -> None:
    hands = Hands()
    watch = a_watch(own, receiver, hands)
    watch.round()
    assert valkey.stop_server(own_server)
    watch.round()
    hands.at += TELL_AFTER_S - 1
    watch.round()
    assert receiver.heard == []
    hands.at += 1
    watch.round()
    hands.at += 600
    watch.round()
    (said,) = receiver.heard
    assert said.startswith(
        "vobo: the bot could not use the store for 60 s. The store does not answer (ConnectionError)"
    )
    assert "nobody can decide anything, and nothing new is executed. Nothing that was recorded is lost" in said
    valkey.ensure_server(own_server)
    watch.round()
    watch.round()
    assert receiver.heard[1:] == ["vobo: the bot can use the store again, after 660 s. What is due is done now."]


def test_a_store_that_is_full_is_told_with_what_to_do(
    store: Store, redis_client: redis.Redis, receiver: Receiver
) -> None:
    hands = Hands()
    watch = a_watch(store, receiver, hands)
    with full(redis_client):
        watch.round()
        hands.at += TELL_AFTER_S
        watch.round()
    (said,) = receiver.heard
    assert "The store takes no writes: its memory is full (maxmemory). Raise maxmemory" in said


def test_what_passes_within_a_minute_wakes_nobody(store: Store, redis_client: redis.Redis, receiver: Receiver) -> None:
    hands = Hands()
    watch = a_watch(store, receiver, hands)
    for _ in range(3):
        with full(redis_client):
            watch.round()
            hands.at += TELL_AFTER_S - 1
            watch.round()
        watch.round()
    assert receiver.heard == []


def test_the_time_of_a_look_that_hangs_counts_and_each_outage_is_told(receiver: Receiver) -> None:
    hands = Hands()

    def hangs() -> str:
        hands.at += TELL_AFTER_S
        raise TimeoutError

    watch = OutageWatch(lambda: trouble(_Probed(hangs)), AlertWebhook(SecretStr(receiver.url)).send, "the bot", hands)
    watch.round()
    assert len(receiver.heard) == 1
    watch._look = lambda: None
    watch.round()
    watch._look = lambda: trouble(_Probed(hangs))
    watch.round()
    assert [text.split(" the store")[0] for text in receiver.heard] == [
        "vobo: the bot could not use",
        "vobo: the bot can use",
        "vobo: the bot could not use",
    ]


class _Probed(Store):
    """A store whose probe does something else."""

    def __init__(self, probe: Callable[[], object]) -> None:
        self._probe = probe

    def probe(self) -> None:
        self._probe()


def test_a_webhook_that_takes_nothing_is_told_again_until_it_does(
    store: Store, redis_client: redis.Redis, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    hands = Hands()
    watch = a_watch(store, receiver, hands)
    receiver.status = 500
    with full(redis_client):
        watch.round()
        hands.at += TELL_AFTER_S
        watch.round()
        watch.round()
        assert (receiver.heard, receiver.refused) == ([], 2)
        receiver.status = 200
        watch.round()
        watch.round()
    assert len(receiver.heard) == 1
    assert "VOBO_ALERT_WEBHOOK refuses what it is told: 500" in caplog.text
    assert receiver.url not in caplog.text


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/alerts", "no address at all"])
def test_a_webhook_that_is_no_way_is_in_the_log_without_its_address(url: str, caplog: pytest.LogCaptureFixture) -> None:
    assert not AlertWebhook(SecretStr(url)).send("x")
    assert "VOBO_ALERT_WEBHOOK does not answer" in caplog.text
    assert url not in caplog.text


def test_without_a_webhook_it_is_in_the_log_once(
    store: Store, redis_client: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    hands = Hands()
    watch = OutageWatch(lambda: trouble(store), AlertWebhook(None).send, "the bot", hands)
    with full(redis_client), caplog.at_level(logging.ERROR):
        for _ in range(3):
            watch.round()
            hands.at += TELL_AFTER_S
    assert caplog.text.count("ops is told past the store: vobo: the bot could not use the store for 60 s") == 1


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody here waits for a minute."""
    monkeypatch.setattr(outages, "LOOK_EVERY_S", 0.1)
    monkeypatch.setattr(outages, "TELL_AFTER_S", 0.5)


def test_a_bot_and_a_clock_at_work_each_tell_it(own: Store, own_server: Path, receiver: Receiver, hasty: None) -> None:
    url = valkey.server_url(own_server)
    settings = Settings.read(_env_file=None, redis_url=url, state_keys=STATE_KEY, alert_webhook=receiver.url)
    clock = Clock(own, WakeupQueue(own.runs.client, own.runs.vault, queue_name(TENANT)))
    with (
        running(url, own.runs.client, alert_webhook=receiver.url),
        watched(clock, settings, health_port=None),
        full(own.runs.client),
    ):
        until(lambda: len(receiver.heard) == 2, "both tell it", 10)
        own.runs.client.config_set("maxmemory", 0)
        until(lambda: len(receiver.heard) == 4, "both tell that it is over", 10)
    tellers = sorted(
        text.removeprefix("vobo: ").partition(" can use")[0].partition(" could not")[0] for text in receiver.heard
    )
    assert tellers == ["the bot", "the bot", *[f"the clock of workspace {TENANT}"] * 2]
