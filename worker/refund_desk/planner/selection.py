"""Which of the found payments a request means, and how much of each goes back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from policies.money import Money, MoneyRefused
from worker.refund_desk.planner.findings import Findings, Found
from worker.refund_desk.planner.wishes import Wish
from worker.refund_desk.planner.words import money, sums

FAILURES = ("card_declined", "insufficient_funds", "authentication_required", "expired_card", "processing_error")


@dataclass(frozen=True, slots=True)
class Selection:
    """The payments meant, what of each can go back, where they come from in words, and what was left out and why."""

    payments: Sequence[Found]
    refundable: Sequence[tuple[Found, Money]]
    origin: str
    notes: Sequence[str]

    @property
    def total(self) -> str:
        """What goes back, one sum for each currency."""
        return sums([amount for _, amount in self.refundable])

    @property
    def charged(self) -> str:
        """What was charged, one sum for each currency."""
        return sums([money(payment["amount"]) for payment in self.payments])


def select_payments(findings: Findings, wish: Wish) -> Selection:
    """The payments a wish is about. When it narrows them in a way that cannot be followed, none."""
    wanted = findings.wanted
    origin = "the payments that were named" if findings.by_id else f"the failed payments of {findings.day}"
    narrowed = wanted.unsure(wish)
    if narrowed is not None:
        note = f'I do not understand "{narrowed}" well enough to choose payments by it. Name them by id, or a day.'
        return Selection((), (), origin, (note,))
    meant = [payment for payment in findings.payments() if _is_meant(payment, findings, wish)]
    open_lines = [(payment, _left(payment)) for payment in meant if _left(payment).minor > 0]
    notes = list(_left_out(findings, wish, meant))
    if wish is Wish.REFUND:
        open_lines, refused = _with_amount(findings, open_lines)
        notes += refused
        meant = [] if refused else meant
    return Selection(meant, open_lines, origin, notes)


def _is_meant(payment: Found, findings: Findings, wish: Wish) -> bool:
    wanted = findings.wanted
    name, text = str(payment["payment_id"]), wanted.texts.get(wish, "").lower()
    # A mail to the affected customers, or a report, is about the payments that the refund names.
    named = wanted.ids("pay", wish) or wanted.ids("pay", Wish.REFUND)
    customers = wanted.ids("cus", wish) if wish is not Wish.MAIL else ()
    codes = [code for code in FAILURES if code in text or code.replace("_", " ") in text]
    return (
        (not findings.by_id or name in named)
        and name not in wanted.excepted(wish)
        and payment["customer_id"] not in wanted.excepted(wish)
        and (not customers or payment["customer_id"] in customers)
        and (not codes or payment["failure_code"] in codes)
        and wanted.currency in {None, payment["amount"]["currency"]}
    )


def _left_out(findings: Findings, wish: Wish, meant: Sequence[Found]) -> Iterator[str]:
    found = {payment["payment_id"] for payment in meant}
    for name in findings.wanted.ids("pay", wish):
        if name not in found:
            yield f"{name} was not found."
    for payment in meant:
        if _left(payment).minor == 0 and wish is Wish.REFUND:
            yield f"{payment['payment_id']} is {payment['status'].replace('_', ' ')}: nothing can be refunded."
    if not meant and not findings.by_id and findings.payments_answered:
        day = findings.day
        yield f"No failed payment of {day} fits." if day else "The shop has no failed payments."


def _with_amount(findings: Findings, lines: list[tuple[Found, Money]]) -> tuple[list[tuple[Found, Money]], list[str]]:
    """The lines with the amount that the request names, or none of them and why."""
    try:
        amount = findings.wanted.amount()
    except MoneyRefused as refused:
        return [], [str(refused)]
    if amount is None or not lines:
        return lines, []
    if len(lines) == 1 and lines[0][1].currency == amount.currency and amount <= lines[0][1]:
        return [(lines[0][0], amount)], []
    there = sums([left for _, left in lines])
    if there == str(amount):
        return lines, []
    return [], [f"You named {amount}, but there is {there} to refund. Say which payment you mean."]


def _left(payment: Found) -> Money:
    charged, back = money(payment["amount"]), money(payment["refunded"])
    left = charged.minor - back.minor if payment["status"] in {"failed", "partly_refunded"} else 0
    return Money(minor=left, currency=charged.currency)
