"""What Slack says about people, kept fresh in the store: who somebody is now, not who they were.

A decision counts only under a snapshot that is at most sixty seconds old, at the click and again when the call is
claimed. At the click the bot asks Slack. For the claim it goes on asking: everybody who decided something during the
last day is looked up again every twenty seconds (`Watch`), because an approved call may still wait for a second
reviewer, for its siblings or for a worker. Who decided through another bot, or before this one was started, is found by
the snapshot they left in the store: whoever `reviewers.toml` names and who has one of the last day is watched too.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackClientError

from approvals.models import Person
from approvals.people import FEW
from approvals.store import Store
from bot.errors import SlackUnavailable
from bot.language import say
from policies.reviewers import Reviewers

#: Seconds for which a list of members is believed; with the snapshot's own age it stays within the minute.
GROUPS_S = 15.0
_DAY_MS = 24 * 3600 * 1000


class PeopleDesk:
    """Asks Slack about people and puts the answer into the store."""

    def __init__(
        self, client: WebClient, store: Store, reviewers: Reviewers, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._store = store
        self._groups = usergroups_of(reviewers)
        self._clock = clock
        self._lock = threading.Lock()
        self._members: dict[str, tuple[float, frozenset[str]]] = {}

    def ask(self, user: str) -> Person:
        """Who this is, as of now; stored.

        Raises:
            SlackUnavailable: Slack did not say. Then nobody may decide under this name.
        """
        try:
            told: Any = self._client.users_info(user=user, include_locale=True)["user"]
            groups = tuple(group for group in self._groups if user in self._of_group(group))
        except (SlackClientError, OSError, KeyError) as failed:
            silent = say("Slack could not say who you are just now, so nothing was decided.")
            raise SlackUnavailable(silent) from failed
        return self._store.people.put(person_from(told, groups))

    def members(self) -> set[str]:
        """Everybody in the user groups that the law names, as far as Slack answers."""
        found: set[str] = set()
        for group in self._groups:
            try:
                found |= self._of_group(group)
            except (SlackClientError, OSError):
                continue
        return found

    def listed(self) -> set[str]:
        """Everybody in those user groups whose members are notified one by one, as far as Slack answers."""
        found: set[str] = set()
        for group in self._groups:
            with contextlib.suppress(SlackClientError, OSError):
                members = self._of_group(group)
                found |= members if len(members) <= FEW else set()
        return found

    def all_empty(self, groups: Iterable[str]) -> bool:
        """Whether Slack says that none of these user groups has a member; what it does not say counts as no."""
        try:
            return not any(self._of_group(group) for group in groups)
        except (SlackClientError, OSError):
            return False

    def _of_group(self, group: str) -> frozenset[str]:
        with self._lock:
            known = self._members.get(group)
            if known is None or self._clock() - known[0] > GROUPS_S:
                asked = self._clock()
                users: Any = self._client.usergroups_users_list(usergroup=group)["users"]
                known = self._members[group] = (asked, frozenset(users))
                self._store.people.put_members(group, users)
            return known[1]


class Watch:
    """Looks up again, before their snapshots age, all people whose approval may still be spent."""

    def __init__(self, desk: PeopleDesk, store: Store, reviewers: Reviewers, *, older_than_ms: int = 15_000) -> None:
        self._desk = desk
        self._store = store
        self._named = {user for tier in reviewers.tiers.values() for user in tier.users}
        self._named |= {one.by for one in reviewers.standins}
        self._groups_only = {
            name: tier.usergroups for name, tier in reviewers.tiers.items() if tier.usergroups and not tier.users
        }
        self._until: dict[str, int] = {}
        self._lock = threading.Lock()
        self._older_than_ms = older_than_ms

    def add(self, users: Iterable[str]) -> None:
        """These people have decided something just now."""
        until = self._store.now() + _DAY_MS
        with self._lock:
            self._until |= dict.fromkeys(users, until)

    def round(self) -> int:
        """Refresh whoever is due; returns how many. A failure leaves the snapshot old, and so the call waiting."""
        now = self._store.now()
        self._adopt(now)
        self._meet()
        self._tell_of_empty_tiers()
        with self._lock:
            watched = [user for user, until in self._until.items() if until >= now]
        return self.refresh(watched)

    def refresh(self, users: Iterable[str]) -> int:
        """Ask Slack about those of these people whose snapshot is older than a few seconds; returns how many."""
        now, refreshed = self._store.now(), 0
        for user in users:
            known = self._store.people.get(user)
            if known is not None and now - known.fetched_at < self._older_than_ms:
                continue
            try:
                self._desk.ask(user)
            except SlackUnavailable:
                continue
            refreshed += 1
        return refreshed

    def _meet(self) -> None:
        """Whom a user group lists is looked up once, so that no guest and nobody who left is asked to decide."""
        new = [user for user in self._desk.listed() if self._store.people.get(user) is None]
        with self._lock:
            for user in new:
                self._until.setdefault(user, 0)  # known from now on, and not watched for that
        self.refresh(new)

    def _tell_of_empty_tiers(self) -> None:
        """Ops is told once about a tier that names user groups only, all of them without members."""
        for name, groups in self._groups_only.items():
            told = self._store.outbox.load(f"alert:tier:{name}") is not None
            if not told and self._desk.all_empty(groups):
                self._store.outbox.owe("alert", f"tier:{name}")

    def _adopt(self, now: int) -> None:
        """Watch those who decided elsewhere; once, or a snapshot that we refresh would keep itself alive for ever."""
        for user in (self._named | self._desk.members()) - self._until.keys():
            known = self._store.people.get(user)
            if known is not None and now - known.fetched_at < _DAY_MS:
                with self._lock:
                    self._until.setdefault(user, known.fetched_at + _DAY_MS)


def usergroups_of(reviewers: Reviewers) -> tuple[str, ...]:
    """The Slack user groups that the law names."""
    groups = [group for tier in reviewers.tiers.values() for group in tier.usergroups]
    starters = (*(reviewers.starters or ()), *(one for each in reviewers.agents.values() for one in each.starters))
    groups += [starter for starter in starters if starter.startswith("S")]
    return tuple(dict.fromkeys(groups))


def person_from(told: dict[str, Any], usergroups: tuple[str, ...] = ()) -> Person:
    """Slack's `users.info` as a snapshot. Whatever it does not say counts against the person."""
    profile = told.get("profile") or {}
    return Person(
        user=told["id"],
        name=profile.get("real_name") or told.get("real_name") or told.get("name") or told["id"],
        team=told.get("team_id") or "",
        locale=told.get("locale") or "en-US",
        tz=told.get("tz") or "UTC",
        deactivated=bool(told.get("deleted", True)),
        guest=bool(told.get("is_restricted") or told.get("is_ultra_restricted")),
        bot=bool(told.get("is_bot") or told.get("is_workflow_bot")),
        stranger=bool(told.get("is_stranger")),
        usergroups=usergroups,
    )
