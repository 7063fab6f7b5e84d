"""Canaries: calls that must never run, shown now and then to find out whether cards are read. Nothing reads a clock.

`[canaries]` of `reviewers.toml` opts in. What is asked there is invented; whoever is named as asking has agreed to be.
"""

from datetime import date, datetime, time, timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, StringConstraints

from policies.deadlines import Deadlines, in_business_hours, ttl_seconds
from policies.money import Money
from policies.plain_text import quoted
from policies.requirement import Canary, Requirement
from policies.risk import Risk
from policies.slack_ids import ChannelId, UserId
from policies.values import Frozen

#: A clock that was away at the instant makes up for it until then; later the week goes without.
LATE = timedelta(hours=2)
_WEEK_DAYS = 7

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


def _amount(typed: Any) -> Any:
    if not isinstance(typed, str):
        return typed
    number, _, currency = typed.strip().rpartition(" ")
    try:
        return Money.typed(number, currency)
    except ValueError:
        raise ValueError(f'{quoted(typed)} is not an amount; write for example "9800.00 EUR"') from None


class CanaryCall(Frozen):
    """One `[[canaries.calls]]`: what its card says. `tool` is shown, and nothing of that name is ever called.

    `request` is what the person is said to have asked, `because` why a person is asked, `reason` the agent's words,
    `oddity` what gave it away, told afterwards. `agent` is the name of the agent as other cards show it, `started_as`
    its name in VOBO_AGENT.
    """

    tool: Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
    radius: Words
    tier: str = Field(min_length=1)
    request: Words
    headline: Words
    reviewers: int = Field(default=1, ge=1, le=8)
    impact: tuple[Words, ...] = Field(default=(), max_length=8)
    amount: Annotated[Money | None, BeforeValidator(_amount)] = None
    because: Words | None = None
    reason: Words | None = None
    oddity: Annotated[Words, StringConstraints(max_length=250)] | None = None
    arguments: dict[str, str | int | bool] = {}
    agent: str = ""
    started_as: str = ""

    def requirement(self, *, law: str, deadlines: Deadlines, now: datetime) -> Requirement:
        """What it needs, as any call that nobody can take back; marked for good."""
        return Requirement(
            radius=self.radius,
            tier=self.tier,
            reviewers=self.reviewers,
            amount=self.amount,
            reasons=(self.because,) if self.because else (),
            risk=Risk.IRREVERSIBLE,
            ttl_s=ttl_seconds(deadlines, risk=Risk.IRREVERSIBLE, undo=None, now=now),
            lapse_s=deadlines.lapse_s,
            law=law,
            canary=Canary(agent=self.agent, oddity=self.oddity or ""),
        )


class Canaries(Frozen):
    """The `[canaries]` of `reviewers.toml`: how many a week, in which channel, in whose name, and which calls."""

    per_week: int = Field(default=1, ge=1, le=5)
    channel: ChannelId
    requester: UserId
    calls: tuple[CanaryCall, ...] = Field(min_length=1)


def monday_of(now: datetime, zone: str) -> date:
    """The Monday on which the week of this (aware) instant began, in the zone."""
    local = now.astimezone(ZoneInfo(zone)).date()
    return local - timedelta(days=local.weekday())


def slots(monday: date, per_week: int) -> list[str]:
    """The names of a week's canaries: `2026-W48-1`."""
    year, week, _ = monday.isocalendar()
    return [f"{year}-W{week:02d}-{number}" for number in range(1, per_week + 1)]


def instant_of(deadlines: Deadlines, monday: date, draw: int) -> datetime | None:
    """When in this week a draw falls, to the minute within business hours; None when the week has no business day."""
    zone = ZoneInfo(deadlines.zone)
    opens, closes = time.fromisoformat(deadlines.opens), time.fromisoformat(deadlines.closes)
    mornings = [datetime.combine(monday + timedelta(days=day), opens, zone) for day in range(_WEEK_DAYS)]
    mornings = [morning for morning in mornings if in_business_hours(deadlines, morning)]
    minutes = (closes.hour - opens.hour) * 60 + closes.minute - opens.minute
    if not mornings or minutes <= 0:
        return None
    day, minute = divmod(draw % (len(mornings) * minutes), minutes)
    return mornings[day] + timedelta(minutes=minute)


def is_due(deadlines: Deadlines, at: datetime | None, now: datetime) -> bool:
    """Whether one planned for `at` is planted now: from then on, not much later, and while people are at work."""
    return at is not None and at <= now < at + LATE and in_business_hours(deadlines, now)
