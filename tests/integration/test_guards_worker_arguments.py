"""Tools that take other arguments than those that were stored, sealed and approved."""

from typing import Annotated, Any

from agents import Agent

from approvals.lifecycle import Cause, State
from policies.arguments import Arguments
from policies.edits import SubsetOfProposed
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import rule
from worker.actions import ActionContext, Preview, action
from workshop import Line, Workshop, a_law, find, function_call, label, ship, shipping


class ShipByAir(Arguments):
    """Send items away by air."""

    lines: Annotated[list[Line], SubsetOfProposed(key="item")]
    flight: str


def by_air(workshop: Workshop) -> None:
    """The tool takes another argument from now on, which nothing that was stored before has."""

    async def preview(ask: Any) -> Preview:
        return Preview(headline="By air")

    @action(ShipByAir, preview=preview)
    async def ship(ctx: ActionContext, args: ShipByAir) -> None:
        """Send items away by air."""
        workshop.shop.done.append(("air", args.flight, ctx.idempotency_key))

    def judge(ask: Any, so_far: Any) -> Requirement:
        return Requirement(radius="air").needs("desk")

    judge.__name__ = "ship"
    workshop.law = a_law([rule(ShipByAir, risk=Risk.IRREVERSIBLE)(judge), label, find])
    tools = [ship, *workshop.shop.tools()[1:]]
    workshop.build = lambda model: Agent(name="desk", model=model, tools=tools)


def test_arguments_that_the_tool_does_not_take_any_more_are_refused_with_the_field(
    workshop: Workshop,
) -> None:
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0]).ok
    by_air(workshop)
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.cause, workshop.shop.done) == (State.REJECTED, Cause.POLICY, [])
    assert "takes other arguments now" in (call.reason or "")
    assert "flight" in (call.reason or "")


def test_what_waited_and_whose_arguments_do_not_fit_any_more_is_refused(workshop: Workshop) -> None:
    """A label that waited beside a shipment; by now labels take another argument."""
    workshop.script.extend([[shipping(("cup", 3)), function_call("label", {"item": "pot"}, call_id="c2")]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0], "reject").ok

    class Stick(Arguments):
        """Stick a label on an item."""

        item: str
        colour: str

    @action(Stick)
    async def label(ctx: ActionContext, args: Stick) -> None:
        """Stick a label on an item."""
        workshop.shop.done.append(("label", args.colour, ctx.idempotency_key))

    def judge(ask: Any, so_far: Any) -> Requirement:
        return Requirement(radius="labels").auto_when(True, "It can be peeled off.")

    judge.__name__ = "label"
    tools = [workshop.shop.tools()[0], label]
    workshop.law = a_law(
        [
            ship,
            rule(Stick, risk=Risk.REVERSIBLE, undo="Peel.")(judge),
            find,
        ]
    )
    workshop.build = lambda model: Agent(name="desk", model=model, tools=tools)
    workshop.execute()
    (_, labelled) = workshop.calls()
    assert (labelled.state, labelled.cause, workshop.shop.done) == (State.REJECTED, Cause.POLICY, [])
    assert "takes other arguments now" in (labelled.reason or "")
