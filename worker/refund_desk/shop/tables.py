"""The shop's tables. Money is minor units and currency; instants are ISO 8601 in UTC, as text."""

from sqlalchemy import ForeignKey, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """Knows all tables of the shop."""


class Customer(Base):
    """Somebody the shop has a contract with. The only table with an address, apart from what was sent."""

    __tablename__ = "customers"
    customer_id: Mapped[str] = mapped_column(primary_key=True)
    email: Mapped[str]
    legal_hold: Mapped[bool] = mapped_column(default=False)


class Payment(Base):
    """A charge. `amount_minor` is what was charged; `status` is failed, partly_refunded, refunded or succeeded."""

    __tablename__ = "payments"
    payment_id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(index=True)
    invoice_id: Mapped[str]
    charge_id: Mapped[str]
    amount_minor: Mapped[int]
    currency: Mapped[str]
    failure_code: Mapped[str]
    failed_at: Mapped[str] = mapped_column(index=True)
    attempts: Mapped[int]
    status: Mapped[str] = mapped_column(index=True)


class Invoice(Base):
    """What a customer owes: `state` is draft (becomes open by itself), open or paid."""

    __tablename__ = "invoices"
    invoice_id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(index=True)
    state: Mapped[str]
    amount_minor: Mapped[int]
    currency: Mapped[str]


class Erasure(Base):
    """One entry of the erasure list: who is to be deleted, and on which ground."""

    __tablename__ = "erasure_list"
    customer_id: Mapped[str] = mapped_column(primary_key=True)
    ground: Mapped[str]
    requested_at: Mapped[str]


class Recipient(Base):
    """One row of the mailing list; several rows may mean one person."""

    __tablename__ = "recipients"
    recipient_id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(index=True)
    email: Mapped[str]
    consent: Mapped[str]
    locale: Mapped[str]
    plan: Mapped[str]


class Manifest(Base):
    """What a deployment would bring out; `content` is its JSON text."""

    __tablename__ = "manifests"
    manifest_id: Mapped[str] = mapped_column(primary_key=True)
    environment: Mapped[str]
    content: Mapped[str] = mapped_column(Text)


class Receipt(Base):
    """One effect that happened. Its primary key is what makes a repeated call harmless."""

    __tablename__ = "receipts"
    idempotency_key: Mapped[str] = mapped_column(primary_key=True)
    tool: Mapped[str]
    arguments_sha256: Mapped[str]
    content: Mapped[str] = mapped_column(Text)
    at: Mapped[str]


class Refund(Base):
    """Money given back for one payment. `line_key` is unique: one line of one call pays once."""

    __tablename__ = "refunds"
    refund_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    line_key: Mapped[str] = mapped_column(unique=True)
    idempotency_key: Mapped[str] = mapped_column(ForeignKey("receipts.idempotency_key"))
    payment_id: Mapped[str] = mapped_column(ForeignKey("payments.payment_id"), index=True)
    customer_id: Mapped[str]
    amount_minor: Mapped[int]
    currency: Mapped[str]
    reason: Mapped[str]
    at: Mapped[str]


class Mail(Base):
    """A mail that left the building."""

    __tablename__ = "mails_sent"
    __table_args__ = (UniqueConstraint("idempotency_key", "recipient"),)
    mail_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    idempotency_key: Mapped[str] = mapped_column(ForeignKey("receipts.idempotency_key"))
    recipient: Mapped[str]
    subject: Mapped[str]
    body: Mapped[str] = mapped_column(Text)
    at: Mapped[str]


class Deletion(Base):
    """That a customer was deleted: the id and nothing else about the person."""

    __tablename__ = "deletions"
    customer_id: Mapped[str] = mapped_column(primary_key=True)
    idempotency_key: Mapped[str] = mapped_column(ForeignKey("receipts.idempotency_key"))
    at: Mapped[str]


class Deployment(Base):
    """A manifest that went out, with the digests it had at that moment."""

    __tablename__ = "deployments"
    deployment_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    idempotency_key: Mapped[str] = mapped_column(ForeignKey("receipts.idempotency_key"), unique=True)
    manifest_id: Mapped[str]
    environment: Mapped[str]
    digests: Mapped[str] = mapped_column(Text)
    at: Mapped[str]


class Report(Base):
    """A drafted refund report. `withdrawn_at` is set when it is taken back."""

    __tablename__ = "refund_reports"
    report_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    idempotency_key: Mapped[str] = mapped_column(ForeignKey("receipts.idempotency_key"), unique=True)
    title: Mapped[str]
    body: Mapped[str] = mapped_column(Text)
    at: Mapped[str]
    withdrawn_at: Mapped[str | None]
