"""Drafts: they leave a trace that can be taken back, so nobody is asked."""

from typing import Annotated

from pydantic import Field

from policies.arguments import Arguments, Id
from policies.edits import Text
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import Ask, NoFacts, Spend, rule


class DraftRefundReport(Arguments):
    """Save a draft report about refunds. Drafts are seen by the finance team only and can be deleted."""

    title: Annotated[str, Text(max=120)] = Field(min_length=1, description="Title of the report.")
    body: Annotated[str, Text(max=4000)] = Field(min_length=1, description="The report as plain text.")
    payment_ids: list[Id] = Field(max_length=500, description="Ids of the payments the report is about.")


@rule(DraftRefundReport, risk=Risk.REVERSIBLE, undo="Delete the draft.")
def draft_refund_report(ask: Ask[DraftRefundReport, NoFacts], so_far: Spend) -> Requirement:  # noqa: ARG001 - no money
    """A draft is read by colleagues before anybody acts on it."""
    return Requirement(radius="draft reports").auto_when(True, "A draft, which can be deleted.").needs("billing")
