"""Deletion of customers: what speaks against it, what would be lost, and doing it."""

from collections import Counter

from sqlalchemy.orm import Session

from policies.rules.deletion import CustomerStanding, DeleteCustomers, DeletionFacts
from worker.actions import ActionContext, Ask, Precondition, Preview, action
from worker.refund_desk.shop import customers
from worker.refund_desk.shop.customers import CustomerRow, DeletionReceipt
from worker.refund_desk.tools.doors import counted, find, once, read

SAMPLE = 5
#: The legal grounds in words.
GROUNDS = {"erasure_request": "asked to be erased", "inactive_3y": "inactive for 3 years"}
COLUMNS = ("customer_id", "email", "ground", "open_invoices", "draft_invoices", "legal_hold", "payments")


async def look_up_customers(args: DeleteCustomers) -> DeletionFacts:
    """What each of these customers owes, and whether a court wants it kept."""
    rows = await read(lambda session: customers.by_id(session, args.customer_ids))
    return DeletionFacts(
        customers={
            name: CustomerStanding(
                open_invoices=row.open_invoices, draft_invoices=row.draft_invoices, legal_hold=row.legal_hold
            )
            for name, row in rows.items()
        }
    )


async def preview_deletion(ask: Ask[DeleteCustomers, DeletionFacts]) -> Preview:
    """Who would be gone, and on which ground."""
    found = await read(lambda session: customers.by_id(session, ask.args.customer_ids))
    rows = tuple(_shown(row) for row in found.values())
    grounds = Counter(
        f"on the erasure list: {GROUNDS.get(row.ground, row.ground)}" if row.ground else "not on the erasure list"
        for row in found.values()
    )
    known = sum(row.payments > 0 for row in found.values())
    return Preview(
        headline=f"Delete {counted(len(rows), 'customer')}: {GROUNDS[ask.args.ground]}",
        impact=(
            ", ".join(f"{number} {ground}" for ground, number in grounds.most_common()),
            f"{sum(row.obstacle is not None for row in found.values())} with an open or draft invoice or a legal hold",
            f"{known} of them have payments, which stay on the books without name and address",
        ),
        columns=COLUMNS,
        brief=("customer_id", "email"),  # the headline names the ground, the first impact how many are not on it
        sample=rows[:SAMPLE],
        rows=rows,
        personal=("email",),
        precondition=Precondition.over(
            f"{counted(len(rows), 'customer')} who owe nothing", rows, key="customer_id", material=COLUMNS
        ),
    )


async def find_deletion(idempotency_key: str, args: DeleteCustomers) -> DeletionReceipt | None:  # noqa: ARG001 - the key says it all
    """The receipt of an earlier attempt, None when nobody was deleted."""
    return await find(idempotency_key, DeletionReceipt)


@action(DeleteCustomers, check=look_up_customers, preview=preview_deletion, reconcile=find_deletion, remembers_s=None)
async def delete_customers(ctx: ActionContext, args: DeleteCustomers) -> DeletionReceipt:
    """Erase customers and everything stored about them, for good. Only customers who owe nothing can be erased."""

    def delete(session: Session, at: str) -> DeletionReceipt:
        return customers.delete(session, ctx.idempotency_key, args.customer_ids, at)

    return await once(ctx, "delete_customers", args, delete, DeletionReceipt)


def _shown(row: CustomerRow) -> dict[str, str | int | bool | None]:
    return {
        "customer_id": row.customer_id,
        "email": row.email,
        "ground": row.ground,
        "open_invoices": row.open_invoices,
        "draft_invoices": row.draft_invoices,
        "legal_hold": row.legal_hold,
        "payments": row.payments,
    }
