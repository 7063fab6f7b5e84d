"""What runs is what was approved, whatever the validators and serializers of an argument model do to it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Self

import pytest
from agents import Agent
from pydantic import AfterValidator, Field, computed_field, field_serializer, model_validator

from approvals.lifecycle import Cause, State, UndoState
from policies.arguments import Arguments, ArgumentsRefused, Personal
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import rule
from worker.actions import ActionContext, Preview, action
from workshop import LEA, Workshop, a_law, function_call, saying


class Multiplied(Arguments):
    """Cents out of euros, each time it is read."""

    cents: Annotated[int, AfterValidator(lambda cents: cents * 100)]


class WithFee(Arguments):
    """A fee is added each time it is read."""

    cents: int

    @model_validator(mode="after")
    def _fee(self) -> Self:
        return self.model_copy(update={"cents": self.cents + 35})


class WithTotal(Arguments):
    """What is computed is written, and no field that could be read."""

    cents: int

    @computed_field  # type: ignore[prop-decorator]
    @property
    def total(self) -> int:
        """The sum."""
        return self.cents


class Aliased(Arguments):
    """Read under one name, written under another."""

    amount: int = Field(alias="cents")


class Excluded(Arguments):
    """A note that is not written."""

    cents: int
    note: str = Field(default="none", exclude=True)


class Masked(Arguments):
    """Written with stars instead of digits."""

    iban: str

    @field_serializer("iban")
    def _mask(self, iban: str) -> str:
        return f"***{iban[-4:]}"


class Plain(Arguments):
    """An honest one: a default that is filled in, a value that is tidied once, a masked field."""

    cents: int
    currency: Annotated[str, AfterValidator(str.upper)] = "eur"
    iban: Annotated[str, Personal()] = "DE1"


@dataclass
class Till:
    """One tool that pays. `mends` is what its validator makes of an amount."""

    workshop: Workshop
    done: list[dict[str, Any]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    mends: Callable[[int], int] = int
    before_preview: Callable[[], None] = lambda: None

    def takes(self, arguments: type[Arguments]) -> "Till":
        async def show(ask: Any) -> Preview:
            self.before_preview()
            return Preview(headline="Pay")

        async def look_for(key: str, args: Any) -> Any:
            self.asked.append(key)

        async def take_back(ctx: ActionContext, args: Any, receipt: Any) -> None:
            self.done.append({"back": args.model_dump()})
            raise ConnectionError

        async def look_if_back(ctx: ActionContext, args: Any, receipt: Any) -> Any:
            self.asked.append(ctx.idempotency_key)

        @action(arguments, preview=show, reconcile=look_for, undo=take_back, undone=look_if_back)
        async def pay(ctx: ActionContext, args: Any) -> None:
            """Pay."""
            self.done.append(args.model_dump())
            if args.cents == 13:
                raise ConnectionError

        def judge(ask: Any, so_far: Any) -> Requirement:
            return Requirement(radius="money", resources=("till",)).needs("desk")

        judge.__name__ = "pay"
        self.workshop.law = a_law([rule(arguments, risk=Risk.IRREVERSIBLE, undo="Take it back.")(judge)])
        self.workshop.build = lambda model: Agent(name="desk", instructions="Pay.", model=model, tools=[pay])
        return self

    def pays(self, **arguments: Any) -> State:
        self.workshop.script.extend([[function_call("pay", arguments, call_id="c1")], [saying()]])
        self.workshop.start()
        return self.workshop.calls()[0].state


@pytest.fixture
def till(workshop: Workshop) -> Till:
    """A till that takes a plain amount."""
    one = Till(workshop)

    class Mended(Arguments):
        """Its validator is replaced by another deployment; its schema stays."""

        cents: Annotated[int, AfterValidator(lambda cents: one.mends(cents))]  # noqa: PLW0108 - as it is then

    return one.takes(Mended)


@pytest.mark.parametrize(
    ("model", "arguments"),
    [
        (Multiplied, {"cents": 5}),
        (WithFee, {"cents": 5}),
        (WithTotal, {"cents": 5}),
        (Aliased, {"cents": 5}),
        (Excluded, {"cents": 5, "note": "to the other account"}),
        (Masked, {"iban": "DE1234567890"}),
    ],
)
def test_arguments_that_do_not_read_back_the_same_are_asked_of_nobody(
    workshop: Workshop, model: type[Arguments], arguments: dict[str, Any]
) -> None:
    assert Till(workshop).takes(model).pays(**arguments) is State.REJECTED
    (call,) = workshop.calls()
    assert (call.cause, call.batch) == (Cause.POLICY, None)
    assert f"Its author must change {model.__name__}" in (call.reason or "")


def test_defaults_tidied_values_and_personal_fields_read_back_the_same(workshop: Workshop) -> None:
    till = Till(workshop).takes(Plain)
    assert till.pays(cents=5, currency="usd") is State.PENDING_REVIEW
    assert workshop.decide(workshop.calls()[0]).ok
    workshop.execute()
    assert till.done == [{"cents": 5, "currency": "USD", "iban": "DE1"}]


def test_what_another_deployment_reads_out_of_the_approved_arguments_does_not_run(till: Till) -> None:
    assert till.pays(cents=500) is State.PENDING_REVIEW
    assert till.workshop.decide(till.workshop.calls()[0]).ok
    till.mends = lambda cents: min(cents, 7)
    till.workshop.execute()
    (call,) = till.workshop.calls()
    assert (call.state, call.cause, till.done) == (State.REJECTED, Cause.POLICY, [])
    assert call.reason == "pay takes other arguments now: /cents is not read as what was stored."


def test_what_is_read_differently_is_not_judged_or_shown_either(till: Till) -> None:
    till.pays(cents=500)
    content = till.workshop.calls()[0].content
    till.mends = lambda cents: min(cents, 7)

    async def again() -> None:
        deps = till.workshop.deps
        async with deps.loaded(till.workshop.run().agent, deps.watch()) as loaded:
            with pytest.raises(ArgumentsRefused, match="is not read as what was stored"):
                loaded.doors["desk", "pay"].again(content)

    asyncio.run(again())


def test_what_is_read_differently_right_before_the_effect_does_not_run(till: Till) -> None:
    assert till.pays(cents=500) is State.PENDING_REVIEW
    assert till.workshop.decide(till.workshop.calls()[0]).ok

    def changes() -> None:
        till.mends = lambda cents: min(cents, 7)

    till.before_preview = changes
    till.workshop.execute()
    (call,) = till.workshop.calls()
    assert (call.state, till.done) == (State.REJECTED, [])
    assert call.reason == "pay takes other arguments now: /cents is not read as what was stored."


def test_a_provider_is_not_asked_about_other_arguments_than_were_tried(till: Till) -> None:
    till.pays(cents=13)
    assert till.workshop.decide(till.workshop.calls()[0]).ok
    till.workshop.execute()
    (call,) = till.workshop.calls()
    assert call.state is State.UNKNOWN
    till.mends = lambda cents: min(cents, 7)
    till.workshop.nobody_at_work(call.key)
    till.workshop.reconcile(call)
    assert (till.asked, till.workshop.calls()[0].state) == ([], State.UNKNOWN)


def test_nothing_else_is_taken_back_than_was_done(till: Till) -> None:
    till.pays(cents=500)
    assert till.workshop.decide(till.workshop.calls()[0]).ok
    till.workshop.execute()
    (call,) = till.workshop.calls()
    till.mends = lambda cents: min(cents, 7)
    assert till.workshop.undo(call, by=LEA).ok
    (call,) = till.workshop.calls()
    assert (call.undo and call.undo.state, till.done) == (UndoState.FAILED, [{"cents": 500}])


def test_a_provider_is_not_asked_about_another_undo_than_was_tried(till: Till) -> None:
    till.pays(cents=500)
    assert till.workshop.decide(till.workshop.calls()[0]).ok
    till.workshop.execute()
    (call,) = till.workshop.calls()
    assert till.workshop.undo(call, by=LEA).ok
    till.mends = lambda cents: min(cents, 7)
    till.workshop.nobody_at_work(call.key)
    till.workshop.take_back(call)
    (call,) = till.workshop.calls()
    assert (call.undo and call.undo.state, till.asked) == (UndoState.UNKNOWN, [])
