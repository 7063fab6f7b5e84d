"""What a process does while it waits for its job: code that has run once in a process runs three times as fast.

Most of what is won are copies: a forked process shares the parent's memory until it touches it, and Python touches
every object that it uses.
"""

import asyncio
import inspect

import structlog

from approvals import scripts
from approvals.opening import connected
from approvals.sealing import Subject, sealed
from policies.law import Law
from worker.assembly import Prepared
from worker.deps import Deps
from worker.judging import described, judge, look
from worker.load import Loaded, beside, build, made, reachable

#: The function beside an agent's factory that is called as well, without arguments; it may be a coroutine.
HOOK = "rehearse"
#: There is none of this name, so nothing is found, leased or changed.
NOTHING = "rehearsal"

_log = structlog.get_logger(__name__)


def read_scripts() -> None:
    """Read every script once, in the process that forks the others."""
    for name in scripts.names():
        scripts.source(name)


def rehearse(found: Prepared) -> None:
    """Do what every job does, without a job. Nothing stays open that could grow old until the job comes.

    Whatever goes wrong is left to the job, which meets it again where somebody is told.
    """
    for part in (_ask_the_store, _use_the_agents):
        try:
            part(found)
        # A boundary: a team's factory and hook may raise anything, and the process is of use all the same.
        except Exception as error:  # noqa: BLE001
            _log.info("a rehearsal failed, so the next job is slower", part=part.__name__, error=type(error).__name__)


def _ask_the_store(found: Prepared) -> None:
    store = connected(found.settings, tenant=found.tenant)
    try:
        store.runs.load(NOTHING)
        store.people.get(NOTHING)
        store.batches.lease(NOTHING, token=NOTHING, ttl_ms=1)
        store.batches.claimable(NOTHING)
    finally:
        store.runs.client.close()


def _use_the_agents(found: Prepared) -> None:
    asyncio.run(_all_agents(found))


async def _all_agents(found: Prepared) -> None:
    for factory in found.factories.values():
        async with found.model() as model:
            root = made(factory, model)
            if not any(agent.mcp_servers for agent, _ in reachable(root)):
                await _judge_nothing(
                    found.law, build(root, model, rules=found.law.rules, watch=Deps.watch_for(found.law))
                )
        hook = beside(factory, HOOK)
        answer = hook() if hook is not None else None
        if inspect.isawaitable(answer):
            await answer


async def _judge_nothing(law: Law, loaded: Loaded) -> None:
    """Judge, describe and seal a call that cannot be read, so that no check or preview of the team's is called."""
    for door in list(loaded.doors.values())[:1]:
        looked = await look(NOTHING, door, "", requester=NOTHING)
        (need,) = judge(law, [looked], requester=NOTHING, spent={}, vetoes={}, now_ms=0)
        content = await described(looked, need, agent_version=loaded.version)
        subject = Subject(
            tenant=NOTHING, run=NOTHING, requester=NOTHING, key=NOTHING, agent=NOTHING, tool=door.tool.name
        )
        sealed(subject, content, version=1)
