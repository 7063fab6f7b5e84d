"""Refund reports: drafted, and taken back."""

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from worker.refund_desk.shop.errors import ShopRefused
from worker.refund_desk.shop.tables import Report


class ReportReceipt(BaseModel):
    """A report that was drafted."""

    report_id: int
    title: str
    at: str


def draft(session: Session, key: str, *, title: str, body: str, at: str) -> ReportReceipt:
    """Keep a report as a draft."""
    report = Report(idempotency_key=key, title=title, body=body, at=at, withdrawn_at=None)
    session.add(report)
    session.flush()
    return ReportReceipt(report_id=report.report_id, title=title, at=at)


def withdraw(session: Session, key: str, at: str) -> None:
    """Take back the report that was drafted under a key; taking it back twice changes nothing more.

    Raises:
        ShopRefused: no report was drafted under it.
    """
    report = session.scalar(select(Report).where(Report.idempotency_key == key).with_for_update())
    if report is None:
        raise ShopRefused("There is no such report to take back.")
    report.withdrawn_at = report.withdrawn_at or at
