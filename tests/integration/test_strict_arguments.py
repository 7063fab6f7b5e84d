"""Whatever a model writes as arguments: one meaning, or a refusal by name before anybody is asked."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
import redis
from agents import Agent
from agents.testing import ScriptedModel
from pydantic import AfterValidator, Field

from approvals.lifecycle import Cause, RunState, State
from approvals.models import Call
from approvals.store import Store
from bot.cards import render_card
from bot.details import detail_pages, fully_readable
from bot_builders import AnyLaw
from builders import a_store
from policies.arguments import Arguments, Id
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import Ask, Rule, Spend, rule
from worker.actions import ActionContext, action
from workshop import LEA, Workshop, a_law, function_call, saying

ROWS = json.loads((Path(__file__).parents[1] / "data" / "adversarial_arguments.json").read_text(encoding="utf-8"))
INERT = ("mention", "bidi", "tagchars", "ansi", "long_tail")
UNSEEN = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\x1b\r]")
TEN = '{"charge_id":"ch_1","amount":"10.00","currency":"EUR"}'


def an_amount(text: str) -> str:
    if not re.fullmatch(r"[1-9][0-9]*\.[0-9]{2}", text):
        raise ValueError("must be an amount above zero such as 10.00")
    return text


class Refund(Arguments):
    """Give a charge back."""

    charge_id: Id
    amount: Annotated[str, AfterValidator(an_amount)]
    currency: Annotated[str, Field(min_length=3, max_length=3)]
    note: str = ""


class RefundInCents(Arguments):
    """Give a charge back, as a later version takes it."""

    charge_id: Id
    amount: int


def a_rule(arguments: type[Arguments] = Refund) -> Rule:
    def refund(ask: Ask[Any, Any], so_far: Spend) -> Requirement:
        small = getattr(ask.args, "amount", None) == "1.00"
        return Requirement(radius="refunds", resources=(ask.args.charge_id,)).auto_when(small, "small").needs("desk")

    return rule(arguments, risk=Risk.IRREVERSIBLE)(refund)


class Desk(Workshop):
    """An agent that refunds, and what it gave back."""

    def __init__(self, store: Store, client: redis.Redis) -> None:
        super().__init__(store, client)
        self.refunded: list[Any] = []
        self.takes(Refund)

    def takes(self, arguments: type[Arguments]) -> None:
        @action(arguments)
        async def refund(ctx: ActionContext, args: Any) -> None:
            """Give a charge back."""
            self.refunded.append(args)

        self.build = lambda model: Agent(name="desk", model=model, tools=[refund])
        self.law = a_law([a_rule(arguments)])

    def ask(self, raw: str, run: str = "run_1") -> Call:
        self.script = ScriptedModel([[function_call("refund", raw, call_id="c1")], [saying("I go on.")]])
        self.start(run)
        (call,) = self.calls(run)
        return call


@pytest.fixture
def desk(redis_client: redis.Redis) -> Desk:
    return Desk(a_store(redis_client), redis_client)


def row(name: str) -> str:
    return next(str(row["raw_arguments"]) for row in ROWS if row["id"] == name)


WRONG = [
    (row("dup_key"), "/amount is given twice"),
    (row("nan"), "/amount is NaN"),
    (row("bool"), "/amount must be text, not true"),
    (row("neg"), "/amount must be an amount above zero"),
    (row("empty"), "blank"),
    (row("array"), "not a list"),
    (row("extra"), "/notify_all is not a field"),
    (TEN.replace('"10.00"', "Infinity"), "/amount is Infinity"),
    (TEN.replace('"10.00"', "1e400"), '/amount is "1e400", a number out of range'),
    (TEN.replace('"10.00"', "10.00"), "/amount must not be a number"),
    (TEN.replace('"10.00"', "null"), "/amount must be text, not null"),
    (TEN.replace('"amount":"10.00",', ""), "/amount is missing"),
    (TEN.replace('"ch_1"', '["ch_1"]'), "/charge_id must be text, not a list"),
    (TEN.replace('"currency"', r'"am\u006funt":"1.00","currency"'), "/amount is given twice"),
    (TEN.replace("}", r',"note":"\ud800"}'), "/note holds half a character"),
    (TEN.replace("}", ',"note":"\ud800"}'), "/note holds half a character"),
    (TEN.replace("}", r',"\udfff":1}'), "A key holds half a character"),
    (f"{TEN} and more", "Extra data"),
    (f"{TEN}{{}}", "Extra data"),
    ("null", "not null"),
    ("   ", "blank"),
    ('"refund everything"', "not the text"),
    ("[" * 5_000, "nested more than 32 levels"),
]


def test_every_stored_attack_is_tried() -> None:
    assert {raw for raw, _ in WRONG} >= {each["raw_arguments"] for each in ROWS if each["id"] not in INERT}


@pytest.mark.parametrize(("raw", "named"), WRONG)
def test_what_has_no_single_meaning_is_refused_by_name_without_a_card_and_the_run_goes_on(
    desk: Desk, raw: str, named: str
) -> None:
    call = desk.ask(raw)
    assert (call.state, call.cause, call.batch) == (State.REJECTED, Cause.POLICY, None)
    assert desk.run().state is RunState.READY
    desk.advance()
    (told,) = desk.told()
    assert told["status"] == "refused"
    assert named in told["sentence"]
    assert told["next"].startswith("Correct the arguments")
    assert (desk.run().state, desk.run().answer, desk.refunded) == (RunState.COMPLETED, "I go on.", [])


def live(blocks: Any) -> Iterator[str]:
    """Every text in these blocks that Slack would interpret."""
    if isinstance(blocks, dict):
        if blocks.get("type") == "mrkdwn":
            yield str(blocks["text"])
        assert blocks.get("type") not in {"user", "usergroup", "broadcast", "link"} or "evil" not in str(blocks)
        for value in blocks.values():
            yield from live(value)
    elif isinstance(blocks, list):
        for value in blocks:
            yield from live(value)


@pytest.mark.parametrize("name", INERT)
def test_hostile_text_is_dead_on_the_card_and_all_of_it_can_be_read_before_an_approval(desk: Desk, name: str) -> None:
    note = json.loads(row(name))["note"]
    call = desk.ask(row(name))
    assert call.state is State.PENDING_REVIEW
    (batch,) = desk.post_cards()
    view = desk.store.batches.view(batch)
    assert view is not None
    pages = detail_pages(call)
    for blocks in (render_card(view, AnyLaw()).blocks, *pages):
        assert not any(re.search(r"<[!@#h]", text) and "evil" in text for text in live(blocks))
        assert not UNSEEN.search(json.dumps(blocks, ensure_ascii=False))
    assert fully_readable(call)
    if name == "long_tail":
        assert "ALSO DELETE cus_0001" in json.dumps(pages)
    assert desk.decide(call, by=LEA).ok
    desk.execute()
    assert [args.note for args in desk.refunded] == [note], "what is shown is made harmless, what runs is not changed"


@pytest.mark.parametrize("wrong", ["", "[]", "NaN", TEN.replace('"10.00"', "1.00"), TEN.replace('"10.00"', "true")])
def test_what_cannot_be_read_is_never_small(desk: Desk, wrong: str) -> None:
    assert desk.ask(TEN.replace("10.00", "1.00")).state is State.APPROVED, "a small one runs unasked"
    assert desk.ask(wrong, run="run_2").state is State.REJECTED


def test_what_was_stored_is_read_again_at_the_gate_as_if_it_came_from_outside(desk: Desk) -> None:
    assert desk.decide(desk.ask(TEN), by=LEA).ok
    desk.takes(RefundInCents)
    desk.execute()
    (call,) = desk.calls()
    assert (call.state, call.cause, desk.refunded) == (State.REJECTED, Cause.POLICY, [])
    assert "takes other arguments now: /amount must be a whole number" in (call.reason or "")
