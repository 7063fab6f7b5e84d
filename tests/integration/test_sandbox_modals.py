"""Modals and the app home: opened, refused, updated, pushed, submitted and closed by a real Bolt app."""

from collections.abc import Iterator
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.sandbox import Workspace
from tests.integration.sandbox_bot import CARD, Bot, connected

EDIT = {
    "type": "modal",
    "callback_id": "edit",
    "private_metadata": "call a",
    "notify_on_close": True,
    "title": {"type": "plain_text", "text": "Edit"},
    "submit": {"type": "plain_text", "text": "Save"},
    "blocks": [
        {
            "type": "input",
            "block_id": "arg:/amount",
            "label": {"type": "plain_text", "text": "Amount"},
            "element": {
                "type": "number_input",
                "action_id": "value",
                "is_decimal_allowed": True,
                "initial_value": "40",
                "max_value": "100",
            },
        },
        {
            "type": "input",
            "block_id": "reason",
            "optional": True,
            "label": {"type": "plain_text", "text": "Reason"},
            "element": {"type": "plain_text_input", "action_id": "value", "initial_value": "as agreed"},
        },
    ],
}


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with Workspace.serve(ack_timeout=0.6, retry_delays=(0.05, 0.05, 0.05)) as served:
        yield served


def test_a_modal_opens_shows_errors_and_submits_untouched_initial_values(workspace: Workspace) -> None:
    bot = Bot(workspace)
    submitted: list[dict[str, Any]] = []

    @bot.app.action("call.edit")
    def edit(ack: Any, body: dict[str, Any], client: WebClient) -> None:
        ack()
        client.views_open(trigger_id=body["trigger_id"], view=EDIT)

    @bot.app.view("edit")
    def save(ack: Any, body: dict[str, Any]) -> None:
        submitted.append(body)
        values = body["view"]["state"]["values"]
        if values["arg:/amount"]["value"]["value"] == "41":
            ack(response_action="errors", errors={"arg:/amount": "At most 40.00"})
        else:
            ack()

    with connected(workspace, bot):
        card = bot.app.client.chat_postMessage(channel="C_REFUNDS", text="card", blocks=CARD)
        workspace.click("U0001", "C_REFUNDS", card["ts"], "call.edit")
        workspace.until(lambda: workspace.view("U0001"))
        assert workspace.view("U0002") is None
        too_much = workspace.submit("U0001", {"arg:/amount": {"value": "500"}})
        assert too_much["errors"] == {"arg:/amount": "Please enter a number of at most 100."}
        assert not too_much["sent"]
        refused = workspace.submit("U0001", {"arg:/amount": {"value": "41"}})
        assert refused["errors"] == {"arg:/amount": "At most 40.00"}
        assert (workspace.view("U0001") or {})["errors"] == {"arg:/amount": "At most 40.00"}
        assert workspace.submit("U0001", {"arg:/amount": {"value": "25.50"}})["ok"]
        assert workspace.view("U0001") is None
    values = submitted[-1]["view"]["state"]["values"]
    assert values["arg:/amount"]["value"] == {"type": "number_input", "value": "25.50"}
    assert values["reason"]["value"] == {"type": "plain_text_input", "value": "as agreed"}
    assert submitted[-1]["view"]["private_metadata"] == "call a"
    assert submitted[-1]["user"]["team_id"] == "T0000HOME"


def test_closing_a_modal_is_heard_when_asked_for_and_update_and_push_are_obeyed(workspace: Workspace) -> None:
    bot = Bot(workspace)
    closed: list[dict[str, Any]] = []

    @bot.app.action("call.edit")
    def edit(ack: Any, body: dict[str, Any], client: WebClient) -> None:
        ack()
        client.views_open(trigger_id=body["trigger_id"], view=EDIT)

    @bot.app.view("edit")
    def save(ack: Any, body: dict[str, Any]) -> None:
        amount = body["view"]["state"]["values"]["arg:/amount"]["value"]["value"]
        ack(response_action="push" if amount == "1" else "update", view={**EDIT, "private_metadata": f"was {amount}"})

    @bot.app.view_closed("edit")
    def gone(ack: Any, body: dict[str, Any]) -> None:
        ack()
        closed.append(body)

    with connected(workspace, bot):
        card = bot.app.client.chat_postMessage(channel="C_REFUNDS", text="card", blocks=CARD)
        workspace.click("U0001", "C_REFUNDS", card["ts"], "call.edit")
        first = workspace.until(lambda: workspace.view("U0001"))
        workspace.submit("U0001", {"arg:/amount": {"value": "2"}})
        updated = workspace.view("U0001") or {}
        assert (updated["id"], updated["private_metadata"]) == (first["id"], "was 2")
        assert updated["hash"] != first["hash"]
        for _ in range(2):
            workspace.submit("U0001", {"arg:/amount": {"value": "1"}})
        assert len(workspace.state()["views"]["U0001"]) == 3
        full = workspace.submit("U0001", {"arg:/amount": {"value": "1"}})
        assert (full["ok"], full["problem"]) == (False, "push_limit_reached")
        workspace.close_view("U0001")
        assert [one["is_cleared"] for one in closed] == [False]
        workspace.close_view("U0001", everything=True)
        assert [one["is_cleared"] for one in closed] == [False, True, True]
        assert workspace.view("U0001") is None


def test_a_trigger_works_once_and_for_three_seconds(workspace: Workspace) -> None:
    bot = Bot(workspace)
    bot.app.action("call.edit")(lambda ack: ack())
    with connected(workspace, bot):
        client = bot.app.client
        card = client.chat_postMessage(channel="C_REFUNDS", text="card", blocks=CARD)
        done = workspace.click("U0001", "C_REFUNDS", card["ts"], "call.edit")
        assert client.views_open(trigger_id=done["trigger_id"], view=EDIT)["view"]["callback_id"] == "edit"
        assert _error(client, "views.open", trigger_id=done["trigger_id"], view=EDIT) == "exchanged_trigger_id"
        late = workspace.click("U0001", "C_REFUNDS", card["ts"], "call.edit")
        workspace.advance(3.1)
        assert _error(client, "views.open", trigger_id=late["trigger_id"], view=EDIT) == "expired_trigger_id"
        assert _error(client, "views.open", trigger_id="made.up", view=EDIT) == "invalid_trigger_id"


def test_the_app_home_is_published_and_its_buttons_work(workspace: Workspace) -> None:
    bot = Bot(workspace)
    views: list[dict[str, Any]] = []

    @bot.app.action("call.approve")
    def approve(ack: Any, body: dict[str, Any]) -> None:
        ack()
        views.append(body["view"])

    with connected(workspace, bot):
        workspace.open_home("U0001")
        workspace.until(lambda: bot.bodies("app_home_opened"))
        bot.app.client.views_publish(user_id="U0001", view={"type": "home", "blocks": CARD})
        workspace.click_view("U0001", "call.approve", home=True)
    assert (workspace.home("U0001") or {})["type"] == "home"
    assert views[0]["type"] == "home"


def _error(client: WebClient, method: str, **args: Any) -> str:
    with pytest.raises(SlackApiError) as refused:
        client.api_call(method, json=args)
    return str(refused.value.response["error"])
