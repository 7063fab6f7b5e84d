"""Which columns and values of a call are somebody's, so that a sentence about it does not tell them."""

from collections.abc import Iterable
from typing import NamedTuple

MASKED = "\u2022\u2022\u2022"
#: A shorter text stands in too many words to be recognised in a sentence.
LEAST_TEXT = 4


class Masks(NamedTuple):
    """`columns` of a preview's rows that are personal; `values` that are known to be, wherever they stand."""

    columns: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()

    def also(self, other: "Masks") -> "Masks":
        """What either of them masks."""
        return Masks(self.columns | other.columns, self.values | other.values)

    def hides(self, value: object) -> bool:
        """Whether this is a personal value as a whole."""
        return str(value) in self.values

    def scrub(self, text: str) -> str:
        """The text without personal values that stand in it."""
        return scrubbed(text, self.values)


def scrubbed(text: str, values: Iterable[str]) -> str:
    """The text with a mask in place of each of these values, the longest first since one may stand in another."""
    for value in sorted(values, key=len, reverse=True):
        if len(value) >= LEAST_TEXT:
            text = text.replace(value, MASKED)
    return text
