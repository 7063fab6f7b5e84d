"""What the law says about a call, in the words a card needs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from approvals.models import Call
from bot.language import say
from bot.who_words import who_decides
from policies.requirement import Requirement, Standing
from policies.reviewers import Reviewers, entitled
from policies.tally import tally


class Addressed(NamedTuple):
    """Who is told that a card waits: Slack ids that we mention on purpose."""

    users: tuple[str, ...] = ()
    usergroups: tuple[str, ...] = ()


class CardLaw(Protocol):
    """The part of the law that rendering needs."""

    @property
    def version(self) -> str:
        """The version of the law in force; empty when it is not known."""
        ...

    def who(self, requirement: Requirement) -> str:
        """Who may decide, in words."""
        ...

    def addressed(self, requirement: Requirement, *, escalated: bool = False) -> Addressed:
        """Who may decide, as ids to mention; `escalated` with the next tier."""
        ...

    def switches(self) -> str:
        """The development switches that weaken the law, as a sentence; empty when there are none."""
        ...


@dataclass(frozen=True, slots=True)
class ReviewersLaw:
    """The part of the law that rendering needs, from `reviewers.toml`."""

    reviewers: Reviewers
    #: Who decides now: `reviewers` with the stand-ins of the day in place.
    today: Callable[[], Reviewers] | None = None
    version: str = ""

    def who(self, requirement: Requirement) -> str:
        """Who may decide, in words."""
        return say("To decide: {who}.", who=who_decides(self._now(), requirement))

    def addressed(self, requirement: Requirement, *, escalated: bool = False) -> Addressed:
        """Who may decide, as ids to mention; `escalated` with the next tier."""
        found = entitled(self._now(), requirement, escalated=escalated)
        return Addressed(found.users, found.usergroups)

    def switches(self) -> str:
        """The development switches that weaken the law, as a sentence; empty when there are none."""
        if self.reviewers.development.self_approval:
            return say("Development switch: requesters may approve their own calls.")
        return ""

    def _now(self) -> Reviewers:
        return self.today() if self.today else self.reviewers


def law_changed(call: Call, version: str) -> str:
    """A sentence when the law in force is not the one the call was judged by; empty when it is, or nobody knows."""
    judged_by = call.content.requirement.law
    if not version or not judged_by or judged_by == version:
        return ""
    return say("The rules have changed since this was asked; it will be judged again before it runs.")


def standing(call: Call) -> Standing:
    """The tally of the version of the call that the card shows."""
    return tally(call.content.requirement, call.decisions, version=call.version)
