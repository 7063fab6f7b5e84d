"""Finding a person's value in what was stored, however its letters are written there."""

import re
import unicodedata

from approvals.storable import whole_text

#: A character as JSON escapes it. In JSON inside JSON each level doubles the backslashes before it.
_CODE = re.compile(r"\\+u([0-9a-fA-F]{4})")
_SIGN = re.compile(r'\\+(["/])')
_BACKSLASHES = re.compile(r"\\+")


class Sought:
    """One value that is looked for: an address, a name, a number."""

    def __init__(self, value: str) -> None:
        self._value = _folded(value)
        self._unescaped = _folded(_unescaped(value))

    def within(self, text: str) -> bool:
        """Whether the value stands in `text`, in small or capital letters, as it is or as any JSON in it escapes it.

        A text that is no JSON may quote some, so nothing is parsed.
        """
        return self._value in _folded(text) or ("\\" in text and self._unescaped in _folded(_unescaped(text)))

    def is_all_of(self, text: str) -> bool:
        """Whether `text` is the value and nothing else."""
        return self._value == _folded(text)


def _unescaped(text: str) -> str:
    """Without the escapes of JSON at any depth: also of what only looks like one, which the value sought then does."""
    whole = whole_text(_CODE.sub(lambda code: chr(int(code[1], 16)), text))  # two halves that meet are one character
    return _BACKSLASHES.sub(r"\\", _SIGN.sub(r"\1", whole))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()
