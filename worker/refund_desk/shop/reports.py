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


def withdrawn_at(session: Session, report_id: int) -> str | None:
    """When a report was taken back; None while it stands, and when there is none."""
    return session.scalar(select(Report.withdrawn_at).where(Report.report_id == report_id))


def withdraw(session: Session, report_id: int, at: str) -> None:
    """Take a drafted report back; taking it back twice changes nothing more.

    Raises:
        ShopRefused: there is no such report.
    """
    report = session.scalar(select(Report).where(Report.report_id == report_id).with_for_update())
    if report is None:
        raise ShopRefused("There is no such report to take back.")
    report.withdrawn_at = report.withdrawn_at or at
