"""A small shop with one agent, its rules and a scripted model, over a real store: for tests of the engine."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Annotated, Any

import redis
from agents import Agent, Model, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from approvals.lifecycle import State
from approvals.models import Call, Decision, Run
from approvals.outcomes import Answer
from approvals.store import Store
from bot.undo_law import undo_need
from builders import CHANNEL, REQUESTER, THREAD, a_person
from policies.arguments import Arguments, canonical_text
from policies.edits import AtMostProposed, SubsetOfProposed, difference
from policies.law import Law, load_law
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import Ask, Facts, Rule, Spend, rule
from policies.undoing import people_needed
from worker import batches, reconcile, refresh, runs, undoing
from worker.actions import ActionContext, NothingHappened, Precondition, Preview, action, lookup
from worker.deps import Deps

TEAM, ANA, BEN, LEA = "T0HOME", "U0ANA", "U0BEN", "U0LEA"
REVIEWERS = f"""
team = "{TEAM}"
strictest = "leads"
ops = ["{LEA}"]
[tiers.desk]
users = ["{ANA}", "{BEN}", "{LEA}"]
[tiers.leads]
users = ["{LEA}", "{BEN}"]
"""


WITH_LIMITS = REVIEWERS.replace(
    f'users = ["{ANA}", "{BEN}", "{LEA}"]',
    f"""users = ["{ANA}"]
limits = {{ EUR = "100.00" }}""",
)


class Line(Arguments):
    item: str
    count: Annotated[int, AtMostProposed()]


class Ship(Arguments):
    """Send items away for good."""

    lines: Annotated[list[Line], SubsetOfProposed(key="item")]


class Stock(Facts):
    owner_of: dict[str, str]


class Label(Arguments):
    """Stick a label on an item; it can be peeled off."""

    item: str


class Find(Arguments):
    """Look an item up."""

    item: str


@rule(Ship, Stock, risk=Risk.IRREVERSIBLE)
def ship(ask: Ask[Ship, Stock], so_far: Spend) -> Requirement:
    items = tuple(line.item for line in ask.args.lines)
    count = sum(line.count for line in ask.args.lines)
    return (
        Requirement(radius=f"stock of {min(ask.facts.owner_of[item] for item in items)}", resources=items)
        .forbid_when(any(line.count > 100 for line in ask.args.lines), "Nobody may ship more than 100 of an item.")
        .auto_when(count <= 1, "A single item.")
        .needs("desk", because="More than one item: somebody must look.")
    )


@rule(Label, risk=Risk.REVERSIBLE, undo="Peel the label off.")
def label(ask: Ask[Label, Any], so_far: Spend) -> Requirement:
    return Requirement(radius="labels", resources=(f"label-{ask.args.item}",)).auto_when(True, "It can be peeled off.")


@rule(Find, risk=Risk.READ_ONLY)
def find(ask: Ask[Find, Any], so_far: Spend) -> Requirement:
    return Requirement(radius="nothing")


@dataclass
class Shop:
    """What exists, and what was done to it. `before_effect` and `before_undo` run inside, first."""

    owners: dict[str, str] = field(default_factory=lambda: {"cup": "ann", "pot": "ann", "pan": "bob"})
    stock: dict[str, int] = field(default_factory=lambda: {"cup": 50, "pot": 50, "pan": 50})
    done: list[tuple[str, Any, str]] = field(default_factory=list)
    before_effect: Callable[[], Any] = lambda: None
    check_fails: bool = False
    before_check: Exception | None = None
    timeout_s: float = 5.0
    remembers_s: float | None = 24 * 3600.0
    found: Callable[[str], Any] = lambda key: None  # noqa: ARG005
    undone: list[tuple[str, Any, str, str | None]] = field(default_factory=list)
    before_undo: Callable[[], Any] = lambda: None
    found_undone: Callable[[str], Any] = lambda key: None  # noqa: ARG005

    def tools(self) -> list[Any]:  # noqa: C901
        async def check_stock(args: Ship) -> Stock:
            if self.before_check is not None:
                raise self.before_check
            if self.check_fails:
                raise ConnectionError("the stock database is away")
            for line in args.lines:
                if line.item not in self.owners:
                    raise NothingHappened(f"There is no {line.item}.")
            return Stock(owner_of={line.item: self.owners[line.item] for line in args.lines})

        async def preview(ask: Ask[Ship, Stock]) -> Preview:
            rows = [{"item": line.item, "stock": self.stock[line.item]} for line in ask.args.lines]
            return Preview(
                headline=f"Ship {sum(line.count for line in ask.args.lines)} items",
                precondition=Precondition.over("items in stock", rows, key="item", material=("item", "stock")),
            )

        async def look_for(key: str, args: Ship) -> Any:
            return self.found(key)

        async def show_label(ask: Ask[Label, Any]) -> Preview:
            return Preview(headline=f"Label {ask.args.item}")

        @action(
            Ship,
            check=check_stock,
            preview=preview,
            reconcile=look_for,
            timeout_s=self.timeout_s,
            remembers_s=self.remembers_s,
        )
        async def ship(ctx: ActionContext, args: Ship) -> dict[str, Any]:
            """Send items away for good."""
            waits = self.before_effect()
            if waits is not None:
                await waits
            self.done.append(("ship", {line.item: line.count for line in args.lines}, ctx.idempotency_key))
            return {"shipped": [line.item for line in args.lines]}

        async def peel(ctx: ActionContext, args: Label, receipt: Any) -> dict[str, Any]:
            waits = self.before_undo()
            if waits is not None:
                await waits
            self.undone.append((args.item, receipt, ctx.idempotency_key, ctx.undoes))
            return {"peeled": args.item}

        async def look_if_peeled(ctx: ActionContext, args: Label, receipt: Any) -> Any:
            return self.found_undone(ctx.idempotency_key)

        @action(
            Label,
            preview=show_label,
            undo=peel,
            undone=look_if_peeled,
            timeout_s=self.timeout_s,
            remembers_s=self.remembers_s,
        )
        async def label(ctx: ActionContext, args: Label) -> None:
            """Stick a label on an item."""
            self.done.append(("label", args.item, ctx.idempotency_key))

        @lookup(Find)
        async def find(args: Find) -> str:
            """Look an item up."""
            return f"{args.item} belongs to {self.owners.get(args.item, 'nobody')}"

        return [ship, label, find]


def a_law(rules: list[Rule] | None = None, reviewers: str = REVIEWERS) -> Law:
    """The law of the workshop, or of these rules."""
    module = ModuleType("workshop_rules")
    for each in rules or [ship, label, find]:
        setattr(module, each.tool, each)
    loaded = load_law(["policies.rules"], reviewers)
    named = {each.tool: each for each in rules or [ship, label, find]}
    return Law(
        rules=named,
        reviewers=loaded.reviewers,
        deadlines=loaded.deadlines,
        budgets=loaded.budgets,
        version="workshop",
    )


class Workshop:
    """One run of one agent, driven by calling what the jobs call."""

    def __init__(self, store: Store, client: redis.Redis, *steps: Any) -> None:
        self.store, self.client = store, client
        self.shop = Shop()
        self.script = ScriptedModel(steps)
        self.law = a_law()
        self.build: Callable[[Model], Any] = lambda model: Agent(
            name="desk", instructions="Keep the shop.", model=model, tools=self.shop.tools()
        )
        self.retry_delays_ms = (0,) * 8

    @property
    def deps(self) -> Deps:
        @contextlib.asynccontextmanager
        async def model() -> AsyncIterator[Model]:
            yield self.script

        return Deps(self.store, self.law, {"default": self.build}, model, retry_delays_ms=self.retry_delays_ms)

    def start(self, run: str = "run_1", request: str = "ship it", **changes: Any) -> None:
        assert self.store.runs.start(
            run,
            **{
                "request": request,
                "requester": REQUESTER,
                "channel": CHANNEL,
                "thread_ts": THREAD,
                "agent": "default",
                **changes,
            },
        ).ok
        self.advance(run)

    def advance(self, run: str = "run_1") -> None:
        asyncio.run(runs.advance(self.deps, run))

    def run(self, run: str = "run_1") -> Run:
        found = self.store.runs.load(run)
        assert found is not None
        return found

    def calls(self, run: str = "run_1", pause: int | None = None) -> list[Call]:
        return self.store.calls.of_pause(run, pause or self.run(run).pause)

    def post_cards(self, run: str = "run_1") -> list[str]:
        """Cards as the relay would post them."""
        cards = {call.batch for call in self.calls(run) if call.batch and call.state is State.PENDING_REVIEW}
        for number, batch in enumerate(sorted(cards), start=1):
            assert self.store.batches.record_posted(batch, channel=CHANNEL, ts=f"{number}.1").ok
        return sorted(cards)

    def decide(self, call: Call, verdict: str = "approve", *, by: str = ANA, **changes: Any) -> Answer:
        self.post_cards()
        now = self.store.calls.load(call.key)
        assert now is not None
        decision = Decision(
            call=call.key, version=now.version, verdict=verdict, reviewer=by, name=by[2:].title(), **changes
        )
        verb = self.store.calls.approve if verdict == "approve" else self.store.calls.reject
        return verb(call.key, version=now.version, decision=decision, person=self.see(by))

    def edit(self, call: Call, args: Arguments, *, by: str = ANA) -> Answer:
        """An edit as the bot hands it in."""
        self.post_cards()
        before = Ship.model_validate_json(call.content.arguments)
        content = call.content.model_copy(
            update={"arguments": canonical_text(args), "previous": difference(before, args)}
        )
        decision = Decision(call=call.key, version=call.version, verdict="edit", reviewer=by, name=by[2:].title())
        return self.store.calls.edit(
            call.key, version=call.version, decision=decision, person=self.see(by), content=content
        )

    def see(self, user: str, **changes: Any) -> Any:
        """What Slack says about a user, just fetched."""
        return self.store.people.put(a_person(user, **changes))

    def execute(self, run: str = "run_1") -> None:
        """Every batch of the pause, as the clock would wake it."""
        for batch in sorted({call.batch for call in self.calls(run) if call.batch}):
            asyncio.run(batches.execute(self.deps, batch))

    def refresh(self, call: Call) -> None:
        asyncio.run(refresh.refresh(self.deps, call.key))

    def reconcile(self, call: Call) -> None:
        asyncio.run(reconcile.reconcile(self.deps, call.key))

    def nobody_at_work(self, key: str) -> None:
        """Long after the intent: no time limit runs any more, and whoever had begun has gone."""
        self.client.hset(self.store.keys.call(key), mapping={"at_work_until": 1, "undo_at_work_until": 1})
        self.client.delete(self.store.keys.at_work(key), self.store.keys.at_work(f"undo:{key}"))

    def undo(self, call: Call, *, by: str = LEA) -> Answer:
        """Somebody wants a call undone, and the clock comes by."""
        now = self.store.calls.load(call.key)
        assert now is not None
        answer = self.ask_back(now, by=by)
        self.take_back(call)
        return answer

    def ask_back(self, call: Call, *, by: str) -> Answer:
        """Somebody wants a call undone, who asks under the law as it is."""
        need = undo_need(self.law, call, requester=REQUESTER, now_ms=self.store.now())
        return self.store.undos.ask_for(call, person=self.see(by), needed=people_needed(need))

    def take_back(self, call: Call) -> None:
        """What the job of an undo does."""
        asyncio.run(undoing.undo(self.deps, call.key))

    def told(self, model: ScriptedModel | None = None) -> list[dict[str, Any]]:
        """The envelopes in the last model call, in order."""
        last = (model or self.script).last_call
        assert last is not None
        outputs = [item["output"] for item in last.input if item.get("type") == "function_call_output"]
        return [json.loads(output) for output in outputs if output.startswith("{")]


def shipping(*lines: tuple[str, int], call_id: str = "c1") -> Any:
    """The model asks to ship."""
    return function_call("ship", {"lines": [{"item": item, "count": count} for item, count in lines]}, call_id=call_id)


def saying(text: str = "done") -> Any:
    """The model ends with these words."""
    return assistant_message(text)


__all__ = ["function_call", "function_tool", "saying", "shipping"]
