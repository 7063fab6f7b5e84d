"""When quiet hours leave a tier without anybody who could be told."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from policies.roster import Reviewers

#: Two weeks from Monday to Monday, with and without daylight saving time: quiet hours repeat weekly, zones drift apart.
WEEKS = (datetime(2024, 1, 15), datetime(2024, 7, 15))  # noqa: DTZ001 - wall-clock time of whatever zone the team has
_STEP = timedelta(minutes=30)
_STEPS = 7 * 24 * 2


def all_quiet(reviewers: Reviewers, zone: str) -> Iterator[str]:
    """One sentence for each tier whose users all have quiet hours at once. Usergroups may have awake members."""
    if not reviewers.quiet_hours:
        return
    found: dict[str, list[datetime]] = {}
    for week in WEEKS:
        for at in (week.replace(tzinfo=ZoneInfo(zone)) + _STEP * step for step in range(_STEPS)):
            quiet = set(reviewers.at(at, zone).quiet)
            for name, tier in reviewers.tiers.items():
                if tier.users and not tier.usergroups and quiet.issuperset(tier.users):
                    found.setdefault(name, []).append(at)
    for name, instants in found.items():
        following = reviewers.tiers[name].next
        then = f"ask {following} at once" if following else "only tell ops"
        first = instants[0]
        yield (
            f"reviewers.toml: everybody of the tier {name} has quiet hours at the same time, first on"
            f" {first:%A} at {first:%H:%M} ({zone}); its cards then notify none of them and {then}."
        )
