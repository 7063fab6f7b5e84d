"""What `python -m worker --check` finds before the first run does."""

import asyncio
from collections.abc import Iterator

from approvals.errors import ApprovalsError
from approvals.redis_check import check_server, connect
from worker.actions import Lookup
from worker.assembly import Prepared
from worker.deps import Deps
from worker.load import Loaded, build, made


def findings(found: Prepared) -> Iterator[str]:
    """One sentence for each thing that keeps the worker from working; an empty answer means that it can start."""
    yield from found.law.problems()
    try:
        check_server(connect(found.settings.redis_url))
    except ApprovalsError as refused:
        yield str(refused)
    for name in found.factories:
        try:
            asyncio.run(_load(found, name))
        except ApprovalsError as refused:
            yield str(refused)


def notes(found: Prepared) -> Iterator[str]:
    """What works, but may surprise."""
    yield from found.law.notes()
    if found.settings.is_offline:
        yield (
            "No model is configured, so the sample's offline planner stands in for one."
            " Set OPENAI_API_KEY and VOBO_MODEL for a real one."
        )
    for name in found.factories:
        try:
            loaded = asyncio.run(_load(found, name))
        except ApprovalsError:
            continue  # told as a finding
        yield from _unruled(loaded)


def gated_tools(found: Prepared) -> Iterator[str]:
    """The names of all tools that ask or are judged before they run, of all agents that can be loaded."""
    for name in found.factories:
        yield from (tool for _, tool in asyncio.run(_load(found, name)).doors)


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
