"""Who may be asked: the people, tiers and limits of `reviewers.toml`."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Self

from pydantic import ConfigDict, Field, ValidationError, model_validator
from typing_extensions import override

from policies.canaries import Canaries
from policies.money import Money, MoneyRefused
from policies.quiet_hours import QuietHours
from policies.requirement import STRICTEST_TIER, Requirement
from policies.slack_ids import ChannelId, UsergroupId, UserId
from policies.values import Frozen

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


class ReviewersRefused(ValueError):
    """`reviewers.toml` cannot be used; the text names the place and what to write there."""


class Tier(Frozen):
    """People who may decide together. `next` is asked when they do not answer; `limits` hold for members without own.

    A member is named by user id or belongs to a named Slack usergroup at the time of the click. With `rotate`, a card
    notifies only so many users, those who were not told for longest; the others may decide as well.
    """

    users: tuple[UserId, ...] = ()
    usergroups: tuple[UsergroupId, ...] = ()
    next: str | None = None
    limits: dict[str, str] = {}
    rotate: int | None = Field(default=None, ge=1)

    def limits_of(self, user: str, own: Mapping[str, str]) -> Sequence[Mapping[str, str]]:  # noqa: ARG002 - see below
        """The limits of a member by currency, once for each way into this tier; `own` are those of the person."""
        return ({**self.limits, **own},)


class TierOfDay(Tier):
    """A tier with its stand-ins. `lent` are the limits of whoever stands in, by entry; empty: their own."""

    lent: dict[UserId, tuple[dict[str, str], ...]]

    @override
    def limits_of(self, user: str, own: Mapping[str, str]) -> Sequence[Mapping[str, str]]:
        return [{**self.limits, **own, **lent} for lent in self.lent.get(user, ({},))]


class Profile(Frozen):
    """A person the file knows by name. `limits` are amounts by currency, as typed: `{ EUR = "250.00" }`."""

    name: str = Field(min_length=1)
    limits: dict[str, str] = {}


class StandIn(Frozen):
    """`by` belongs to every tier of `for` from the first to the last date, both included, in the zone of the deadlines.

    The stand-in keeps own personal limits, unless `limits` gives others for these tiers and days. Whoever is away may
    still decide, but is not notified.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)

    away: UserId = Field(alias="for")
    by: UserId
    first: date = Field(alias="from")
    last: date = Field(alias="to")
    limits: dict[str, str] = {}

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.last < self.first:
            raise ValueError(f"the stand-in for {self.away} ends on {self.last}, before it begins on {self.first}")
        if self.away == self.by:
            raise ValueError(f"{self.by} cannot stand in for themselves")
        return self


class AgentAccess(Frozen):
    """Who may start runs with one agent of VOBO_AGENT, where that is narrower than `starters`."""

    starters: tuple[UserId | UsergroupId, ...]


class Development(Frozen):
    """Switches that weaken the law, for a single developer. Each shows on every card."""

    self_approval: bool = False


class Reviewers(Frozen):
    """The people part of `reviewers.toml`.

    `team` is the home workspace; `strictest` the tier that is asked when no rule could judge; `ops` may press the
    operators' controls; `starters` (users or usergroups; None: every member who is no guest) may start runs, with an
    agent that `agents` names only those it lists as well; `ops_channel` and `language` are this workspace's own where
    one deployment serves several; `canaries` opts in to those. `away` is filled by `on`: who
    has a stand-in that day; `quiet` by `at`: whose quiet hours it is.
    """

    team: str = Field(pattern=r"^[TE][A-Z0-9_]+$")
    strictest: str
    tiers: dict[str, Tier]
    ops: tuple[UserId, ...] = ()
    ops_channel: ChannelId | None = None
    language: str | None = None
    starters: tuple[UserId | UsergroupId, ...] | None = None
    people: dict[UserId, Profile] = {}
    agents: dict[str, AgentAccess] = {}
    standins: tuple[StandIn, ...] = ()
    quiet_hours: tuple[QuietHours, ...] = ()
    canaries: Canaries | None = None
    development: Development = Development()
    away: tuple[UserId, ...] = ()
    quiet: tuple[UserId, ...] = ()

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """The people of a `reviewers.toml`; its other tables are somebody else's.

        Raises:
            ReviewersRefused: naming the first place that cannot be used.
        """
        return cls.from_tables(read_toml(text))

    @classmethod
    def from_tables(cls, tables: dict[str, Any]) -> Self:
        """As `from_toml`, from tables already parsed."""
        try:
            reviewers = cls.model_validate({name: tables[name] for name in TABLES if name in tables})
        except ValidationError as error:
            raise ReviewersRefused(first_error(error)) from None
        for place, limits in reviewers.all_limits():
            for currency, typed in limits.items():
                _limit(place, currency, typed)
        return reviewers

    def on(self, day: date) -> "Reviewers":
        """The same people with the stand-ins of that day in their places."""
        active = [one for one in self.standins if one.first <= day <= one.last]
        if not active:
            return self
        tiers = {name: _of_day(tier, active) for name, tier in self.tiers.items()}
        away = tuple(dict.fromkeys(one.away for one in active))
        return self.model_copy(update={"tiers": tiers, "away": away})

    def at(self, now: datetime, zone: str) -> "Reviewers":
        """The same people, with those marked whose quiet hours hold at this instant; `zone` is the team's."""
        quiet = dict.fromkeys(user for one in self.quiet_hours if one.hold(now, zone) for user in one.users)
        return self.model_copy(update={"quiet": tuple(quiet)}) if quiet else self

    def opened(self, members: Mapping[str, Sequence[str]]) -> "Reviewers":
        """The same people with the known members of usergroups as users; other usergroups stay. To notify only."""
        if not members:
            return self
        tiers = {}
        for name, tier in self.tiers.items():
            known = [user for group in tier.usergroups for user in members.get(group, ())]
            left = tuple(group for group in tier.usergroups if group not in members)
            tiers[name] = tier.model_copy(
                update={"users": tuple(dict.fromkeys((*tier.users, *known))), "usergroups": left}
            )
        return self.model_copy(update={"tiers": tiers})

    def tier_of(self, requirement: Requirement) -> str:
        """The name of the tier a requirement asks."""
        return self.strictest if requirement.tier == STRICTEST_TIER else requirement.tier

    def tiers_for(self, requirement: Requirement, *, escalated: bool = False) -> tuple[Tier, ...]:
        """The tiers whose members may decide: one, after escalation also the next; none for an unknown tier."""
        tier = self.tiers.get(self.tier_of(requirement))
        if tier is None:
            return ()
        following = self.tiers.get(tier.next) if escalated and tier.next else None
        return (tier, following) if following else (tier,)

    def limit_of(self, user: str, tiers: Iterable[Tier], currency: str) -> Money | None:
        """The highest amount this user may decide in these tiers; None when no limit was set, which allows nothing."""
        own = self.people[user].limits if user in self.people else {}
        sources = [limits for tier in tiers for limits in tier.limits_of(user, own)]
        amounts = [_limit(user, currency, limits[currency]) for limits in sources if currency in limits]
        return max(amounts, key=lambda amount: amount.minor, default=None)

    def usergroups(self) -> tuple[str, ...]:
        """Every usergroup of the tiers."""
        return tuple(dict.fromkeys(group for tier in self.tiers.values() for group in tier.usergroups))

    def name_of(self, user: str) -> str:
        """The name the file gives a user, or the id."""
        return self.people[user].name if user in self.people else user

    def all_limits(self) -> Iterable[tuple[str, dict[str, str]]]:
        """Every table of limits with the place where it stands."""
        yield from ((f"tiers.{name}", tier.limits) for name, tier in self.tiers.items())
        yield from ((f"people.{user}", person.limits) for user, person in self.people.items())
        yield from ((f"standins.{one.by}", one.limits) for one in self.standins)


def _of_day(tier: Tier, active: Sequence[StandIn]) -> Tier:
    """A tier with those in it who stand in for its users; a limit that came with an entry reaches no other tier."""
    entries = [one for one in active if one.away in tier.users]
    if not entries:
        return tier
    lent: dict[str, tuple[dict[str, str], ...]] = {one.by: ({},) for one in entries if one.by in tier.users}
    for one in entries:
        lent[one.by] = (*lent.get(one.by, ()), one.limits)
    users = tuple(dict.fromkeys((*tier.users, *lent)))
    return TierOfDay.model_validate({**dict(tier), "users": users, "lent": lent})


#: The tables and keys of `reviewers.toml` that say who; `deadlines` and `budgets` say when and how often.
TABLES = tuple(name for name in Reviewers.model_fields if name not in {"away", "quiet"})


def in_words(number: int) -> str:
    """Small numbers as words."""
    return _NUMBERS[number] if 0 <= number < len(_NUMBERS) else str(number)


def read_toml(text: str) -> dict[str, Any]:
    """The tables of `reviewers.toml`.

    Raises:
        ReviewersRefused: when it is not TOML or has a table nobody reads.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ReviewersRefused(f"reviewers.toml is not valid TOML: {error}. Correct it there.") from None
    unread = set(tables) - set(TABLES) - {"deadlines", "budgets"}
    if unread:
        raise ReviewersRefused(f"reviewers.toml has {min(unread)!r}, which nothing reads. Remove or rename it.")
    return tables


def first_error(error: ValidationError, table: str = "") -> str:
    """The first thing wrong in a table of `reviewers.toml`, as a sentence that names the place."""
    first = error.errors(include_url=False)[0]
    place = ".".join([table] * bool(table) + [str(name) for name in first["loc"]])
    what = str(first["ctx"]["error"]) if first["type"] == "value_error" else first["msg"]
    return f"reviewers.toml, {place or 'the whole'}: {what}."


def _limit(place: str, currency: str, typed: str) -> Money:
    try:
        return Money(minor=0, currency=currency) if typed in {"0", "0.00"} else Money.typed(typed, currency)
    except (MoneyRefused, ValidationError) as error:
        what = str(error) if isinstance(error, MoneyRefused) else f"{currency!r} is not a currency."
        raise ReviewersRefused(f"reviewers.toml, {place}.limits: {what}") from None
