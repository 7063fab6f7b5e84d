"""The shape of one block, and which blocks a message, a modal and an app home may hold."""

from typing import Any, Literal, TypeAlias

from bot.sandbox import limits
from bot.sandbox.schema import Check, Problems, anything, array, boolean, nullable, one_of, record, string, tagged
from bot.sandbox.schema_elements import BUTTON, IMAGE, IN_ACTIONS, IN_INPUT, IN_SECTION
from bot.sandbox.schema_rich_text import RICH_TEXT
from bot.sandbox.schema_text import IDENTIFIER, plain, text

Surface: TypeAlias = Literal["message", "modal", "home"]
Block: TypeAlias = dict[str, Any]

_TYPE = string(40)
_BLOCK: dict[str, Check] = {"block_id": IDENTIFIER}

_SECTION = record(
    {"type": _TYPE},
    {
        **_BLOCK,
        "text": text(limits.TEXT),
        "fields": array(text(limits.SECTION_FIELD_TEXT), limits.SECTION_FIELDS),
        "accessory": IN_SECTION,
        "expand": boolean,
    },
)


def _section(value: Any, at: str, problems: Problems) -> None:
    _SECTION(value, at, problems)
    if not value.get("text") and not value.get("fields"):
        problems.add("missing required field: text or fields", at)


_IMAGE_BLOCK = record(
    {"type": _TYPE, "alt_text": string(limits.ALT_TEXT)},
    {
        **_BLOCK,
        "image_url": string(limits.IMAGE_URL),
        "slack_file": anything,
        "title": plain(limits.ALT_TEXT),
    },
)
_CONTEXT_PART = tagged(
    {
        "mrkdwn": text(limits.TEXT),
        "plain_text": text(limits.TEXT),
        "image": IMAGE,
    },
    "context element",
)
_CELL = tagged(
    {
        "raw_text": record({"type": _TYPE, "text": string(limits.TABLE_TEXT)}),
        "raw_number": record({"type": _TYPE, "value": anything}, {"text": string(limits.TABLE_TEXT)}),
        "rich_text": RICH_TEXT,
    },
    "table cell",
)
_COLUMN = record({}, {"align": one_of("left", "center", "right"), "is_wrapped": boolean})
_TABLE = record(
    {"type": _TYPE, "rows": array(array(_CELL, limits.TABLE_COLUMNS), limits.TABLE_ROWS)},
    {**_BLOCK, "column_settings": array(nullable(_COLUMN), limits.TABLE_COLUMNS, 0)},
)


def _table(value: Any, at: str, problems: Problems) -> None:
    _TABLE(value, at, problems)
    if text_of(value.get("rows")) > limits.TABLE_TEXT:
        problems.add(f"table cells hold more than {limits.TABLE_TEXT} characters", at)


_PLAIN_BLOCKS: dict[str, Check] = {
    "section": _section,
    "header": record({"type": _TYPE, "text": plain(limits.HEADER_TEXT)}, {**_BLOCK, "level": anything}),
    "divider": record({"type": _TYPE}, _BLOCK),
    "image": _IMAGE_BLOCK,
    "context": record({"type": _TYPE, "elements": array(_CONTEXT_PART, limits.CONTEXT_ELEMENTS)}, _BLOCK),
    "actions": record({"type": _TYPE, "elements": array(IN_ACTIONS, limits.ACTIONS_ELEMENTS)}, _BLOCK),
    "table": _table,
}
_INPUT = record(
    {"type": _TYPE, "label": plain(limits.INPUT_LABEL), "element": IN_INPUT},
    {**_BLOCK, "hint": plain(limits.INPUT_LABEL), "optional": boolean, "dispatch_action": boolean},
)
_CONTAINER = record(
    {
        "type": _TYPE,
        # What the documentation and the live validator both accept.
        "child_blocks": array(tagged(_PLAIN_BLOCKS, "block in a container"), limits.CONTAINER_CHILDREN),
    },
    {
        **_BLOCK,
        "title": plain(limits.CONTAINER_TITLE),
        "subtitle": text(limits.CONTAINER_TITLE),
        "icon": anything,
        "is_collapsible": boolean,
        "default_collapsed": boolean,
        "width": anything,
    },
)
_CARD = record(
    {"type": _TYPE},
    {
        **_BLOCK,
        "title": text(limits.CARD_TITLE),
        "subtitle": text(limits.CARD_TITLE),
        "body": text(limits.CARD_BODY),
        "subtext": text(limits.CARD_BODY),
        "icon": anything,
        "hero_image": anything,
        "actions": array(tagged({"button": BUTTON}), limits.CARD_ACTIONS),
    },
)
_ALERT = record(
    {"type": _TYPE, "text": text(limits.ALERT_TEXT)},
    {**_BLOCK, "level": one_of("default", "info", "warning", "error", "success")},
)
_MARKDOWN = record({"type": _TYPE, "text": string(limits.MARKDOWN_TEXT)}, _BLOCK)

_EVERYWHERE = {**_PLAIN_BLOCKS, "input": _INPUT, "rich_text": RICH_TEXT, "card": _CARD}
_NO_TABLE = {name: check for name, check in _EVERYWHERE.items() if name != "table"}
_SURFACES: dict[Surface, Check] = {
    "message": tagged({**_EVERYWHERE, "container": _CONTAINER, "markdown": _MARKDOWN}, "block on this surface"),
    "modal": tagged({**_NO_TABLE, "alert": _ALERT}, "block on this surface"),
    "home": tagged({**_EVERYWHERE, "container": _CONTAINER}, "block on this surface"),
}


def check_blocks(blocks: Any, surface: Surface, at: str, most: int, least: int = 0) -> Problems:
    """Everything wrong with a list of blocks on `surface`; an empty result means Slack would take it."""
    problems = Problems()
    array(_SURFACES[surface], most, least)(blocks, at, problems)
    if not problems:
        _unique_ids(blocks, at, problems)
    return problems


def _unique_ids(blocks: list[Block], at: str, problems: Problems) -> None:
    seen: set[str] = set()
    for index, block in enumerate(walk(blocks)):
        block_id = block.get("block_id")
        if block_id in seen:
            problems.add(f"block_id {block_id} already exists", f"{at}/{index}/block_id")
        if block_id:
            seen.add(block_id)
        actions = [one["action_id"] for one in controls_of(block) if one.get("action_id")]
        if len(actions) != len(set(actions)):
            problems.add("action_id must be unique within a block", f"{at}/{index}/elements")


def walk(blocks: list[Block]) -> list[Block]:
    """All blocks, those inside containers after their container."""
    found: list[Block] = []
    for block in blocks:
        found.append(block)
        if block.get("type") == "container":
            found.extend(block.get("child_blocks") or [])
    return found


def controls_of(block: Block) -> list[Block]:
    """The interactive elements that stand directly in one block."""
    kind = block.get("type")
    if kind == "actions":
        return list(block["elements"])
    if kind == "input":
        return [block["element"]]
    if kind == "card":
        return list(block.get("actions") or [])
    accessory = block.get("accessory")
    return [accessory] if kind == "section" and accessory and accessory["type"] != "image" else []


def text_of(value: Any) -> int:
    """Characters of all text anywhere below `value`: what counts towards `msg_blocks_too_long`."""
    if isinstance(value, list):
        return sum(text_of(one) for one in value)
    if isinstance(value, dict):
        own = value.get("text")
        return (len(own) if isinstance(own, str) else 0) + sum(text_of(one) for one in value.values())
    return 0
