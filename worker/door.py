"""One gated tool as the engine knows it: how its arguments are read, checked, shown and run."""

import dataclasses
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from agents import Agent, FunctionTool, RunConfig
from agents.tool_context import ToolContext
from agents.usage import Usage

from approvals.models import Call, CallContent
from policies.arguments import (
    Arguments,
    ArgumentsRefused,
    canonical_text,
    place_of_difference,
    read_arguments,
)
from policies.rule import Rule
from policies.strict_json import write_json
from worker.actions import DEFAULT_TIMEOUT_S, Action, ActionContext, Lookup, as_text
from worker.envelope import not_through_here
from worker.schema_arguments import read_by_schema


@dataclass
class Gated(FunctionTool):
    """What the SDK sees of a tool that waits: it can be asked for, and whoever calls it is refused."""

    original: FunctionTool = dataclasses.field(kw_only=True, repr=False)


def gated(tool: FunctionTool, surplus: "set[str]") -> Gated:
    """The tool as the SDK may hold it. Calls named in `surplus` go straight to the refusal instead of waiting."""

    async def waits(context: Any, arguments: dict[str, Any], call_id: str) -> bool:  # noqa: ARG001 - the SDK's form
        return call_id not in surplus

    async def refuse(context: ToolContext[Any], raw: str) -> str:  # noqa: ARG001 - the SDK's form
        return not_through_here(tool.name, too_many=context.tool_call_id in surplus)

    return Gated(
        name=tool.name,
        description=tool.description,
        params_json_schema=tool.params_json_schema,
        on_invoke_tool=refuse,
        strict_json_schema=tool.strict_json_schema,
        is_enabled=tool.is_enabled,
        needs_approval=waits,
        original=tool,
    )


@dataclass(frozen=True, slots=True)
class Reading:
    """Arguments as they were read: `args` by a model (None for a tool nobody declared), `text` in canonical form."""

    args: Arguments | None
    text: str


@dataclass(frozen=True, slots=True)
class Door:
    """The one way to a tool's effect; only `worker.gate` opens it. `schema` is the digest of what calls mean."""

    agent: Agent[Any]
    tool: FunctionTool
    rule: Rule | None
    schema: str

    @property
    def action(self) -> Action | None:
        """The tool as its team declared it; None for a function tool of the SDK."""
        return self.tool if isinstance(self.tool, Action) else None

    @property
    def undo(self) -> Callable[[ActionContext, Any, Any], Awaitable[Any]] | None:
        """How its effect is taken back, when its team says how."""
        return self.action.undo if self.action else None

    @property
    def timeout_s(self) -> float:
        """How long the effect may take; afterwards nobody knows what happened."""
        own = self.action.timeout_s if self.action else self.tool.timeout_seconds
        return own or DEFAULT_TIMEOUT_S

    def read(self, raw: str) -> Reading:
        """Arguments as the model wrote them, which will be read once more from what they are stored as.

        Raises:
            ArgumentsRefused: naming the field that is wrong, or that would not be read back as it was shown.
        """
        reading = self._read(raw)
        try:
            if self.exactly(reading.text).args == reading.args:
                return reading
        except ArgumentsRefused as refused:
            raise ArgumentsRefused(refused.field, self._not_twice(refused.sentence)) from None
        raise ArgumentsRefused("", self._not_twice("A field is left out or masked where its value is written."))

    def exactly(self, stored: str) -> Reading:
        """Stored arguments, in canonical form, for whatever acts on them: what is read is what was approved.

        Raises:
            ArgumentsRefused: the tool takes others by now, or its validators make something else of these.
        """
        reading = self._read(stored)
        if reading.text != stored:
            place = place_of_difference(stored, reading.text)
            raise ArgumentsRefused(place, f"{place or 'The whole'} is not read as what was stored.")
        return reading

    def again(self, content: CallContent) -> Reading:
        """Stored arguments, to be judged or shown again. A tool that was changed may read others out of them.

        Raises:
            ArgumentsRefused: as from `exactly`, or as from `read` by a changed tool, whose calls are asked again.
        """
        is_changed = self.schema != content.tool_schema
        return self.read(content.arguments) if is_changed else self.exactly(content.arguments)

    def _not_twice(self, why: str) -> str:
        return (
            f"{self.tool.name} cannot be called: what would run is not what would be approved, as its arguments do not"
            f" read back the same. {why} Its author must change {self.model.__name__ if self.model else 'its schema'}:"
            " no alias, computed or excluded field, and validators and serializers that leave alone what they made."
        )

    def _read(self, raw: str) -> Reading:
        model = self.model
        if model is None:
            return Reading(None, write_json(read_by_schema(raw, self.tool.params_json_schema)))
        args = read_arguments(model, raw)
        return Reading(args, canonical_text(args))

    @property
    def model(self) -> type[Arguments] | None:
        """The argument model: the tool's own, or its rule's."""
        if isinstance(self.tool, Action | Lookup):
            return self.tool.arguments
        return self.rule.arguments if self.rule else None

    async def run(self, context: ActionContext, call: Call, reading: Reading) -> str:
        """Do it, once. The receipt as JSON text.

        Raises:
            Exception: whatever the tool raises; the SDK's failure handler, which would turn it into a success, is off.
        """
        if self.action is not None:
            return receipt(await self.action.run_effect(context, reading.args))
        bare = dataclasses.replace(self.tool, _failure_error_function=None, _use_default_failure_error_function=False)
        sdk_context: ToolContext[Any] = ToolContext(
            context={"run_id": call.run},
            usage=Usage(),
            tool_name=self.tool.name,
            tool_call_id=call.sdk_id,
            tool_arguments=reading.text,
            agent=self.agent,
            run_config=RunConfig(tracing_disabled=True),
        )
        return receipt(await bare.on_invoke_tool(sdk_context, reading.text))


def receipt(result: Any) -> str:
    """What a tool returned as JSON text."""
    return json.dumps(result) if isinstance(result, str) else as_text(result)
