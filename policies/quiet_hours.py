"""When a reviewer is not to be interrupted. Instants are passed in; nothing here reads a clock."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, ConfigDict, Field

from policies.plain_text import quoted
from policies.slack_ids import UserId
from policies.values import Frozen

_DAY = timedelta(days=1)
_SUNDAY = 6


def existing_zone(zone: str) -> str:
    """`zone`, if it is a time zone.

    Raises:
        ValueError: it is not.
    """
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        raise ValueError(f"{zone} is not a time zone; write for example Europe/Berlin") from None
    return zone


def _wall(text: str) -> str:
    try:
        read = time.fromisoformat(text)
    except ValueError:
        read = None
    if read is None or read.tzinfo is not None:
        raise ValueError(f"{quoted(text)} is not a time of day; write for example 22:00")
    return text


def _weekday(number: int) -> int:
    if not 0 <= number <= _SUNDAY:
        raise ValueError(f"{number} is not a weekday; Monday is 0 and Sunday is 6")
    return number


Weekday = Annotated[int, AfterValidator(_weekday)]
WallTime = Annotated[str, AfterValidator(_wall)]


class QuietHours(Frozen):
    """One `[[quiet_hours]]` of `reviewers.toml`: people who are not notified between two times of day.

    `first` and `last` are wall-clock time in `zone` (None: the zone of the deadlines); what ends at or before its
    beginning ends on the next day, so equal times mean a whole day. `weekdays` are the days on which it begins
    (Monday = 0).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)

    users: tuple[UserId, ...] = Field(alias="for", min_length=1)
    first: WallTime = Field(alias="from")
    last: WallTime = Field(alias="to")
    weekdays: tuple[Weekday, ...] = (0, 1, 2, 3, 4, 5, 6)
    zone: Annotated[str, AfterValidator(existing_zone)] | None = None

    def hold(self, now: datetime, team_zone: str) -> bool:
        """Whether these people are left in peace at this (aware) instant."""
        local = now.astimezone(ZoneInfo(self.zone or team_zone))
        return any(self._holds(local, local.date() - back) for back in (timedelta(0), _DAY))

    def _holds(self, local: datetime, day: date) -> bool:
        """For the span that begins on `day`.

        The clock's reading alone would interrupt people in an hour that comes twice, and instants alone misplace a
        time that a clock change leaves out; whoever is within either of them is left in peace.
        """
        if day.weekday() not in self.weekdays:
            return False
        first, last = time.fromisoformat(self.first), time.fromisoformat(self.last)
        begins, ends = datetime.combine(day, first), datetime.combine(day if first < last else day + _DAY, last)
        if begins <= local.replace(tzinfo=None) < ends:
            return True
        begin, end = begins.replace(tzinfo=local.tzinfo), ends.replace(tzinfo=local.tzinfo, fold=1)
        return begin.astimezone(UTC) <= local.astimezone(UTC) < end.astimezone(UTC)
