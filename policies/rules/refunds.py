"""Refunds: what may be asked, and what it takes."""

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import Field

from policies.arguments import Arguments, Id
from policies.edits import AtMostProposed, OneOf, SubsetOfProposed
from policies.money import Money, eur, total
from policies.requirement import Requirement
from policies.risk import Mode, Risk
from policies.rule import Ask, Facts, Spend, rule

PER_LINE = eur(1_000)
PER_RUN = eur(5_000)
PER_CUSTOMER_AND_DAY = eur(600)
ONE_REVIEWER = eur(250)
UNASKED = eur(50)
CUSTOMER_CAP = "refunds per customer and day"
_SMALL = f"One refund; neither the run nor the customer's day comes to more than {UNASKED}."


class RefundLine(Arguments):
    """One payment and how much of it goes back."""

    payment_id: Id = Field(description="Id of the payment, for example pay_0001.")
    amount: Annotated[Money, AtMostProposed()] = Field(description="What goes back; never more than was charged.")


class RefundPayments(Arguments):
    """Give money back for payments of one currency."""

    lines: Annotated[
        list[RefundLine],
        SubsetOfProposed(key="payment_id"),
        Field(min_length=1, max_length=100, description="One line per payment; all refunds of one task in one call."),
    ]
    reason: Annotated[str, OneOf("duplicate", "failed_capture", "goodwill")] = Field(description="Why money goes back.")

    @property
    def payment_ids(self) -> tuple[str, ...]:
        """The payments touched, in the order of the lines."""
        return tuple(line.payment_id for line in self.lines)

    @property
    def currencies(self) -> tuple[str, ...]:
        """The currencies of the lines, each once, sorted."""
        return tuple(sorted({line.amount.currency for line in self.lines}))

    @property
    def total(self) -> Money:
        """The sum of the lines; there is none when currencies are mixed."""
        return total(line.amount for line in self.lines)

    def by(self, group_of: Mapping[str, str]) -> dict[str, Money]:
        """The sums by group, such as the customer of each payment."""
        sums: dict[str, Money] = {}
        for line in self.lines:
            group = group_of[line.payment_id]
            sums[group] = sums[group] + line.amount if group in sums else line.amount
        return sums


class RefundFacts(Facts):
    """By payment id: its customer, what was charged, and a sentence where something speaks against a refund."""

    customer_of: dict[str, str]
    charged: dict[str, Money]
    problems: dict[str, str] = {}


@rule(RefundPayments, RefundFacts, risk=Risk.IRREVERSIBLE)
def refund_payments(ask: Ask[RefundPayments, RefundFacts], so_far: Spend) -> Requirement:
    """A batch is one decision and so is a turn: splitting a sum gains nothing."""
    args = ask.args
    need = Requirement(radius=f"refunds in {' and '.join(args.currencies)}", resources=args.payment_ids)
    for objection in _objections(args, ask.facts):
        need = need.forbid_when(True, objection)
    if need.mode is Mode.FORBIDDEN:
        return need
    per_customer = args.by(ask.facts.customer_of)
    run = args.total + so_far.in_run("refunds")
    for customer, amount in per_customer.items():
        need = need.forbid_when(
            amount > PER_CUSTOMER_AND_DAY,
            f"{customer} would get {amount}; one customer may get {PER_CUSTOMER_AND_DAY} a day.",
        )
    return (
        need.forbid_when(run > PER_RUN, f"This run would refund {run}; one run may refund {PER_RUN}.")
        .counting("refunds", args.total)
        .worth(run)
        .spending(CUSTOMER_CAP, per_customer, limit=PER_CUSTOMER_AND_DAY)
        .spending("refunds per run", {"run": args.total}, limit=PER_RUN, window="run")
        .auto_when(_small(run, per_customer, so_far) and len(args.lines) == 1, _SMALL)
        .needs("billing", reviewers=2 if run > ONE_REVIEWER else 1, because=_why(run), confirm=run > ONE_REVIEWER)
    )


def _small(run: Money, per_customer: Mapping[str, Money], so_far: Spend) -> bool:
    """Many small refunds are a large one, whichever runs they are spread over."""
    days = [amount + so_far.in_cap(CUSTOMER_CAP, customer) for customer, amount in per_customer.items()]
    return all(sum_ <= UNASKED for sum_ in (run, *days))


def _why(run: Money) -> str:
    if run > ONE_REVIEWER:
        return f"This run refunds {run}, over {ONE_REVIEWER}: two different reviewers."
    return f"This run refunds {run}, up to {ONE_REVIEWER}: one reviewer."


def _objections(args: RefundPayments, facts: RefundFacts) -> Iterator[str]:
    """What no reviewer can approve away, one sentence each."""
    for currency in args.currencies:
        if currency != "EUR":
            yield f"Refunds are paid in EUR only, not in {currency}."
    for line in args.lines:
        payment, amount = line.payment_id, line.amount
        charged = facts.charged.get(payment)
        if charged is None or payment not in facts.customer_of:
            yield f"{payment} is not a payment we know."
            continue
        if payment in facts.problems:
            yield f"{payment}: {facts.problems[payment]}"
        if amount.minor == 0:
            yield f"{payment}: a refund of nothing."
        if amount.currency != charged.currency:
            yield f"{payment} was charged in {charged.currency}, not in {amount.currency}."
        elif amount > charged:
            yield f"{payment}: {amount} is more than the {charged} charged."
        if amount.currency == PER_LINE.currency and amount > PER_LINE:
            yield f"{payment}: {amount} is more than the {PER_LINE} that one refund may come to."
