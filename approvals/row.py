"""A Redis hash as it comes from the wire, read field by field with the type each field has."""

from collections.abc import Mapping
from typing import Any


class Row:
    """The fields of one hash. An absent field and an empty one are the same."""

    def __init__(self, fields: Mapping[bytes, bytes]) -> None:
        self._fields = fields

    @classmethod
    def of_pairs(cls, flat: list[Any]) -> "Row":
        """From a flat reply: name, value, name, value."""
        return cls(dict(zip(flat[::2], flat[1::2], strict=True)))

    def __bool__(self) -> bool:
        return bool(self._fields)

    def blob(self, name: str) -> bytes | None:
        """Encrypted bytes, or None."""
        return self._fields.get(name.encode()) or None

    def text(self, name: str) -> str:
        """Text; empty when absent."""
        return self._fields.get(name.encode(), b"").decode()

    def maybe(self, name: str) -> str | None:
        """Text, or None."""
        return self.text(name) or None

    def number(self, name: str) -> int:
        """A whole number; 0 when absent."""
        return int(self.text(name) or "0")

    def maybe_number(self, name: str) -> int | None:
        """A whole number, or None."""
        text = self.text(name)
        return int(text) if text else None

    def flag(self, name: str) -> bool:
        """True when the field is `1`."""
        return self.text(name) == "1"
