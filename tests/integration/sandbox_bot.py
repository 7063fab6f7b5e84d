"""A real Bolt app on its real Socket Mode client, for the tests of the workspace."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

from bot.sandbox import Workspace

CARD = [
    {"type": "section", "block_id": "call:a", "text": {"type": "mrkdwn", "text": "*Refund* 3 payments"}},
    {
        "type": "actions",
        "block_id": "call:a:controls",
        "elements": [
            {
                "type": "button",
                "action_id": "call.approve",
                "value": "a",
                "style": "primary",
                "text": {"type": "plain_text", "text": "Approve"},
            },
            {
                "type": "button",
                "action_id": "call.edit",
                "value": "a",
                "text": {"type": "plain_text", "text": "Edit"},
            },
        ],
    },
]


class Bot:
    """What the app under test heard."""

    def __init__(self, workspace: Workspace) -> None:
        client = WebClient("xoxb-sandbox", base_url=workspace.api_url)
        self.app = App(client=client, raise_error_for_unhandled_request=False)
        self.heard: list[tuple[str, dict[str, Any]]] = []
        self.app.event("app_mention")(self.note("app_mention"))
        self.app.event("message")(self.note("message"))
        self.app.event("app_home_opened")(self.note("app_home_opened"))

    def note(self, kind: str) -> Any:
        def listener(body: dict[str, Any]) -> None:
            self.heard.append((kind, body))

        return listener

    def bodies(self, kind: str) -> list[dict[str, Any]]:
        return [body for what, body in self.heard if what == kind]


@contextmanager
def connected(workspace: Workspace, bot: Bot) -> Iterator[Bot]:
    handler = SocketModeHandler(bot.app, "xapp-sandbox")
    handler.client.ping_interval = 60
    handler.connect()
    workspace.wait_connected()
    try:
        yield bot
    finally:
        # The client waits for a read of up to 3 s when it closes by itself; ending the line first wakes it.
        handler.client.auto_reconnect_enabled = False
        handler.client.closed = True
        workspace.drop_connections()
        handler.close()
