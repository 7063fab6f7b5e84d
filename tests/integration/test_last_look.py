"""What changed between the last look and the effect: the action holds its effect against what was sealed."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from agents import Agent
from agents.testing import function_call
from sqlalchemy.orm import Session

from approvals.lifecycle import State
from policies.arguments import Arguments
from policies.money import eur
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import Ask, Facts, Spend, rule
from policies.rules.deploy import Deploy
from policies.rules.mail import SendEmail
from policies.rules.refunds import RefundLine, RefundPayments
from refund_desk import a_shop
from worker.actions import Action, ActionContext, NothingHappened, Preview, action
from worker.refund_desk.shop.database import Shop
from worker.refund_desk.shop.effects import Effects, read_effects
from worker.refund_desk.shop.meanwhile import retagged_manifest
from worker.refund_desk.shop.tables import Customer, Payment
from worker.refund_desk.tools.deploys import deploy
from worker.refund_desk.tools.mail import send_email
from worker.refund_desk.tools.refunds import refund_payments
from workshop import Workshop, a_law, saying

DEPLOY = Deploy(manifest_id="dep_0042", environment="production")
MAIL = SendEmail(recipients=["cus_0007"], subject="Hello", body="Good day.")
PAYMENT = "pay_0001"
REFUND = RefundPayments(lines=[RefundLine(payment_id=PAYMENT, amount=eur(1))], reason="duplicate")


class Send(Arguments):
    """Send a parcel to a customer."""

    customer: str


class Addresses(Facts):
    lines: list[str]


@dataclass
class Depot:
    """Where one customer lives, and what became of the parcel. The customer moves while the last preview is made."""

    address: list[str] = field(default_factory=lambda: ["Elm Street 1"])
    moves_to: str = ""
    seen: list[Any] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)

    def agent(self, model: Any) -> Agent[Any]:
        async def look_up(args: Send) -> Addresses:
            return Addresses(lines=list(self.address))

        async def show(ask: Ask[Send, Addresses]) -> Preview:
            if self.moves_to:
                self.address = [self.moves_to]
            return Preview(headline=f"Send a parcel to {ask.args.customer}")

        @action(Send, check=look_up, preview=show)
        async def send(ctx: ActionContext, args: Send) -> None:
            """Send a parcel to a customer."""
            self.seen.append(ctx.facts)
            if ctx.facts.lines != self.address:
                raise NothingHappened(f"{args.customer} moved just now. Nothing was sent.")
            self.sent += self.address

        return Agent(name="depot", instructions="Send parcels.", model=model, tools=[send])


@rule(Send, Addresses, risk=Risk.IRREVERSIBLE)
def send(ask: Ask[Send, Addresses], so_far: Spend) -> Requirement:
    return Requirement(radius="parcels", resources=(ask.args.customer,)).needs("desk")


@pytest.mark.parametrize("moves_to", ["", "Oak Street 2"])
def test_an_action_knows_the_facts_it_was_approved_by_as_they_were_sealed(workshop: Workshop, moves_to: str) -> None:
    depot = Depot()
    workshop.law, workshop.build = a_law([send]), depot.agent
    workshop.script.extend([[function_call("send", {"customer": "ann"}, call_id="c1")], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call).ok
    depot.moves_to = moves_to
    workshop.execute()
    (call,) = workshop.calls()
    assert depot.seen == [Addresses(lines=["Elm Street 1"])]
    if moves_to:
        assert (call.state, call.reason) == (State.FAILED, "ann moved just now. Nothing was sent.")
    assert depot.sent == ([] if moves_to else ["Elm Street 1"])


def moved(session: Session) -> None:
    session.get_one(Customer, "cus_0007").email = "other@elsewhere.example"


def another_payer(session: Session) -> None:
    payment = session.get_one(Payment, PAYMENT)
    payment.customer_id = "cus_0007" if payment.customer_id != "cus_0007" else "cus_0008"


@pytest.mark.parametrize(
    ("tool", "args", "change", "refusal"),
    [
        (deploy, DEPLOY, retagged_manifest, "dep_0042 changed after it was looked at last. Nothing was deployed."),
        (send_email, MAIL, moved, "The address of cus_0007 changed after it was looked at last. No mail was sent."),
        (
            refund_payments,
            REFUND,
            another_payer,
            f"{PAYMENT} changed after it was looked at last. Nothing was refunded.",
        ),
    ],
)
def test_what_changed_after_the_last_look_has_no_effect(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    tool: Action,
    args: Any,
    change: Callable[[Session], object],
    refusal: str,
) -> None:
    shop = a_shop(f"sqlite:///{tmp_path}/shop.db")
    monkeypatch.setenv("VOBO_SHOP_URL", f"sqlite:///{tmp_path}/shop.db")
    assert tool.check is not None
    facts = asyncio.run(tool.check(args))  # type: ignore[arg-type] - a coroutine
    with shop.writing() as session:
        change(session)
    with pytest.raises(NothingHappened) as refused:
        run(tool, args, facts)
    assert str(refused.value) == refusal
    assert done(shop) == Effects()
    run(tool, args, asyncio.run(tool.check(args)))  # type: ignore[arg-type] - likewise
    assert done(shop) != Effects(), "what is as it was looked at happens"


def run(tool: Action, args: Any, facts: Facts) -> None:
    context = ActionContext(
        run="run_1", call="call_1", idempotency_key="key_1", requester="U0005", tenant="T0000HOME", facts=facts
    )
    asyncio.run(tool.run_effect(context, args))  # type: ignore[arg-type] - a coroutine


def done(shop: Shop) -> Effects:
    with shop.reading() as session:
        return read_effects(session)
