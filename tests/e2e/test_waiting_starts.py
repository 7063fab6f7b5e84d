"""A process that starts during an outage waits, is seen to wait, tells ops, and goes to work when it is over."""

import http.client
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from alert_receiver import Receiver, receiving
from approvals import valkey
from stack import until
from tests.e2e.test_outages import IMPATIENT, Watched, ready

WAITING = ("bot", "clock")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


@pytest.fixture
def stack(home: Path, receiver: Receiver) -> Iterator[Watched]:
    made = Watched(home, extra={"VOBO_ALERT_WEBHOOK": receiver.url, "PYTHONPATH": IMPATIENT})
    made.prepare()
    yield made
    made.stop()


def lives(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    connection.request("GET", "/healthz")
    status = connection.getresponse().status
    connection.close()
    return status == 200


def test_bot_and_clock_that_start_without_a_store_wait_for_it_and_tell_ops(stack: Watched, receiver: Receiver) -> None:
    stack.start("sandbox")
    assert valkey.stop_server(stack.home / "valkey")
    for name in WAITING:
        stack.start(name)
        port = stack.health[name]
        until(lambda port=port: ready(port) == (503, "the store does not answer\n"), f"{name} waits", 20, stack.home)
        assert lives(port)
        log = (stack.home / f"{name}.log").read_text()
        assert log.count("Redis does not answer at REDIS_URL") == 1
    until(lambda: len(receiver.heard) == 2, "both have told ops", 30, stack.home)
    assert all("could not use the store for" in text for text in receiver.heard)
    valkey.ensure_server(stack.home / "valkey")
    for name in WAITING:
        until(lambda port=stack.health[name]: ready(port) == (200, "ok\n"), f"{name} is at work", 30, stack.home)
    until(lambda: len(receiver.heard) == 4, "both have told that it is over", 30, stack.home)
    assert sum("can use the store again" in text for text in receiver.heard) == 2


def test_a_bot_that_starts_without_slack_waits_for_it_and_tells_ops(stack: Watched, receiver: Receiver) -> None:
    stack.start("bot")
    until(lambda: ready(stack.health["bot"]) == (503, "Slack does not answer\n"), "it waits", 20, stack.home)
    until(lambda: "the bot could not use Slack for" in "".join(receiver.heard), "ops is told", 30, stack.home)
    assert "Check the network and SLACK_API_URL." in receiver.heard[0]
    stack.start("sandbox")
    stack.wait_for_bot()
    until(lambda: "the bot can use Slack again" in receiver.heard[-1], "ops is told that it is over", 30, stack.home)


@pytest.mark.parametrize("name", WAITING)
def test_whoever_waits_ends_at_once_when_asked_to(stack: Watched, name: str) -> None:
    assert valkey.stop_server(stack.home / "valkey")
    stack.start(name)
    until(lambda: ready(stack.health[name])[0] == 503, f"{name} waits", 20, stack.home)
    process = stack.processes.pop(name)
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0
