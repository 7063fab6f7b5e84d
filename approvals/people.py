"""Snapshots of Slack users. A decision counts only under one that is at most a minute old."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from approvals.codec import person_text
from approvals.models import Person
from approvals.room import Room

#: So many people are told one by one, so that each is asked only as often as they may be; a larger group as a whole.
FEW = 20
#: A list of members tells whom to notify, never who may decide; the bot renews it several times a minute.
LISTED_MS = 600_000


class People(Room):
    """Written by the bot, which alone can ask Slack."""

    __slots__ = ()

    def put(self, person: Person) -> Person:
        """Store what Slack said just now; returned with `fetched_at` of the store's clock."""
        full = not (person.deactivated or person.guest or person.bot or person.stranger)
        answer = self.ask("put_person", person.user, person_text(person), full, person.team)
        return person.model_copy(update={"fetched_at": int(answer.detail["fetched_at"])})

    def get(self, user: str) -> Person | None:
        """The last snapshot, however old."""
        row = self.row(self.keys.person(user))
        if not row:
            return None
        person = Person.model_validate_json(row.text("json"))
        return person.model_copy(update={"fetched_at": row.number("fetched_at")})

    def names(self, users: Sequence[str]) -> dict[str, str]:
        """What these are called, as far as anybody has looked them up."""
        with self.client.pipeline(transaction=False) as pipe:
            for user in users:
                pipe.hget(self.keys.person(user), "json")
            found = pipe.execute()
        return {user: Person.model_validate_json(row).name for user, row in zip(users, found, strict=True) if row}

    def home_team(self) -> str | None:
        """The workspace whose members may decide; None when it is not known yet, and then nobody may."""
        team: Any = self.client.hget(self.keys.switches, "home_team")
        return team.decode() if team else None

    def set_home_team(self, team: str) -> None:
        """The bot has learnt from Slack whose token it holds."""
        self.client.hset(self.keys.switches, "home_team", team)

    def put_members(self, group: str, members: Collection[str]) -> None:
        """Who belongs to a usergroup, as Slack said just now."""
        said: dict[Any, Any] = {"users": " ".join(sorted(members)), "fetched_at": self.now()}
        self.client.hset(self.keys.members(group), mapping=said)

    def known_members(self, groups: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The members of those usergroups whose list is recent and short enough to notify each of them alone.

        Who is known to be a guest, a bot or gone is left out, since they may decide nothing.
        """
        found, now = dict[str, tuple[str, ...]](), self.now()
        for group in groups:
            row = self.row(self.keys.members(group))
            listed = row.text("users").split()
            if len(listed) > FEW or now - row.number("fetched_at") > LISTED_MS:
                continue
            users = tuple(user for user in listed if self.client.hget(self.keys.person(user), "full") != b"0")
            if users:
                found[group] = users
        return found
