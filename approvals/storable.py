"""Text as every store takes it: whole characters, and for a database no NUL."""

#: A sign that something stood here, which neither grows nor passes for what somebody typed, as an escape might.
INSTEAD = "\ufffd"


def whole_text(text: str) -> str:
    """The text with U+FFFD for each half of a character, which has no bytes in UTF-8; two halves that meet are one.

    They meet when JSON is read that escapes a character as two, and must then be the same text as if they had not.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def storable(text: str) -> str:
    """`whole_text` with U+FFFD for each NUL too, which PostgreSQL has in no text; other control characters stay."""
    return whole_text(text).replace("\x00", INSTEAD)
