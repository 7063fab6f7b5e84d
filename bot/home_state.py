"""What a Home tab remembers between two clicks: its filters and its place, in Slack's private metadata."""

from datetime import UTC, datetime, timedelta
from typing import Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from approvals.inbox import Choice, Cursor
from bot.ids import IdRefused

HOUR_MS = 3_600_000
NEXT, BACK, HERE = "next", "back", "here"
RADIUS, REQUESTER, DUE = "radius", "requester", "due"
_ANY = "-"
_PLACE = r"^([0-9]{1,16}:[A-Za-z0-9_.\-]{1,128})?$"


class HomeState(BaseModel):
    """`start` is the first batch of the page (empty: the most urgent), `first` and `next` are for turning it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    radius: str = Field("", pattern=r"^([0-9a-f]{40})?$")
    requester: str = Field("", pattern=r"^([UW][A-Za-z0-9_]{1,40})?$")
    due: Literal["", "hour", "today"] = ""
    start: str = Field("", pattern=_PLACE)
    first: str = Field("", pattern=_PLACE)
    next: str = Field("", pattern=_PLACE)

    @classmethod
    def read(cls, metadata: str) -> Self:
        """The state in a view's metadata; a new one when there is none, or another version of the bot wrote it."""
        try:
            return cls.model_validate_json(metadata) if metadata else cls()
        except ValidationError:
            return cls()

    def written(self) -> str:
        """The state as metadata."""
        return self.model_dump_json(exclude_defaults=True)

    def filtered(self, value: str) -> "HomeState":
        """The same with one filter chosen, at the first page.

        Raises:
            IdRefused: no option of ours has this value.
        """
        kind, _, chosen = value.partition(":")
        if kind not in {RADIUS, REQUESTER, DUE} or not chosen:
            raise IdRefused(f"{value[:40]!r} is not an option of a filter.")
        kept = {name: getattr(self, name) for name in (RADIUS, REQUESTER, DUE)}
        try:
            return HomeState.model_validate({**kept, kind: "" if chosen == _ANY else chosen})
        except ValidationError:
            raise IdRefused(f"{value[:40]!r} is not an option of a filter.") from None

    @property
    def narrowed(self) -> bool:
        """Whether any filter is chosen."""
        return bool(self.radius or self.requester or self.due)

    def choice(self, now: int, tz: str) -> Choice:
        """The filters for the store; `now` is its clock (ms), `tz` where the reader's day ends."""
        until = {"": None, "hour": now + HOUR_MS, "today": _end_of_day(now, tz)}[self.due]
        return Choice(self.radius, self.requester, until)


def option_value(kind: str, chosen: str) -> str:
    """The value of one option of a filter; empty for all."""
    return f"{kind}:{chosen or _ANY}"


def place(text: str) -> Cursor | None:
    """A place written by `place_text`; None for the beginning."""
    at, _, batch = text.partition(":")
    return Cursor(int(at), batch) if text else None


def place_text(cursor: Cursor | None) -> str:
    """A place as the state keeps it."""
    return f"{cursor.at}:{cursor.batch}" if cursor else ""


def _end_of_day(now: int, tz: str) -> int:
    try:
        zone = ZoneInfo(tz)
    except (ZoneInfoNotFoundError, ValueError):
        zone = ZoneInfo("UTC")
    today = datetime.fromtimestamp(now / 1000, UTC).astimezone(zone).date()
    midnight = datetime.combine(today + timedelta(days=1), datetime.min.time(), zone)
    return int(midnight.timestamp() * 1000)
