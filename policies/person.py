from typing import Literal

from policies.values import Frozen


class Person(Frozen):
    """What Slack said about a user, and when (`fetched_at`, store clock, ms).

    `team` is the user's own home team; `usergroups` are Slack usergroup ids the user belongs to.
    """

    user: str
    name: str
    team: str
    locale: str = "en-US"
    tz: str = "UTC"
    deactivated: bool = False
    guest: bool = False
    bot: bool = False
    stranger: bool = False
    usergroups: tuple[str, ...] = ()
    fetched_at: int = 0


class Decision(Frozen):
    """One reviewer's word on one version of one call. Immutable. `name` is the reviewer's at the time.

    `mark` is what the store keeps beside it, to tell a decision that it took from one that was written there.
    """

    call: str
    version: int
    verdict: Literal["approve", "edit", "reject"]
    reviewer: str
    name: str
    reason: str | None = None
    correction: bool = False
    at: int = 0
    mark: str = ""
