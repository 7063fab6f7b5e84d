import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import BaseModel
from sqlalchemy import func, select

from policies.money import Money
from worker.refund_desk.shop import customers, deployments, mailing, mails, payments, reports
from worker.refund_desk.shop.database import Shop
from worker.refund_desk.shop.effects import Effects, read_effects
from worker.refund_desk.shop.errors import KeyReused, ShopRefused
from worker.refund_desk.shop.load import load_all, put_payments, sample_payments
from worker.refund_desk.shop.meanwhile import EVENTS
from worker.refund_desk.shop.payments import PaymentsFound
from worker.refund_desk.shop.tables import Customer, Recipient

NOON = datetime(2026, 10, 24, 12, tzinfo=UTC)


class Lines(BaseModel):
    lines: list[tuple[str, Money]]


def euros(units: int, cents: int = 0) -> Money:
    return Money(minor=units * 100 + cents, currency="EUR")


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    opened = Shop.open(f"sqlite:///{tmp_path}/shop.db", clock=lambda: NOON)
    opened.create()
    with opened.writing() as session:
        load_all(session, sample_payments())
    yield opened
    opened.engine.dispose()


def refund(shop: Shop, key: str, *lines: tuple[str, Money]) -> payments.RefundReceipt:
    return shop.once(
        key,
        "refund_payments",
        Lines(lines=list(lines)),
        lambda session, at: payments.refund(session, key, lines, "failed_capture", at),
        payments.RefundReceipt,
    )


def done(shop: Shop) -> Effects:
    with shop.reading() as session:
        return read_effects(session)


def happen(shop: Shop, name: str) -> None:
    with shop.writing() as session:
        EVENTS[name](session)


def search(shop: Shop, since: str = "2026-01-01", until: str = "2026-12-31", status: str = "failed") -> PaymentsFound:
    with shop.reading() as session:
        return payments.search(session, status=status, since=since, until=until)


def test_a_search_over_a_period_names_the_newest_day_that_has_any(shop: Shop) -> None:
    found = search(shop)
    assert (found.newest_day, found.count, found.totals) == ("2026-10-23", 38, [euros(4120)])


def test_a_day_without_failed_payments_finds_none(shop: Shop) -> None:
    found = search(shop, "2026-10-22", "2026-10-22")
    assert (found.newest_day, found.count, found.totals, found.pages) == (None, 0, [], 1)


def test_a_search_is_answered_in_pages_and_counts_them_all(shop: Shop) -> None:
    template, amount = sample_payments()[0]
    with shop.writing() as session:
        put_payments(session, [({**template, "payment_id": f"pay_more_{n:03}"}, amount) for n in range(70)])
        second = payments.search(session, status="any", since="2026-10-23", until="2026-10-23", page=2)
    assert (second.count, second.page, second.pages, len(second.payments)) == (108, 2, 2, 8)


def test_payments_of_several_currencies_are_never_summed_together(shop: Shop) -> None:
    happen(shop, "mixed-currency")
    totals = [str(amount) for amount in search(shop).totals]
    assert totals == ["4,320.00 EUR", "10,399 JPY", "12.345 KWD", "100.00 USD"]


def test_the_same_key_twice_pays_once_and_returns_the_first_receipt(shop: Shop) -> None:
    first = refund(shop, "key-1", ("pay_0001", euros(99)))
    assert refund(shop, "key-1", ("pay_0001", euros(99))) == first
    assert [(paid.payment_id, paid.minor, paid.currency) for paid in done(shop).refunds] == [("pay_0001", 9900, "EUR")]


def test_the_same_key_with_other_lines_is_an_error_and_pays_nothing(shop: Shop) -> None:
    refund(shop, "key-1", ("pay_0001", euros(99)))
    with pytest.raises(KeyReused):
        refund(shop, "key-1", ("pay_0002", euros(29)))
    assert len(done(shop).refunds) == 1


def at_once(*work: Callable[[], object]) -> list[object]:
    """Run all of these in threads that start together; returns what each returned or raised."""
    gate = threading.Barrier(len(work))
    results: list[object] = [None] * len(work)

    def run(index: int) -> None:
        gate.wait()
        try:
            results[index] = work[index]()
        except ShopRefused as refused:
            results[index] = refused

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(work))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_eight_threads_with_the_same_key_pay_once(shop: Shop) -> None:
    receipts = at_once(*[lambda: refund(shop, "key-1", ("pay_0001", euros(99)))] * 8)
    assert all(receipt == receipts[0] for receipt in receipts)
    assert isinstance(receipts[0], payments.RefundReceipt)
    assert len(done(shop).refunds) == 1


def test_threads_with_different_keys_never_pay_more_than_was_charged(shop: Shop) -> None:
    work = [lambda key=key: refund(shop, key, ("pay_0001", euros(60))) for key in ("a", "b", "c", "d")]
    outcomes = at_once(*work)
    assert sum(isinstance(outcome, ShopRefused) for outcome in outcomes) == 3
    assert done(shop).refunded == {"EUR": euros(60)}


def test_two_partial_refunds_of_the_same_size_are_two_refunds(shop: Shop) -> None:
    refund(shop, "key-1", ("pay_0001", euros(20)))
    refund(shop, "key-2", ("pay_0001", euros(20)))
    with shop.reading() as session:
        row = payments.by_id(session, ["pay_0001"])["pay_0001"]
    assert (row.status, row.refunded, row.refundable) == ("partly_refunded", euros(40), euros(59))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (("pay_9999", euros(1)), "There is no payment pay_9999"),
        (("pay_0002", euros(29, 1)), r"29\.00 EUR of 29\.00 EUR can be refunded, not 29\.01 EUR"),
        (("pay_0002", Money(minor=2900, currency="USD")), "was charged in EUR, not USD"),
        (("pay_0002", euros(0)), r"not 0\.00 EUR"),
    ],
)
def test_one_bad_line_refunds_nothing_at_all(shop: Shop, line: tuple[str, Money], why: str) -> None:
    with pytest.raises(ShopRefused, match=why):
        refund(shop, "key-1", ("pay_0001", euros(99)), line)
    assert done(shop).refunds == []
    assert shop.find("key-1", payments.RefundReceipt) is None


def test_a_refused_key_can_be_used_again(shop: Shop) -> None:
    with pytest.raises(ShopRefused):
        refund(shop, "key-1", ("pay_0002", euros(30)))
    assert refund(shop, "key-1", ("pay_0002", euros(29))).total == euros(29)


def test_a_refunded_payment_is_not_a_failed_one_any_more(shop: Shop) -> None:
    refund(shop, "key-1", ("pay_0001", euros(99)))
    assert (search(shop).count, search(shop, status="refunded").count) == (37, 1)
    with pytest.raises(ShopRefused, match="pay_0001 is refunded"):
        refund(shop, "key-2", ("pay_0001", euros(1)))


def test_the_receipt_is_found_again_by_its_key(shop: Shop) -> None:
    receipt = refund(shop, "key-1", ("pay_0001", euros(99)))
    assert shop.find("key-1", payments.RefundReceipt) == receipt
    assert shop.find("key-2", payments.RefundReceipt) is None


def test_fifty_of_the_sixty_on_the_erasure_list_can_be_deleted(shop: Shop) -> None:
    with shop.reading() as session:
        rows = customers.erasure_list(session)
    assert len(rows) == 60
    obstacles = [row.obstacle for row in rows if row.obstacle]
    assert sorted(obstacles) == ["draft invoice"] * 2 + ["legal hold"] + ["open invoice"] * 7


def delete(shop: Shop, key: str, *ids: str) -> customers.DeletionReceipt:
    return shop.once(
        key,
        "delete_customers",
        Lines(lines=[(customer, euros(0)) for customer in ids]),
        lambda session, at: customers.delete(session, key, ids, at),
        customers.DeletionReceipt,
    )


def test_a_deleted_customer_is_gone_from_every_list_and_only_the_id_is_kept(shop: Shop) -> None:
    with shop.writing() as session:
        session.add(Recipient(recipient_id="r", customer_id="cus_0301", email="e", consent="c", locale="l", plan="p"))
    delete(shop, "key-1", "cus_0301", "cus_0302")
    with shop.reading() as session:
        for table in (Customer, Recipient):
            left = select(func.count()).select_from(table).where(table.customer_id.in_(["cus_0301", "cus_0302"]))
            assert session.scalar(left) == 0
        assert len(customers.erasure_list(session)) == 58
    assert [deletion.customer_id for deletion in done(shop).deletions] == ["cus_0301", "cus_0302"]


@pytest.mark.parametrize("customer", ["cus_0304", "cus_0309", "cus_0352", "cus_9999"])
def test_one_customer_who_may_not_be_deleted_keeps_all_of_them(shop: Shop, customer: str) -> None:
    with pytest.raises(ShopRefused, match=f"{customer}.*Nobody was deleted"):
        delete(shop, "key-1", "cus_0301", customer)
    assert done(shop).deletions == []


def test_a_draft_invoice_that_opens_stays_an_obstacle_and_a_new_payment_is_seen(shop: Shop) -> None:
    happen(shop, "deletion-events")
    with shop.reading() as session:
        rows = customers.by_id(session, ["cus_0304", "cus_0309", "cus_0330"])
    assert [row.obstacle for row in rows.values()] == [None, "open invoice", None]
    assert rows["cus_0330"].payments == 1


def test_219_people_may_get_a_campaign_and_217_after_two_dropped_out(shop: Shop) -> None:
    with shop.reading() as session:
        before = mailing.consenting(session)
    happen(shop, "campaign-events")
    with shop.reading() as session:
        after = mailing.consenting(session)
    assert (len(before), len(after)) == (219, 217)
    assert not {address for address in before if not address.isprintable()}


def send(shop: Shop, key: str, *recipients: str) -> mails.MailReceipt:
    return shop.once(
        key,
        "send_email",
        Lines(lines=[(recipient, euros(0)) for recipient in recipients]),
        lambda session, at: mails.send(session, key, recipients, subject="S", body="B", at=at),
        mails.MailReceipt,
    )


def test_one_recipient_in_two_spellings_gets_one_mail(shop: Shop) -> None:
    assert send(shop, "key-1", "a@example.com", " A@EXAMPLE.COM ").sent == 1
    send(shop, "key-1", "a@example.com", " A@EXAMPLE.COM ")
    assert [mail.recipient for mail in done(shop).mails] == ["a@example.com"]


@pytest.mark.parametrize("address", ["a\u200b@example.com", "billing@m\u0430il.example", "nobody", "@example.com"])
def test_an_address_nobody_can_read_safely_gets_no_mail_and_nobody_else_does(shop: Shop, address: str) -> None:
    with pytest.raises(ShopRefused, match="No mail was sent"):
        send(shop, "key-1", "a@example.com", address)
    assert done(shop).mails == []


def deploy(shop: Shop, key: str, manifest: str) -> deployments.DeploymentReceipt:
    return shop.once(
        key,
        "deploy",
        Lines(lines=[(manifest, euros(0))]),
        lambda session, at: deployments.deploy(session, key, manifest, at),
        deployments.DeploymentReceipt,
    )


def test_a_deployment_records_the_digests_it_went_out_with(shop: Shop) -> None:
    first = deploy(shop, "key-1", "dep_0042")
    happen(shop, "retagged-manifest")
    assert deploy(shop, "key-1", "dep_0042") == first
    second = deploy(shop, "key-2", "dep_0042")
    assert {name for name, digest in second.digests.items() if first.digests[name] != digest} == {"web"}
    assert len(done(shop).deployments) == 2


def test_a_report_is_drafted_once_and_can_be_taken_back(shop: Shop) -> None:
    def draft() -> reports.ReportReceipt:
        return shop.once(
            "key-1",
            "draft_refund_report",
            Lines(lines=[]),
            lambda session, at: reports.draft(session, "key-1", title="T", body="B", at=at),
            reports.ReportReceipt,
        )

    assert draft() == draft()
    with shop.writing() as session:
        reports.withdraw(session, 1, shop.now())
    assert [report.withdrawn_at for report in done(shop).reports] == ["2026-10-24T12:00:00Z"]


def test_three_more_payments_fail_overnight_and_move_the_newest_day(shop: Shop) -> None:
    happen(shop, "overnight")
    assert (search(shop).newest_day, search(shop).count) == ("2026-10-24", 41)
    assert search(shop, "2026-10-23", "2026-10-23").count == 38
