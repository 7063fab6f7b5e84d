"""Payments: finding them, and giving money back once."""

import math
from collections.abc import Sequence

from pydantic import BaseModel
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from policies.money import Money, total, zero
from worker.refund_desk.shop.errors import ShopRefused
from worker.refund_desk.shop.tables import Payment, Refund

#: Payments in these states can be refunded up to what was charged.
REFUNDABLE = frozenset({"failed", "partly_refunded"})
#: Who searches for refunded payments wants to see those refunded in part, too.
_STATUSES = {"refunded": ("refunded", "partly_refunded")}
PAGE_ROWS = 100


class PaymentRow(BaseModel):
    """A payment as reviewers, rules and models see it. `refunded` is what was given back already."""

    payment_id: str
    customer_id: str
    amount: Money
    refunded: Money
    status: str
    failure_code: str
    failed_at: str
    attempts: int

    @property
    def refundable(self) -> Money:
        """What could still be given back; nothing when the payment's state does not allow it."""
        left = self.amount.minor - self.refunded.minor
        return Money(minor=left if self.status in REFUNDABLE else 0, currency=self.amount.currency)


class PaymentsFound(BaseModel):
    """One page of a search. `count` and `totals` (a sum for each currency) are over all pages.

    `newest_day` is the last day in the whole period that has any.
    """

    since: str
    until: str
    status: str
    newest_day: str | None
    count: int
    totals: list[Money]
    page: int
    pages: int
    payments: list[PaymentRow]


class RefundPaid(BaseModel):
    """One line of a refund receipt."""

    payment_id: str
    amount: Money


class RefundReceipt(BaseModel):
    """What a refund paid."""

    refunds: list[RefundPaid]
    total: Money
    at: str


def search(session: Session, *, status: str, since: str, until: str, page: int = 1) -> PaymentsFound:
    """Payments of a status from one day to another (UTC, both included), oldest first."""
    found = _between(session, status=status, since=since, until=until)
    charged = [Money(minor=payment.amount_minor, currency=payment.currency) for payment in found]
    return PaymentsFound(
        since=since,
        until=until,
        status=status,
        newest_day=found[-1].failed_at[:10] if found else None,
        count=len(found),
        totals=sums(charged),
        page=page,
        pages=max(1, math.ceil(len(found) / PAGE_ROWS)),
        payments=_rows(session, found[(page - 1) * PAGE_ROWS : page * PAGE_ROWS]),
    )


def failed_on(session: Session, days: Sequence[str]) -> set[str]:
    """The ids of all failed payments of these days."""
    return {row.payment_id for day in days for row in _between(session, status="failed", since=day, until=day)}


def sums(amounts: Sequence[Money]) -> list[Money]:
    """One sum for each currency, by its code."""
    currencies = sorted({amount.currency for amount in amounts})
    return [total(amount for amount in amounts if amount.currency == currency) for currency in currencies]


def by_id(session: Session, ids: Sequence[str], *, for_update: bool = False) -> dict[str, PaymentRow]:
    """The payments that exist among these, in the order asked; `for_update` keeps others from changing them."""
    query = select(Payment).where(Payment.payment_id.in_(ids)).order_by(Payment.payment_id)
    found = session.scalars(query.with_for_update() if for_update else query)
    rows = {row.payment_id: row for row in _rows(session, list(found))}
    return {payment_id: rows[payment_id] for payment_id in ids if payment_id in rows}


def refund(session: Session, key: str, lines: Sequence[tuple[str, Money]], reason: str, at: str) -> RefundReceipt:
    """Give money back for every line or for none.

    Raises:
        ShopRefused: a payment is unknown, cannot be refunded, or would get back more than was charged.
    """
    rows = by_id(session, [payment_id for payment_id, _ in lines], for_update=True)
    for payment_id, amount in lines:
        _must_be_refundable(payment_id, rows.get(payment_id), amount)
        row = rows[payment_id]
        session.add(
            Refund(
                line_key=f"{key}:{payment_id}",
                idempotency_key=key,
                payment_id=payment_id,
                customer_id=row.customer_id,
                amount_minor=amount.minor,
                currency=amount.currency,
                reason=reason,
                at=at,
            )
        )
        payment = session.get_one(Payment, payment_id)
        payment.status = "refunded" if amount.minor == row.refundable.minor else "partly_refunded"
    session.flush()
    paid = [RefundPaid(payment_id=payment_id, amount=amount) for payment_id, amount in lines]
    return RefundReceipt(refunds=paid, total=total(line.amount for line in paid), at=at)


def _must_be_refundable(payment_id: str, row: PaymentRow | None, amount: Money) -> None:
    if row is None:
        raise ShopRefused(f"There is no payment {payment_id}. Nothing was refunded.")
    if amount.currency != row.amount.currency:
        raise ShopRefused(
            f"{payment_id} was charged in {row.amount.currency}, not {amount.currency}. Nothing was refunded."
        )
    if amount.minor == 0 or amount.minor > row.refundable.minor:
        raise ShopRefused(
            f"{payment_id} is {row.status}; {row.refundable} of {row.amount} can be refunded, not {amount}."
            " Nothing was refunded."
        )


def _between(session: Session, *, status: str, since: str, until: str) -> list[Payment]:
    query = select(Payment).where(func.substr(Payment.failed_at, 1, 10).between(since, until))
    if status != "any":
        query = query.where(Payment.status.in_(_STATUSES.get(status, (status,))))
    return list(session.scalars(query.order_by(Payment.failed_at, Payment.payment_id)))


def _rows(session: Session, payments: Sequence[Payment]) -> list[PaymentRow]:
    ids = [payment.payment_id for payment in payments]
    paid = select(Refund.payment_id, func.sum(Refund.amount_minor)).where(Refund.payment_id.in_(ids))
    refunded = dict(session.execute(paid.group_by(Refund.payment_id)).tuples().all())
    return [_row(payment, int(refunded.get(payment.payment_id, 0))) for payment in payments]


def _row(payment: Payment, refunded: int) -> PaymentRow:
    nothing = zero(payment.currency)
    return PaymentRow(
        payment_id=payment.payment_id,
        customer_id=payment.customer_id,
        amount=Money(minor=payment.amount_minor, currency=payment.currency),
        refunded=nothing if refunded == 0 else Money(minor=refunded, currency=payment.currency),
        status=payment.status,
        failure_code=payment.failure_code,
        failed_at=payment.failed_at,
        attempts=payment.attempts,
    )
