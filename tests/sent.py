"""What really went to Slack: every message and view of a test, looked at by the oracles once the test is over."""

import json
from typing import Any

from bot.blocks import Message
from bot.sandbox import WorkspaceClient
from every_screen import assert_slack_takes

MESSAGES = frozenset({"chat.postMessage", "chat.update", "chat.postEphemeral"})
VIEWS = frozenset({"views.open", "views.update", "views.push", "views.publish"})


def assert_all_sent_is_sound(slack: WorkspaceClient) -> int:
    """Everything the bot sent would have been taken by Slack itself; returns how much that was."""
    sent = [call for call in slack.calls() if call["method"] in MESSAGES | VIEWS]
    for call in sent:
        args = call["args"]
        if call["method"] in VIEWS:
            assert_slack_takes(_read(args["view"]))
        else:
            assert_slack_takes(Message(args["text"], _read(args["blocks"])))
    posts = [call["args"] for call in sent if call["method"] == "chat.postMessage"]
    assert not any(_on(args.get(name, True)) for args in posts for name in ("unfurl_links", "unfurl_media"))
    return len(sent)


def _read(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _on(flag: Any) -> bool:
    return str(flag).lower() not in {"false", "0"}
