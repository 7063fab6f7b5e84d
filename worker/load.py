"""Loading the agent that VOBO_AGENT names, and gating every tool that anybody in it can reach."""

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agents import Agent, FunctionTool, Handoff, Model

from approvals.canaries import AGENT as RESERVED
from approvals.errors import ApprovalsError
from approvals.queue import JobTimeout
from policies.risk import Risk
from policies.rule import NoFacts, Rule
from worker.actions import Action, Lookup
from worker.agent_tools import inner_agent, tamed
from worker.door import Door, Gated, gated
from worker.model import WatchedModel
from worker.protocol import with_protocol
from worker.refusals import AgentRefused, check_agent, check_guardrails, check_names, check_secrets
from worker.versions import agent_version, labelled, tool_digest
from worker.watch import Watch

Factory = Callable[[Model], Any]
DEFAULT_NAME = "default"


@dataclass(frozen=True, slots=True)
class Loaded:
    """An agent ready to be driven. `doors` are the gated tools by (agent label, tool name)."""

    root: Agent[Any]
    version: str
    agents: frozenset[str]
    doors: Mapping[tuple[str, str], Door]
    reads: frozenset[str]

    def digests(self) -> dict[str, str]:
        """Agent and tool -> what calls of the tool mean."""
        return {f"{agent}/{tool}": door.schema for (agent, tool), door in self.doors.items()}


def beside(factory: Factory, name: str) -> Any:
    """The function of this name in the module of a factory; None without one."""
    module = sys.modules.get(getattr(factory, "__module__", None) or "")
    found = getattr(module, name, None)
    return found if callable(found) else None


def entries(text: str) -> Iterator[tuple[str, str]]:
    """The name and the path of each agent in VOBO_AGENT."""
    for entry in (part.strip() for part in text.split(",")):
        name, equals, path = entry.partition("=")
        yield (name.strip(), path.strip()) if equals else (DEFAULT_NAME, entry)


def factories(text: str) -> dict[str, Factory]:
    """The factories in VOBO_AGENT: `package.module:factory`, or `name=package.module:factory,...`.

    Raises:
        AgentRefused: one of them cannot be imported or called, two have the same name, or one is named like canaries.
    """
    found: dict[str, Factory] = {}
    for name, path in entries(text):
        if name == RESERVED:
            raise AgentRefused(f"VOBO_AGENT names an agent {name}, as calls are named that may never run; rename it.")
        if name in found:
            raise AgentRefused(
                f"VOBO_AGENT names the agent {name} twice; give each a name: name=package.module:factory."
            )
        found[name] = imported(path, "VOBO_AGENT")
    return found


def imported(path: str, variable: str) -> Callable[..., Any]:
    """The function at `package.module:function`.

    Raises:
        AgentRefused: no such module or name, the import fails, or it cannot be called.
    """
    module_name, colon, name = path.partition(":")
    if not colon or not module_name or not name:
        raise AgentRefused(f'{variable} is "{path}"; write package.module:factory.')
    try:
        module = importlib.import_module(module_name)
    # A boundary: a team's module may raise anything while it is imported, and the sentence is what helps.
    except Exception as error:
        raise AgentRefused(
            f"{variable} names {module_name}, which cannot be imported ({type(error).__name__}: {error})."
        ) from error
    found = getattr(module, name, None)
    if found is None:
        raise AgentRefused(f"{variable} names {path}, but {module_name} has no {name}.")
    if not callable(found):
        raise AgentRefused(
            f"{variable} names {path}, which cannot be called; it must be a function that takes a model."
        )
    callable_found: Callable[..., Any] = found
    return callable_found


def made(factory: Factory, model: Model) -> Agent[Any]:
    """The root agent a factory makes with this model.

    Raises:
        AgentRefused: it raises, or returns something else.
    """
    try:
        root = factory(model)
    except (ApprovalsError, JobTimeout):
        raise
    # A boundary: a team's function may raise anything, or be no factory at all, and the sentence is what helps.
    except Exception as error:
        raise AgentRefused(
            f"The agent factory {_name_of(factory)} in VOBO_AGENT raised {type(error).__name__}: {error}."
            " It must be a function that takes a model and returns an agents.Agent."
        ) from error
    if not isinstance(root, Agent):
        raise AgentRefused(
            f"The agent factory {_name_of(factory)} in VOBO_AGENT returned a {type(root).__name__};"
            " it must return an agents.Agent."
        )
    return root


def _name_of(factory: Factory) -> str:
    return f"{getattr(factory, '__module__', '?')}:{getattr(factory, '__qualname__', type(factory).__qualname__)}"


def build(root: Agent[Any], model: Model, *, rules: Mapping[str, Rule], watch: Watch) -> Loaded:
    """Refuse what cannot be gated, gate the rest. Local MCP tools must be listed as tools by now (`worker.mcp`).

    Raises:
        AgentRefused: with a sentence that names the agent, the part and the way out.
    """
    reached = list(reachable(root))
    check_names([agent.name for agent, nested in reached if not nested])
    labels = labelled([agent for agent, _ in reached])
    doors: dict[tuple[str, str], Door] = {}
    reads: set[str] = set()
    for (agent, nested), label in zip(reached, labels, strict=True):
        check_agent(agent)
        tools = [_prepared(agent, tool, rules, reads) for tool in _function_tools(agent)]
        doors.update({(label, tool.tool.name): tool for tool in tools if isinstance(tool, Door)})
        agent.tools = [gated(tool.tool, watch.surplus) if isinstance(tool, Door) else tool for tool in tools]
        waiting = frozenset(tool.name for tool in agent.tools if isinstance(tool, Gated))
        inner = agent.model if isinstance(agent.model, Model) else model
        agent.model = WatchedModel(inner, watch, agent=label, nested=nested, gated=waiting)
        agent.instructions = with_protocol(agent)
    return Loaded(root, agent_version(labels), frozenset(labels), doors, frozenset(reads))


def _function_tools(agent: Agent[Any]) -> list[FunctionTool]:
    return [tool for tool in agent.tools if isinstance(tool, FunctionTool)]  # others were refused just before


def _prepared(agent: Agent[Any], tool: FunctionTool, rules: Mapping[str, Rule], reads: set[str]) -> FunctionTool | Door:
    """The tool as it runs inside the SDK, or the door to it. What only reads is added to `reads`."""
    who = f'The agent "{agent.name}"'
    if inner_agent(tool) is not None:
        return tamed(who, tool)
    check_secrets(who, tool)
    rule = rules.get(tool.name)
    _check_arguments(who, tool, rule)
    _check_facts(who, tool, rule)
    if rule is not None and rule.risk is Risk.READ_ONLY:
        if isinstance(tool, Action):
            raise AgentRefused(
                f"{who} declares {tool.name} as an action, but its rule says read_only. Use @lookup.", see="rules"
            )
        reads.add(tool.name)
        return _reading(tool)
    check_guardrails(who, tool)
    return Door(agent, tool, rule, tool_digest(tool))


def _reading(tool: FunctionTool) -> FunctionTool:
    """A tool that runs inside the SDK. The SDK's own failure handler would swallow the end of the job's time."""
    plain = replace(tool, needs_approval=False)
    if not getattr(plain, "_use_default_failure_error_function", True):
        return plain
    return replace(plain, _failure_error_function=_lookup_failed, _use_default_failure_error_function=False)


def _lookup_failed(context: Any, error: Exception) -> str:  # noqa: ARG001 - the SDK's form
    if isinstance(error, JobTimeout):
        raise error
    return f"This could not be looked up ({type(error).__name__}). Nothing was changed."


def _check_arguments(who: str, tool: FunctionTool, rule: Rule | None) -> None:
    """The rule must judge what the tool takes, or a reviewer approves one thing and another one runs."""
    if isinstance(tool, Action | Lookup) and rule is not None and rule.arguments is not tool.arguments:
        raise AgentRefused(
            f"{who}: {tool.name} takes {_place(tool.arguments)}, but its rule in {rule.module} judges"
            f" {_place(rule.arguments)}. Use one argument model for both.",
            see="rules",
        )


def _check_facts(who: str, tool: FunctionTool, rule: Rule | None) -> None:
    """Without facts every call of the tool would ask the strictest tier, whatever its rule says."""
    if rule is None or rule.risk is Risk.READ_ONLY or issubclass(NoFacts, rule.facts):
        return
    if not isinstance(tool, Action) or tool.check is None:
        facts = rule.facts.__name__
        raise AgentRefused(
            f"{who}: the rule of {tool.name} in {rule.module} wants the facts {facts}, but nothing looks them up, so it"
            f" could never judge a call. Write @action({rule.arguments.__name__}, check=...), an async function that"
            f" takes the arguments and returns {facts}; or leave the facts out of the rule.",
            see="rules",
        )


def _place(model: type) -> str:
    """Where a model is: two of the same name in two modules are two."""
    return f"{model.__module__}.{model.__qualname__}"


def reachable(root: Agent[Any]) -> Iterator[tuple[Agent[Any], bool]]:
    """Every agent with whether it also runs inside another one, where pauses are costly."""
    nested: dict[int, bool] = {}
    agents: dict[int, Agent[Any]] = {}
    waiting: list[tuple[Any, bool]] = [(root, False)]
    while waiting:
        agent, inside = waiting.pop(0)
        if not isinstance(agent, Agent):
            raise AgentRefused(
                f"A handoff leads to a {type(agent).__name__}; list an agents.Agent in handoffs.", see="handoffs"
            )
        if id(agent) in agents and (nested[id(agent)] or not inside):
            continue
        agents[id(agent)], nested[id(agent)] = agent, inside
        waiting += [(_target(agent, other), inside) for other in agent.handoffs]
        waiting += [(inner, True) for tool in agent.tools if (inner := inner_agent(tool)) is not None]
    for key, agent in agents.items():
        yield agent, nested[key]


def _target(agent: Agent[Any], other: Any) -> Any:
    if not isinstance(other, Handoff):
        return other
    reference = getattr(other, "_agent_ref", None)
    target = reference() if reference is not None else None
    if target is None:
        raise AgentRefused(
            f'The agent "{agent.name}" hands off through code of its own ({other.tool_name}).'
            " List the other agent in handoffs.",
            see="handoffs",
        )
    return target
