"""The sample from a request to its effects: real law, real store, real shop; the planner stands in for a model."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import redis
from agents import Model

from approvals.lifecycle import RunState, State
from approvals.models import Call, Decision, Person
from approvals.outcomes import Answer
from approvals.store import Store
from approvals.vault import Vault
from builders import CHANNEL, STATE_KEY, THREAD
from policies.arguments import canonical_text
from policies.edits import difference
from policies.law import load_law
from policies.rules.refunds import RefundPayments
from worker import batches, refresh, runs
from worker.deps import Deps
from worker.refund_desk import build_agent
from worker.refund_desk.planner import OfflinePlanner
from worker.refund_desk.shop.database import Shop
from worker.refund_desk.shop.effects import Effects, read_effects
from worker.refund_desk.shop.load import load_all, sample_payments
from worker.refund_desk.shop.meanwhile import EVENTS

TEAM, ROSA, BRUNO, OLGA, OMAR, RITA = "T0000HOME", "U0005", "U0001", "U0002", "U0003", "U0004"
ALL = "refund yesterday's failed payments, mail the affected customers and delete the customers on the erasure list"
REVIEWERS = Path(__file__).parents[1] / "policies" / "rules" / "reviewers.toml"


def a_shop(url: str) -> Shop:
    """The sample's shop on its first morning."""
    shop = Shop.open(url)
    shop.create()
    with shop.writing() as session:
        load_all(session, sample_payments())
    return shop


class RefundDesk:
    """One run of the refund desk, its reviewers, and the shop it works on."""

    run, thread = "run_1", THREAD

    def __init__(self, client: redis.Redis, shop: Shop) -> None:
        self.store = Store.open(client, Vault.from_text(STATE_KEY), tenant=TEAM)
        self.store.people.set_home_team(TEAM)
        self.store.ledger.vouch(self.store.ledger.server())
        self.law = load_law(["policies.rules"], REVIEWERS.read_text())
        self.shop = shop

    @property
    def deps(self) -> Deps:
        @contextlib.asynccontextmanager
        async def model() -> AsyncIterator[Model]:
            yield OfflinePlanner()

        return Deps(self.store, self.law, {"default": build_agent}, model, retry_delays_ms=(0,) * 8)

    def ask(self, request: str) -> list[Call]:
        started = self.store.runs.start(
            self.run, request=request, requester=ROSA, channel=CHANNEL, thread_ts=self.thread, agent="default"
        )
        assert started.ok
        self.advance()
        return self.calls()

    def advance(self) -> None:
        """As the clock would, until people or nobody can go on."""
        for _ in range(12):
            asyncio.run(runs.advance(self.deps, self.run))
            for batch in sorted({call.batch for call in self.calls() if call.batch}):
                asyncio.run(batches.execute(self.deps, batch))

    def calls(self) -> list[Call]:
        run = self.store.runs.load(self.run)
        assert run is not None
        return [call for pause in range(1, run.pause + 1) for call in self.store.calls.of_pause(self.run, pause)]

    def of(self, tool: str) -> Call:
        return next(call for call in self.calls()[::-1] if call.tool == tool)

    def decide(self, tool: str, verdict: str, *people: str) -> None:
        for user in people:
            call = self._posted(tool)
            decision = Decision(call=call.key, version=call.version, verdict=verdict, reviewer=user, name=user)
            verb = self.store.calls.approve if verdict == "approve" else self.store.calls.reject
            answer: Answer = verb(call.key, version=call.version, decision=decision, person=self.see(user))
            assert answer.ok, answer

    def lower(self, user: str, payment_id: str, minor: int) -> None:
        call = self._posted("refund_payments")
        before = RefundPayments.model_validate_json(call.content.arguments)
        asked = json.loads(call.content.arguments)
        for line in asked["lines"]:
            if line["payment_id"] == payment_id:
                line["amount"]["minor"] = minor
        after = RefundPayments.model_validate_json(json.dumps(asked))
        changed = {"arguments": canonical_text(after), "previous": difference(before, after)}
        content = call.content.model_copy(update=changed)
        decision = Decision(call=call.key, version=call.version, verdict="edit", reviewer=user, name=user)
        person = self.see(user)
        answer = self.store.calls.edit(
            call.key, version=call.version, decision=decision, person=person, content=content
        )
        assert answer.ok, answer
        asyncio.run(refresh.refresh(self.deps, call.key))

    def see(self, user: str) -> Person:
        return self.store.people.put(Person(user=user, name=user, team=TEAM))

    def happen(self, name: str) -> None:
        with self.shop.writing() as session:
            EVENTS[name](session)

    def effects(self) -> Effects:
        with self.shop.reading() as session:
            return read_effects(session)

    @property
    def answer(self) -> str:
        run = self.store.runs.load(self.run)
        assert run is not None
        assert run.state is RunState.COMPLETED, (run.state, run.reason)
        return run.answer or ""

    def _posted(self, tool: str) -> Call:
        cards = sorted({call.batch for call in self.calls() if call.batch and call.state is State.PENDING_REVIEW})
        for number, batch in enumerate(cards, start=1):
            assert self.store.batches.record_posted(batch, channel=CHANNEL, ts=f"{number}.1").ok
        return self.of(tool)
