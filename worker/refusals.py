"""What an agent may not contain, because its effects could not be gated. One sentence each, with the way out."""

import functools
import inspect
from collections.abc import Sequence
from typing import Any

from agents import Agent, ApplyPatchTool, ComputerTool, CustomTool, FunctionTool, Handoff, HostedMCPTool, ShellTool

from approvals.errors import ApprovalsError

#: Shows the way out of every refusal below; its headings are the places that `see` names.
PAGE = "docs/function-tools.md"
#: What a request of the model provider may not carry: tools nobody gates, a history that is kept elsewhere.
_PROVIDER_SIDE = ("conversation", "previous_response_id", "prompt", "tools", "plugins", "web_search_options")


class AgentRefused(ApprovalsError):
    """The agent named by VOBO_AGENT cannot be run under approval; the text says what to change and where to read on."""

    def __init__(self, text: str, *, see: str | None = None) -> None:
        super().__init__(f"{text} See {PAGE}#{see}." if see else text)


def check_agent(agent: Agent[Any]) -> None:
    """Refuse what would act, or end the run, outside the gate.

    Raises:
        AgentRefused: naming the agent and the part.
    """
    who = f'The agent "{agent.name}"'
    if type(agent) is not Agent:
        raise AgentRefused(
            f"{who} is a {type(agent).__name__}, which brings tools of its own. Use agents.Agent.", see="agents"
        )
    if agent.tool_use_behavior != "run_llm_again":
        raise AgentRefused(
            f"{who} sets tool_use_behavior, which would make an approval's result the final answer."
            ' Leave it at "run_llm_again".',
            see="agents",
        )
    if isinstance(agent.model, str):
        raise AgentRefused(f"{who} names its model itself. Give it the model that the factory receives.", see="models")
    _check_history(who, agent)
    names = [tool.name for tool in agent.tools]
    for name in sorted({name for name in names if names.count(name) > 1}):
        raise AgentRefused(
            f"{who} has two tools called {name}. Rename one; decisions are bound to the name.", see="names"
        )
    for handoff in agent.handoffs:
        if isinstance(handoff, Handoff):
            _check_handoff(who, handoff)
    for tool in agent.tools:
        check_tool(who, tool)


def _check_history(who: str, agent: Agent[Any]) -> None:
    """The saved state must be the whole history, and the tools below all that the model can use."""
    if agent.prompt is not None:
        raise AgentRefused(
            f"{who} uses a prompt that the provider keeps, with tools that nobody here can see."
            " Put its text into instructions.",
            see="server-side-history",
        )
    settings = agent.model_settings
    given = {**(settings.extra_args or {}), **(settings.extra_body if isinstance(settings.extra_body, dict) else {})}
    for name in (name for name in _PROVIDER_SIDE if name in given):
        raise AgentRefused(
            f"{who} sends {name} along in its model settings, so history or tools would live at the provider."
            " Leave it out: the saved run is the whole history.",
            see="server-side-history",
        )


def check_names(names: Sequence[str]) -> None:
    """Refuse two agents of one name that hand over to each other; agents used as tools may share theirs.

    Raises:
        AgentRefused: naming the name.
    """
    for name in sorted({name for name in names if names.count(name) > 1}):
        raise AgentRefused(
            f'Two agents are called "{name}". Rename one; a saved run finds its agents by name.', see="names"
        )


_TOOL_PAGES = {
    "ShellTool": "shell",
    "LocalShellTool": "shell",
    "ApplyPatchTool": "files",
    "CustomTool": "custom-tools",
    "ComputerTool": "computer",
}


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
                " Use a local MCP server without a callback; its tools are gated like function tools.",
                see="mcp-servers",
            )
        raise AgentRefused(
            f"{who} uses {name}, which the model provider executes. Connect it as a local MCP server.",
            see="mcp-servers",
        )
    if isinstance(tool, ShellTool | ApplyPatchTool | CustomTool | ComputerTool) or _is_local_shell(tool):
        raise AgentRefused(
            f"{who} uses a {type(tool).__name__} ({name}), whose effect cannot be gated. Write it as a function tool.",
            see=_TOOL_PAGES.get(type(tool).__name__, "shell"),
        )
    if not isinstance(tool, FunctionTool):
        raise AgentRefused(
            f"{who} uses a {type(tool).__name__} ({name}), which the provider executes. Write it as a function tool.",
            see="provider-tools",
        )
    if getattr(tool, "_is_codex_tool", False):
        raise AgentRefused(
            f"{who} uses {name}, which acts through another agent program. Write what it does as function tools.",
            see="other-agent-programs",
        )
    if getattr(tool, "_tool_namespace", None):
        raise AgentRefused(f"{who} uses {name} inside a tool namespace; list it in tools without one.", see="names")


def check_guardrails(who: str, tool: FunctionTool) -> None:
    """Refuse SDK guardrails on a gated tool: they would see the model's arguments, not the approved ones.

    Raises:
        AgentRefused: naming the tool.
    """
    if tool.tool_input_guardrails or tool.tool_output_guardrails:
        raise AgentRefused(
            f"{who} has SDK guardrails on {tool.name}; they would not see what is executed."
            " Put the condition into the tool's rule or its check.",
            see="guardrails",
        )


def check_secrets(who: str, tool: FunctionTool) -> None:
    """Refuse a secret as an argument: the model would see it, and the saved state would hold it.

    Raises:
        AgentRefused: naming the tool and the field.
    """
    field = _secret_field(tool.params_json_schema)
    if field is not None:
        raise AgentRefused(
            f"{who}: {tool.name} takes a secret as an argument ({field}). Let the tool read it from its own settings.",
            see="secrets",
        )


def _secret_field(schema: Any, name: str = "") -> str | None:
    if isinstance(schema, list):
        return next((found for each in schema if (found := _secret_field(each, name))), None)
    if not isinstance(schema, dict):
        return None
    if schema.get("writeOnly") is True or schema.get("format") == "password":  # how pydantic tells a SecretStr
        return name or "the whole"
    named = [*schema.get("properties", {}).items(), *schema.get("$defs", {}).items()]
    parts = [(name, schema.get(part)) for part in ("items", "prefixItems", "anyOf", "oneOf", "allOf")]
    return next((found for field, each in (*named, *parts) if (found := _secret_field(each, field))), None)


def _is_local_shell(tool: Any) -> bool:
    return type(tool).__name__ == "LocalShellTool"


def _check_handoff(who: str, handoff: Handoff[Any, Any]) -> None:
    """A handoff's function may run code of its own; only the SDK's plain form is known not to."""
    if handoff.input_json_schema.get("properties"):
        raise AgentRefused(
            f"{who} hands off with an input_type ({handoff.tool_name}), whose on_handoff would run ungated."
            " Hand off without input, and make the effect a tool of the other agent.",
            see="handoffs",
        )
    implementation = _closure(handoff)
    if implementation is None:
        raise AgentRefused(
            f"{who} hands off through code of its own ({handoff.tool_name}). List the other agent in handoffs.",
            see="handoffs",
        )
    if implementation.get("on_handoff") is not None:
        raise AgentRefused(
            f"{who} runs an on_handoff function ({handoff.tool_name}) that nobody can be asked about."
            " Remove it, and make the effect a tool of the other agent.",
            see="handoffs",
        )


def _closure(handoff: Handoff[Any, Any]) -> dict[str, Any] | None:
    """The variables of the function that `agents.handoff` makes, None when another function is in its place."""
    invoke = handoff.on_invoke_handoff
    inner = invoke.args[0] if isinstance(invoke, functools.partial) and invoke.args else None
    if inner is None or not str(getattr(inner, "__qualname__", "")).startswith("handoff.<locals>"):
        return None
    return dict(inspect.getclosurevars(inner).nonlocals)
