"""The clock's verbs: what must happen because time passed. All are idempotent, any number of clocks may run."""

from collections.abc import Sequence
from typing import Any

from approvals.outcomes import Answer, Outcome
from approvals.room import Room

#: Kind of a deadline's member -> its script and what follows the subject in its arguments.
SCRIPTS: dict[str, tuple[str, tuple[bool | int | str, ...]]] = {
    "post": ("unposted", ()),
    "decide": ("expire", ()),
    "remind": ("remind", (0, 0)),
    "lapse": ("lapse", ()),
    "lease": ("lost_lease", ()),
    "unknown": ("answer_unknown", (True,)),
    "unknown-alert": ("alert_unknown", (True, "")),
    "undo": ("lost_undo", ()),
    "retire": ("retire_run", ()),
}


class Deadlines(Room):
    """Members read `kind:subject`.

    post, remind, escalate and decide of a batch; lapse, lease, unknown, unknown-alert and undo of a call; retire of a
    run.
    """

    __slots__ = ()

    def due(self, limit: int = 200, *, skip: int = 0) -> list[str]:
        """What is due by the store's clock, the oldest first, without the `skip` oldest.

        Costs what is due, not what is pending.
        """
        found: list[Any] = self.client.zrange(
            self.keys.deadlines, "-inf", self.now(), byscore=True, offset=skip, num=limit
        )
        return [member.decode() for member in found]

    def at(self, member: str) -> int | None:
        """When this is due, ms; None when it is not (any more)."""
        found: Any = self.client.zscore(self.keys.deadlines, member)
        return int(found) if found is not None else None

    def still_due(self, members: Sequence[str]) -> int:
        """How many of these are due by the store's clock."""
        if not members:
            return 0
        now = self.now()
        found: list[Any] = self.client.zmscore(self.keys.deadlines, list(members))
        return sum(at is not None and at <= now for at in found)

    def knows(self, kind: str) -> bool:
        """Whether `apply` can do a deadline of this kind."""
        return kind in SCRIPTS

    def apply(self, member: str) -> Answer:
        """Do what is due. REPEATED when it was done, is not due (any more), or was overtaken by a decision."""
        kind, _, subject = member.partition(":")
        if kind not in SCRIPTS:
            return Answer(Outcome.NOT_FOUND)
        script, extra = SCRIPTS[kind]
        return self.ask(script, subject, *extra)

    def remind(self, batch_id: str, *, users: Sequence[str], interruptions: int) -> Answer:
        """Half of the time is over: owe the thread a reminder, and these users a direct message within their hour.

        A usergroup among them is mentioned in the thread instead.
        """
        return self.ask("remind", batch_id, interruptions, len(users), *users)

    def escalate(self, batch_id: str, *, users: Sequence[str], interruptions: int) -> Answer:
        """Let the next tier decide too, and tell these of its users and usergroups. Nothing when somebody is on it."""
        return self.ask("escalate", batch_id, interruptions, len(users), *users)

    def drop(self, kind: str, subject: str) -> None:
        """Take a deadline out that can never matter."""
        self.ask("drop_deadline", kind, subject)
