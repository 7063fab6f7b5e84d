"""What the refund desk can do: its lookups and its actions. What each may do is the law's, in `policies/rules/`."""

from agents import Tool

from worker.refund_desk.tools.deletions import delete_customers
from worker.refund_desk.tools.deploys import deploy
from worker.refund_desk.tools.lookups import (
    read_erasure_list,
    read_manifest,
    read_refund_policy,
    search_customers,
    search_payments,
)
from worker.refund_desk.tools.mail import send_email
from worker.refund_desk.tools.refunds import refund_payments
from worker.refund_desk.tools.reports import draft_refund_report


def all_tools() -> list[Tool]:
    """Every tool of the refund desk, lookups first."""
    return [
        search_payments,
        search_customers,
        read_refund_policy,
        read_erasure_list,
        read_manifest,
        refund_payments,
        send_email,
        delete_customers,
        deploy,
        draft_refund_report,
    ]
