"""What may change while a run waits, and how it is noticed."""

from collections.abc import Mapping, Sequence
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


def labelled(agents: Sequence[Agent[Any]]) -> dict[str, Agent[Any]]:
    """Each agent under its name, and under `name (2)` when another one of that name was met before."""
    labels: dict[str, Agent[Any]] = {}
    for agent in agents:
        label, number = agent.name, 1
        while label in labels:
            number += 1
            label = f"{agent.name} ({number})"
        labels[label] = agent
    return labels


def agent_version(labels: Mapping[str, Agent[Any]]) -> str:
    """What a saved state needs to find again: the agents' names and who can reach whom.

    Wording is left out on purpose: a better instruction must not strand the runs that wait.
    """
    label_of = {id(agent): label for label, agent in labels.items()}
    graph = {
        label: {"handoffs": _handoffs(agent), "agents": _agents_as_tools(agent, label_of)}
        for label, agent in labels.items()
    }
    return digest(graph)[:SHORT]


def _handoffs(agent: Agent[Any]) -> list[str]:
    return sorted(other.agent_name if isinstance(other, Handoff) else other.name for other in agent.handoffs)


def _agents_as_tools(agent: Agent[Any], label_of: Mapping[int, str]) -> list[list[str]]:
    inner = [(tool.name, getattr(tool, "_agent_instance", None)) for tool in agent.tools]
    return sorted([name, label_of[id(other)]] for name, other in inner if other is not None)
