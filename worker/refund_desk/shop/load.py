"""Filling the shop with the sample's data."""

import json
from collections.abc import Iterable

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from policies.money import Money
from worker.refund_desk.shop.amounts import Style, read_amount
from worker.refund_desk.shop.files import (
    ERASURE_COLUMNS,
    RECIPIENT_COLUMNS,
    Row,
    data_text,
    read_json,
    read_payments,
    read_rows,
)
from worker.refund_desk.shop.tables import Customer, Erasure, Invoice, Manifest, Payment, Recipient

#: The sample's own payments: 38 of them, 4,120.00 EUR.
PAYMENTS = "failed_payments.csv"


def load_all(session: Session, payments: Iterable[tuple[Row, Money]]) -> None:
    """Everything an empty shop starts with, these payments included."""
    _recipients(session)
    _erasures(session)
    _invoices(session)
    put_manifest(session, "deploy_manifest.json")
    put_payments(session, payments)


def sample_payments() -> list[tuple[Row, Money]]:
    """The payments shipped with the sample."""
    return read_payments(PAYMENTS, data_text(PAYMENTS))


def put_payments(session: Session, payments: Iterable[tuple[Row, Money]]) -> int:
    """Add payments that are not there yet, and their customers; returns how many were new."""
    new = 0
    for row, amount in payments:
        _customer(session, row["customer_id"], row["email"])
        if session.get(Payment, row["payment_id"]) is not None:
            continue
        new += 1
        session.add(
            Payment(
                payment_id=row["payment_id"],
                customer_id=row["customer_id"],
                invoice_id=row["invoice_id"],
                charge_id=row["charge_id"],
                amount_minor=amount.minor,
                currency=amount.currency,
                failure_code=row["failure_code"],
                failed_at=row["failed_at"],
                attempts=int(row["attempts"]),
                status=row["status"],
            )
        )
    return new


def put_manifest(session: Session, name: str) -> str:
    """Put a manifest in place of the one with its id; returns the id."""
    content = read_json(name)
    manifest_id = str(content["manifest_id"])
    session.merge(Manifest(manifest_id=manifest_id, environment=content["environment"], content=json.dumps(content)))
    return manifest_id


def is_empty(session: Session) -> bool:
    """Nobody loaded any payments."""
    return session.scalar(select(func.count()).select_from(Payment)) == 0


def _recipients(session: Session) -> None:
    name = "campaign_recipients.csv"
    for row in read_rows(name, data_text(name), RECIPIENT_COLUMNS):
        # The mailing list is not where addresses come from: the first plain one becomes the customer's.
        _customer(session, row["customer_id"], row["email"].strip())
        session.add(
            Recipient(**{column: row[column] for column in RECIPIENT_COLUMNS if column != "consent_updated_at"})
        )


def _erasures(session: Session) -> None:
    name = "customer_deletions.csv"
    for row in read_rows(name, data_text(name), ERASURE_COLUMNS):
        _customer(session, row["customer_id"], row["email"]).legal_hold = row["legal_hold"] == "true"
        session.add(Erasure(customer_id=row["customer_id"], ground=row["ground"], requested_at=row["requested_at"]))


def _invoices(session: Session) -> None:
    for invoice in read_json("open_invoices.json"):
        due = read_amount(invoice["amount_due"], invoice["currency"], Style.PLAIN)
        session.add(
            Invoice(
                invoice_id=invoice["invoice_id"],
                customer_id=invoice["customer_id"],
                state=invoice["state"],
                amount_minor=due.minor,
                currency=due.currency,
            )
        )


def _customer(session: Session, customer_id: str, email: str) -> Customer:
    customer = session.get(Customer, customer_id)
    if customer is None:
        customer = Customer(customer_id=customer_id, email=email, legal_hold=False)
        session.add(customer)
        session.flush()
    return customer
