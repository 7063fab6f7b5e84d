"""A real Bolt app with its real Socket Mode client against the workspace."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from bot.sandbox import SandboxError, Workspace
from tests.integration.sandbox_bot import CARD, Bot, connected


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with Workspace.serve(ack_timeout=0.6, retry_delays=(0.05, 0.05, 0.05)) as served:
        yield served


def test_a_mention_reaches_the_app_in_slacks_shape(workspace: Workspace) -> None:
    with connected(workspace, Bot(workspace)) as bot:
        said = workspace.mention("U0005", "C_REFUNDS", "refund <b> & co")
        workspace.until(lambda: bot.bodies("app_mention") and bot.bodies("message"))
    [body] = bot.bodies("app_mention")
    assert body["event"]["text"] == "<@UBOT> refund &lt;b&gt; &amp; co"
    assert body["event"]["user"] == "U0005"
    assert body["event"]["ts"] == said["ts"]
    assert body["authorizations"][0]["team_id"] == "T0000HOME"
    assert body["event_id"] != bot.bodies("message")[0]["event_id"]


def test_an_edit_tells_of_the_mention_anew_and_of_the_change_and_nobody_edits_what_others_wrote(
    workspace: Workspace,
) -> None:
    with connected(workspace, Bot(workspace)) as bot:
        said = workspace.mention("U0005", "C_REFUNDS", "refund it")
        workspace.edit("U0005", "C_REFUNDS", said["ts"], "@vobo refund it, please")
        workspace.until(lambda: len(bot.bodies("app_mention")) == 2)
        told = workspace.deliveries("message")[-1]["payload"]["event"]
    first, again = bot.bodies("app_mention")
    assert again["event_id"] != first["event_id"]
    assert (again["event"]["ts"], again["event"]["text"]) == (said["ts"], "<@UBOT> refund it, please")
    assert again["event"]["edited"]["user"] == "U0005"
    assert "edited" not in first["event"]
    assert (told["subtype"], told["message"]["ts"]) == ("message_changed", said["ts"])
    assert told["previous_message"]["text"] == "<@UBOT> refund it"
    with pytest.raises(SandboxError, match="wrote no message"):
        workspace.edit("U0001", "C_REFUNDS", said["ts"], "other words")


def test_a_click_carries_container_state_and_team_and_only_real_controls_can_be_clicked(workspace: Workspace) -> None:
    bot = Bot(workspace)
    clicks: list[dict[str, Any]] = []

    @bot.app.action("call.approve")
    def approve(ack: Any, body: dict[str, Any], respond: Any) -> None:
        clicks.append(body)
        ack()
        respond("only for you", response_type="ephemeral", replace_original=False)

    with connected(workspace, bot):
        parent = workspace.say("U0005", "C_REFUNDS", "hello")
        card = bot.app.client.chat_postMessage(
            channel="C_REFUNDS", text="card", blocks=CARD, thread_ts=parent["ts"], metadata=None
        )
        done = workspace.click("U0001", "C_REFUNDS", card["ts"], "call.approve", team_id="T0000OTHER")
        assert done["acked"]
        workspace.until(lambda: workspace.ephemerals("U0001", "C_REFUNDS"))
        with pytest.raises(SandboxError, match=r"no control call\.reject"):
            workspace.click("U0001", "C_REFUNDS", card["ts"], "call.reject")
    [body] = clicks
    assert body["user"] == {"id": "U0001", "username": "bruno", "name": "bruno", "team_id": "T0000OTHER"}
    assert body["team"]["id"] == "T0000HOME"
    assert body["container"] == {
        "type": "message",
        "message_ts": card["ts"],
        "channel_id": "C_REFUNDS",
        "is_ephemeral": False,
        "thread_ts": parent["ts"],
    }
    assert body["actions"][0]["value"] == "a"
    assert body["message"]["blocks"][1]["block_id"] == "call:a:controls"


def test_an_unanswered_click_warns_the_person_and_is_not_repeated(workspace: Workspace) -> None:
    bot = Bot(workspace)
    clicks: list[Any] = []
    bot.app.action("call.edit")(lambda body: clicks.append(body["actions"]))
    with connected(workspace, bot):
        card = bot.app.client.chat_postMessage(channel="C_REFUNDS", text="card", blocks=CARD)
        done = workspace.click("U0001", "C_REFUNDS", card["ts"], "call.edit")
        assert not done["acked"]
        assert [one["reason"] for one in done["attempts"]] == ["timeout"]
        assert "error or not at all" in workspace.notices("U0001")[0]
        assert workspace.notices("U0002") == []
    assert len(clicks) == 1


def test_a_lost_event_comes_again_with_its_retry_number_and_a_doubled_one_twice(workspace: Workspace) -> None:
    bot = Bot(workspace)
    retries: list[Any] = []

    @bot.app.middleware
    def look(req: Any, next: Any) -> None:  # noqa: A002
        retries.append(req.headers.get("x-slack-retry-num"))
        next()

    with connected(workspace, bot):
        workspace.lose_next(2)
        workspace.mention("U0005", "C_REFUNDS", "hello")
        workspace.until(lambda: len(bot.heard) == 2)
        assert retries == [["1"], ["1"]]
        workspace.duplicate_next(1)
        workspace.mention("U0005", "C_REFUNDS", "again")
        workspace.until(lambda: len(bot.heard) == 5)
    mentions = bot.bodies("app_mention")
    assert len(mentions) == 3
    assert mentions[1]["event_id"] == mentions[2]["event_id"]


def test_events_without_any_connection_are_tried_four_times(workspace: Workspace) -> None:
    workspace.mention("U0005", "C_REFUNDS", "anybody there?")
    [delivery] = workspace.until(lambda: [one for one in workspace.deliveries("app_mention") if one["done"]])
    assert [one["retry"] for one in delivery["attempts"]] == [0, 1, 2, 3]
    assert not delivery["acked"]


def test_each_payload_goes_to_one_of_two_connections(workspace: Workspace) -> None:
    first, second = Bot(workspace), Bot(workspace)
    with connected(workspace, first), connected(workspace, second):
        workspace.until(lambda: workspace.state()["connections"] == 2)
        for number in range(4):
            workspace.mention("U0005", "C_REFUNDS", f"number {number}")
        workspace.until(lambda: len(first.heard) + len(second.heard) == 8)
        time.sleep(0.2)
    assert len(first.heard) == len(second.heard) == 4


def test_a_dropped_connection_is_opened_again(workspace: Workspace) -> None:
    with connected(workspace, Bot(workspace)) as bot:
        assert workspace.drop_connections(politely=True) == 1
        workspace.wait_connected(15)
        workspace.mention("U0005", "C_REFUNDS", "still there?")
        workspace.until(lambda: bot.bodies("app_mention"))


def test_a_slash_command_answers_privately_by_default(workspace: Workspace) -> None:
    bot = Bot(workspace)

    @bot.app.command("/vobo")
    def command(ack: Any, body: dict[str, Any]) -> None:
        ack(f"you said {body['text']}")

    with connected(workspace, bot):
        assert workspace.slash("U0005", "C_REFUNDS", "help me")["acked"]
        assert workspace.ephemerals("U0005", "C_REFUNDS")[0]["text"] == "you said help me"
        assert workspace.messages("C_REFUNDS") == []
