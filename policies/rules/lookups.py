"""Looking things up: tools that change nothing and never ask. Their arguments are read as strictly as any."""

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from policies.arguments import Arguments, Id, Personal
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import Ask, NoFacts, Spend, rule

NOTHING = Requirement(radius="nothing: it only reads")


class SearchPayments(Arguments):
    """List payments of a period with their status. Pages hold 100 payments; the answer says how many there are."""

    status: Literal["failed", "succeeded", "refunded", "disputed", "any"] = Field(description="Only of this status.")
    since: date = Field(description="First day, as YYYY-MM-DD.")
    until: date = Field(description="Last day, as YYYY-MM-DD.")
    page: int = Field(default=1, ge=1, le=1000, description="Page, from 1.")


class SearchCustomers(Arguments):
    """Find customers by id, or by a part of name or email address. Pages hold 100 customers."""

    text: Annotated[str, Personal()] = Field(max_length=200, description="What to look for; empty lists everybody.")
    page: int = Field(default=1, ge=1, le=1000, description="Page, from 1.")


class ReadRefundPolicy(Arguments):
    """Read the refund policy of the company."""


class ReadErasureList(Arguments):
    """Read the list of customers who asked to be erased."""


class ReadManifest(Arguments):
    """Read a deployment manifest: services, digests, migrations, configuration."""

    manifest_id: Id = Field(description="Id of the manifest, for example dep_0042.")


@rule(SearchPayments, risk=Risk.READ_ONLY)
def search_payments(ask: Ask[SearchPayments, NoFacts], so_far: Spend) -> Requirement:  # noqa: ARG001 - see NOTHING
    """It only reads."""
    return NOTHING


@rule(SearchCustomers, risk=Risk.READ_ONLY)
def search_customers(ask: Ask[SearchCustomers, NoFacts], so_far: Spend) -> Requirement:  # noqa: ARG001 - see NOTHING
    """It only reads."""
    return NOTHING


@rule(ReadRefundPolicy, risk=Risk.READ_ONLY)
def read_refund_policy(ask: Ask[ReadRefundPolicy, NoFacts], so_far: Spend) -> Requirement:  # noqa: ARG001 - see NOTHING
    """It only reads."""
    return NOTHING


@rule(ReadErasureList, risk=Risk.READ_ONLY)
def read_erasure_list(ask: Ask[ReadErasureList, NoFacts], so_far: Spend) -> Requirement:  # noqa: ARG001 - see NOTHING
    """It only reads."""
    return NOTHING


@rule(ReadManifest, risk=Risk.READ_ONLY)
def read_manifest(ask: Ask[ReadManifest, NoFacts], so_far: Spend) -> Requirement:  # noqa: ARG001 - see NOTHING
    """It only reads."""
    return NOTHING
