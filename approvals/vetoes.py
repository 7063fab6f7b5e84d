"""Effects that a person refused and that may not come back in the same thread."""

from typing import Any

from approvals.models import Call, Decision
from approvals.room import Room


class Vetoes(Room):
    """Written by `Calls.reject`; read by the law."""

    __slots__ = ()

    def of_thread(self, channel: str, thread_ts: str) -> dict[str, str]:
        """`tool|resource` -> the sentence of the rejection. The resource is `*` for a call that names none."""
        stored: dict[Any, Any] = self.client.hgetall(self.keys.vetoes(channel, thread_ts))
        return {place.decode(): sentence.decode() for place, sentence in stored.items()}

    def corrections_of_thread(self, channel: str, thread_ts: str) -> dict[str, str]:
        """The same for rejections that still allow one new proposal."""
        stored: dict[Any, Any] = self.client.hgetall(self.keys.corrections(channel, thread_ts))
        return {place.decode(): sentence.decode() for place, sentence in stored.items()}


def sentences(call: Call, decision: Decision) -> list[tuple[str, str]]:
    """What a rejection of this call vetoes, and why."""
    because = f': "{decision.reason}"' if decision.reason else " and gave no reason"
    return [
        (f"{call.tool}|{resource}", f"{decision.name} rejected {call.tool} on {resource}{because}")
        for resource in call.content.requirement.resources or ("*",)
    ]
