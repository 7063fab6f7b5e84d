import re
from datetime import UTC, datetime, timedelta
from typing import Any

import click

_AGO = re.compile(r"(?P<number>[0-9]{1,5})(?P<unit>[hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


class Instant(click.ParamType[int]):
    """`30d`, `12h`, `2w` before now, or a date with or without a time (UTC unless it says otherwise); ms since 1970."""

    name = "when"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> int:
        """Read what was typed."""
        if isinstance(value, int):
            return value
        return milliseconds(self._read(str(value).strip(), param, context))

    def _read(self, text: str, param: click.Parameter | None, context: click.Context | None) -> datetime:
        if ago := _AGO.fullmatch(text):
            return datetime.now(UTC) - timedelta(**{_UNITS[ago["unit"]]: int(ago["number"])})
        try:
            read = datetime.fromisoformat(text)
        except ValueError:
            self.fail(f"{text!r} is no time. Write 30d, 12h, 2026-11-29 or 2026-11-29T23:10.", param, context)
        return read if read.tzinfo else read.replace(tzinfo=UTC)


def milliseconds(instant: datetime) -> int:
    """An instant as the ledger counts it."""
    return int(instant.timestamp() * 1000)
