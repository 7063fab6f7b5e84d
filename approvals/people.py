"""Snapshots of Slack users. A decision counts only under one that is at most a minute old."""

from typing import Any

from approvals.codec import person_text
from approvals.models import Person
from approvals.room import Room


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

    def home_team(self) -> str | None:
        """The workspace whose members may decide; None when it is not known yet, and then nobody may."""
        team: Any = self.client.hget(self.keys.switches, "home_team")
        return team.decode() if team else None

    def set_home_team(self, team: str) -> None:
        """The bot has learnt from Slack whose token it holds."""
        self.client.hset(self.keys.switches, "home_team", team)
