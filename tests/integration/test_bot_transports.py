import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
import redis
from click.testing import CliRunner
from slack_sdk.signature import SignatureVerifier

from approvals.lifecycle import State
from bot.__main__ import main
from bot.assembly import assemble
from bot.errors import BotCannotStart
from bot_office import BRUNO, REVIEWERS, SECRET, STATE_KEY, Office, a_refund, running, settings_for

FIRST = "call_000000000001"


FORM = "application/x-www-form-urlencoded"


def send(office: Office, body: str, *, stamp: str | None = None, secret: str = SECRET, content_type: str = FORM) -> int:
    """What somebody who may or may not know the secret sends to the bot."""
    stamp = stamp or str(int(time.time()))
    signature = SignatureVerifier(secret).generate_signature(timestamp=stamp, body=body) or ""
    headers = {
        "Content-Type": content_type,
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": signature,
    }
    port = office.bot.transports[0].port  # type: ignore[attr-defined]
    request = urllib.request.Request(f"http://127.0.0.1:{port}/slack/events", body.encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code


def a_click(office: Office, batch: str) -> str:
    office.press(BRUNO, batch, "call.details")
    (delivery,) = office.slack.deliveries("block_actions")
    payload = delivery["payload"]
    payload["actions"][0]["action_id"] = "call.approve"
    return urllib.parse.urlencode({"payload": json.dumps(payload)})


def test_socket_mode_brings_the_same_clicks(valkey_url: str, redis_client: redis.Redis) -> None:
    with running(valkey_url, redis_client, over="socket") as office:
        run, _ = office.start()
        batch = office.pause(run, a_refund(31240))
        assert office.press(BRUNO, batch, "call.approve")["acked"]
        office.state(FIRST, State.APPROVED)
        assert office.bot.missing() is None


def test_a_bot_that_has_stopped_keeps_no_connection_to_redis(valkey_url: str, redis_client: redis.Redis) -> None:
    def connected() -> set[str]:
        return {client["id"] for client in redis_client.client_list()}

    redis_client.ping()
    before = connected()
    with running(valkey_url, redis_client) as office:
        office.start()
        assert connected() > before
    office.until(lambda: connected() == before, "the bot's connections are gone")


@pytest.mark.parametrize("stamp", ["", "yesterday", "1e9", "-1", "٣٤٥", "1" * 30])
def test_a_time_that_is_no_number_is_refused_and_not_a_failure(office: Office, stamp: str) -> None:
    body = "payload=%7B%7D"
    stamp = stamp.encode("ascii", "ignore").decode() or "x"
    assert send(office, body, stamp=stamp) == 401


def test_a_wrong_signature_is_refused(office: Office) -> None:
    assert send(office, "payload=%7B%7D", secret="guessed") == 401


def test_an_old_request_is_refused(office: Office) -> None:
    assert send(office, "payload=%7B%7D", stamp=str(int(time.time()) - 400)) == 401


def test_an_exact_copy_of_a_click_is_dropped(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240, reviewers=2))
    office.card_with(batch, "decide by")
    body, stamp = a_click(office, batch), str(int(time.time()))
    assert send(office, body, stamp=stamp) == 200
    office.until(lambda: len(office.call(FIRST).decisions) == 1, "the click is counted")
    looked_up = len(office.slack.calls("users.info"))
    assert send(office, body, stamp=stamp) == 200
    time.sleep(0.3)
    assert len(office.slack.calls("users.info")) == looked_up
    noted = [event for _, event in office.store.ledger.read(1000) if event["type"] == "click_replayed"]
    assert [event["call"] for event in noted] == [FIRST]


def test_a_button_value_that_is_not_ours_decides_nothing_and_is_acknowledged(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    office.card_with(batch, "decide by")
    body = a_click(office, batch).replace(FIRST, "call_other%3A9")
    assert send(office, body) == 200
    office.told(BRUNO, "not one of this bot's")
    assert office.call(FIRST).state is State.PENDING_REVIEW


@pytest.mark.parametrize(
    "payload",
    [
        '{"type": "block_actions", "actions": []}',
        '{"type": "block_actions", "actions": null}',
        '{"type": "view_submission", "view": null}',
        '{"type": "view_submission", "view": "reject"}',
        "[]",
        "null",
        "5",
        '"text"',
        '{"type": "block_actions", "user": ' + "[" * 50_000 + "]" * 50_000 + "}",
    ],
)
def test_a_signed_interaction_of_another_shape_is_refused_and_a_copy_of_it_too(office: Office, payload: str) -> None:

    body, stamp = urllib.parse.urlencode({"payload": payload}), str(int(time.time()))
    assert send(office, body, stamp=stamp) == 400
    assert send(office, body, stamp=stamp) in {200, 400}


@pytest.mark.parametrize("body", ["[]", "null", '"x"', '{"type": "event_callback", "event": null}', "[" * 100_000])
def test_a_signed_event_of_another_shape_is_refused(office: Office, body: str) -> None:
    assert send(office, body, content_type="application/json") == 400


@pytest.mark.parametrize("body", ["payload=nonsense", "payload=%7B%22type%22%3A%22block_actions%22%7D", "x", ""])
def test_a_signed_body_that_makes_no_sense_is_no_failure(office: Office, body: str) -> None:
    assert send(office, body) in {200, 400, 404}


def test_a_token_that_slack_refuses_is_one_sentence(office: Office, valkey_url: str) -> None:
    settings = settings_for(office.slack, valkey_url, bot_token="xoxb-wrong", app_token="xapp-1")
    with pytest.raises(BotCannotStart, match=r"SLACK_BOT_TOKEN \(invalid_auth\)"):
        assemble(settings)


def test_health_says_what_is_missing(valkey_url: str, redis_client: redis.Redis) -> None:
    with running(valkey_url, redis_client, health_port=0) as office:
        assert office.bot.health
        url = f"http://127.0.0.1:{office.bot.health.port}"
        with urllib.request.urlopen(f"{url}/healthz", timeout=5) as answer:  # noqa: S310
            assert answer.read() == b"ok\n"
        with urllib.request.urlopen(f"{url}/readyz", timeout=5) as answer:  # noqa: S310
            assert answer.status == 200


def test_the_check_says_that_the_bot_can_start_or_everything_that_keeps_it(
    office: Office, valkey_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # no .env of somebody's
    env = {
        "REDIS_URL": valkey_url,
        "VOBO_STATE_KEYS": STATE_KEY,
        "VOBO_REVIEWERS": str(REVIEWERS),
        "SLACK_BOT_TOKEN": "xoxb-sandbox",
        "SLACK_APP_TOKEN": "xapp-sandbox",
        "SLACK_API_URL": office.slack.api_url,
    }
    well = CliRunner().invoke(main, ["--check"], env=env)
    assert well.exit_code == 0, well.output
    assert "The bot can start. Workspace T0000HOME" in well.output
    elsewhere = REVIEWERS.read_text().replace("T0000HOME", "T0000AWAY")
    (tmp_path / "reviewers.toml").write_text(elsewhere)
    broken = {**env, "VOBO_REVIEWERS": "reviewers.toml", "REDIS_URL": "redis://127.0.0.1:1/0"}
    ill = CliRunner().invoke(main, ["--check"], env=broken)
    assert ill.exit_code == 1
    assert "REDIS_URL" in ill.output
    assert "reviewers.toml is for T0000AWAY" in ill.output


def test_nobody_asks_slack_who_the_bot_is_before_a_click_is_acknowledged(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(4_900))
    office.card(batch)
    asked = len(office.slack.calls("auth.test"))
    assert office.press(BRUNO, batch, "call.approve", FIRST)["acked"]
    assert len(office.slack.calls("auth.test")) == asked


def test_the_manifest_asks_for_exactly_what_the_bot_uses() -> None:
    manifest = (Path(__file__).resolve().parents[2] / "bot" / "manifest.yaml").read_text()
    scopes = set(re.findall(r"^      - ([a-z_]+:[a-z.]+|commands)", manifest, re.MULTILINE))
    assert scopes == {
        "app_mentions:read",
        "channels:history",
        "groups:history",
        "chat:write",
        "commands",
        "files:write",
        "im:write",
        "usergroups:read",
        "users:read",
    }
    events = re.findall(r"^      - (app_mention|message\.[a-z]+|[a-z]+_[a-z_]+)$", manifest, re.MULTILINE)
    assert events == [
        *("app_home_opened", "app_mention", "app_uninstalled", "message.channels", "message.groups", "tokens_revoked"),
    ]
