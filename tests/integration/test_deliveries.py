"""What two bots get, one of them takes up."""

import json
import time
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis
from slack_sdk.signature import SignatureVerifier

from approvals.redis_check import connect
from approvals.replicas import NotReplicated
from bot.assembly import assemble
from bot.payloads import Click, Sender
from bot.work import explained, once
from bot_office import BRUNO, SECRET, Office, a_refund, running, settings_for
from builders import a_store
from free_ports import free_port


class LosesAnswers(redis.Redis):
    """redis-py repeats a command whose answer was lost; the server then sees it twice."""

    def set(self, *args: Any, **kwargs: Any) -> Any:
        super().set(*args, **kwargs)
        return super().set(*args, **kwargs)


def test_the_same_delivery_is_taken_up_once_and_another_one_of_its_own(redis_client: redis.Redis) -> None:
    one, other = a_store(redis_client), a_store(redis_client)
    assert one.deliveries.first("trigger", BRUNO, "call.approve")
    assert not other.deliveries.first("trigger", BRUNO, "call.approve")
    assert other.deliveries.first("trigger", BRUNO, "call.reject")
    assert one.deliveries.first("trigger", f"{BRUNO}call.", "approve"), "what was told is not run together"


def test_a_lost_answer_does_not_swallow_the_click(valkey_url: str, redis_client: redis.Redis) -> None:
    flaky = a_store(LosesAnswers.from_url(valkey_url))
    assert flaky.deliveries.first("trigger", BRUNO, "call.approve")
    assert not a_store(connect(valkey_url)).deliveries.first("trigger", BRUNO, "call.approve")


@pytest.mark.parametrize("error", [None, RuntimeError("the first process died")])
def test_a_click_is_worked_off_once_whatever_becomes_of_it(
    error: Exception | None, valkey_url: str, redis_client: redis.Redis
) -> None:
    with running(valkey_url, redis_client) as office:
        done: list[str] = []
        click = Click(
            sender=Sender(user=BRUNO, team="T0000HOME"),
            action_id="call.approve",
            value="call_1:1",
            channel="C_REFUNDS",
            thread_ts="",
            trigger_id="1.2.3",
        )

        def work(_deps: object, each: Click) -> None:
            done.append(each.trigger_id)
            if error:
                raise error

        for _ in range(2):
            try:
                once(office.bot.deps, click, work)
            except RuntimeError:
                continue
        assert done == ["1.2.3"]


def test_two_copies_of_one_press_are_answered_once(valkey_url: str, redis_client: redis.Redis) -> None:
    with running(valkey_url, redis_client, over="socket") as office:
        run, _ = office.start()
        batch = office.pause(run, a_refund(31240, reviewers=2))
        office.card(batch)
        office.slack.duplicate_next()
        office.press(BRUNO, batch, "call.approve")
        office.told(BRUNO, "more needed")
        assert private(office) == 1
        office.press(BRUNO, batch, "call.approve")
        office.told(BRUNO, "decided this already")


def test_two_bots_that_get_the_same_signed_click_answer_it_once_and_change_the_card_once(
    valkey_url: str, redis_client: redis.Redis
) -> None:
    with running(valkey_url, redis_client) as office:
        second = assemble(settings_for(office.slack, valkey_url, signing_secret=SECRET, port=free_port()))
        second.start()
        try:
            run, _ = office.start()
            batch = office.pause(run, a_refund(31240, reviewers=2))
            office.card_with(batch, "decide by")
            body, headers = a_signed_approval(office, batch)
            updates = len(office.slack.calls("chat.update"))
            ports = [bot.transports[0].port for bot in (office.bot, second)]  # type: ignore[attr-defined]
            with ThreadPoolExecutor(2) as pool:
                statuses = list(pool.map(lambda port: post(port, body, headers), ports))
            assert statuses == [200, 200]
            office.card_with(batch, "one more")
            office.told(BRUNO, "more needed")
            time.sleep(1)  # a second answer or a second update would come now
            assert len(office.call("call_000000000001").decisions) == 1
            assert private(office) == 1
            assert len(office.slack.calls("chat.update")) == updates + 1
        finally:
            second.stop()


def a_signed_approval(office: Office, batch: str) -> tuple[str, dict[str, str]]:
    """What Slack sends when Bruno approves."""
    office.press(BRUNO, batch, "call.details")
    (delivery,) = office.slack.deliveries("block_actions")
    payload = delivery["payload"]
    payload["actions"][0]["action_id"] = "call.approve"
    body, stamp = urllib.parse.urlencode({"payload": json.dumps(payload)}), str(int(time.time()))
    signature = SignatureVerifier(SECRET).generate_signature(timestamp=stamp, body=body) or ""
    return body, {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": signature,
    }


def post(port: int, body: str, headers: dict[str, str]) -> int:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/slack/events", body.encode(), headers)
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - this machine
        return int(answer.status)


def private(office: Office) -> int:
    return len(office.slack.ephemerals(BRUNO, "C_REFUNDS"))


def test_a_decision_that_no_replica_has_is_not_called_undone(valkey_url: str, redis_client: redis.Redis) -> None:
    with running(valkey_url, redis_client) as office:
        said = explained(office.bot.deps, NotReplicated("0 of 1"))
    assert "do not rely on it" in said
    assert "nothing was decided" not in said
