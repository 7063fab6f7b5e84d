"""What may change while a run waits, and how it is noticed."""

from importlib.metadata import version
from typing import Any

from agents import Agent, FunctionTool, Handoff

from approvals.seal import digest

SHORT = 16


def sdk_version() -> str:
    """The installed version of the Agents SDK."""
    return version("openai-agents")


def tool_digest(tool: FunctionTool) -> str:
    """What a call of this tool means: its name and the schema of its arguments."""
    return digest({"tool": tool.name, "schema": tool.params_json_schema})


def agent_version(agents: list[Agent[Any]]) -> str:
    """What a saved state needs to find again: the agents' names and who can reach whom.

    Wording is left out on purpose: a better instruction must not strand the runs that wait.
    """
    graph = {agent.name: {"handoffs": _handoffs(agent), "agents": _agents_as_tools(agent)} for agent in agents}
    return digest(graph)[:SHORT]


def _handoffs(agent: Agent[Any]) -> list[str]:
    return sorted(other.agent_name if isinstance(other, Handoff) else other.name for other in agent.handoffs)


def _agents_as_tools(agent: Agent[Any]) -> list[list[str]]:
    inner = [(tool.name, getattr(tool, "_agent_instance", None)) for tool in agent.tools]
    return sorted([name, other.name] for name, other in inner if other is not None)
