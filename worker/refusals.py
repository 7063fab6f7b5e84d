"""What an agent may not contain, because its effects could not be gated. One sentence each, with the way out."""

import functools
import inspect
from typing import Any

from agents import Agent, ApplyPatchTool, ComputerTool, CustomTool, FunctionTool, Handoff, HostedMCPTool, ShellTool

from approvals.errors import ApprovalsError

PAGE = "docs/function-tools.md shows how to write it as a function tool."


class AgentRefused(ApprovalsError):
    """The agent named by VOBO_AGENT cannot be run under approval; the text says what to change."""


def check_agent(agent: Agent[Any]) -> None:
    """Refuse what would act, or end the run, outside the gate.

    Raises:
        AgentRefused: naming the agent and the part.
    """
    who = f'The agent "{agent.name}"'
    if type(agent) is not Agent:
        raise AgentRefused(f"{who} is a {type(agent).__name__}, which brings tools of its own. Use agents.Agent.")
    if agent.tool_use_behavior != "run_llm_again":
        raise AgentRefused(
            f"{who} sets tool_use_behavior, which would make an approval's result the final answer."
            ' Leave it at "run_llm_again".'
        )
    if isinstance(agent.model, str):
        raise AgentRefused(f"{who} names its model itself. Give it the model that the factory receives.")
    names = [tool.name for tool in agent.tools]
    for name in sorted({name for name in names if names.count(name) > 1}):
        raise AgentRefused(f"{who} has two tools called {name}. Rename one; decisions are bound to the name.")
    for handoff in agent.handoffs:
        if isinstance(handoff, Handoff):
            _check_handoff(who, handoff)
    for tool in agent.tools:
        check_tool(who, tool)


def check_tool(who: str, tool: Any) -> None:
    """Refuse tools that somebody else executes or that cannot be paused as data.

    Raises:
        AgentRefused: naming the tool.
    """
    name = getattr(tool, "name", type(tool).__name__)
    if isinstance(tool, HostedMCPTool):
        if tool.on_approval_request is not None:
            raise AgentRefused(
                f"{who} decides about {name} in an on_approval_request callback, past every reviewer."
                " Use a local MCP server without a callback; its tools are gated like function tools."
            )
        raise AgentRefused(f"{who} uses {name}, which the model provider executes. Connect it as a local MCP server.")
    if isinstance(tool, ShellTool | ApplyPatchTool | CustomTool | ComputerTool) or _is_local_shell(tool):
        raise AgentRefused(f"{who} uses a {type(tool).__name__} ({name}), whose effect cannot be gated. {PAGE}")
    if not isinstance(tool, FunctionTool):
        raise AgentRefused(f"{who} uses a {type(tool).__name__} ({name}), which the provider executes. {PAGE}")
    if getattr(tool, "_is_codex_tool", False):
        raise AgentRefused(f"{who} uses {name}, which acts through another agent program. {PAGE}")
    if getattr(tool, "_tool_namespace", None):
        raise AgentRefused(f"{who} uses {name} inside a tool namespace; list it in tools without one.")


def check_guardrails(who: str, tool: FunctionTool) -> None:
    """Refuse SDK guardrails on a gated tool: they would see the model's arguments, not the approved ones.

    Raises:
        AgentRefused: naming the tool.
    """
    if tool.tool_input_guardrails or tool.tool_output_guardrails:
        raise AgentRefused(
            f"{who} has SDK guardrails on {tool.name}; they would not see what is executed."
            " Put the condition into the tool's rule or its check."
        )


def _is_local_shell(tool: Any) -> bool:
    return type(tool).__name__ == "LocalShellTool"


def _check_handoff(who: str, handoff: Handoff[Any, Any]) -> None:
    """A handoff's function may run code of its own; only the SDK's plain form is known not to."""
    if handoff.input_json_schema.get("properties"):
        raise AgentRefused(
            f"{who} hands off with an input_type ({handoff.tool_name}), whose on_handoff would run ungated."
            " Hand off without input, and make the effect a tool of the other agent."
        )
    implementation = _closure(handoff)
    if implementation is None:
        raise AgentRefused(
            f"{who} hands off through code of its own ({handoff.tool_name}). List the other agent in handoffs."
        )
    if implementation.get("on_handoff") is not None:
        raise AgentRefused(
            f"{who} runs an on_handoff function ({handoff.tool_name}) that nobody can be asked about."
            " Remove it, and make the effect a tool of the other agent."
        )


def _closure(handoff: Handoff[Any, Any]) -> dict[str, Any] | None:
    """The variables of the function that `agents.handoff` makes, None when another function is in its place."""
    invoke = handoff.on_invoke_handoff
    inner = invoke.args[0] if isinstance(invoke, functools.partial) and invoke.args else None
    if inner is None or not str(getattr(inner, "__qualname__", "")).startswith("handoff.<locals>"):
        return None
    return dict(inspect.getclosurevars(inner).nonlocals)
