"""Refund reports: drafted unasked, since a draft can be taken back."""

import asyncio
from typing import Any

from sqlalchemy.orm import Session

from policies.rule import NoFacts
from policies.rules.reports import DraftRefundReport
from worker.actions import ActionContext, Ask, NothingHappened, Preview, action
from worker.refund_desk.shop import reports
from worker.refund_desk.shop.database import open_shop
from worker.refund_desk.shop.errors import ShopRefused
from worker.refund_desk.shop.reports import ReportReceipt
from worker.refund_desk.tools.doors import counted, find, once, read


async def preview_report(ask: Ask[DraftRefundReport, NoFacts]) -> Preview:
    """The draft itself."""
    return Preview(
        headline=f"Draft a report: {ask.args.title}",
        impact=(f"about {counted(len(ask.args.payment_ids), 'payment')}", "a draft, which can be taken back"),
        body=ask.args.body,
    )


async def find_report(idempotency_key: str, args: DraftRefundReport) -> ReportReceipt | None:  # noqa: ARG001 - the key says it all
    """The receipt of an earlier attempt, None when nothing was drafted."""
    return await find(idempotency_key, ReportReceipt)


async def withdraw_report(ctx: ActionContext, args: DraftRefundReport, receipt: Any) -> str:  # noqa: ARG001 - the receipt says it all
    """Take the draft back; twice changes nothing more.

    Raises:
        NothingHappened: there is no such draft.
    """

    def withdraw() -> None:
        shop = open_shop()
        with shop.writing() as session:
            reports.withdraw(session, receipt["report_id"], shop.now())

    try:
        await asyncio.to_thread(withdraw)
    except ShopRefused as refused:
        raise NothingHappened(str(refused)) from None
    return "The draft was taken back."


async def find_withdrawal(ctx: ActionContext, args: DraftRefundReport, receipt: Any) -> str | None:  # noqa: ARG001 - as above
    """When the draft was taken back, None while it stands."""
    return await read(lambda session: reports.withdrawn_at(session, receipt["report_id"]))


@action(
    DraftRefundReport,
    preview=preview_report,
    reconcile=find_report,
    undo=withdraw_report,
    undone=find_withdrawal,
    remembers_s=None,
)
async def draft_refund_report(ctx: ActionContext, args: DraftRefundReport) -> ReportReceipt:
    """Save a draft report about refunds. Drafts are seen by the finance team only and can be taken back."""

    def draft(session: Session, at: str) -> ReportReceipt:
        return reports.draft(session, ctx.idempotency_key, title=args.title, body=args.body, at=at)

    return await once(ctx, "draft_refund_report", args, draft, ReportReceipt)
