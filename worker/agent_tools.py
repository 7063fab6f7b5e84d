"""Agents used as tools: not gated themselves, and kept from swallowing what happens inside."""

import dataclasses
from typing import Any

from agents import Agent, FunctionTool

from worker.refusals import AgentRefused

#: Never reached: turns are counted by `worker.watch`, over the whole run.
MANY_TURNS = 1000
#: Settings of `Agent.as_tool` that would hide the inner run's model calls or history from us.
_FORBIDDEN = ("run_config", "session", "previous_response_id", "conversation_id")


def inner_agent(tool: Any) -> Agent[Any] | None:
    """The agent behind an agent tool, None for every other tool."""
    found = getattr(tool, "_agent_instance", None) if getattr(tool, "_is_agent_tool", False) else None
    return found if isinstance(found, Agent) else None


def tamed(who: str, tool: FunctionTool) -> FunctionTool:
    """A copy that lets errors through, never pauses by itself, and does not count turns.

    With the SDK's default failure handler a model outage inside would replace an envelope by "please try again",
    and its turn limit of ten would end the inner run in the same way.

    Raises:
        AgentRefused: the tool sets something that would hide the inner run, or was not made by `Agent.as_tool`.
    """
    cells = _cells(tool)
    if "max_turns" not in cells:
        raise AgentRefused(
            f"{who} wraps an agent in a tool of its own ({tool.name}). Use Agent.as_tool.", see="agents-as-tools"
        )
    for name in _FORBIDDEN:
        if name in cells and cells[name].cell_contents is not None:
            raise AgentRefused(
                f"{who} gives {name} to the agent tool {tool.name}; leave it out, the engine sets it.",
                see="agents-as-tools",
            )
    cells["max_turns"].cell_contents = MANY_TURNS
    return dataclasses.replace(
        tool, needs_approval=False, _failure_error_function=None, _use_default_failure_error_function=False
    )


def _cells(tool: FunctionTool) -> dict[str, Any]:
    implementation = getattr(tool.on_invoke_tool, "_invoke_tool_impl", None)
    code, closure = getattr(implementation, "__code__", None), getattr(implementation, "__closure__", None)
    return dict(zip(code.co_freevars, closure, strict=True)) if code is not None and closure else {}
