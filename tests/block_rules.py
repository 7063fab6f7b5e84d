"""What Slack takes, from two sources that are not ours: slackblocks' registry of limits and the strict sandbox."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from slackblocks import _limits as limits

from bot.blocks import MESSAGE_BLOCKS, MESSAGE_TEXT, MODAL_BLOCKS, Message, text_length
from bot.sandbox.validate_message import checked_blocks, checked_text
from bot.sandbox.validate_view import checked_view

Json = dict[str, Any]
#: Slack has refused messages with a little over 12,000 characters in their blocks; it documents no figure.
TOO_LONG = 12_000
TABLE_TEXT = 10_000
VIEW_BYTES = 250_000
SHOWN_OF_A_BUTTON = 30
#: Where something stands that a person reads or hears.
READ = frozenset({"text", "fallback", "alt_text", "accessibility_label", "initial_value"})


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
    assert len(message.blocks) <= MESSAGE_BLOCKS <= limits.MESSAGE_BLOCKS_MAX_ITEMS
    assert text_length(message.blocks) <= MESSAGE_TEXT
    assert read_length(message.blocks) <= TOO_LONG
    checked_blocks(message.blocks)
    checked_text(message.text, 4_000)
    assert message.text.strip(), "screen readers and notifications read the text, not the blocks"
    tables = [block for block in message.blocks if block["type"] in {"table", "data_table"}]
    assert len(tables) <= 1, "Slack takes one table in a message"
    assert read_length(tables) <= TABLE_TEXT
    _assert_parts(message.blocks)


def assert_view(view: Json) -> None:
    """This modal would be opened, or this Home tab published."""
    assert len(view["blocks"]) <= MODAL_BLOCKS <= limits.VIEW_BLOCKS_MAX_ITEMS
    assert len(json.dumps(view).encode()) <= VIEW_BYTES
    assert len(view.get("title", {}).get("text", "")) <= limits.VIEW_TITLE_MAX_LENGTH
    assert len(view.get("private_metadata", "")) <= limits.VIEW_PRIVATE_METADATA_MAX_LENGTH
    checked_view(view, view["type"])
    _assert_parts(view["blocks"])


def read_length(value: Any) -> int:
    """Characters of everything that is read or read aloud anywhere below: more than Slack is known to count."""
    return sum(
        len(part) for one in every(value) for name, part in one.items() if name in READ and isinstance(part, str)
    )


def _assert_parts(blocks: list[Json]) -> None:
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    assert len(ids) == len(set(ids)), "block ids are unique"
    for block in blocks:
        names = [one["action_id"] for one in controls([block])]
        assert len(names) == len(set(names)), "action ids are unique within a block"
        primary = [one for one in controls([block]) if one.get("style") == "primary"]
        assert len(primary) <= 1, "one control of a set stands out"
    _assert_buttons([one for one in every(blocks) if one.get("type") == "button"])
    for one in every(blocks):
        for option in one.get("options") or []:
            assert len(option["text"]["text"]) <= limits.OPTION_TEXT_MAX_LENGTH
            assert len(option["value"]) <= limits.OPTION_VALUE_MAX_LENGTH
        values = [option["value"] for option in one.get("options") or []]
        assert len(values) == len(set(values)), "what is chosen can be told apart"
        if "block_id" in one:
            assert len(one["block_id"]) <= limits.BLOCK_ID_MAX_LENGTH


def _assert_buttons(buttons: list[Json]) -> None:
    said = Counter(one["text"]["text"] for one in buttons)
    heard = Counter(one.get("accessibility_label", one["text"]["text"]) for one in buttons)
    for one in buttons:
        assert len(one["text"]["text"]) <= SHOWN_OF_A_BUTTON, "Slack cuts what is longer"
        assert len(one.get("value", "")) < 200, "values are ids, never content"
        if "confirm" in one:
            assert len(one["confirm"]["text"]["text"]) <= limits.CONFIRMATION_TEXT_MAX_LENGTH
        if said[one["text"]["text"]] > 1:
            assert heard[one.get("accessibility_label", "")] == 1, "a screen reader tells equal buttons apart"


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
