"""Planned misfortunes: the next calls of a method that fail, and the next deliveries that double or vanish."""

from dataclasses import dataclass, field

from bot.sandbox.errors import SandboxError
from bot.sandbox.model import Json

KINDS = ("error", "http", "delay", "cut_before", "cut_after")


@dataclass
class Fault:
    """One planned misfortune of a Web API method (`*` for any, `response_url` for those).

    `error` answers ok:false with that name; `http` answers with `status`; `delay` waits `seconds` and then works;
    `cut_before` drops the connection untouched; `cut_after` does the work and then drops the connection.
    """

    method: str
    kind: str
    count: int = 1
    error: str = "internal_error"
    status: int = 500
    seconds: float = 0.0
    retry_after: int | None = None
    skip: int = 0


@dataclass
class Faults:
    """What is planned; spent front to back."""

    api: list[Fault] = field(default_factory=list)
    duplicate: int = 0
    lose: int = 0
    lose_acks: int = 0

    def plan(self, fault: Fault) -> None:
        """Add a misfortune.

        Raises:
            SandboxError: an unknown kind.
        """
        if fault.kind not in KINDS:
            raise SandboxError(f"Unknown fault kind {fault.kind}. Use one of: {', '.join(KINDS)}.")
        self.api.append(fault)

    def next_for(self, method: str) -> Fault | None:
        """The misfortune this call meets, if any; spends it."""
        for fault in self.api:
            if fault.method not in (method, "*") or fault.count <= 0:
                continue
            if fault.skip > 0:
                fault.skip -= 1
                return None
            fault.count -= 1
            return fault
        return None

    def take(self, kind: str) -> bool:
        """Whether the next delivery is to double (`duplicate`), vanish (`lose`) or lose its ack (`lose_acks`)."""
        left: int = getattr(self, kind)
        setattr(self, kind, max(0, left - 1))
        return left > 0

    def clear(self) -> None:
        """Good weather again."""
        self.api.clear()
        self.duplicate = self.lose = self.lose_acks = 0

    def told(self) -> Json:
        """For the state dump."""
        planned = [vars(fault) for fault in self.api if fault.count > 0]
        return {"api": planned, "duplicate": self.duplicate, "lose": self.lose, "lose_acks": self.lose_acks}
