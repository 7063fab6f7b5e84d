"""What the text of every setting must be: without the line break of an `echo`, or the quotes of another format."""

import unicodedata
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from pydantic_core import PydanticCustomError

_QUOTES = "\"'`"
#: Control and format characters, lone surrogates, line and paragraph separators. No sentence of ours can show them.
_UNSEEN = ("C", "Zl", "Zp")


def without_margins(values: Mapping[str, Any]) -> dict[str, Any]:
    """Every text without the white space around it; one that holds nothing else is not set."""
    found = {name: value.strip() if isinstance(value, str) else value for name, value in values.items()}
    return {name: value for name, value in found.items() if value != "" or values[name] == ""}


def one_line(text: str, *, listed: bool) -> str:
    """The text, if it can be a value. Around the commas of a list there may be line breaks, which go.

    Raises:
        PydanticCustomError: it stands in quotes, or holds a character that nobody sees. The value is not told.
    """
    if listed:
        text = ",".join(part.strip() for part in text.split(","))
    if len(text) > 1 and text[0] in _QUOTES and text[0] == text[-1]:
        raise PydanticCustomError("quotes", "It stands in quotes, which are part of the value there; leave them out")
    if any(unicodedata.category(character).startswith(_UNSEEN) for character in text):
        raise PydanticCustomError("unseen", "It holds a line break or another character that cannot be seen")
    return text


def is_web_address(text: str) -> bool:
    """Whether it begins with https:// or http:// and names a host."""
    try:
        parts = urlsplit(text)
        return parts.scheme in {"https", "http"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:  # no port, or no address of version 6
        return False
