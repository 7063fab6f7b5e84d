"""What a person types, as Slack's client would send it: escaped, with names turned into mentions."""

import re
from typing import Any

from bot.sandbox.model import Json
from bot.sandbox.world import World

_KNOWN_TOKEN = re.compile(r"<(?:@[A-Z0-9_]+|#[A-Z0-9_]+(?:\|[^>]*)?|![a-z]+(?:\^[^>]*)?)>")
_NAME = re.compile(r"(?<![\w@.])@([a-z][a-z0-9_-]*)")
_PIECE = re.compile(r"<@([A-Z0-9_]+)>")


def typed(world: World, text: str) -> str:
    """Slack text of what was typed. Ready-made tokens such as `<@U0001>` are kept."""
    kept = _KNOWN_TOKEN.findall(text)
    pieces = [_named(world, _escaped(piece)) for piece in _KNOWN_TOKEN.split(text)]
    return "".join(piece + (kept[index] if index < len(kept) else "") for index, piece in enumerate(pieces))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _named(world: World, text: str) -> str:
    names = {user.name: f"<@{user.id}>" for user in world.users.values()}
    names |= {group.handle: f"<!subteam^{group.id}>" for group in world.usergroups.values()}
    names |= {word: f"<!{word}>" for word in ("channel", "here", "everyone")}
    return _NAME.sub(lambda found: names.get(found[1], found[0]), text)


def rich_text(text: str) -> list[Json]:
    """The block a Slack client sends along with a typed message."""
    elements: list[dict[str, Any]] = []
    for index, piece in enumerate(_PIECE.split(text)):
        if index % 2:
            elements.append({"type": "user", "user_id": piece})
        elif piece:
            plain = piece.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
            elements.append({"type": "text", "text": plain})
    return [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}]
