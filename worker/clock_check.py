"""What `python -m worker.clock --check` finds before anything is due."""

from approvals.anchors import Signer
from approvals.errors import ApprovalsError
from approvals.findings import Finding, failure, fine, unprepared, warning
from approvals.ledger_opening import ledger_of
from approvals.opening import open_store
from approvals.store import Store
from approvals.store_checks import store_checks
from policies.law import LawRefused
from worker.assembly import prepared


def check() -> list[Finding]:
    """Everything that can be known without starting; without the ledger the clock would start, and only not drain."""
    try:
        found = prepared()
    except (LawRefused, ApprovalsError) as refused:
        return unprepared(refused)
    settings = found.settings
    told: list[Finding] = []
    stores: list[Store] = []
    try:
        opened = open_store(settings, tenant=found.tenant)
        stores.append(opened.store)
        told += [warning("redis", each) for each in opened.warnings]
        told += store_checks(opened.store)
        Signer.of(opened.vault, settings.anchor_key.get_secret_value() if settings.anchor_key else None)
    except ApprovalsError as refused:
        told.append(failure("store", str(refused)))
    try:
        if stores:  # who does not know what was handed over cannot say which one is right
            ledger_of(settings.ledger_url, *stores).engine.dispose()
            told.append(fine("ledger", "The ledger can be opened."))
    except ApprovalsError as refused:
        told.append(failure("ledger", str(refused)))
    return told
