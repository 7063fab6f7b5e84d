"""The composition objects: text, option, confirm."""

from typing import Any

from bot.sandbox import limits
from bot.sandbox.schema import Check, Problems, array, boolean, one_of, record, string

IDENTIFIER = string(limits.IDENTIFIER)


def text(most: int, *, plain: bool = False, least: int = 1) -> Check:
    """A text object; `plain` refuses mrkdwn where Slack renders plain text only."""
    shape = record(
        {"type": one_of("plain_text") if plain else one_of("plain_text", "mrkdwn"), "text": string(most, least)},
        {"emoji": boolean, "verbatim": boolean},
    )

    def check(value: Any, at: str, problems: Problems) -> None:
        shape(value, at, problems)
        if isinstance(value, dict):
            if value.get("type") == "mrkdwn" and "emoji" in value:
                problems.add("emoji is allowed in plain_text only", at)
            if value.get("type") == "plain_text" and "verbatim" in value:
                problems.add("verbatim is allowed in mrkdwn only", at)

    return check


def plain(most: int) -> Check:
    """A plain_text object."""
    return text(most, plain=True)


CONFIRM = record(
    {"text": text(limits.CONFIRM_TEXT)},
    {
        "title": plain(limits.CONFIRM_TITLE),
        "confirm": plain(limits.CONFIRM_BUTTON),
        "deny": plain(limits.CONFIRM_BUTTON),
        "style": one_of("primary", "danger"),
    },
)


def option(*, plain_only: bool) -> Check:
    """One choice. Only checkboxes and radio buttons may use mrkdwn."""
    words = text(limits.OPTION_TEXT, plain=plain_only)
    return record(
        {"text": words, "value": string(limits.OPTION_VALUE, 0)},
        {"description": words, "url": string(limits.BUTTON_URL)},
    )


def options(most: int, *, plain_only: bool = True) -> Check:
    """One to `most` choices with different values."""
    shape = array(option(plain_only=plain_only), most)

    def check(value: Any, at: str, problems: Problems) -> None:
        shape(value, at, problems)
        if isinstance(value, list):
            seen = [one.get("value") for one in value if isinstance(one, dict)]
            if len(seen) != len(set(map(str, seen))):
                problems.add("option values must be unique", at)

    return check
