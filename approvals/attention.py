"""How much of people's attention was taken up within the last hour, by the store's clock."""

from collections.abc import Iterable
from typing import Any

from approvals.room import Room
from policies.notices import Heard

HOUR_MS = 3_600_000


class Attention(Room):
    """Written by `Runs.pause` together with the cards that take it up; read by the law."""

    __slots__ = ()

    def heard(self, slack_ids: Iterable[str]) -> Heard:
        """How often each of these was notified within the last hour, and when last."""
        ids = list(dict.fromkeys(slack_ids))
        if not ids:
            return Heard()
        after = f"({self.now() - HOUR_MS}"

        def queue(pipe: Any) -> None:
            pipe.hmget(self.keys.told, ids)
            for slack_id in ids:
                pipe.zcount(self.keys.heard(slack_id), after, "+inf")

        last, *times = self.together(queue)
        told = {slack_id: int(at) for slack_id, at in zip(ids, last, strict=True) if at}
        return Heard(dict(zip(ids, times, strict=True)), told)

    def withdrawn(self) -> dict[str, int]:
        """Tools that nobody is asked about for now -> until when (ms)."""
        now = self.now()
        stored: dict[Any, Any] = self.client.hgetall(self.keys.withdrawn)
        return {tool.decode(): int(until) for tool, until in stored.items() if int(until) > now}
