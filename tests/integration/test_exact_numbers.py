"""Big integers and decimals arrive digit for digit: from the model's text to the card, the seal and the tool."""

import json
from decimal import Decimal
from typing import Any

import pytest
import redis
from agents import Agent, function_tool

from approvals.lifecycle import State
from approvals.preview import Precondition, Preview
from bot.cards import render_card
from bot.details import detail_pages
from bot_builders import AnyLaw
from builders import a_store
from policies.arguments import Arguments
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import Ask, Facts, Spend, rule
from worker.actions import ActionContext, action
from workshop import LEA, Workshop, a_law, function_call, saying

ORDER = 9223372036854775809  # beyond 2^63; a double would make ...776 of it
RATE = "1.1000000000000000055511151231257827"
RAW = f'{{"order": {ORDER}, "rate": {RATE}, "price": "0099.90", "lines": [{{"id": {ORDER + 2}}}]}}'


class Line(Arguments):
    id: int


class Convert(Arguments):
    """Convert an order."""

    order: int
    rate: Decimal
    price: str
    lines: list[Line]


class ConvertFacts(Facts):
    ledger_id: int
    booked: Decimal


@rule(Convert, ConvertFacts, risk=Risk.IRREVERSIBLE)
def convert(ask: Ask[Convert, ConvertFacts], so_far: Spend) -> Requirement:
    assert (ask.args.order, str(ask.args.rate), ask.facts.ledger_id) == (ORDER, RATE, ORDER + 4)
    return Requirement(radius="orders", resources=(str(ask.args.order),)).needs("desk")


@pytest.fixture
def workshop(redis_client: redis.Redis) -> Workshop:
    made = Workshop(a_store(redis_client), redis_client)
    made.law = a_law([convert])
    return made


def test_every_digit_of_the_models_text_reaches_card_seal_and_tool(workshop: Workshop) -> None:
    ran: list[Convert] = []

    async def look_up(args: Convert) -> ConvertFacts:
        return ConvertFacts(ledger_id=args.order + 4, booked=Decimal("0.10"))

    async def show(ask: Ask[Convert, ConvertFacts]) -> Preview:
        rows = [{"order": ask.args.order, "rate": ask.args.rate}]
        return Preview(
            headline=f"Convert order {ask.args.order} at {ask.args.rate}",
            precondition=Precondition.over("orders", rows, key="order", material=("order", "rate")),
        )

    @action(Convert, check=look_up, preview=show)
    async def convert(ctx: ActionContext, args: Convert) -> dict[str, Any]:
        """Convert an order."""
        ran.append(args)
        return {"order": args.order, "rate": str(args.rate)}

    workshop.build = lambda model: Agent(name="desk", model=model, tools=[convert])
    workshop.script.extend([[function_call("convert", RAW, call_id="c1")], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    assert call.state is State.PENDING_REVIEW, call.reason
    assert (
        call.content.arguments == f'{{"lines":[{{"id":{ORDER + 2}}}],"order":{ORDER},"price":"0099.90","rate":{RATE}}}'
    )
    assert call.content.facts == f'{{"booked":0.10,"ledger_id":{ORDER + 4}}}'

    (batch,) = workshop.post_cards()
    view = workshop.store.batches.view(batch)
    assert view is not None
    card, pages = json.dumps(render_card(view, AnyLaw()).blocks), json.dumps(detail_pages(call))
    for digits in (str(ORDER), RATE):
        assert digits in card
        assert digits in pages
    assert str(ORDER + 2) in pages
    assert "0099.90" in pages

    assert workshop.decide(call).ok
    workshop.execute()
    ((args,),) = (ran,)
    assert (args.order, str(args.rate), args.price, args.lines[0].id) == (ORDER, RATE, "0099.90", ORDER + 2)
    workshop.advance()
    last = workshop.script.last_call
    assert last is not None
    (output,) = [item["output"] for item in last.input if item.get("type") == "function_call_output"]
    for digits in (f'"order":{ORDER}', f'"rate":{RATE}', f'"id":{ORDER + 2}'):
        assert digits in output


def test_a_neighbouring_number_has_another_seal(workshop: Workshop) -> None:
    @function_tool
    def convert_all(order: int) -> str:
        """Convert."""
        return str(order)

    workshop.build = lambda model: Agent(name="desk", model=model, tools=[convert_all])
    asks = [function_call("convert_all", f'{{"order":{ORDER + n}}}', call_id=f"c{n}") for n in range(2)]
    workshop.script.extend([asks, [saying()]])
    workshop.start()
    first, second = workshop.calls()
    assert first.seal != second.seal
    for call in (first, second):
        assert workshop.decide(call, by=LEA).ok
    workshop.execute()
    workshop.advance()
    assert [told["result"] for told in workshop.told()] == [str(ORDER), str(ORDER + 1)]
