"""What `python -m worker --check` finds before the first run does."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from approvals.errors import ApprovalsError
from approvals.findings import Finding, failure, fine, unprepared, warning
from approvals.opening import open_store
from approvals.store_checks import store_checks
from policies.law import LawRefused
from worker.actions import Lookup
from worker.assembly import Prepared, prepared
from worker.deps import Deps
from worker.load import Loaded, build, entries, made, reachable
from worker.model_check import model_reachable, offline_note
from worker.readiness import missing
from worker.settings import SAMPLE, WorkerSettings

#: How many names a sentence lists.
NAMED = 5


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was prepared, its agents as a job would load them, and why the others cannot be."""

    found: Prepared
    agents: tuple[Loaded, ...]
    refused: tuple[str, ...]


def inspected(found: Prepared) -> Inspection:
    """Load every agent once, without opening a model connection or an MCP server."""
    agents, refused = [], []
    for name in found.factories:
        try:
            agents.append(asyncio.run(_load(found, name)))
        except ApprovalsError as problem:
            refused.append(str(problem))
    return Inspection(found, tuple(agents), tuple(refused))


def findings(seen: Inspection) -> Iterator[str]:
    """One sentence for each thing that keeps the worker from working; an empty answer means that it can start."""
    found = seen.found
    yield from found.law.problems()
    undriven = _undriven(found.settings)
    if undriven is not None:
        yield (
            f"VOBO_AGENT names {undriven}, but no model: the sample's offline planner can drive"
            " the sample alone. Set VOBO_MODEL and OPENAI_API_KEY, or VOBO_OFFLINE to a planner of your own."
        )
    try:
        open_store(found.settings, tenant=found.tenant)
    except ApprovalsError as refused:
        yield str(refused)
    yield from seen.refused
    yield from missing(found.factories)


def check() -> list[Finding]:
    """All of it for `--check`, with what starting need not wait for: whether the model can be reached."""
    try:
        found = prepared()
    except (LawRefused, ApprovalsError) as refused:
        return unprepared(refused)
    seen = inspected(found)
    problems = [failure("worker", problem) for problem in findings(seen)]
    surprises = [warning("worker", note) for note in _own_notes(seen)]
    if not problems:
        opened = open_store(found.settings, tenant=found.tenant)
        surprises += [*(warning("redis", each) for each in opened.warnings), *store_checks(opened.store)]
    well = [] if problems else [fine("worker", f"Every agent can be loaded and gated: {', '.join(found.factories)}.")]
    model = [] if _undriven(found.settings) else [model_reachable(found.settings)]  # that none drives it is said above
    return [*problems, *surprises, *model, *well]


def notes(seen: Inspection) -> Iterator[str]:
    """What works, but may surprise."""
    if seen.found.settings.is_offline:
        yield offline_note(seen.found.settings)
    yield from _own_notes(seen)


def _own_notes(seen: Inspection) -> Iterator[str]:
    found = seen.found
    yield from found.law.notes()
    servers = any(agent.mcp_servers for loaded in seen.agents for agent, _ in reachable(loaded.root))
    if not seen.refused and not servers:  # what those offer is only known in a job
        yield from _toolless(seen)
    for loaded in seen.agents:
        yield from _unruled(loaded)
        yield from _not_undoable(loaded)


def gated_tools(seen: Inspection) -> Iterator[str]:
    """The names of all tools that ask or are judged before they run, of all agents that can be loaded."""
    for loaded in seen.agents:
        yield from (tool for _, tool in loaded.doors)


def undoable_tools(seen: Inspection) -> Iterator[str]:
    """The names of the tools whose actions say how to undo them."""
    for loaded in seen.agents:
        yield from (tool for (_, tool), door in loaded.doors.items() if door.undo is not None)


def _undriven(settings: WorkerSettings) -> str | None:
    """An agent that the planner which stands in for a model cannot drive; None without one."""
    if not settings.is_offline or not settings.offline.startswith(f"{SAMPLE}."):
        return None
    paths = (path for _, path in entries(settings.agent))
    return next((path for path in paths if not path.startswith((f"{SAMPLE}:", f"{SAMPLE}."))), None)


def _toolless(seen: Inspection) -> Iterator[str]:
    """Rules that judge nothing: most often the agent they were written for is not the one that is loaded."""
    tools = {*gated_tools(seen), *(tool for loaded in seen.agents for tool in loaded.reads)}
    idle = sorted(set(seen.found.law.rules) - tools)
    if idle:
        named = ", ".join(idle[:NAMED]) + (", ..." if len(idle) > NAMED else "")
        yield (
            f"No agent has a tool for the rules of {named}. VOBO_AGENT is {seen.found.settings.agent}: set it to"
            " the agent that has them, or take the rules out of VOBO_RULES."
        )


def _not_undoable(loaded: Loaded) -> Iterator[str]:
    for (_, tool), door in loaded.doors.items():
        promised, able = door.rule is not None and door.rule.undo is not None, door.undo is not None
        if promised and not able:
            yield f"The rule of {tool} says how it is undone, but its @action has no undo=: nobody is offered it."
        if able and not promised:
            yield f"The @action {tool} has an undo=, but its rule does not say so: nobody is offered it."


def _unruled(loaded: Loaded) -> Iterator[str]:
    for (agent, tool), door in loaded.doors.items():
        if door.rule is None:
            kind = "a lookup" if isinstance(door.tool, Lookup) else "a tool"
            yield f'{tool} of "{agent}" is {kind} without a rule: every call asks the strictest tier.'


async def _load(found: Prepared, name: str) -> Loaded:
    """Load without opening a model connection or an MCP server; what the servers offer is only known in a job."""
    watch = Deps.watch_for(found.law)
    async with found.model() as model:
        return build(made(found.factories[name], model), model, rules=found.law.rules, watch=watch)
