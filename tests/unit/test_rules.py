"""The sample's law: what each tool may be asked, and what it takes."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies import rules
from policies.arguments import Arguments, ArgumentsRefused, read_arguments
from policies.edits import EditRefused, apply_edit
from policies.evaluate import Proposal, evaluate
from policies.law import load_law
from policies.money import Money, eur
from policies.requirement import Requirement
from policies.reviewers import describe
from policies.risk import Mode, Risk
from policies.rule import Facts
from policies.rules.deletion import CustomerStanding, DeleteCustomers, DeletionFacts
from policies.rules.deploy import Deploy, DeployFacts
from policies.rules.mail import MailFacts, SendEmail
from policies.rules.refunds import RefundFacts, RefundLine, RefundPayments
from policies.rules.reports import DraftRefundReport

LAW = load_law(["policies.rules"], Path(rules.__path__[0], "reviewers.toml").read_text(encoding="utf-8"))
NIGHT = datetime(2026, 10, 23, 21, 30, tzinfo=UTC)

#: The failed payments of one day: 38 of them, 4,120.00 EUR. cus_0005 has three.
FAILED = [
    9900, 2900, 2900, 9900, 4900, 9900, 4900, 14900, 31240, 2900, 14900, 12443, 14900, 2900, 4900, 1900, 14900, 9900,
    7900, 14900, 9900, 4900, 9900, 9900, 14900, 7900, 14900, 9900, 12717, 14900, 48000, 7900, 14900, 7900, 14900, 4900,
    1900, 7900,
]  # fmt: skip


def cents(minor: int, currency: str = "EUR") -> Money:
    return Money(minor=minor, currency=currency)


def refund(amounts: Mapping[str, Money]) -> RefundPayments:
    lines = [RefundLine(payment_id=payment, amount=amount) for payment, amount in amounts.items()]
    return RefundPayments(lines=lines, reason="failed_capture")


def facts_for(amounts: Mapping[str, Money], **changes: Any) -> RefundFacts:
    facts = RefundFacts(customer_of={payment: f"cus_{payment}" for payment in amounts}, charged=dict(amounts))
    return facts.model_copy(update=changes)


def turn(
    *calls: tuple[str, Arguments, Facts | None],
    spent: Mapping[tuple[str, str], int] | None = None,
    caps: Mapping[tuple[str, str, str], int] | None = None,
) -> list[Requirement]:
    proposals = [Proposal(f"c{at}", tool, "desk", args, facts) for at, (tool, args, facts) in enumerate(calls)]
    return [*evaluate(LAW, proposals, requester="U0005", spent=spent or {}, vetoes={}, now=NIGHT, caps=caps or {})]


def one_refund(amounts: Mapping[str, Money], spent: int = 0, **facts: Any) -> Requirement:
    (need,) = turn(("refund_payments", refund(amounts), facts_for(amounts, **facts)), spent={("refunds", "EUR"): spent})
    return need


def test_the_sample_law_has_no_problems() -> None:
    assert LAW.problems() == ()
    assert set(LAW.rules) == {
        "refund_payments", "send_email", "delete_customers", "deploy", "draft_refund_report", "search_payments",
        "search_customers", "read_refund_policy", "read_erasure_list", "read_manifest",
    }  # fmt: skip
    assert all(rule.arguments.__doc__ for rule in LAW.rules.values())


def test_thirty_eight_refunds_worth_4120_need_two_people_of_billing() -> None:
    amounts = {f"pay_{at:04d}": cents(minor) for at, minor in enumerate(FAILED, 1)}
    customers = {payment: f"cus_{payment[4:]}" for payment in amounts} | {
        "pay_0012": "cus_0005",
        "pay_0027": "cus_0005",
    }
    need = one_refund(amounts, customer_of=customers)
    assert (need.mode, need.tier, need.reviewers, need.amount) == (Mode.HUMAN, "billing", 2, eur(4120))
    assert need.radius == "refunds in EUR"
    assert need.resources == tuple(amounts)
    assert need.reasons == ("This run refunds 4,120.00 EUR, over 250.00 EUR: two different reviewers.",)
    assert describe(LAW.reviewers, need) == "billing: Bruno or Olga; two different people"
    assert need.spends[0].amounts["cus_0005"] == cents(32243)
    assert (need.risk, need.ttl_s, need.lapse_s, need.law) == (Risk.IRREVERSIBLE, 4 * 3600, 3600, LAW.version)


@pytest.mark.parametrize(
    ("minor", "spent", "mode", "reviewers", "reason"),
    [
        (5000, 0, Mode.AUTO, 1, "One refund; neither the run nor the customer's day comes to more than 50.00 EUR."),
        (2000, 3000, Mode.AUTO, 1, "One refund; neither the run nor the customer's day comes to more than 50.00 EUR."),
        (5001, 0, Mode.HUMAN, 1, "This run refunds 50.01 EUR, up to 250.00 EUR: one reviewer."),
        (2001, 3000, Mode.HUMAN, 1, "This run refunds 50.01 EUR, up to 250.00 EUR: one reviewer."),
        (25000, 0, Mode.HUMAN, 1, "This run refunds 250.00 EUR, up to 250.00 EUR: one reviewer."),
        (25001, 0, Mode.HUMAN, 2, "This run refunds 250.01 EUR, over 250.00 EUR: two different reviewers."),
        (100, 25000, Mode.HUMAN, 2, "This run refunds 251.00 EUR, over 250.00 EUR: two different reviewers."),
        (60000, 0, Mode.HUMAN, 2, "This run refunds 600.00 EUR, over 250.00 EUR: two different reviewers."),
        (60001, 0, Mode.FORBIDDEN, 1, "cus_p would get 600.01 EUR; one customer may get 600.00 EUR a day."),
        (100, 499900, Mode.HUMAN, 2, "This run refunds 5,000.00 EUR, over 250.00 EUR: two different reviewers."),
        (101, 499900, Mode.FORBIDDEN, 1, "This run would refund 5,000.01 EUR; one run may refund 5,000.00 EUR."),
        (0, 0, Mode.FORBIDDEN, 1, "p: a refund of nothing."),
    ],
)  # fmt: skip
def test_the_steps_of_the_refund_law(minor: int, spent: int, mode: Mode, reviewers: int, reason: str) -> None:
    need = one_refund({"p": cents(minor)}, spent)
    assert need.mode is mode
    assert need.reasons == (reason,)
    if mode is not Mode.FORBIDDEN:
        assert need.reviewers == reviewers


def test_two_lines_are_asked_about_however_small() -> None:
    assert one_refund({"p": cents(100), "q": cents(100)}).mode is Mode.HUMAN


@pytest.mark.parametrize(
    ("amounts", "facts", "sentences"),
    [
        ({"p": cents(100000), "q": cents(100001)}, {},
         ("q: 1,000.01 EUR is more than the 1,000.00 EUR that one refund may come to.",)),
        ({"p": cents(500, "JPY")}, {}, ("Refunds are paid in EUR only, not in JPY.",)),
        ({"p": cents(500, "JPY"), "q": cents(1)}, {}, ("Refunds are paid in EUR only, not in JPY.",)),
        ({"p": cents(48001)}, {"charged": {"p": cents(48000)}},
         ("p: 480.01 EUR is more than the 480.00 EUR charged.",)),
        ({"p": cents(1)}, {"charged": {"p": cents(1, "USD")}}, ("p was charged in USD, not in EUR.",)),
        ({"p": cents(1)}, {"charged": {}}, ("p is not a payment we know.",)),
        ({"p": cents(1)}, {"customer_of": {}}, ("p is not a payment we know.",)),
        ({"p": cents(1)}, {"problems": {"p": "already refunded."}}, ("p: already refunded.",)),
    ],
)  # fmt: skip
def test_what_no_reviewer_can_approve_away(
    amounts: dict[str, Money], facts: dict[str, Any], sentences: tuple[str, ...]
) -> None:
    need = one_refund(amounts, **facts)
    assert (need.mode, need.reasons) == (Mode.FORBIDDEN, sentences)


def test_eight_refunds_of_49_in_one_turn_are_a_refund_of_392() -> None:
    calls = [{f"p{at}": cents(4900)} for at in range(8)]
    needs = turn(*(("refund_payments", refund(call), facts_for(call)) for call in calls))
    assert {(need.mode, need.reviewers, need.amount) for need in needs} == {(Mode.HUMAN, 2, eur(392))}
    assert {need.counts["refunds"] for need in needs} == {eur(49)}


@given(amounts=st.lists(st.integers(2, 30_000), min_size=1, max_size=5), spent=st.integers(0, 60_000), data=st.data())
@settings(max_examples=100)
def test_an_edit_within_its_bounds_never_raises_risk(amounts: list[int], spent: int, data: st.DataObject) -> None:
    """Dropping lines and lowering amounts asks for no more people, and forbids nothing that was allowed."""
    proposed = {f"pay_{at}": Money(minor=minor, currency="EUR") for at, minor in enumerate(amounts)}
    kept = data.draw(st.sets(st.sampled_from(sorted(proposed)), min_size=1))
    typed: dict[str, str | tuple[str, ...]] = {"/lines": tuple(sorted(kept))}
    for at, payment in enumerate(proposed):
        lower = Money(minor=data.draw(st.integers(1, proposed[payment].minor)), currency="EUR")
        typed[f"/lines/{at}/amount"] = lower.plain
    args, facts = refund(proposed), facts_for(proposed)
    try:
        edited = apply_edit(args, typed)
    except EditRefused:
        return  # nothing was changed
    before, after = (
        turn(("refund_payments", each, facts), spent={("refunds", "EUR"): spent})[0] for each in (args, edited)
    )
    strict = [Mode.AUTO, Mode.HUMAN, Mode.FORBIDDEN]
    assert strict.index(after.mode) <= strict.index(before.mode)
    assert (after.risk, after.tier, after.radius) == (before.risk, before.tier, before.radius) or (
        before.mode is Mode.FORBIDDEN
    )
    if before.mode is Mode.HUMAN:
        assert after.reviewers <= before.reviewers
        assert set(after.resources) <= set(before.resources)
        assert after.amount is not None
        assert before.amount is not None
        assert after.amount <= before.amount


def test_small_refunds_to_one_customer_add_up_over_the_runs_of_a_day() -> None:
    amounts = {"pay_1": cents(3000)}
    call = ("refund_payments", refund(amounts), facts_for(amounts))
    cap = ("refunds per customer and day", "EUR", "cus_pay_1")
    assert turn(call, caps={cap: 2000})[0].mode is Mode.AUTO
    (need,) = turn(call, caps={cap: 2001})
    assert (need.mode, need.tier) == (Mode.HUMAN, "billing")
    assert turn(call, caps={("refunds per customer and day", "EUR", "cus_other"): 9000})[0].mode is Mode.AUTO


def test_a_forbidden_sibling_does_not_weigh_on_the_others() -> None:
    small, huge = {"p": cents(4000)}, {"q": cents(200000)}
    needs = turn(*(("refund_payments", refund(call), facts_for(call)) for call in (small, huge)))
    assert [need.mode for need in needs] == [Mode.AUTO, Mode.FORBIDDEN]


@given(
    amounts=st.lists(st.integers(1, 6000), min_size=1, max_size=8), spent=st.integers(0, 6000), cut=st.integers(0, 8)
)
@settings(max_examples=100)
def test_above_the_threshold_nothing_is_automatic_however_it_is_split(amounts: list[int], spent: int, cut: int) -> None:
    first = {f"p{at}": cents(minor) for at, minor in enumerate(amounts[:cut])}
    calls = [first] * bool(first) + [{f"q{at}": cents(minor)} for at, minor in enumerate(amounts[cut:])]
    needs = turn(
        *(("refund_payments", refund(call), facts_for(call)) for call in calls), spent={("refunds", "EUR"): spent}
    )
    if sum(amounts) + spent > 5000:
        assert all(need.mode is not Mode.AUTO for need in needs)
    if sum(amounts) + spent > 25000:
        assert all(need.reviewers == 2 for need in needs if need.mode is Mode.HUMAN)


def mail(addresses: Mapping[str, str], **facts: Any) -> Requirement:
    args = SendEmail(recipients=[*addresses], subject="Your plan", body="Hello.")
    (need,) = turn(("send_email", args, MailFacts(address_of=dict(addresses), **facts)))
    return need


def test_mail_is_read_by_support_and_a_mailing_by_billing() -> None:
    one = mail({"cus_1": "a@mail.example"})
    assert (one.tier, one.confirm, one.radius, one.reasons) == (
        "support", False, "mail to mail.example", ("Mail to 1 person.",),
    )  # fmt: skip
    many = mail({f"cus_{at}": f"{at}@{'a' if at else 'b'}.example" for at in range(219)})
    assert (many.tier, many.confirm, many.radius, many.reasons) == (
        "billing", True, "mail to 2 domains", ("Mail to 219 people, more than 10.",),
    )  # fmt: skip
    assert one.mode is many.mode is Mode.HUMAN


@pytest.mark.parametrize(
    ("addresses", "facts", "sentence"),
    [
        ({"cus_1": "bіlling@mail.example"}, {},  # noqa: RUF001 - the Cyrillic letter is the point
         '"bіlling@mail.example" has letters outside ASCII and may imitate another address; leave it out.'),  # noqa: RUF001
        ({"cus_1": "nobody"}, {}, '"nobody" is not an email address.'),
        ({"cus_1": "@x"}, {}, '"@x" is not an email address.'),
        ({"cus_1": "a@x.example"}, {"problems": {"cus_1": "unsubscribed."}}, '"cus_1": unsubscribed.'),
        ({"cus_1": "a@x.example", "A@x.example": "A@x.example"}, {}, '"a@x.example" is listed 2 times.'),
    ],
)  # fmt: skip
def test_whom_no_mail_may_go_to(addresses: dict[str, str], facts: dict[str, Any], sentence: str) -> None:
    need = mail(addresses, **facts)
    assert (need.mode, need.reasons) == (Mode.FORBIDDEN, (sentence,))


def test_a_recipient_without_a_known_address_stops_the_mail() -> None:
    args = SendEmail(recipients=["cus_9"], subject="x", body="y")
    (need,) = turn(("send_email", args, MailFacts(address_of={})))
    assert need.reasons == ('"cus_9" is nobody we know an address of.',)


@pytest.mark.parametrize(
    ("standing", "reasons"),
    [
        ((0, 0, False), ("1 customer is erased for good.",)),
        ((1, 0, False), ("c has 1 open invoice.",)),
        (
            (2, 1, True),
            ("c is under a legal hold.", "c has 2 open invoices.", "c has 1 draft invoice, which will be sent."),
        ),
    ],
)
def test_customers_who_are_owed_something_are_not_erased(
    standing: tuple[int, int, bool], reasons: tuple[str, ...]
) -> None:
    known = CustomerStanding(open_invoices=standing[0], draft_invoices=standing[1], legal_hold=standing[2])
    args = DeleteCustomers(customer_ids=["c"], ground="erasure_request")
    (need,) = turn(("delete_customers", args, DeletionFacts(customers={"c": known})))
    assert need.reasons == reasons
    assert need.mode is (Mode.HUMAN if standing == (0, 0, False) else Mode.FORBIDDEN)
    if need.mode is Mode.HUMAN:
        assert (need.tier, need.confirm) == ("ops_leads", True)


def test_an_unknown_customer_is_not_erased() -> None:
    args = DeleteCustomers(customer_ids=["c"], ground="erasure_request")
    (need,) = turn(("delete_customers", args, DeletionFacts(customers={})))
    assert (need.mode, need.reasons) == (Mode.FORBIDDEN, ("c is not a customer we know.",))


def deployment(environment: Any, digests: dict[str, str], destructive: list[str]) -> Requirement:
    args = Deploy(manifest_id="dep_0042", environment=environment)
    (need,) = turn(("deploy", args, DeployFacts(digests=digests, destructive=destructive)))
    return need


def test_production_takes_two_people_and_lost_data_is_asked_about_twice() -> None:
    pinned = {"api": f"sha256:{'a' * 64}"}
    live = deployment("production", pinned, ["0188_drop_legacy_invoices"])
    assert (live.tier, live.reviewers, live.confirm, live.radius) == ("release", 2, True, "deploy to production")
    assert live.reasons == ("Production: two different reviewers. Data is destroyed by 0188_drop_legacy_invoices.",)
    staging = deployment("staging", pinned, [])
    assert (staging.reviewers, staging.confirm, staging.reasons) == (1, False, ("Staging: one reviewer.",))


def test_only_pinned_images_are_deployed() -> None:
    assert deployment("staging", {"web": "stable"}, []).reasons == (
        "web is not pinned to a digest, so nobody knows what would run.",
    )
    assert deployment("staging", {}, []).mode is Mode.FORBIDDEN


def test_a_draft_is_automatic_and_says_how_it_is_undone() -> None:
    (need,) = turn(("draft_refund_report", DraftRefundReport(title="t", body="b", payment_ids=[]), None))
    assert (need.mode, need.risk, need.undo) == (Mode.AUTO, Risk.REVERSIBLE, "Delete the draft.")


@pytest.mark.parametrize(
    ("text", "field", "sentence"),
    [
        ('{"lines":[],"reason":"goodwill"}', "/lines", "/lines must have at least 1 entries; it has 0."),
        ('{"lines":[{"payment_id":"p","amount":{"minor":1,"currency":"EUR"}}],"reason":"bribe"}', "/reason",
         "/reason must be 'duplicate', 'failed_capture' or 'goodwill', not the text \"bribe\"."),
        (('{"lines":[{"payment_id":"p","amount":{"minor":1,"currency":"EUR"}},{"payment_id":"p","amount":{"minor":2,'
         '"currency":"EUR"}}],"reason":"goodwill"}'), "/lines", '/lines lists "p" more than once.'),
        ('{"lines":[{"payment_id":"p","amount":{"minor":-1,"currency":"EUR"}}],"reason":"goodwill"}',
         "/lines/0/amount/minor", "/lines/0/amount/minor must be at least 0."),
    ],
)  # fmt: skip
def test_refunds_that_cannot_be_asked_for(text: str, field: str, sentence: str) -> None:
    with pytest.raises(ArgumentsRefused) as refused:
        read_arguments(RefundPayments, text)
    assert (refused.value.field, refused.value.sentence) == (field, sentence)
