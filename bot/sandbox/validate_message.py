"""What Slack refuses about a whole message."""

import json
from typing import Any

from bot.sandbox import limits
from bot.sandbox.errors import SlackError
from bot.sandbox.schema import Problems
from bot.sandbox.validate_blocks import Block, check_blocks, text_of, walk


def refusal(code: str, problems: Problems | list[str]) -> SlackError:
    """Slack's answer to malformed blocks: the list twice, once as `[ERROR]` messages."""
    messages = [f"[ERROR] {one}" for one in problems]
    return SlackError(code, errors=list(problems), response_metadata={"messages": messages})


def decoded(value: Any, code: str) -> Any:
    """A JSON argument that may arrive as JSON text (form encoding) or as JSON already."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            raise SlackError(code) from None
    return value


def checked_blocks(value: Any) -> list[Block] | None:
    """The blocks of a message, or None when the caller sent none.

    Raises:
        SlackError: invalid_blocks_format, invalid_blocks, invalid_attachments, msg_blocks_too_long.
    """
    if value is None:
        return None
    blocks = decoded(value, "invalid_blocks_format")
    if not isinstance(blocks, list):
        raise SlackError("invalid_blocks_format")
    problems = check_blocks(blocks, "message", "/blocks", limits.MESSAGE_BLOCKS)
    if problems:
        raise refusal("invalid_blocks", problems)
    if sum(block["type"] == "table" for block in walk(blocks)) > 1:
        raise refusal("invalid_attachments", ["only_one_table_allowed"])
    markdown = sum(len(block["text"]) for block in blocks if block["type"] == "markdown")
    if text_of(blocks) > limits.MESSAGE_BLOCKS_TEXT or markdown > limits.MARKDOWN_TEXT:
        raise SlackError("msg_blocks_too_long")
    return blocks


def checked_text(value: Any, most: int) -> str:
    """The top-level text, never None.

    Raises:
        SlackError: msg_too_long above `most` characters.
    """
    words = "" if value is None else str(value)
    if len(words) > most:
        raise SlackError("msg_too_long")
    return words


def checked_metadata(value: Any) -> dict[str, Any] | None:
    """Message metadata: an event type and a flat JSON object.

    Raises:
        SlackError: invalid_metadata_format.
    """
    metadata = decoded(value, "invalid_metadata_format")
    if metadata is None:
        return None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("event_payload"), dict):
        raise SlackError("invalid_metadata_format")
    if not isinstance(metadata.get("event_type"), str) or not metadata["event_type"]:
        raise SlackError("invalid_metadata_format")
    return metadata
