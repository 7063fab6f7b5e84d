"""How long people have to decide, and how long their word holds. Instants are passed in; nothing here reads a clock."""

from datetime import date, datetime, time
from functools import cache
from zoneinfo import ZoneInfo

import holidays
from pydantic import Field, field_validator, model_validator

from policies.quiet_hours import WallTime, Weekday, existing_zone
from policies.risk import Risk
from policies.values import Frozen

#: From the first posting of a card to the end of any approval: one day, in seconds.
LONGEST_S = 24 * 3600


class Deadlines(Frozen):
    """The `[deadlines]` of `reviewers.toml`. Business hours are wall-clock time in `zone`; durations are minutes.

    `weekdays` count from Monday = 0; `holidays` is a country code whose public holidays are no business days (empty:
    none); `ttl_seconds` replaces every computed time to decide, for demonstrations.
    """

    zone: str = "UTC"
    opens: WallTime = "09:00"
    closes: WallTime = "18:00"
    weekdays: tuple[Weekday, ...] = (0, 1, 2, 3, 4)
    holidays: str = ""
    business_minutes: int = Field(default=15, ge=1, le=1440)
    outside_minutes: int = Field(default=240, ge=1, le=1440)
    undo_minutes: int = Field(default=1440, ge=1, le=1440)
    lapse_minutes: int = Field(default=60, ge=1, lt=1440)
    ttl_seconds: int | None = Field(default=None, ge=1, le=LONGEST_S)

    @field_validator("zone")
    @classmethod
    def _zone_exists(cls, zone: str) -> str:
        return existing_zone(zone)

    @field_validator("holidays")
    @classmethod
    def _country_exists(cls, country: str) -> str:
        if country and country not in holidays.list_supported_countries():
            raise ValueError(f"{country} is not a country with known holidays; write for example DE")
        return country

    @model_validator(mode="after")
    def _opens_before_it_closes(self) -> "Deadlines":
        if not _wall(self.opens) < _wall(self.closes):
            raise ValueError(f"business hours end at {self.closes}, before they begin at {self.opens}")
        return self

    @property
    def lapse_s(self) -> int:
        """Seconds an approval holds once its call can be claimed."""
        return self.lapse_minutes * 60


def ttl_seconds(settings: Deadlines, *, risk: Risk, undo: str | None, now: datetime) -> int:
    """Seconds to decide from the first posting; with the lapse added never more than 24 hours.

    Raises:
        ValueError: when `now` bears no time zone, so nobody could say whether it is a business hour.
    """
    if now.utcoffset() is None:
        raise ValueError("The instant has no time zone; pass an aware datetime.")
    return min(_wanted(settings, risk, undo, now), LONGEST_S - settings.lapse_s)


def in_business_hours(settings: Deadlines, now: datetime) -> bool:
    """Whether people can be expected at their desks."""
    local = now.astimezone(ZoneInfo(settings.zone))
    if local.weekday() not in settings.weekdays or not _wall(settings.opens) <= local.time() < _wall(settings.closes):
        return False
    if not settings.holidays:
        return True
    return local.date() not in _holidays(settings.holidays, local.year)


@cache
def _holidays(country: str, year: int) -> frozenset[date]:
    return frozenset(holidays.country_holidays(country, years=year))


def _wanted(settings: Deadlines, risk: Risk, undo: str | None, now: datetime) -> int:
    if settings.ttl_seconds is not None:
        return settings.ttl_seconds
    if risk is Risk.IRREVERSIBLE and undo is not None:
        return settings.undo_minutes * 60
    return 60 * (settings.business_minutes if in_business_hours(settings, now) else settings.outside_minutes)


def _wall(text: str) -> time:
    return time.fromisoformat(text)
