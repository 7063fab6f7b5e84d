"""What was done to the shop, read back from its tables."""

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from policies.money import Money
from worker.refund_desk.shop.tables import Deletion, Deployment, Mail, Refund, Report


class RefundDone(BaseModel):
    """One refund that was paid, in minor units of its currency."""

    payment_id: str
    customer_id: str
    minor: int
    currency: str
    reason: str
    idempotency_key: str
    at: str


class MailDone(BaseModel):
    """One mail that was sent to one recipient."""

    recipient: str
    subject: str
    body: str
    idempotency_key: str
    at: str


class DeletionDone(BaseModel):
    """One customer who was deleted."""

    customer_id: str
    idempotency_key: str
    at: str


class DeploymentDone(BaseModel):
    """One deployment that went out."""

    manifest_id: str
    environment: str
    digests: str
    idempotency_key: str
    at: str


class ReportDone(BaseModel):
    """One report that was drafted, and when it was taken back."""

    title: str
    idempotency_key: str
    at: str
    withdrawn_at: str | None


class Effects(BaseModel):
    """Everything that happened, oldest first."""

    refunds: list[RefundDone] = []
    mails: list[MailDone] = []
    deletions: list[DeletionDone] = []
    deployments: list[DeploymentDone] = []
    reports: list[ReportDone] = []

    @property
    def refunded(self) -> dict[str, Money]:
        """What was paid back, by currency."""
        sums: dict[str, Money] = {}
        for refund in self.refunds:
            amount = Money(minor=refund.minor, currency=refund.currency)
            sums[amount.currency] = sums[amount.currency] + amount if amount.currency in sums else amount
        return sums


def read_effects(session: Session) -> Effects:
    """Everything that happened to the shop."""
    return Effects(
        refunds=[_refund(row) for row in session.scalars(select(Refund).order_by(Refund.refund_id))],
        mails=[
            MailDone.model_validate(row, from_attributes=True)
            for row in session.scalars(select(Mail).order_by(Mail.mail_id))
        ],
        deletions=[
            DeletionDone.model_validate(row, from_attributes=True)
            for row in session.scalars(select(Deletion).order_by(Deletion.customer_id))
        ],
        deployments=[
            DeploymentDone.model_validate(row, from_attributes=True)
            for row in session.scalars(select(Deployment).order_by(Deployment.deployment_id))
        ],
        reports=[
            ReportDone.model_validate(row, from_attributes=True)
            for row in session.scalars(select(Report).order_by(Report.report_id))
        ],
    )


def _refund(row: Refund) -> RefundDone:
    return RefundDone(
        payment_id=row.payment_id,
        customer_id=row.customer_id,
        minor=row.amount_minor,
        currency=row.currency,
        reason=row.reason,
        idempotency_key=row.idempotency_key,
        at=row.at,
    )
