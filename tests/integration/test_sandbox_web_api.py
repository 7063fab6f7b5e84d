"""The Web API through slack_sdk's own client: what it takes, what it refuses, and how it misbehaves on request."""

import http.client
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.webhook import WebhookClient

from bot.sandbox import SandboxError, Workspace

BUTTON = [
    {
        "type": "actions",
        "block_id": "call:a",
        "elements": [
            {"type": "button", "action_id": "call.approve", "text": {"type": "plain_text", "text": "Approve"}},
        ],
    }
]


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with Workspace.serve(ack_timeout=0.05, retry_delays=()) as served:
        yield served


@pytest.fixture
def client(workspace: Workspace) -> WebClient:
    return WebClient("xoxb-sandbox", base_url=workspace.api_url, retry_handlers=[])


def error(client: WebClient, method: str, **args: Any) -> str:
    with pytest.raises(SlackApiError) as refused:
        client.api_call(method, json=args)
    return str(refused.value.response["error"])


def test_tokens_are_checked_and_each_kind_has_its_methods(workspace: Workspace, client: WebClient) -> None:
    assert client.auth_test()["user_id"] == "UBOT"
    assert error(WebClient("xoxb-other", base_url=workspace.api_url), "auth.test") == "invalid_auth"
    assert error(WebClient(base_url=workspace.api_url), "auth.test") == "not_authed"
    assert error(client, "apps.connections.open") == "not_allowed_token_type"
    app_level = WebClient("xapp-sandbox", base_url=workspace.api_url)
    assert error(app_level, "auth.test") == "not_allowed_token_type"
    assert app_level.apps_connections_open(app_token="xapp-sandbox")["url"].startswith("ws://")
    assert error(client, "chat.scheduleMessage") == "unknown_method"
    workspace.revoke_token()
    assert error(client, "auth.test") == "token_revoked"


def test_a_post_is_refused_where_slack_refuses_it(workspace: Workspace, client: WebClient) -> None:
    post = "chat.postMessage"
    assert error(client, post, channel="C_NONE", text="x") == "channel_not_found"
    assert error(client, post, channel="C_GENERAL", text="x") == "not_in_channel"
    assert error(client, post, channel="C_OLD", text="x") == "is_archived"
    assert error(client, post, channel="C_REFUNDS") == "no_text"
    assert error(client, post, channel="C_REFUNDS", text="x" * 40_001) == "msg_too_long"
    assert error(client, post, channel="C_REFUNDS", text="x", thread_ts="1.2") == "thread_not_found"
    assert error(client, post, channel="C_REFUNDS", text="x", blocks=[{"type": "bogus"}]) == "invalid_blocks"
    assert client.chat_postMessage(channel="#refund-desk", text="x")["channel"] == "C_REFUNDS"
    workspace.archive("C_REFUNDS")
    assert error(client, post, channel="C_REFUNDS", text="x") == "is_archived"
    workspace.archive("C_REFUNDS", archived=False)
    workspace.remove_bot("C_REFUNDS")
    assert error(client, post, channel="C_REFUNDS", text="x") == "not_in_channel"


def test_a_reply_to_a_reply_is_refused_and_replies_come_with_metadata_on_request(client: WebClient) -> None:
    parent = client.chat_postMessage(channel="C_REFUNDS", text="parent")["ts"]
    metadata = {"event_type": "card", "event_payload": {"id": "k1"}}
    child = client.chat_postMessage(channel="C_REFUNDS", text="child", thread_ts=parent, metadata=metadata)["ts"]
    assert error(client, "chat.postMessage", channel="C_REFUNDS", text="x", thread_ts=child) == (
        "cannot_reply_to_message"
    )
    bare = client.conversations_replies(channel="C_REFUNDS", ts=parent)["messages"]
    assert [one["ts"] for one in bare] == [parent, child]
    assert (bare[0]["reply_count"], "metadata" in bare[1]) == (1, False)
    full = client.conversations_replies(channel="C_REFUNDS", ts=parent, include_all_metadata=True)["messages"]
    assert full[1]["metadata"] == metadata
    page = client.conversations_replies(channel="C_REFUNDS", ts=parent, limit=1)
    assert page["has_more"]
    following = client.conversations_replies(
        channel="C_REFUNDS", ts=parent, limit=1, cursor=page["response_metadata"]["next_cursor"]
    )
    assert [one["ts"] for one in following["messages"]] == [child]
    assert [one["ts"] for one in client.conversations_history(channel="C_REFUNDS")["messages"]] == [parent]
    assert error(client, "conversations.replies", channel="C_REFUNDS", ts="1.2") == "thread_not_found"


def test_an_update_with_text_alone_takes_the_blocks_away_and_keeps_the_metadata(
    workspace: Workspace, client: WebClient
) -> None:
    metadata = {"event_type": "card", "event_payload": {"id": "k1"}}
    ts = client.chat_postMessage(channel="C_REFUNDS", text="a", blocks=BUTTON, metadata=metadata)["ts"]
    client.chat_update(channel="C_REFUNDS", ts=ts, text="b", blocks=BUTTON)
    assert "edited" not in workspace.message("C_REFUNDS", ts)
    client.api_call("chat.update", json={"channel": "C_REFUNDS", "ts": ts, "text": "c"})
    now = workspace.message("C_REFUNDS", ts)
    assert (now["text"], "blocks" in now, now["metadata"]) == ("c", False, metadata)
    assert now["edited"]["user"] == "UBOT"
    assert [one["text"] for one in now["versions"]] == ["a", "b"]
    assert error(client, "chat.update", channel="C_REFUNDS", ts=ts, text="x" * 4001) == "msg_too_long"
    assert error(client, "chat.update", channel="C_REFUNDS", ts="1.2", text="x") == "message_not_found"
    assert error(client, "chat.update", channel="C_REFUNDS", ts=ts, blocks=[]) == "no_text"
    theirs = workspace.say("U0005", "C_REFUNDS", "mine")["ts"]
    assert error(client, "chat.update", channel="C_REFUNDS", ts=theirs, text="x") == "cant_update_message"
    assert error(client, "chat.delete", channel="C_REFUNDS", ts=theirs) == "cant_delete_message"
    workspace.archive("C_REFUNDS")
    assert error(client, "chat.update", channel="C_REFUNDS", ts=ts, text="x") == "is_inactive"


def test_form_encoding_works_as_json_does(workspace: Workspace, client: WebClient) -> None:
    blocks = '[{"type": "divider", "block_id": "d"}]'
    told = client.api_call("chat.postMessage", data={"channel": "C_REFUNDS", "text": "x", "blocks": blocks})
    assert workspace.message("C_REFUNDS", told["ts"])["blocks"] == [{"type": "divider", "block_id": "d"}]


def test_people_are_what_slack_says_about_them(workspace: Workspace, client: WebClient) -> None:
    assert client.users_info(user="U0006")["user"]["deleted"]
    assert client.users_info(user="U0007")["user"]["is_restricted"]
    stranger = client.users_info(user="U0009")["user"]
    assert (stranger["team_id"], stranger["is_stranger"]) == ("T0000OTHER", True)
    assert error(client, "users.info", user="U9999") == "user_not_found"
    assert [one["handle"] for one in client.usergroups_list()["usergroups"]] == ["billing", "ops-leads", "release"]
    assert client.usergroups_users_list(usergroup="S_BILLING")["users"] == ["U0001", "U0002", "U0007"]
    workspace.set_usergroup("S_BILLING", ["U0003"])
    workspace.set_user("U0003", is_bot=True)
    assert client.usergroups_users_list(usergroup="S_BILLING")["users"] == ["U0003"]
    assert client.users_info(user="U0003")["user"]["is_bot"]
    assert client.conversations_open(users="U0001")["channel"]["id"] == "DU0001"
    assert error(client, "conversations.history", channel="DU0001") == "missing_scope"


def test_an_ephemeral_is_seen_by_one_person_and_cannot_be_updated(workspace: Workspace, client: WebClient) -> None:
    ts = client.chat_postEphemeral(channel="C_REFUNDS", user="U0001", text="psst")["message_ts"]
    assert [one["ts"] for one in workspace.ephemerals("U0001", "C_REFUNDS")] == [ts]
    assert workspace.messages("C_REFUNDS") == []
    assert error(client, "chat.update", channel="C_REFUNDS", ts=ts, text="x") == "message_not_found"
    assert error(client, "chat.postEphemeral", channel="C_OPS", user="U0007", text="x") == "user_not_in_channel"


def test_a_response_url_works_five_times_for_half_an_hour(workspace: Workspace, client: WebClient) -> None:
    card = client.chat_postMessage(channel="C_REFUNDS", text="card", blocks=BUTTON)["ts"]
    clicked = workspace.click("U0001", "C_REFUNDS", card, "call.approve")
    hook = WebhookClient(clicked["response_url"], retry_handlers=[])
    workspace.remove_bot("C_REFUNDS")
    assert hook.send(text="no").body == "ok"
    assert workspace.ephemerals("U0001", "C_REFUNDS")[0]["text"] == "no"
    assert hook.send(text="new", replace_original=True).status_code == 200
    assert workspace.message("C_REFUNDS", card)["text"] == "new"
    assert hook.send(text="all", response_type="in_channel").status_code == 200
    assert hook.send(delete_original=True).status_code == 200
    assert [one["text"] for one in workspace.messages("C_REFUNDS")] == ["all"]
    hook.send(text="five")
    assert (hook.send(text="six").status_code, hook.send(text="six").body) == (404, "used_url")
    again = client.chat_postMessage(channel="C_OPS", text="card", blocks=BUTTON)["ts"]
    late = WebhookClient(workspace.click("U0001", "C_OPS", again, "call.approve")["response_url"])
    workspace.advance(30 * 60 + 1)
    assert late.send(text="late").body == "expired_url"


def test_a_stale_client_can_press_what_an_older_version_showed(workspace: Workspace, client: WebClient) -> None:
    ts = client.chat_postMessage(channel="C_REFUNDS", text="card", blocks=BUTTON)["ts"]
    client.chat_update(channel="C_REFUNDS", ts=ts, text="done", blocks=[{"type": "divider"}])
    with pytest.raises(SandboxError, match="Present: none"):
        workspace.click("U0001", "C_REFUNDS", ts, "call.approve")
    assert workspace.click("U0001", "C_REFUNDS", ts, "call.approve", stale=True)["action"]["block_id"] == "call:a"


def test_a_stale_hash_is_a_conflict_and_so_is_an_empty_one(workspace: Workspace, client: WebClient) -> None:
    home = {"type": "home", "blocks": [{"type": "divider"}]}
    first = client.views_publish(user_id="U0001", view=home)["view"]["hash"]
    assert client.views_publish(user_id="U0001", view=home, hash=first)["ok"]
    assert error(client, "views.publish", user_id="U0001", view=home, hash=first) == "hash_conflict"
    assert error(client, "views.publish", user_id="U0001", view=home, hash="") == "hash_conflict"
    assert error(client, "views.update", view_id="V0", view=home) == "not_found"


def test_rate_limits_answer_429_with_retry_after_per_channel(workspace: Workspace, client: WebClient) -> None:
    workspace.rate_limits(burst=2)
    for _ in range(2):
        client.chat_postMessage(channel="C_REFUNDS", text="x")
    with pytest.raises(SlackApiError) as refused:
        client.chat_postMessage(channel="C_REFUNDS", text="x")
    assert (refused.value.response.status_code, refused.value.response["error"]) == (429, "ratelimited")
    assert refused.value.response.headers["Retry-After"] == "1"
    client.chat_postMessage(channel="C_OPS", text="x")
    workspace.advance(1)
    client.chat_postMessage(channel="C_REFUNDS", text="x")


def test_planned_faults_happen_once_each_and_a_cut_after_the_work_leaves_the_work_done(
    workspace: Workspace, client: WebClient
) -> None:
    workspace.fault("chat.postMessage", "error", error="fatal_error")
    assert error(client, "chat.postMessage", channel="C_REFUNDS", text="1") == "fatal_error"
    workspace.fault("chat.postMessage", "http", status=503)
    with pytest.raises(SlackApiError) as refused:
        client.chat_postMessage(channel="C_REFUNDS", text="2")
    assert refused.value.response.status_code == 503
    workspace.fault("chat.postMessage", "cut_before")
    with pytest.raises((urllib.error.URLError, http.client.RemoteDisconnected, ConnectionError)):
        client.chat_postMessage(channel="C_REFUNDS", text="3")
    assert workspace.messages("C_REFUNDS") == []
    workspace.fault("chat.postMessage", "cut_after")
    with pytest.raises((urllib.error.URLError, http.client.RemoteDisconnected, ConnectionError)):
        client.chat_postMessage(channel="C_REFUNDS", text="4")
    workspace.fault("chat.postMessage", "delay", seconds=0.05)
    client.chat_postMessage(channel="C_REFUNDS", text="5")
    assert [one["text"] for one in workspace.messages("C_REFUNDS")] == ["4", "5"]
    outcomes = [one["outcome"] for one in workspace.calls("chat.postMessage")]
    assert outcomes == ["fatal_error", "http", "cut_before", "ok", "ok"]


def test_a_permalink_leads_to_the_message_on_the_page(workspace: Workspace, client: WebClient) -> None:
    parent = client.chat_postMessage(channel="C_REFUNDS", text="parent")["ts"]
    ts = client.chat_postMessage(channel="C_REFUNDS", text="child", thread_ts=parent)["ts"]
    link = client.chat_getPermalink(channel="C_REFUNDS", message_ts=ts)["permalink"]
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(link) as page:
        assert page.url == f"{workspace.url}/?channel=C_REFUNDS&ts={ts}&thread={parent}"


def test_files_are_uploaded_in_two_steps_and_shared(workspace: Workspace, client: WebClient) -> None:
    client.files_upload_v2(channel="C_REFUNDS", content="a,b", filename="rows.csv", initial_comment="the rows")
    assert workspace.wait_message("C_REFUNDS", "the rows")["files"][0]["name"] == "rows.csv"


@pytest.mark.parametrize("headers", [{"Host": "evil.test"}, {"Origin": "https://evil.test"}])
def test_the_control_door_is_shut_to_other_sites(workspace: Workspace, headers: dict[str, str]) -> None:
    request = urllib.request.Request(  # noqa: S310 - our own http URL
        f"{workspace.url}/_control/state", b"{}", {"Content-Type": "application/json", **headers}
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request)
    with refused.value:
        assert refused.value.code == 403
