"""What is kept of a run between two jobs: the SDK's state inside an envelope that says what it needs."""

import json
from typing import Any, Literal, Self

from agents.exceptions import AgentsException
from agents.run_state import CURRENT_SCHEMA_VERSION, RunState
from pydantic import ValidationError

from approvals.errors import ApprovalsError
from policies.values import Frozen
from worker.load import Loaded
from worker.versions import sdk_version


class ResumeRefused(ApprovalsError):
    """A saved run does not fit what would resume it. The state is kept; the text says what to do."""


class Saved(Frozen):
    """One checkpoint. `pending` are the call ids the state waits for; `attempts` counts jobs that got no further.

    `last` lets the model speak once more without tools; `cards` is how many cards the run has used so far.
    """

    format: Literal["vobo.run/1"] = "vobo.run/1"
    sdk: str = ""
    sdk_schema: str = ""
    agent: str = ""
    agent_version: str = ""
    digests: dict[str, str] = {}
    pending: tuple[str, ...] = ()
    attempts: int = 0
    cards: int = 0
    last: bool = False
    state: dict[str, Any] | None = None

    @classmethod
    def read(cls, stored: bytes | None) -> Self:
        """The checkpoint in these bytes; an empty one when nothing was saved yet.

        Raises:
            ResumeRefused: written by a version this one does not know.
        """
        if stored is None:
            return cls()
        parsed = json.loads(stored)
        if parsed.get("format") != "vobo.run/1":
            raise ResumeRefused(
                f"The saved run has the format {parsed.get('format')!r}, which this version does not read."
                " Resume it with the version that wrote it."
            )
        try:
            return cls.model_validate(parsed)
        except ValidationError as refused:
            places = ", ".join(str(error["loc"][0]) for error in refused.errors() if error["loc"])
            raise ResumeRefused(
                f"The saved run holds something this version does not read ({places})."
                " Resume it with the version that wrote it."
            ) from None

    def stored(self) -> bytes:
        """The bytes to keep."""
        return json.dumps(self.model_dump(), separators=(",", ":")).encode()

    def at(self, state: "RunState[Any, Any]", loaded: Loaded, *, pending: tuple[str, ...] = ()) -> Self:
        """The same run one turn further."""
        return self.model_copy(
            update={
                "sdk": sdk_version(),
                "sdk_schema": CURRENT_SCHEMA_VERSION,
                "agent": loaded.root.name,
                "agent_version": loaded.version,
                "digests": loaded.digests(),
                "pending": pending,
                "attempts": 0,
                "state": state.to_json(strict_context=True),
            }
        )

    async def restored(self, loaded: Loaded) -> "RunState[Any, Any]":
        """The SDK's state, for exactly the agent it was saved with.

        A changed tool schema does not matter here: by now every call is final and no effect can follow. The gate
        compares schemas before an effect.

        Raises:
            ResumeRefused: another SDK schema, other agents, or pending calls that got lost.
        """
        if self.state is None:
            raise ResumeRefused("The run has no saved state; start it again from its request.")
        if self.sdk_schema != CURRENT_SCHEMA_VERSION:
            raise ResumeRefused(
                f"The run was saved by openai-agents {self.sdk} (schema {self.sdk_schema}); this worker has"
                f" {sdk_version()} (schema {CURRENT_SCHEMA_VERSION}). Resume it with the version that saved it."
            )
        if self.agent_version != loaded.version or self.agent != loaded.root.name:
            raise ResumeRefused(
                "The agents were renamed or connected differently while the run waited, so its state does not fit."
                " Deploy the former agents and requeue the run, or close it and ask again."
            )
        state = await _from_json(loaded, self.state)
        found = sorted(str(item.call_id) for item in state.get_interruptions())
        if found != sorted(self.pending):
            raise ResumeRefused(
                f"The saved run waits for {len(self.pending)} calls, but {len(found)} came back from its state."
                " Nothing was resumed. Deploy the former agents and requeue the run, or close it and ask again."
            )
        return state

    @property
    def has_nested(self) -> bool:
        """Whether a pending call belongs to an agent used as a tool."""
        processed = (self.state or {}).get("last_processed_response") or {}
        return any("agent_run_state" in function for function in processed.get("functions", []))


async def _from_json(loaded: Loaded, state: dict[str, Any]) -> "RunState[Any, Any]":
    try:
        restored: RunState[Any, Any] = await RunState.from_json(loaded.root, state, strict_context=True)
    # What the SDK raises about a state it cannot read; its texts quote the state and are not repeated.
    except (AgentsException, RuntimeError, ValueError, TypeError, KeyError) as error:
        raise ResumeRefused(
            f"The Agents SDK cannot read the saved run ({type(error).__name__}). Nothing was resumed."
            " Resume it with the version that saved it, or close the run and ask again."
        ) from error
    return restored
