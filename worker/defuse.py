"""Argument text that would kill the SDK, made harmless; the pause refuses its call by name."""

import json
from typing import Any

from approvals.storable import whole_text
from policies.arguments import ArgumentsRefused, read_json

NOTHING = "{}"


def defuse(arguments: str) -> tuple[str, str | None]:
    """The text the SDK may see, and what is wrong with the original (None when nothing is).

    Only what the SDK cannot survive is changed: halves of characters, depth, endless digits. Text that merely is
    no valid JSON stays; the SDK asks for approval of it, and the pause reads it strictly.
    """
    try:
        read_json(arguments)
    except ArgumentsRefused as refused:
        return _harmless(arguments), refused.sentence
    return arguments, None


def _harmless(arguments: str) -> str:
    text = whole_text(arguments)
    try:
        parsed = json.loads(text)
        rewritten = json.dumps(_whole(parsed))
    except RecursionError:
        return NOTHING
    except ValueError as error:
        # Not JSON at all is survivable; digits beyond Python's limit are not.
        return text if isinstance(error, json.JSONDecodeError) else NOTHING
    return text if _escapes_nothing(parsed) else rewritten


def _escapes_nothing(parsed: Any) -> bool:
    try:
        json.dumps(parsed, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, dict):
        return {whole_text(key): _whole(element) for key, element in value.items()}
    if isinstance(value, list):
        return [_whole(element) for element in value]
    return value
