"""One thing to be delivered to the app, and what became of it."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from bot.sandbox.model import Json


@dataclass(frozen=True)
class Attempt:
    """One try. `reason` is empty when the app acknowledged, else Slack's retry reason."""

    acked: bool
    reason: str = ""
    body: Any = None
    retry: bool = True


@dataclass
class Delivery:
    """A payload on its way. `envelope` is events_api, interactive or slash_commands."""

    id: str
    envelope: str
    kind: str
    payload: Json
    attempts: list[Json] = field(default_factory=list)
    acked: bool = False
    done: bool = False
    response: Any = None

    @property
    def wants_answer(self) -> bool:
        """Whether the acknowledgement may carry a payload."""
        return self.envelope == "slash_commands" or self.kind == "view_submission"

    def told(self) -> Json:
        """For the log of deliveries."""
        return dict(vars(self))


class Transport(Protocol):
    """A way to the app: a web socket or signed HTTP."""

    async def attempt(self, delivery: Delivery, retry: int, reason: str, seconds: float) -> Attempt:
        """Try once and wait at most `seconds` for the acknowledgement."""
        ...
