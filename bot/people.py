"""What Slack says about people, kept fresh in the store: who somebody is now, not who they were.

A decision counts only under a snapshot that is at most sixty seconds old, at the click and again when the call is
claimed. At the click the bot asks Slack. For the claim it goes on asking: everybody who decided a call that is still
open is looked up again every twenty seconds (`Watch`), because an approved call may still wait for a second reviewer,
for its siblings or for a worker; and whoever wants an undo that waits for one. Which calls those are, the store says:
it does not matter through which bot they were decided, nor when this one was started.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError

from approvals.models import Person
from approvals.people import FEW
from approvals.store import Store
from bot.errors import SlackUnavailable
from bot.language import say
from bot.sending import retry_after_ms
from policies.reviewers import Reviewers

#: Seconds for which a list of members is believed; with the snapshot's own age it stays within the minute.
GROUPS_S = 15.0


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
            limited = retry_after_ms(failed) if isinstance(failed, SlackApiError) else None
            raise SlackUnavailable(silent, retry_after_ms=limited or 0) from failed
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

    def all_empty(self, groups: Iterable[str]) -> bool | None:
        """Whether none of these user groups has a member; None when Slack does not say."""
        try:
            return not any(self._of_group(group) for group in groups)
        except (SlackClientError, OSError):
            return None

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
    """Looks up again, before their snapshots age, all people whose word may still be spent.

    Slack answers so many questions a minute, so it is asked about the oldest snapshot first, and left alone for as long
    as it wants to be.
    """

    def __init__(
        self,
        desk: PeopleDesk,
        store: Store,
        reviewers: Reviewers,
        *,
        older_than_ms: int = 15_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._desk = desk
        self._store = store
        self._known = {user for tier in reviewers.tiers.values() for user in tier.users}
        self._known |= {one.by for one in reviewers.standins}
        self._groups_only = {
            name: tier.usergroups for name, tier in reviewers.tiers.items() if tier.usergroups and not tier.users
        }
        self._lock = threading.Lock()
        self._older_than_ms = older_than_ms
        self._clock = clock
        self._from = 0.0

    def add(self, users: Iterable[str]) -> None:
        """These people have decided something, whether or not the law and Slack go on naming them."""
        with self._lock:
            self._known |= set(users)

    def round(self) -> int:
        """Refresh whoever is due; returns how many. A failure leaves the snapshot old, and so the call waiting."""
        self._meet()
        self._note_tiers()
        self.add(self._desk.members())
        with self._lock:
            known = frozenset(self._known)
        return self.refresh(self._store.people.relied_on(known))

    def refresh(self, users: Iterable[str]) -> int:
        """Ask Slack about those of these people whose snapshot is older than a few seconds; returns how many."""
        refreshed = 0
        for user in self._aged(users):
            if self._clock() < self._from:
                break
            try:
                self._desk.ask(user)
            except SlackUnavailable as unavailable:
                self._from = max(self._from, self._clock() + unavailable.retry_after_ms / 1000)
                continue
            refreshed += 1
        return refreshed

    def _aged(self, users: Iterable[str]) -> list[str]:
        now, found = self._store.now(), dict[str, int]()
        for user in users:
            known = self._store.people.get(user)
            found[user] = known.fetched_at if known else 0
        return sorted((user for user, at in found.items() if now - at >= self._older_than_ms), key=found.__getitem__)

    def _meet(self) -> None:
        """Whom a user group lists is looked up once, so that no guest and nobody who left is asked to decide."""
        self.refresh([user for user in self._desk.listed() if self._store.people.get(user) is None])

    def _note_tiers(self) -> None:
        """Ops is told when a tier that names user groups only has no member left in any of them."""
        for name, groups in self._groups_only.items():
            empty = self._desk.all_empty(groups)
            if empty is not None:
                self._store.people.note_tier(name, empty=empty)


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
