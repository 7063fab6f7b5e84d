"""The sample from a request to its effects: real law, real store, real shop; the planner stands in for a model."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import redis

from approvals.lifecycle import Cause, State
from approvals.models import Decision
from policies.arguments import Arguments
from policies.money import eur
from policies.rules.deploy import Deploy
from policies.rules.mail import SendEmail
from policies.rules.refunds import RefundLine, RefundPayments
from refund_desk import ALL, BRUNO, OLGA, OMAR, RITA, RefundDesk, a_shop
from worker.actions import ActionContext, NothingHappened
from worker.refund_desk.shop.tables import Customer, Payment
from worker.refund_desk.tools import all_tools
from worker.refund_desk.tools.mail import look_up_recipients


@pytest.fixture
def office(redis_client: redis.Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RefundDesk:
    url = f"sqlite:///{tmp_path}/shop.db"
    monkeypatch.setenv("VOBO_SHOP_URL", url)
    return RefundDesk(redis_client, a_shop(url))


def test_the_main_request_becomes_three_cards_with_what_a_reviewer_must_know(office: RefundDesk) -> None:
    calls = office.ask(ALL)
    assert len({call.batch for call in calls}) == 3
    assert [(call.content.preview.headline, call.content.requirement.radius) for call in calls] == [
        ("Refund 38 payments, 4,120.00 EUR", "refunds in EUR"),
        ('Mail 36 people: "Your payment of 2026-10-23"', "mail to example.com"),
        ("Delete 21 customers: asked to be erased", "deletion of customers"),
        ("Delete 29 customers: inactive for 3 years", "deletion of customers"),
    ]
    refunds = calls[0].content.preview
    assert refunds.precondition is not None
    assert refunds.precondition.sentence == "38 failed payments, 4,120.00 EUR charged"
    assert len(refunds.precondition.rows) == len(refunds.rows) == 38
    assert refunds.impact[0] == "36 customers"
    assert str(calls[1].content.preview.body).startswith("Subject: Your payment of 2026-10-23\n\nHello")
    assert refunds.impact[-1] == "every failed payment of 2026-10-23"
    assert "2 of them not subscribed to campaigns, mailed all the same" in calls[1].content.preview.impact
    assert all(not call.content.preview.generic for call in calls)
    assert calls[0].needed == 2
    assert "4,120.00 EUR" in (calls[0].content.reason or "")


def test_what_is_approved_happens_once_and_what_is_not_is_not_claimed(office: RefundDesk) -> None:
    office.ask(ALL)
    office.lower(BRUNO, "pay_0009", 25_000)
    office.decide("refund_payments", "approve", OLGA)
    office.decide("send_email", "approve", BRUNO)
    office.decide("delete_customers", "reject", OMAR)
    for call in office.calls():
        if call.state is State.PENDING_REVIEW:
            decision = Decision(call=call.key, version=1, verdict="reject", reviewer=OMAR, name=OMAR)
            assert office.store.calls.reject(call.key, version=1, decision=decision, person=office.see(OMAR)).ok
    office.advance()
    done = office.effects()
    assert {refund.payment_id: refund.minor for refund in done.refunds}["pay_0009"] == 25_000
    assert (len(done.refunds), str(done.refunded["EUR"])) == (38, "4,057.60 EUR")
    assert len({mail.recipient for mail in done.mails}) == len(done.mails) == 36
    assert done.deletions == []
    assert "Refund of 38 payments, 4,057.60 EUR: done with changes" in office.answer
    assert "Mail to 36 customers: done." in office.answer
    assert "Erasure of 29 customers (inactive for 3 years): NOT done, a person refused it" in office.answer
    office.advance()
    assert len(office.effects().refunds) == 38


def test_payments_that_fail_overnight_do_not_change_what_was_approved(office: RefundDesk) -> None:
    office.ask("refund yesterday's failed payments")
    office.decide("refund_payments", "approve", BRUNO, OLGA)
    office.happen("overnight")
    office.advance()
    assert {refund.payment_id for refund in office.effects().refunds} == {f"pay_{n:04}" for n in range(1, 39)}


def test_a_payment_that_changed_meanwhile_goes_back_to_review(office: RefundDesk) -> None:
    office.ask("refund yesterday's failed payments")
    office.decide("refund_payments", "approve", BRUNO, OLGA)
    with office.shop.writing() as session:
        session.get_one(Payment, "pay_0007").customer_id = "cus_0001"
    office.advance()
    call = office.of("refund_payments")
    assert (call.state, call.version, office.effects().refunds) == (State.PENDING_REVIEW, 2, [])
    assert "pay_0007: customer_id cus_0007 -> cus_0001" in call.content.previous


def test_a_customer_who_owes_something_meanwhile_is_not_erased_and_neither_are_the_others(office: RefundDesk) -> None:
    office.ask("delete the customers on the erasure list")
    for _ in range(2):
        call = next(call for call in office.calls() if call.state is State.PENDING_REVIEW)
        office._posted("delete_customers")
        decision = Decision(call=call.key, version=1, verdict="approve", reviewer=OMAR, name=OMAR)
        assert office.store.calls.approve(call.key, version=1, decision=decision, person=office.see(OMAR)).ok
    office.happen("deletion-events")
    office.advance()
    pays_again = next(call for call in office.calls() if "cus_0330" in call.content.arguments)
    assert pays_again.state is State.PENDING_REVIEW
    assert "cus_0330: payments 0 -> 1" in pays_again.content.previous
    assert "cus_0330" not in {deletion.customer_id for deletion in office.effects().deletions}


def test_a_campaign_goes_back_to_review_when_two_drop_out_meanwhile_and_nobody_is_mailed(office: RefundDesk) -> None:
    office.ask('mail everybody on the mailing list "Our autumn news."')
    assert len(office.of("send_email").content.preview.rows) > 200
    office.decide("send_email", "approve", BRUNO)
    office.happen("campaign-events")
    office.advance()
    call = office.of("send_email")
    assert (call.state, office.effects().mails) == (State.PENDING_REVIEW, [])
    assert sum("campaigns subscribed ->" in line for line in call.content.previous) == 2, call.content.previous


def test_a_tag_that_means_another_image_now_is_not_deployed(office: RefundDesk) -> None:
    (call,) = office.ask("deploy dep_0042")
    assert any(
        "DESTROYS DATA: 0188_drop_legacy_invoices (about 118,204 rows)" in line for line in call.content.preview.impact
    )
    office.decide("deploy", "approve", OMAR, RITA)
    office.happen("retagged-manifest")
    office.advance()
    call = office.of("deploy")
    assert (call.state, office.effects().deployments) == (State.PENDING_REVIEW, [])
    assert any(line.startswith("digests web: sha256:a21e") for line in call.content.previous)


def test_a_small_refund_and_a_draft_run_unasked(office: RefundDesk) -> None:
    office.ask("refund pay_0002 and draft a report")
    done = office.effects()
    assert [(refund.payment_id, refund.minor) for refund in done.refunds] == [("pay_0002", 2900)]
    assert [report.title for report in done.reports] == ["Failed payments of 2026-10-23"]
    assert "without asking anybody" in office.answer


def test_currencies_that_no_rule_pays_are_refused_and_said_so(office: RefundDesk) -> None:
    office.happen("mixed-currency")
    office.ask("refund yesterday's failed payments in JPY")
    assert office.of("refund_payments").cause is Cause.POLICY
    assert office.effects().refunds == []
    assert "Refunds are paid in EUR only, not in JPY." in office.answer


def test_a_receipt_is_found_by_its_key_after_the_worker_was_lost(office: RefundDesk) -> None:
    office.ask("refund pay_0002 and pay_0003")
    office.decide("refund_payments", "approve", BRUNO)
    tool = next(tool for tool in all_tools() if tool.name == "refund_payments")
    call = office.of("refund_payments")
    args = RefundPayments.model_validate_json(call.content.arguments)
    assert asyncio.run(tool.reconcile(call.idempotency_key, args)) is None
    office.advance()
    found: Any = asyncio.run(tool.reconcile(call.idempotency_key, args))
    assert [paid.payment_id for paid in found.refunds] == ["pay_0002", "pay_0003"]


@pytest.mark.parametrize(
    ("tool", "args", "nothing"),
    [
        (
            "refund_payments",
            RefundPayments(lines=[RefundLine(payment_id="pay_0002", amount=eur(29))], reason="goodwill"),
            "Nothing was refunded.",
        ),
        ("send_email", SendEmail(recipients=["cus_0001"], subject="S", body="B"), "No mail was sent."),
        ("deploy", Deploy(manifest_id="dep_0042", environment="production"), "Nothing was deployed."),
    ],
)
def test_a_tool_whose_rule_was_taken_away_does_nothing_since_nobody_can_read_what_was_sealed(
    office: RefundDesk, tool: str, args: Arguments, nothing: str
) -> None:
    effect = next(found for found in all_tools() if found.name == tool).run_effect
    with pytest.raises(NothingHappened) as refused:
        asyncio.run(effect(ActionContext("run_1", "call_1", "key_1", RITA, "T0000HOME"), args))
    assert str(refused.value) == f"No rule covers {tool}, so what was looked up for it cannot be compared. {nothing}"
    done = office.effects()
    assert (done.refunds, done.mails, done.deployments) == ([], [], [])


def test_a_refund_that_no_rule_covers_any_more_fails_instead_of_being_unknown(office: RefundDesk) -> None:
    rules = {name: rule for name, rule in office.law.rules.items() if name != "refund_payments"}
    office.law = replace(office.law, rules=rules)
    office.ask("refund pay_0002")
    office.decide("refund_payments", "approve", OLGA)
    office.advance()
    call = office.of("refund_payments")
    assert (call.state, office.effects().refunds) == (State.FAILED, [])
    assert "No rule covers refund_payments" in (call.reason or "")


def test_a_customer_is_written_to_by_id_so_that_a_refusal_holds_for_the_address_too(office: RefundDesk) -> None:
    with office.shop.reading() as session:
        address = session.get_one(Customer, "cus_0001").email
    facts = asyncio.run(look_up_recipients(SendEmail(recipients=["cus_0001", address.upper()], subject="S", body="B")))
    assert facts.problems == {address.upper(): "it is the address of cus_0001; name the customer by id."}
