"""Customers: finding them, why one may not be deleted, and deleting them once."""

from collections.abc import Sequence

from pydantic import BaseModel
from sqlalchemy import delete as delete_rows
from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from policies.money import Money
from worker.refund_desk.shop.errors import ShopRefused
from worker.refund_desk.shop.payments import sums
from worker.refund_desk.shop.tables import Customer, Deletion, Erasure, Invoice, Payment, Recipient


class CustomerRow(BaseModel):
    """A customer with everything that speaks for or against deleting it.

    `ground` is why it is on the erasure list, None when it is not; `payments` counts all payments ever seen.
    """

    customer_id: str
    email: str
    ground: str | None
    open_invoices: int
    draft_invoices: int
    owed: list[Money]
    legal_hold: bool
    payments: int

    @property
    def obstacle(self) -> str | None:
        """Why it may not be deleted, None when it may. A draft invoice becomes an open one by itself."""
        if self.legal_hold:
            return "legal hold"
        if self.open_invoices:
            return "open invoice"
        if self.draft_invoices:
            return "draft invoice"
        return None


class DeletionReceipt(BaseModel):
    """Who was deleted."""

    customer_ids: list[str]
    at: str


def by_id(session: Session, ids: Sequence[str], *, for_update: bool = False) -> dict[str, CustomerRow]:
    """The customers that exist among these, in the order asked."""
    query = select(Customer).where(Customer.customer_id.in_(ids)).order_by(Customer.customer_id)
    customers = list(session.scalars(query.with_for_update() if for_update else query))
    invoices = list(session.scalars(select(Invoice).where(Invoice.customer_id.in_(ids), Invoice.state != "paid")))
    grounds = dict(
        session.execute(select(Erasure.customer_id, Erasure.ground).where(Erasure.customer_id.in_(ids))).tuples().all()
    )
    counted = select(Payment.customer_id, func.count()).where(Payment.customer_id.in_(ids))
    payments = dict(session.execute(counted.group_by(Payment.customer_id)).tuples().all())
    rows = {
        customer.customer_id: _row(
            customer,
            [invoice for invoice in invoices if invoice.customer_id == customer.customer_id],
            grounds.get(customer.customer_id),
            payments.get(customer.customer_id, 0),
        )
        for customer in customers
    }
    return {customer_id: rows[customer_id] for customer_id in ids if customer_id in rows}


def search(session: Session, text: str) -> list[tuple[str, str]]:
    """Id and address of everybody whose id is `text` or whose address holds it, by id."""
    query = select(Customer.customer_id, Customer.email).order_by(Customer.customer_id)
    if text:
        holds = Customer.email.icontains(text, autoescape=True)
        query = query.where(or_(Customer.customer_id == text, holds))
    return list(session.execute(query).tuples().all())


def erasure_list(session: Session) -> list[CustomerRow]:
    """Everybody on the erasure list who still exists, in the order they asked."""
    ids = session.scalars(select(Erasure.customer_id).order_by(Erasure.requested_at, Erasure.customer_id))
    return list(by_id(session, list(ids)).values())


def delete(session: Session, key: str, ids: Sequence[str], at: str) -> DeletionReceipt:
    """Delete every one of these customers or none, with their rows on every list; what they paid stays on the books.

    Raises:
        ShopRefused: a customer is unknown, owes something, or is under a legal hold.
    """
    rows = by_id(session, ids, for_update=True)
    for customer_id in ids:
        row = rows.get(customer_id)
        if row is None:
            raise ShopRefused(f"There is no customer {customer_id}. Nobody was deleted.")
        if row.obstacle is not None:
            raise ShopRefused(f"{customer_id} has: {row.obstacle}. Nobody was deleted.")
        session.add(Deletion(customer_id=customer_id, idempotency_key=key, at=at))
    for table in (Recipient, Erasure, Customer):
        session.execute(delete_rows(table).where(table.customer_id.in_(ids)))
    session.flush()
    return DeletionReceipt(customer_ids=list(ids), at=at)


def _row(customer: Customer, invoices: Sequence[Invoice], ground: str | None, payments: int) -> CustomerRow:
    owed = [Money(minor=invoice.amount_minor, currency=invoice.currency) for invoice in invoices]
    return CustomerRow(
        customer_id=customer.customer_id,
        email=customer.email,
        ground=ground,
        open_invoices=sum(invoice.state == "open" for invoice in invoices),
        draft_invoices=sum(invoice.state == "draft" for invoice in invoices),
        owed=sums(owed),
        legal_hold=customer.legal_hold,
        payments=payments,
    )
