"""Refunds: how they are checked, shown, paid and found again."""

from collections import Counter
from collections.abc import Sequence

from sqlalchemy.orm import Session

from policies.money import Money
from policies.rules.refunds import RefundFacts, RefundPayments
from worker.actions import ActionContext, Ask, NothingHappened, Precondition, Preview, action
from worker.refund_desk.shop import customers, payments
from worker.refund_desk.shop.payments import PaymentRow, RefundReceipt
from worker.refund_desk.tools.doors import counted, find, once, read, sealed

#: Rows shown before a reviewer opens the details.
SAMPLE = 5
MATERIAL = ("payment_id", "customer_id", "amount", "refunded", "status")


async def look_up_payments(args: RefundPayments) -> RefundFacts:
    """What the shop knows of these payments, and what speaks against refunding them."""
    rows = await read(lambda session: payments.by_id(session, args.payment_ids))
    asked = {line.payment_id: line.amount for line in args.lines}
    objections = {name: _objection(row, asked[name]) for name, row in rows.items()}
    return RefundFacts(
        customer_of={name: row.customer_id for name, row in rows.items()},
        charged={name: row.amount for name, row in rows.items()},
        problems={name: objection for name, objection in objections.items() if objection},
    )


async def preview_refunds(ask: Ask[RefundPayments, RefundFacts]) -> Preview:
    """Who gets how much back, and what the refund rests on."""
    lines = {line.payment_id: line.amount for line in ask.args.lines}
    rows, emails, others = await read(lambda session: _read(session, ask.args.payment_ids))
    shown = tuple(
        {
            "payment_id": row.payment_id,
            "customer_id": row.customer_id,
            "email": emails.get(row.customer_id),
            "charged": str(row.amount),
            "back": str(lines[row.payment_id]),
            "failure": row.failure_code.replace("_", " "),
            "failed_at": row.failed_at,
        }
        for row in rows
    )
    return Preview(
        headline=f"Refund {counted(len(rows), 'payment')}, {ask.args.total}",
        impact=_impact(ask, rows, others),
        columns=("payment_id", "customer_id", "email", "charged", "back", "failure", "failed_at"),
        brief=("payment_id", "customer_id", "back", "failure"),
        sample=shown[:SAMPLE],
        rows=shown,
        personal=("email",),
        precondition=Precondition.over(
            _sentence(rows), [_material(row) for row in rows], key="payment_id", material=MATERIAL
        ),
    )


async def find_refunds(idempotency_key: str, args: RefundPayments) -> RefundReceipt | None:  # noqa: ARG001 - the key says it all
    """The receipt of an earlier attempt, None when nothing was paid."""
    return await find(idempotency_key, RefundReceipt)


@action(RefundPayments, check=look_up_payments, preview=preview_refunds, reconcile=find_refunds, remembers_s=None)
async def refund_payments(ctx: ActionContext, args: RefundPayments) -> RefundReceipt:
    """Give money back for payments of one currency. Put all refunds of one task and currency into one call."""
    lines = [(line.payment_id, line.amount) for line in args.lines]

    def pay(session: Session, at: str) -> RefundReceipt:
        facts = sealed(ctx, RefundFacts, "refund_payments", "Nothing was refunded.")
        rows = payments.by_id(session, args.payment_ids, for_update=True)
        for name, row in rows.items():  # whether it can be refunded is for the shop to say
            if (row.customer_id, row.amount) != (facts.customer_of.get(name), facts.charged.get(name)):
                raise NothingHappened(f"{name} changed after it was looked at last. Nothing was refunded.")
        return payments.refund(session, ctx.idempotency_key, lines, args.reason, at)

    return await once(ctx, "refund_payments", args, pay, RefundReceipt)


def _objection(row: PaymentRow, asked: Money) -> str | None:
    if row.refundable.minor == 0:
        return f"it is {row.status.replace('_', ' ')}, so nothing can be refunded."
    # Another currency, and more than was charged, are for the rule to refuse.
    if row.refunded.minor and asked.currency == row.amount.currency and asked > row.refundable:
        return f"{row.refunded} was refunded before, so {row.refundable} is left."
    return None


def _read(session: Session, ids: Sequence[str]) -> tuple[list[PaymentRow], dict[str, str], int]:
    """The payments, the address of each customer, and how many other failed payments their days have."""
    rows = list(payments.by_id(session, ids).values())
    known = customers.by_id(session, [row.customer_id for row in rows])
    failed = payments.failed_on(session, sorted({row.failed_at[:10] for row in rows}))
    return rows, {name: row.email for name, row in known.items()}, len(failed - set(ids))


def _impact(ask: Ask[RefundPayments, RefundFacts], rows: Sequence[PaymentRow], others: int) -> tuple[str, ...]:
    by_customer = ask.args.by(ask.facts.customer_of)
    top = max(by_customer, key=lambda name: by_customer[name].minor)
    days = sorted({row.failed_at[:10] for row in rows})
    reasons = Counter(row.failure_code.replace("_", " ") for row in rows)
    lines = [counted(len(by_customer), "customer")]
    if len(by_customer) > 1:
        lines.append(f"the most for one customer: {by_customer[top]} to {top}")
    lines.append(", ".join(f"{number} {reason}" for reason, number in reasons.most_common()))
    span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    lines.append(
        f"{counted(others, 'other failed payment')} of {span} not in this list"
        if others
        else f"every failed payment of {span}"
    )
    before = sum(row.refunded.minor > 0 for row in rows)
    return (*lines, f"{before} refunded in part before") if before else tuple(lines)


def _sentence(rows: Sequence[PaymentRow]) -> str:
    states = {row.status for row in rows}
    state = f"{states.pop().replace('_', ' ')} " if len(states) == 1 else ""
    charged = " and ".join(str(amount) for amount in payments.sums([row.amount for row in rows]))
    return f"{counted(len(rows), f'{state}payment')}, {charged} charged"


def _material(row: PaymentRow) -> dict[str, str]:
    return {
        "payment_id": row.payment_id,
        "customer_id": row.customer_id,
        "amount": str(row.amount),
        "refunded": str(row.refunded),
        "status": row.status,
    }
