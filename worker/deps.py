"""What the engine's verbs need, injected: the store, the law, this tenant's agent, randomness."""

import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agents import Model

from approvals.store import Store
from policies.law import Law
from policies.reviewers import Reviewers
from worker.load import Factory, Loaded, build, made
from worker.mcp import local_mcp
from worker.refusals import AgentRefused
from worker.watch import Watch

OpenModel = Callable[[], AbstractAsyncContextManager[Model]]


def choose(characters: Sequence[str]) -> str:
    """One of these, unpredictably."""
    return secrets.choice(characters)


def new_token() -> str:
    """A secret that fences one lease or claim."""
    return secrets.token_hex(16)


@dataclass(frozen=True, slots=True)
class Deps:
    """`model` opens the model inside the job's event loop; `factories` are the agents of VOBO_AGENT by name.

    `shadow` is a candidate law that is judged beside the law and never obeyed.
    """

    store: Store
    law: Law
    factories: Mapping[str, Factory]
    model: OpenModel
    shadow: Law | None = None
    choose: Callable[[Sequence[str]], str] = choose
    token: Callable[[], str] = new_token
    retry_delays_ms: tuple[int, ...] = field(default=(5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000))

    def people(self) -> Reviewers:
        """Who decides now, stand-ins of the day included."""
        return self.law.people_at(datetime.fromtimestamp(self.store.now() / 1000, UTC))

    def watch(self, *, turns: int = 0, last: bool = False) -> Watch:
        """A watch over the models of one job. A last word may be spoken even when the turns are used up."""
        limit = self.law.budgets.turns_per_run
        limit = max(limit, turns + 1) if last else limit
        return Watch(choose=self.choose, turns=turns, limit=limit, last=last, secrets=self.store.secrets)

    @staticmethod
    def watch_for(law: Law) -> Watch:
        """A watch for looking at an agent that is not run."""
        return Watch(choose=choose, turns=0, limit=law.budgets.turns_per_run)

    @asynccontextmanager
    async def loaded(self, agent: str, watch: Watch) -> AsyncIterator[Loaded]:
        """The agent a run was started with (the first when it names none), gated, its model and MCP servers open.

        Raises:
            AgentRefused: no agent of that name is configured, or it cannot be gated.
        """
        factory = self.factories.get(agent) if agent else next(iter(self.factories.values()))
        if factory is None:
            raise AgentRefused(f'No agent is called "{agent}" in VOBO_AGENT; it names {", ".join(self.factories)}.')
        async with self.model() as model:
            root = made(factory, model)
            async with local_mcp(root):
                yield build(root, model, rules=self.law.rules, watch=watch)
