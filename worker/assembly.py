"""From settings to what the engine needs. Read once in the parent, opened anew in every job's own process."""

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agents import Model, OpenAIChatCompletionsModel
from openai import AsyncOpenAI

from approvals.errors import ApprovalsError
from approvals.opening import connected
from approvals.workspaces import text_of
from policies.law import Law, load_law
from worker.deps import Deps, OpenModel
from worker.load import Factory, factories, imported
from worker.settings import WorkerSettings

#: Of the OpenAI client, within one turn; a turn that failed is repeated by us, later and from its checkpoint.
MODEL_RETRIES = 2
MODEL_TIMEOUT_S = 120.0


class WrongTenantError(ApprovalsError):
    """A job for another workspace than the one this worker knows the reviewers of."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything that is read from files and modules, and nothing that is open."""

    settings: WorkerSettings
    law: Law
    factories: Mapping[str, Factory]
    model: OpenModel
    shadow: Law | None = None

    @property
    def tenant(self) -> str:
        """The workspace whose reviewers decide."""
        return self.law.reviewers.team


def prepare(settings: WorkerSettings) -> Prepared:
    """Import agents, rules and planner.

    Raises:
        ApprovalsError: one sentence on what to correct.
        LawRefused: the rules or reviewers.toml cannot be used.
    """
    law = load_law(settings.rules, settings.reviewers_text())
    return Prepared(settings, law, factories(settings.agent), model_opener(settings), _shadow(settings))


def _shadow(settings: WorkerSettings) -> Law | None:
    """The candidate that is judged beside the law, when VOBO_SHADOW_RULES names one."""
    if not settings.shadow_rules:
        return None
    if settings.shadow_reviewers is None:
        return load_law(settings.shadow_rules, settings.reviewers_text())
    text = text_of(settings.shadow_reviewers, "VOBO_SHADOW_REVIEWERS", settings.workspace)
    return load_law(settings.shadow_rules, text)


@functools.cache
def prepared() -> Prepared:
    """The environment's. Called in the parent before it forks, so that jobs inherit the imports."""
    return prepare(WorkerSettings.read())


def model_opener(settings: WorkerSettings) -> OpenModel:
    """How the model is opened: inside the job, since its HTTP client belongs to one event loop.

    Raises:
        AgentRefused: VOBO_OFFLINE names no planner.
    """
    if settings.is_offline:
        planner = imported(settings.offline, "VOBO_OFFLINE")

        @asynccontextmanager
        async def offline() -> AsyncIterator[Model]:
            yield planner()

        return offline

    @asynccontextmanager
    async def openai() -> AsyncIterator[Model]:
        key = settings.openai_key.get_secret_value() if settings.openai_key else None
        async with AsyncOpenAI(
            api_key=key, base_url=settings.openai_url, max_retries=MODEL_RETRIES, timeout=MODEL_TIMEOUT_S
        ) as client:
            yield OpenAIChatCompletionsModel(model=settings.model, openai_client=client)

    return openai


def deps_for(found: Prepared, tenant: str) -> Deps:
    """The engine's needs with a connection of their own.

    Raises:
        WrongTenantError: `tenant` is not the workspace of reviewers.toml.
    """
    if tenant != found.tenant:
        raise WrongTenantError(
            f"A job for the workspace {tenant} came to a worker of {found.tenant}."
            " Nothing of ours puts it there: find out who can write to Redis, or correct team in reviewers.toml."
        )
    store = connected(found.settings, tenant=tenant)
    store.switches.set_worker(found.law.version)
    return Deps(store, found.law, found.factories, found.model, found.shadow)


def run_job(work: Callable[[Deps, str], Awaitable[None]], argument: str, tenant: str) -> None:
    """One job: fresh connection, one event loop, then nothing is left."""
    deps = deps_for(prepared(), tenant)

    async def job() -> None:
        await work(deps, argument)

    asyncio.run(job())
