"""What Slack takes, from two sources that are not ours: slackblocks' registry of limits and the strict sandbox."""

from collections.abc import Iterator
from typing import Any

from slackblocks import _limits as limits

from bot.blocks import MESSAGE_BLOCKS, MESSAGE_TEXT, MODAL_BLOCKS, Message, text_length
from bot.sandbox.validate_message import checked_blocks, checked_text
from bot.sandbox.validate_view import checked_view

Json = dict[str, Any]


def every(value: Any) -> Iterator[Json]:
    """Every object anywhere below."""
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from every(part)
    elif isinstance(value, list):
        for part in value:
            yield from every(part)


def controls(blocks: list[Json]) -> list[Json]:
    """All buttons, selects and inputs."""
    return [one for one in every(blocks) if "action_id" in one]


def assert_message(message: Message) -> None:
    """This message would be posted and updated."""
    assert len(message.blocks) <= MESSAGE_BLOCKS
    assert text_length(message.blocks) <= MESSAGE_TEXT
    checked_blocks(message.blocks)
    checked_text(message.text, 4_000)
    assert message.text.strip(), "screen readers and notifications read the text, not the blocks"
    _assert_parts(message.blocks)


def assert_view(view: Json) -> None:
    """This modal would be opened."""
    assert len(view["blocks"]) <= MODAL_BLOCKS
    assert len(view["title"]["text"]) <= 24
    assert len(view["private_metadata"]) <= 3000
    checked_view(view, "modal")
    _assert_parts(view["blocks"])


def _assert_parts(blocks: list[Json]) -> None:
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    assert len(ids) == len(set(ids)), "block ids are unique"
    for block in blocks:
        names = [one["action_id"] for one in controls([block])]
        assert len(names) == len(set(names)), "action ids are unique within a block"
    for one in every(blocks):
        if one.get("type") == "button":
            assert len(one["text"]["text"]) <= limits.BUTTON_TEXT_MAX_LENGTH
            assert len(one["value"]) < 200, "values are ids, never content"
        if one.get("type") == "button" and "confirm" in one:
            assert len(one["confirm"]["text"]["text"]) <= limits.CONFIRMATION_TEXT_MAX_LENGTH
        for option in one.get("options") or []:
            assert len(option["text"]["text"]) <= limits.OPTION_TEXT_MAX_LENGTH
            assert len(option["value"]) <= limits.OPTION_VALUE_MAX_LENGTH
        if "block_id" in one:
            assert len(one["block_id"]) <= limits.BLOCK_ID_MAX_LENGTH


def parsed_text(value: Any) -> str:
    """All text that Slack reads for mentions, links and formatting: mrkdwn, and (to be careful) plain text."""
    return "\n".join(one["text"] for one in every(value) if one.get("type") in {"mrkdwn", "plain_text"})


def all_text(value: Any) -> str:
    """All text anywhere below."""
    return "\n".join(one["text"] for one in every(value) if isinstance(one.get("text"), str))


def mentioned(value: Any) -> set[str]:
    """Everybody whom rich text addresses."""
    keys = ("user_id", "usergroup_id", "channel_id", "range")
    return {str(one[key]) for one in every(value) for key in keys if key in one and one.get("type") != "text"}
