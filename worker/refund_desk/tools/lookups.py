"""What the agent may read without asking. No address leaves the shop this way unless somebody searches for it."""

import math
from typing import Any

from policies.rules.lookups import ReadErasureList, ReadManifest, ReadRefundPolicy, SearchCustomers, SearchPayments
from worker.actions import lookup
from worker.refund_desk.shop import customers, deployments, mailing, payments
from worker.refund_desk.shop.deployments import ManifestRow
from worker.refund_desk.shop.files import data_text
from worker.refund_desk.shop.payments import PAGE_ROWS, PaymentsFound
from worker.refund_desk.tools.doors import read

#: The id that stands for whichever manifest is the newest.
NEWEST = "newest"


@lookup(SearchPayments)
async def search_payments(args: SearchPayments) -> PaymentsFound:
    """List payments of a period with their status, oldest first, in pages of 100.

    `count` and `totals` are over all pages; `newest_day` is the last day of the period that has any.
    """
    since, until = args.since.isoformat(), args.until.isoformat()
    return await read(
        lambda session: payments.search(session, status=args.status, since=since, until=until, page=args.page)
    )


@lookup(SearchCustomers)
async def search_customers(args: SearchCustomers) -> dict[str, Any]:
    """Find customers by id or by a part of their address, in pages of 100. An empty text lists everybody.

    `may_get_campaigns` is true for those who consented and can be delivered to, each person once.
    """
    found, consenting = await read(
        lambda session: (customers.search(session, args.text), set(mailing.consenting(session).values()))
    )
    page = found[(args.page - 1) * PAGE_ROWS : args.page * PAGE_ROWS]
    return {
        "count": len(found),
        "page": args.page,
        "pages": max(1, math.ceil(len(found) / PAGE_ROWS)),
        "customers": [
            {"customer_id": name, "email": email, "may_get_campaigns": name in consenting} for name, email in page
        ],
    }


@lookup(ReadRefundPolicy)
async def read_refund_policy(args: ReadRefundPolicy) -> str:  # noqa: ARG001 - it takes nothing
    """Read the refund policy in words."""
    return data_text("refund_policy.md")


@lookup(ReadErasureList)
async def read_erasure_list(args: ReadErasureList) -> dict[str, Any]:  # noqa: ARG001 - it takes nothing
    """Read the erasure list: whose data can be erased now, and who must be kept and why."""
    rows = await read(customers.erasure_list)
    return {
        "count": len(rows),
        "erasable": [{"customer_id": row.customer_id, "ground": row.ground} for row in rows if not row.obstacle],
        "kept": [{"customer_id": row.customer_id, "why": row.obstacle} for row in rows if row.obstacle],
    }


@lookup(ReadManifest)
async def read_manifest(args: ReadManifest) -> ManifestRow | str:
    """Read a deployment manifest: services, digests, migrations, settings. The id `newest` reads the newest one."""
    wanted = None if args.manifest_id == NEWEST else args.manifest_id
    manifest = await read(lambda session: deployments.find(session, wanted))
    return manifest if manifest is not None else f"There is no manifest {args.manifest_id}."
