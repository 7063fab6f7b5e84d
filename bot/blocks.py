"""Block Kit as plain values: small functions that return dicts, for text that is safe by construction."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from bot.language import say
from bot.text import cut, plain

Block = dict[str, Any]

MESSAGE_BLOCKS = 50
MODAL_BLOCKS = 100
#: All text of one message together; Slack refuses at about 12,000.
MESSAGE_TEXT = 10_000
#: The text that stands in for the blocks in notifications and for screen readers.
FALLBACK_TEXT = 3_000
LEAF = 3_000


class Message(NamedTuple):
    """What is sent: the text for notifications and screen readers, and the blocks."""

    text: str
    blocks: list[Block]


def leaf(text: str, **style: bool) -> Block:
    """A piece of rich text. Slack reads no mention, link or formatting in it."""
    shown = text or " "
    return {"type": "text", "text": shown, "style": style} if style else {"type": "text", "text": shown}


def when(at_ms: int, shape: str = "{time}") -> Block:
    """An instant in the reader's own time zone."""
    fallback = datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return {"type": "date", "timestamp": at_ms // 1000, "format": shape, "fallback": fallback}


def dated(part: Block) -> str:
    """The instant that `when` made, in mrkdwn."""
    return f"<!date^{part['timestamp']}^{part['format']}|{part['fallback']}>"


def person(user: str) -> Block:
    """A mention of somebody we address on purpose."""
    return {"type": "user", "user_id": user}


def line(*leaves: Block) -> Block:
    """One paragraph of rich text."""
    return {"type": "rich_text_section", "elements": list(leaves)}


def bullets(lines: Sequence[Block]) -> Block:
    """A bulleted list of paragraphs."""
    return {"type": "rich_text_list", "style": "bullet", "elements": list(lines)}


def quote(text: str) -> Block:
    """Somebody's own words."""
    return {"type": "rich_text_quote", "elements": [leaf(text)]}


def preformatted(text: str) -> Block:
    """Text in which every space counts."""
    return {"type": "rich_text_preformatted", "elements": [leaf(text)]}


def rich(*parts: Block) -> Block:
    """A block of rich text."""
    return {"type": "rich_text", "elements": list(parts)}


def header(text: str) -> Block:
    """A heading: plain text of at most 150 characters, emoji codes left alone."""
    return {"type": "header", "text": plain_text(text, 150)}


def context(*mrkdwn: str) -> Block:
    """Small print. The caller has made everything untrusted in it inert."""
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": text, "verbatim": True} for text in mrkdwn]}


def section(mrkdwn: str, accessory: Block | None = None, block_id: str | None = None) -> Block:
    """A paragraph of our own words. The caller has made everything untrusted in it inert."""
    block: Block = {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn, "verbatim": True}}
    if accessory:
        block["accessory"] = accessory
    if block_id:
        block["block_id"] = block_id
    return block


def divider() -> Block:
    """A line across."""
    return {"type": "divider"}


def plain_text(text: str, most: int) -> Block:
    """A plain text object."""
    return {"type": "plain_text", "text": cut(plain(text) or "-", most), "emoji": False}


def button(text: str, action_id: str, value: str, *, style: str | None = None, label: str | None = None) -> Block:
    """A button; `label` is what a screen reader says when several buttons have the same text."""
    block: Block = {"type": "button", "text": plain_text(text, 30), "action_id": action_id, "value": value}
    if style:
        block["style"] = style
    if label:
        block["accessibility_label"] = cut(plain(label), 75)
    return block


def confirm(title: str, text: str, yes: str, *, style: str = "primary") -> Block:
    """The question asked before a button acts."""
    return {
        "title": plain_text(title, 100),
        "text": plain_text(text, 300),
        "confirm": plain_text(yes, 30),
        "deny": plain_text(say("Go back"), 30),
        "style": style,
    }


def actions(block_id: str, *elements: Block) -> Block:
    """A row of controls."""
    return {"type": "actions", "block_id": block_id, "elements": list(elements)}


def option(text: str, value: str, description: str = "") -> Block:
    """One choice of a select or a group of radio buttons, with a line below it that says what it means."""
    block: Block = {"text": plain_text(text, 75), "value": value}
    return {**block, "description": plain_text(description, 75)} if description else block


def text_length(value: Any) -> int:
    """Characters of all text below `value`: what counts towards Slack's limit for a message."""
    if isinstance(value, list):
        return sum(text_length(part) for part in value)
    if isinstance(value, dict):
        own = value.get("text")
        return (len(own) if isinstance(own, str) else 0) + sum(text_length(part) for part in value.values())
    return 0
