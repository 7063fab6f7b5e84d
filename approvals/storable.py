"""Text as every database takes it."""

import re

#: What nobody can store: PostgreSQL has no NUL in a text, and half a character has no bytes in UTF-8.
_REFUSED = re.compile("[\x00\ud800-\udfff]")
#: A sign that something stood here, which neither grows nor passes for what somebody typed, as an escape might.
INSTEAD = "\ufffd"


def storable(text: str) -> str:
    """The text with U+FFFD in place of each NUL and each half of a character; all others stay, control ones too."""
    return _REFUSED.sub(INSTEAD, text)
