"""The two switches of operators: freezing every effect, and self-approval in development."""

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from approvals.outcomes import Answer
from approvals.room import Room

#: Who freezes when nobody is there to do it.
GUARD = "vobo"


class Freeze(NamedTuple):
    """One reason for which effects are frozen. `guard`: nobody typed it; Redis and the ledger contradict each other."""

    by: str
    reason: str
    at: int
    guard: bool

    def __str__(self) -> str:
        return f"by {self.by}: {self.reason}"


class Switches(Room):
    """Both are in the store, so every process sees them at once."""

    __slots__ = ()

    def freeze(self, by: str, reason: str) -> Answer:
        """Stop every claim and intent; decisions go on. While it is frozen this adds another reason.

        REPEATED: this person has frozen for this reason already.
        """
        return self.ask("freeze", by, reason, False)

    def guard(self, reason: str) -> Answer:
        """The same when nobody is there to do it: what Redis says contradicts the ledger."""
        return self.ask("freeze", GUARD, reason, True)

    def unfreeze(self, by: str, reason: str = "", *, seen: int | None = None) -> Answer:
        """Let effects happen again, whatever they were frozen for; the ledger keeps why.

        STALE_VERSION: there are not as many reasons as whoever asks has `seen`; nothing was changed.
        """
        return self.ask("unfreeze", by, reason, seen)

    def freezes(self) -> tuple[Freeze, ...]:
        """Every reason for which effects are frozen, the first one first; none when they may happen."""
        row = self.row(self.keys.frozen)
        if not row:
            return ()
        found = []
        for number in range(1, (row.maybe_number("count") or 1) + 1):
            by, reason, at, guard = (
                row.text(name if number == 1 else f"{name}:{number}") for name in ("by", "reason", "at", "guard")
            )
            # What an older version wrote does not say whether it was the guard or a user of its name.
            found.append(Freeze(by, reason, int(at or 0), guard=guard == "1" if guard else by == GUARD))
        return tuple(found)

    def frozen(self) -> str | None:
        """Who froze and why, every reason in one sentence; None when effects may happen."""
        found = self.freezes()
        return f"frozen {'; '.join(map(str, found))}" if found else None

    def set_worker(self, law: str, tools: Iterable[str] | None = None, undoable: Iterable[str] = ()) -> None:
        """A worker is at work under this version of the law; at its start it also says which tools it gates.

        `undoable` are those of them that it knows how to undo.
        """
        said: dict[Any, Any] = {"worker_law": law}
        if tools is not None:
            said["worker_tools"] = " ".join(sorted(set(tools)))
            said["worker_undoable"] = " ".join(sorted(set(undoable)))
        self.client.hset(self.keys.switches, mapping=said)

    def set_installed(self, installed: bool) -> None:  # noqa: FBT001 - the one thing it says, read as its name
        """Whether the workspace has the app, where it installs it by itself; what is owed to it waits while not."""
        self.client.hset(self.keys.switches, "installed", "1" if installed else "0")

    def installed(self) -> bool:
        """Whether the workspace has the app and installed it by itself, so that its token is kept encrypted."""
        stored: Any = self.client.hget(self.keys.switches, "installed")
        return bool(stored == b"1")

    def removed(self) -> bool:
        """Whether the workspace has removed the app, or not installed it yet."""
        stored: Any = self.client.hget(self.keys.switches, "installed")
        return bool(stored == b"0")

    def worker_law(self) -> str | None:
        """The version of the law that the worker judged by last; None when none has started yet."""
        stored: Any = self.client.hget(self.keys.switches, "worker_law")
        return stored.decode() if stored else None

    def worker_tools(self) -> tuple[str, ...]:
        """The gated tools of the agents that a worker has loaded."""
        return self._listed("worker_tools")

    def undoable(self) -> frozenset[str]:
        """The gated tools that the worker knows how to undo."""
        return frozenset(self._listed("worker_undoable"))

    def _listed(self, field: str) -> tuple[str, ...]:
        stored: Any = self.client.hget(self.keys.switches, field)
        return tuple(stored.decode().split()) if stored else ()

    def set_self_approval(self, allowed: bool) -> None:  # noqa: FBT001 - the contract's one switch, read as its name
        """Development only: requesters may decide their own calls. Shown on every card."""
        self.client.hset(self.keys.switches, "self_approval", "1" if allowed else "0")

    def self_approval(self) -> bool:
        """Whether requesters may decide their own calls."""
        stored: Any = self.client.hget(self.keys.switches, "self_approval")
        return bool(stored == b"1")


def must_be_reconciled(reasons: Collection[Freeze]) -> bool:
    """Whether only somebody who compared Redis with the providers may lift these.

    A reason of the guard beside others is easily overlooked: "upgraded" says nothing about it.
    """
    return len(reasons) > 1 and any(one.guard for one in reasons)
