import json
import sqlite3
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from slack_sdk import WebClient
from slack_sdk.signature import SignatureVerifier

from approvals.lifecycle import Cause, State
from bot.assembly import assemble
from bot.fleet import Fleet
from bot_office import BRUNO, CHANNEL, ROSA, SECRET, a_refund
from builders import move
from clocks import a_clock
from many_workspaces import ACME, BOLT, NOBODY, Companies, companies

FIRST = "call_000000000001"


@pytest.fixture
def both(valkey_url: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Companies]:
    with companies(valkey_url, redis_client, tmp_path) as made:
        yield made


@pytest.fixture
def renewing(valkey_url: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Companies]:
    """Tokens run out after an hour, so they are always due."""
    with companies(valkey_url, redis_client, tmp_path, token_seconds=3_600) as made:
        yield made


def tokens(tmp_path: Path) -> int:
    with sqlite3.connect(tmp_path / "installations.db") as database:
        return int(database.execute("SELECT count(*) FROM slack_bots").fetchone()[0])


def send(found: Companies, payload: dict[str, Any]) -> str:
    """What Slack would send, signed by Slack."""
    body = urllib.parse.urlencode(payload if "command" in payload else {"payload": json.dumps(payload)})
    stamp = str(int(time.time()))
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": SignatureVerifier(SECRET).generate_signature(timestamp=stamp, body=body) or "",
    }
    request = urllib.request.Request(f"http://127.0.0.1:{found.port}/slack/events", body.encode(), headers)
    with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310
        assert answer.status == 200
        return str(answer.read().decode())


def anew(click: dict[str, Any]) -> dict[str, Any]:
    """As if pressed once more."""
    return {**click, "trigger_id": f"{time.monotonic_ns()}.1.again"}


def test_a_workspace_installs_the_app_and_is_served_with_a_law_of_its_own(both: Companies) -> None:
    assert both.fleet.teams == ()
    told = both.install(ACME)
    assert (told.status, "vobo is installed in T0Acme" in told.text) == (200, True)
    office = both.office(ACME)
    run, _ = office.start()
    batch = office.pause(run, a_refund(4_900))
    office.press(BRUNO, batch, "call.approve", FIRST)
    assert office.state(FIRST, State.APPROVED).decisions[0].reviewer == BRUNO
    assert both.fleet.teams == (ACME,)


def test_two_companies_with_the_same_ids_do_not_touch_each_other(both: Companies, redis_client: redis.Redis) -> None:
    both.install(ACME)
    both.install(BOLT)
    acme, bolt = both.office(ACME), both.office(BOLT)
    batches = {}
    for office in (acme, bolt):
        run, _ = office.start()
        batches[office] = office.pause(run, a_refund(4_900))
    acme.press(BRUNO, batches[acme], "call.approve", FIRST)
    acme.state(FIRST, State.APPROVED)
    bolt.card(batches[bolt])
    assert bolt.call(FIRST).state is State.PENDING_REVIEW
    assert bolt.store.people.get(BRUNO) != acme.store.people.get(BRUNO)
    prefixes = tuple(office.store.keys.prefix.encode() for office in (acme, bolt))
    queues = (b"rq:job:", b"rq:queues", b"rq:queue:vobo-T0ACME", b"rq:queue:vobo-T0BOLT")
    assert [key for key in redis_client.scan_iter() if not key.startswith(prefixes + queues)] == []


def test_no_click_of_one_workspace_reaches_a_call_of_another(both: Companies) -> None:
    both.install(ACME)
    both.install(BOLT)
    acme, bolt = both.office(ACME), both.office(BOLT)
    run, _ = acme.start()
    batch = acme.pause(run, a_refund(4_900, key="call_ofacme000001"))
    acme.press(BRUNO, batch, "call.details")
    (delivery,) = acme.slack.deliveries("block_actions")
    click = delivery["payload"]
    click["actions"][0]["action_id"] = "call.approve"
    for team, user_team in ((BOLT, BOLT), (BOLT, ACME), (ACME, BOLT), (NOBODY, ACME)):
        click["team"]["id"], click["user"]["team_id"] = team, user_team
        send(both, anew(click))
        send(both, anew({**click, "view": {"app_installed_team_id": BOLT}}))
    acme.told(BRUNO, "This call is no longer kept")
    acme.told(BRUNO, "Only members of the home workspace may do this")
    time.sleep(0.5)  # whatever would wrongly be decided has had its time
    call = acme.call("call_ofacme000001")
    assert (call.state, call.decisions) == (State.PENDING_REVIEW, ())
    assert bolt.store.calls.load("call_ofacme000001") is None
    click["team"]["id"], click["user"]["team_id"] = ACME, ACME
    send(both, anew(click))
    acme.state("call_ofacme000001", State.APPROVED)


def test_what_slack_sends_about_a_workspace_that_is_not_served_does_nothing(both: Companies) -> None:
    both.install(ACME)
    office = both.office(ACME)
    both.workspaces[NOBODY].mention(ROSA, CHANNEL, "refund the failed payments")
    told = both.workspaces[NOBODY].slash(ROSA, CHANNEL, "refund the failed payments")
    assert "vobo does not work in this workspace yet" in told["response"]["text"]
    assert [one["attempts"][-1]["acked"] for one in both.workspaces[NOBODY].deliveries("app_mention")] == [True]
    assert office.store.runs.newest_in_thread(CHANNEL, "1") is None


def test_a_workspace_that_nobody_expects_is_refused_and_its_token_given_back(both: Companies, tmp_path: Path) -> None:
    told = both.install(NOBODY)
    assert (told.status, "Nobody is named as a reviewer for the workspace T0NOBODY" in told.text) == (403, True)
    assert tokens(tmp_path) == 0
    (call,) = [one for one in both.workspaces[NOBODY].calls() if one["method"] == "auth.revoke"]
    assert call["outcome"] == "ok"


def test_who_cancels_or_comes_back_twice_or_in_another_browser_installs_nothing(
    both: Companies, tmp_path: Path
) -> None:
    assert "You cancelled at Slack" in both.browse(*both.come_back(ACME, allow=False)).text
    path, cookie = both.come_back(ACME)
    assert "in another browser" in both.browse(path).text
    assert "in another browser" in both.browse(path, "slack-app-oauth-state=guessed").text
    assert tokens(tmp_path) == 0
    assert both.browse(path, cookie).status == 200
    assert "was done already" in both.browse(path, cookie).text
    assert tokens(tmp_path) == 1


def test_a_workspace_that_removes_the_app_is_forgotten_and_served_no_more(both: Companies, tmp_path: Path) -> None:
    both.install(ACME)
    both.install(BOLT)
    both.office(BOLT)
    office = both.office(ACME)
    run, _ = office.start()
    batch = office.pause(run, a_refund(4_900))
    other, _ = office.start("refund the others")
    ends = office.pause(other, a_refund(4_900, key="call_000000000002"))
    for card in (batch, ends):
        office.card(card)
    office.slack.uninstall()
    office.until(lambda: both.fleet.teams == (BOLT,), "it is served no more")
    assert tokens(tmp_path) == 1

    over = office.store.now() - 1
    move(office.client, office.store.keys.batch(ends), decide_by=over)
    office.client.zadd(office.store.keys.deadlines, {f"decide:{ends}": over})
    a_clock(office.store, office.bot.deps.law).tick()
    ended = office.call("call_000000000002")
    assert (ended.state, ended.cause) == (State.EXPIRED, Cause.NOBODY), "what waits expires without a bot"
    assert office.call(FIRST).state is State.PENDING_REVIEW, "but not before its time"
    both.install(ACME)
    assert both.office(ACME).card(batch), "whoever installs it again finds everything as it was"


def test_a_token_that_runs_out_is_renewed_and_used_from_then_on(renewing: Companies) -> None:
    renewing.install(ACME)
    office = renewing.office(ACME)
    before = office.bot.deps.client.token
    renewing.fleet.round()
    after = office.bot.deps.client.token
    assert (before != after, str(after).startswith("xoxe.xoxb-1-T0ACME-")) == (True, True)
    office.slack.expire_tokens()
    renewing.fleet.round()
    run, _ = office.start()
    assert office.card(office.pause(run, a_refund(4_900)))


def test_of_two_bots_only_the_one_whose_relay_leads_renews_a_token(renewing: Companies) -> None:
    renewing.install(ACME)
    office = renewing.office(ACME)
    second = assemble(renewing.settings.model_copy(update={"port": 0}))
    assert isinstance(second.front, Fleet)
    second.start()
    try:
        renewing.fleet.round()
        second.front.round()
        served = second.front.served(ACME)
        assert served
        assert served.deps.client.token == office.bot.deps.client.token
        refreshed = [one for one in office.slack.calls() if one["args"].get("grant_type") == "refresh_token"]
        assert all(one["outcome"] == "ok" for one in refreshed), "no refresh token was used twice"
    finally:
        second.stop()


def test_a_token_that_cannot_be_renewed_is_told_once_and_says_what_to_do(
    renewing: Companies, caplog: pytest.LogCaptureFixture
) -> None:
    renewing.install(ACME)
    office = renewing.office(ACME)
    office.slack.fault("oauth.v2.access", "error", count=99, error="invalid_refresh_token")
    renewing.fleet.round()
    assert WebClient(token=office.bot.deps.client.token, base_url=renewing.settings.api_url).auth_test()["ok"]
    assert "has run out" not in caplog.text, "the old one still lasts"
    lost = "The token of T0ACME has run out and Slack does not renew it (invalid_refresh_token)"
    with sqlite3.connect(renewing.settings.installations_url.removeprefix("sqlite:///")) as database:
        database.execute("UPDATE slack_bots SET bot_token_expires_at = '2020-01-01 00:00:00'")
    renewing.fleet.round()
    renewing.fleet.round()
    assert caplog.text.count(lost) == 1
    assert "open /slack/install again" in caplog.text
