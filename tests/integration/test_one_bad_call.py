"""What goes wrong with one call keeps nothing from the calls beside it."""

from collections.abc import Callable
from typing import Annotated, Any

import pytest
import redis
from agents import Agent
from pydantic import AfterValidator

from approvals.lifecycle import Cause, RunState, State
from approvals.models import Call
from approvals.preview import Precondition, Preview
from approvals.queue import JobTimeout
from approvals.stuck import open_alerts
from policies.arguments import Arguments
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import Ask, Rule, Spend, rule
from worker.actions import ActionContext, NothingHappened, action
from workshop import ANA, LEA, Label, Ship, Stock, Workshop, a_law, find, function_call, saying, ship, shipping

HALF = "a\ud800"
PREVIEWS: dict[str, Callable[[], Any]] = {
    "no preview": lambda: None,
    "a text": lambda: "Ship it",
    "half a character": lambda: Preview(headline=HALF),
    "half a character in a row": lambda: Preview(headline="Ship", sample=({"item": HALF},)),
    "half a character as a column": lambda: Preview(headline="Ship", rows=({HALF: 1},)),
    "an endless number": lambda: Preview(headline="Ship", sample=({"item": 10**5000},)),
    "not a number": lambda: Preview.model_construct(headline="Ship", sample=({"item": float("nan")},)),
    "bytes": lambda: Preview.model_construct(headline=b"\xff"),
    "a precondition with half a character": lambda: Preview(
        headline="Ship", precondition=Precondition(sentence="in stock", rows={HALF: {"stock": 1}})
    ),
    "a precondition that fails": lambda: Preview(
        headline="Ship", precondition=Precondition.over("in stock", [{}], key="item", material=())
    ),
}
FACTS: dict[str, Callable[[], Any]] = {
    "no facts": lambda: None,
    "other facts": lambda: {"owner_of": {}},
    "half a character": lambda: Stock(owner_of={"cup": HALF}),
    "half a character as a key": lambda: Stock(owner_of={"cup": "ann", HALF: "ann"}),
    "not a number": lambda: Stock.model_construct(owner_of={"cup": float("nan")}),
    "bytes": lambda: Stock.model_construct(owner_of={"cup": b"\xff"}),
    "an endless number": lambda: Stock.model_construct(owner_of={"cup": 10**5000}),
}


class Poisoned:
    """An agent whose tool gives `facts` and `preview` for a cup, once it is told to, and the usual for all else."""

    def __init__(self, workshop: Workshop, *, preview: Any = None, facts: Any = None) -> None:
        self.now = True

        async def check(args: Ship) -> Any:
            if self.now and facts and args.lines[0].item == "cup":
                return facts()
            return Stock(owner_of={line.item: "ann" for line in args.lines})

        async def show(ask: Ask[Ship, Stock]) -> Any:
            if self.now and preview and ask.args.lines[0].item == "cup":
                return preview()
            return Preview(headline=f"Ship {ask.args.lines[0].item}")

        @action(Ship, check=check, preview=show)
        async def ship(ctx: ActionContext, args: Ship) -> None:
            """Send items away for good."""
            workshop.shop.done.append(args.lines[0].item)

        workshop.build = lambda model: Agent(name="desk", instructions="Keep.", model=model, tools=[ship])
        workshop.script.extend([[shipping(("cup", 3)), shipping(("pot", 3), call_id="c2")], [saying()]])


class Strict:
    """What a validator of a team's own does, which may break any time."""

    def __init__(self) -> None:
        self.raises: Exception | None = None

    def __call__(self, item: str) -> str:
        if self.raises is not None and item == "cup":
            raise self.raises
        return item


def validated(workshop: Workshop, strict: Strict, *, asks: bool = True) -> None:
    """Cup and pot are labelled by a tool whose arguments are validated by the team's code."""

    class Sticky(Arguments):
        item: Annotated[str, AfterValidator(strict)]

    def label(ask: Ask[Sticky, Any], so_far: Spend) -> Requirement:
        return Requirement(radius="labels").auto_when(not asks, "It can be peeled off.").needs("desk")

    async def show(ask: Ask[Sticky, Any]) -> Preview:
        return Preview(headline="Label")

    async def act(ctx: ActionContext, args: Sticky) -> None:
        """Stick a label on an item."""
        workshop.shop.done.append(args.item)

    act.__name__ = "label"
    sticky = action(Sticky, preview=show)(act)
    rules: list[Rule] = [ship, find, rule(Sticky, risk=Risk.REVERSIBLE, undo="Peel it off.")(label)]
    workshop.law = a_law(rules)
    tools = [sticky, *(tool for tool in workshop.shop.tools() if tool.name != "label")]
    workshop.build = lambda model: Agent(name="desk", instructions="Keep.", model=model, tools=tools)


def labelling(item: str, call_id: str) -> Any:
    return function_call("label", {"item": item}, call_id=call_id)


def lapse(workshop: Workshop, call: Call) -> None:
    workshop.client.hset(workshop.store.keys.call(call.key), "execute_by", 1)
    workshop.client.zadd(workshop.store.keys.deadlines, {f"lapse:{call.key}": 1})
    workshop.store.deadlines.apply(f"lapse:{call.key}")


def gate_alerts(workshop: Workshop) -> list[str]:
    return [subject for subject in open_alerts(workshop.store.runs) if subject.startswith("gate:")]


@pytest.mark.parametrize("how", PREVIEWS)
def test_a_preview_that_cannot_be_kept_is_a_failed_one_and_its_sibling_is_asked(workshop: Workshop, how: str) -> None:
    Poisoned(workshop, preview=PREVIEWS[how])
    workshop.start()
    cup, pot = workshop.calls()
    assert [workshop.run().state, cup.state, pot.state] == [RunState.PAUSED, *[State.PENDING_REVIEW] * 2]
    assert (cup.content.preview.generic, cup.content.requirement.tier) == (True, "strictest")
    assert "the strictest tier decides" in cup.content.requirement.reasons[-1]
    assert (pot.content.preview.generic, pot.content.requirement.tier) == (False, "desk")


@pytest.mark.parametrize("how", FACTS)
def test_facts_that_cannot_be_kept_are_told_and_the_sibling_is_asked(workshop: Workshop, how: str) -> None:
    Poisoned(workshop, facts=FACTS[how])
    workshop.start()
    cup, pot = workshop.calls()
    assert [workshop.run().state, cup.state, pot.state] == [RunState.PAUSED, *[State.PENDING_REVIEW] * 2]
    assert cup.content.problem is not None
    assert cup.content.problem.startswith("The check of ship ")
    assert (cup.content.requirement.tier, pot.content.requirement.tier) == ("strictest", "desk")
    assert workshop.decide(cup, by=LEA).ok
    workshop.execute()
    assert workshop.calls()[0].state is State.APPROVED  # as with any other check that failed: it waits for the facts
    assert workshop.shop.done == []


@pytest.mark.parametrize(
    ("how", "given"),
    [*(("preview", make) for make in PREVIEWS.values()), *(("facts", make) for make in FACTS.values())],
)
def test_what_breaks_after_the_approval_concerns_its_own_call(workshop: Workshop, how: str, given: Any) -> None:
    poisoned = Poisoned(workshop, **{how: given})
    poisoned.now = False
    workshop.start()
    for call in workshop.calls():
        assert workshop.decide(call).ok
    poisoned.now = True
    workshop.execute()
    cup, pot = workshop.calls()
    assert pot.state is State.SUCCEEDED
    assert "pot" in workshop.shop.done
    if how == "facts":
        assert (cup.state, "cup" in workshop.shop.done) == (State.APPROVED, False)


def test_a_call_that_fails_in_a_new_way_is_told_once_tried_again_and_stops_no_sibling(workshop: Workshop) -> None:
    strict = Strict()
    validated(workshop, strict)
    workshop.script.extend([[labelling("cup", "c1"), labelling("pot", "c2")], [saying()]])
    workshop.start()
    for call in workshop.calls():
        assert workshop.decide(call).ok
    strict.raises = TypeError("unforeseen")
    for _ in range(3):
        workshop.see(ANA)
        workshop.execute()
    cup, pot = workshop.calls()
    assert (cup.state, pot.state, workshop.shop.done) == (State.APPROVED, State.SUCCEEDED, ["pot"])
    assert gate_alerts(workshop) == [f"gate:{cup.key}"]
    entry = workshop.store.outbox.load(f"alert:gate:{cup.key}")
    assert entry is not None
    assert entry.desired == 1
    assert workshop.store.wakeups.wanted("execute_batch", [cup.batch or ""])
    strict.raises = None
    workshop.execute()
    assert workshop.shop.done == ["pot", "cup"]


def test_a_call_that_goes_on_failing_lapses_alone(workshop: Workshop) -> None:
    strict = Strict()
    validated(workshop, strict)
    workshop.script.extend([[labelling("cup", "c1"), labelling("pot", "c2")], [saying("Done.")]])
    workshop.start()
    for call in workshop.calls():
        assert workshop.decide(call).ok
    strict.raises = KeyError("unforeseen")
    workshop.execute()
    lapse(workshop, workshop.calls()[0])
    cup, pot = workshop.calls()
    assert (cup.state, cup.cause, pot.state) == (State.EXPIRED, Cause.LAPSED, State.SUCCEEDED)
    workshop.advance()
    assert workshop.run().state is RunState.COMPLETED


def test_a_held_call_that_fails_in_a_new_way_stops_no_other_held_call(workshop: Workshop) -> None:
    strict = Strict()
    validated(workshop, strict, asks=False)
    workshop.script.extend([[shipping(("pan", 3)), labelling("cup", "c2"), labelling("pot", "c3")], [saying()]])
    workshop.start()
    waits = next(call for call in workshop.calls() if call.tool == "ship")
    assert workshop.decide(waits, "reject").ok
    strict.raises = RuntimeError("unforeseen")
    workshop.execute()
    _, cup, pot = workshop.calls()
    assert (cup.state, pot.state, workshop.shop.done) == (State.PROPOSED, State.SUCCEEDED, ["pot"])
    assert gate_alerts(workshop) == [f"gate:{cup.key}"]


def test_arguments_that_a_validator_cannot_take_are_refused_and_their_sibling_is_asked(workshop: Workshop) -> None:
    strict = Strict()
    validated(workshop, strict)
    strict.raises = TypeError("unforeseen")
    workshop.script.extend([[labelling("cup", "c1"), labelling("pot", "c2")], [saying()]])
    workshop.start()
    cup, pot = workshop.calls()
    assert (cup.state, cup.reason) == (State.REJECTED, "The arguments of label could not be read (TypeError).")
    assert pot.state is State.PENDING_REVIEW


@pytest.mark.parametrize("raised", [JobTimeout("over"), redis.ConnectionError("away"), redis.TimeoutError("slow")])
def test_the_end_of_a_job_and_a_store_that_is_away_are_no_fault_of_the_call(
    workshop: Workshop, raised: Exception
) -> None:
    strict = Strict()
    validated(workshop, strict)
    workshop.script.extend([[labelling("cup", "c1"), labelling("pot", "c2")], [saying()]])
    workshop.start()
    for call in workshop.calls():
        assert workshop.decide(call).ok
    strict.raises = raised
    with pytest.raises(type(raised)):
        workshop.execute()
    assert (gate_alerts(workshop), workshop.shop.done) == ([], [])


def test_a_provider_that_says_no_with_half_a_character_has_still_said_no(workshop: Workshop) -> None:
    def refuse() -> None:
        raise NothingHappened(f"Gone: {HALF}")

    workshop.shop.before_effect = refuse
    workshop.script.extend([[shipping(("cup", 3)), shipping(("pot", 3), call_id="c2")], [saying()]])
    workshop.start()
    for call in workshop.calls():
        assert workshop.decide(call).ok
    workshop.execute()
    assert [(call.state, call.reason) for call in workshop.calls()] == [(State.FAILED, "Gone: a\ufffd")] * 2


def test_a_check_that_refuses_with_half_a_character_is_read_all_the_same(workshop: Workshop) -> None:
    workshop.shop.before_check = NothingHappened(f"No such {HALF}.")
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    assert (call.state, call.reason) == (State.REJECTED, "No such a\ufffd.")


def test_a_rule_that_writes_half_a_character_has_written_nonsense(workshop: Workshop) -> None:
    @rule(Label, risk=Risk.REVERSIBLE, undo="Peel the label off.")
    def label(ask: Ask[Label, Any], so_far: Spend) -> Requirement:
        odd = ask.args.item == "cup"
        return Requirement(radius="labels", resources=(HALF,) if odd else ()).needs("desk")

    workshop.law = a_law([ship, label, find])
    workshop.script.extend([[labelling("cup", "c1"), labelling("pot", "c2")], [saying()]])
    workshop.start()
    cup, pot = workshop.calls()
    assert "Its rule returned nonsense (resources.0)" in cup.content.requirement.reasons[0]
    assert (cup.state, pot.state) == (State.PENDING_REVIEW, State.PENDING_REVIEW)
    assert pot.content.requirement.radius == "labels"
