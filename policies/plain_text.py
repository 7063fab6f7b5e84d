"""Text of strangers inside our own sentences: short, on one line, with nothing invisible in it."""

import json
import unicodedata

#: Controls, format characters (bidi, zero width, tags), halves of characters, private, unassigned, line separators.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
#: Letters and marks by category that draw nothing: joiner, fillers, Braille blank, variation selectors.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")


def is_hidden(char: str) -> bool:
    """Whether a reader would not see this character, or would see the ones around it in another order."""
    return (
        unicodedata.category(char) in _UNSEEN
        or char in _BLANK
        or 0xFE00 <= ord(char) <= 0xFE0F  # noqa: PLR2004 - variation selectors
        or 0xE0100 <= ord(char) <= 0xE01EF  # noqa: PLR2004 - variation selectors, supplement
    )


def visible(text: str) -> str:
    """The text with every hidden character spelled out by its number, as Rust and JavaScript write it."""
    return text.translate({ord(char): f"\\u{{{ord(char):04x}}}" for char in set(text) if is_hidden(char)})


def visible_lines(text: str) -> str:
    """The same for each of its lines, which stay lines: for a terminal, whose cursor nobody else may move."""
    return "\n".join(map(visible, text.split("\n")))


def visible_json(document: str) -> str:
    """JSON text whose hidden characters are JSON's own escapes: whoever parses it reads the same."""
    hidden = {char for char in set(document) if is_hidden(char) and char != "\n"}  # outside of texts: a line break
    return document.translate({ord(char): json.dumps(char)[1:-1] for char in hidden})


def quoted(text: str, limit: int = 60) -> str:
    """The text in quotation marks, hidden characters spelled out; what `limit` cuts off is counted."""
    if len(text) <= limit:
        return f'"{visible(text)}"'
    return f'"{visible(text[:limit])}..." ({len(text) - limit} more characters)'
