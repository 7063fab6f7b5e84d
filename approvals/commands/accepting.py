import click

from approvals.errors import ApprovalsError
from approvals.ledger import Ledger, LedgerUnreachable
from approvals.ledger_head import LedgerAbsent, LedgerDiffers
from approvals.ledger_opening import ledger_of
from approvals.store import Store


class NothingAccepted(ApprovalsError):
    """Redis noted something else meanwhile, so nobody knows what would be accepted."""


def accept_ledger(store: Store, url: str, *, by: str, reason: str, reconciled: bool) -> None:
    """Go on with a ledger that is not the one, or as new as, events were handed over to: when somebody looked.

    The ledger itself keeps what it lacks. A ledger that nobody can read is left to the clock.

    Raises:
        LedgerAbsent: there is none, so nobody can have looked at it.
        LedgerDiffers: nobody says that they looked.
        NothingAccepted: try again.
    """
    was = store.ledger.noted()
    if was is None:
        return
    try:
        ledger_of(url, store)
    except LedgerUnreachable as away:
        click.echo(f"Warning: {away} Whether it is the one that events were handed over to is not known.", err=True)
    except LedgerAbsent:
        raise
    except LedgerDiffers as differs:
        if not reconciled:
            raise
        why = "; ".join(part for part in (differs.lacks, reason.strip()) if part)
        if not store.ledger.accept(was, Ledger.open(url).newest(store.tenant), by=by, reason=why).ok:
            raise NothingAccepted("Nothing was accepted: events were handed over just now. Repeat it.") from None
        click.echo(f"Accepted as it is, and so recorded in it. {why}.")
