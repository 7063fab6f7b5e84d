"""The two switches of operators: freezing every effect, and self-approval in development."""

from collections.abc import Iterable
from typing import Any

from approvals.outcomes import Answer
from approvals.room import Room


class Switches(Room):
    """Both are in the store, so every process sees them at once."""

    __slots__ = ()

    def freeze(self, by: str, reason: str) -> Answer:
        """Stop every claim and intent; decisions go on. The first freeze keeps its reason."""
        return self.ask("freeze", by, reason)

    def unfreeze(self, by: str, reason: str = "") -> Answer:
        """Let effects happen again; the ledger keeps why."""
        return self.ask("unfreeze", by, reason)

    def frozen(self) -> str | None:
        """Who froze and why, in one sentence; None when effects may happen."""
        row = self.row(self.keys.frozen)
        return f"frozen by {row.text('by')}: {row.text('reason')}" if row else None

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
