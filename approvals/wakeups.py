"""Work that wants a worker, as the clock reads it. The queue is only a hint; this is the list."""

from collections.abc import Sequence

from approvals.room import Room


class Wakeups(Room):
    """Members read `job:argument`; each comes up again and again until its verb takes it out."""

    __slots__ = ()

    def due(self, limit: int = 200, *, again_ms: int = 4000) -> list[tuple[str, str, int]]:
        """(job, argument, attempt) of what is due; each is due again after `again_ms`.

        The attempt only grows while the run is kept, so job and attempt name one enqueueing for ever.
        """
        flat = self.scripts.run("wakeups_due", limit, again_ms)
        members = (member.decode().partition(":") for member in flat[::2])
        return [(job, argument, int(n)) for (job, _, argument), n in zip(members, flat[1::2], strict=True)]

    def peek(self) -> int | None:
        """The instant of the next wakeup, in milliseconds of the store's clock; None when nothing waits."""
        first = self.client.zrange(self.keys.wakeups, 0, 0, withscores=True)
        return int(first[0][1]) if first else None

    def postpone(self, job: str, argument: str, *, delay_ms: int) -> bool:
        """Let a waiting wakeup come up `delay_ms` from now, no sooner. False when it is no longer waiting."""
        member, at = f"{job}:{argument}", self.now() + delay_ms
        self.client.zadd(self.keys.wakeups, {member: at}, xx=True)
        return self.client.zscore(self.keys.wakeups, member) is not None

    def wanted(self, job: str, arguments: Sequence[str]) -> bool:
        """Whether this job still has something to do for any of these."""
        members = [f"{job}:{argument}" for argument in arguments]
        return any(score is not None for score in self.client.zmscore(self.keys.wakeups, members)) if members else False

    def drop(self, job: str, argument: str) -> None:
        """Take a wakeup out because its job can never do anything (a tool without `reconcile`)."""
        self.client.zrem(self.keys.wakeups, f"{job}:{argument}")
