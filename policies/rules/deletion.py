"""Deletion of customers: what may be asked, and what it takes."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from policies.arguments import Arguments, Id
from policies.edits import SubsetOfProposed
from policies.requirement import Requirement
from policies.risk import Mode, Risk
from policies.rule import Ask, Facts, Spend, rule


class DeleteCustomers(Arguments):
    """Erase customers and everything stored about them, for good."""

    customer_ids: Annotated[
        list[Id],
        SubsetOfProposed(),
        Field(min_length=1, max_length=100, description="Ids of the customers to erase; all in one call."),
    ]
    # A Literal without a bound: a reviewer may drop customers, but not put the erasure on another legal ground.
    ground: Literal["erasure_request", "inactive_3y"] = Field(description="The legal ground of the erasure.")


class CustomerStanding(Facts):
    """What would be lost or broken with a customer."""

    open_invoices: int = Field(ge=0)
    draft_invoices: int = Field(ge=0)
    legal_hold: bool


class DeletionFacts(Facts):
    """The standing of every proposed customer that exists, by id."""

    customers: dict[str, CustomerStanding]


@rule(DeleteCustomers, DeletionFacts, risk=Risk.IRREVERSIBLE)
def delete_customers(ask: Ask[DeleteCustomers, DeletionFacts], so_far: Spend) -> Requirement:  # noqa: ARG001 - as mail
    """Never unasked, and never while somebody is owed something."""
    customers = ask.args.customer_ids
    need = Requirement(radius="deletion of customers", resources=tuple(customers))
    for objection in _objections(customers, ask.facts):
        need = need.forbid_when(True, objection)
    if need.mode is Mode.FORBIDDEN:
        return need
    number = "1 customer is" if len(customers) == 1 else f"{len(customers)} customers are"
    return need.needs("ops_leads", because=f"{number} erased for good.", confirm=True)


def _objections(customers: list[str], facts: DeletionFacts) -> Iterator[str]:
    for customer in customers:
        standing = facts.customers.get(customer)
        if standing is None:
            yield f"{customer} is not a customer we know."
            continue
        if standing.legal_hold:
            yield f"{customer} is under a legal hold."
        if standing.open_invoices:
            yield f"{customer} has {_invoices(standing.open_invoices, 'open')}."
        if standing.draft_invoices:
            yield f"{customer} has {_invoices(standing.draft_invoices, 'draft')}, which will be sent."


def _invoices(number: int, state: str) -> str:
    return f"{number} {state} invoice{'' if number == 1 else 's'}"
