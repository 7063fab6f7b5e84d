"""Snapshots of Slack users. A decision counts only under one that is at most a minute old."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from approvals.codec import person_text
from approvals.lifecycle import State, UndoState
from approvals.models import Person
from approvals.room import Room

#: So many people are told one by one, so that each is asked only as often as they may be; a larger group as a whole.
FEW = 20
#: While a call is in one of these, a word about it may still be spent.
_OPEN = frozenset({State.PENDING_REVIEW, State.APPROVED, State.EXECUTING})
_UNDO = "undo_call:"
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

    def relied_on(self, users: Collection[str]) -> set[str]:
        """Everybody who decided a call that is still open, and everybody whose undo waits for a worker.

        `users` are looked at too: who decided something before the store kept who did. Costs what people decided
        lately and what workers have to do, not what is pending.
        """
        watched: Any = self.client.smembers(self.keys.watched)
        asked = tuple({*users, *(user.decode() for user in watched)})

        def queue(pipe: Any) -> None:
            for user in asked:
                pipe.zrange(self.keys.decided(user), 0, -1)
            pipe.zrange(self.keys.wakeups, 0, -1)

        *decided, wakeups = [{one.decode() for one in found} for found in self.together(queue)]
        calls = set().union(*decided)
        undos = {one.removeprefix(_UNDO) for one in wakeups if one.startswith(_UNDO)}
        states, undoing = self._states(calls, "state"), self._states(undos, "undo_state")
        open_ = {call for call, state in states.items() if state in _OPEN}
        found = {user for user, theirs in zip(asked, decided, strict=True) if theirs & open_}
        for call in (call for call, state in undoing.items() if state == UndoState.ASKED):
            voters: Any = self.client.hkeys(self.keys.undo_votes(call))
            found |= {voter.decode() for voter in voters}
        return found

    def _states(self, calls: Collection[str], field: str) -> dict[str, str]:
        names = tuple(calls)

        def queue(pipe: Any) -> None:
            for name in names:
                pipe.hget(self.keys.call(name), field)

        found = self.together(queue)
        return {name: (state or b"").decode() for name, state in zip(names, found, strict=True)}

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

    def note_tier(self, tier: str, *, empty: bool) -> None:
        """Whether anybody is in a tier, as Slack said just now. Ops is told once when nobody is any more.

        It does not matter which bot notes it, nor when that was started.
        """
        self.ask("note_tier", tier, empty)

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
