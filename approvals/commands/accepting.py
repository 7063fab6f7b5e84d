import click

from approvals.errors import ApprovalsError
from approvals.ledger import Ledger, LedgerUnreachable
from approvals.ledger_head import BEGINNING, LOST, Head, LedgerAbsent, LedgerDiffers
from approvals.ledger_opening import ledger_of
from approvals.store import Store

_NOT_NEW = "Leave --new-ledger out."


class NothingAccepted(ApprovalsError):
    """What would be accepted is not what somebody can have meant; the text says what to do."""


def accept_ledger(store: Store, url: str, *, by: str, reason: str, reconciled: bool, new: bool) -> None:
    """Go on with a ledger that is not the one, or as new as, events were handed over to: when somebody looked.

    The ledger itself keeps what it lacks. A ledger that nobody can read is left to the clock. One without rows, as a
    directory that was not mounted gets it, is accepted only as `new`: it is made when there is none.

    Raises:
        LedgerAbsent: there is none, so nobody can have looked at it.
        LedgerDiffers: nobody says that they looked.
        NothingAccepted: it is new and nobody says so, it is not, or something else was noted meanwhile.
    """
    was = store.ledger.noted()
    if was is None:
        if new:
            raise NothingAccepted(f"Nothing was accepted: nothing was handed over to a ledger yet. {_NOT_NEW}")
        return
    try:
        ledger_of(url, store)
    except LedgerUnreachable as away:
        click.echo(f"Warning: {away} Whether it is the one that events were handed over to is not known.", err=True)
    except LedgerAbsent as absent:
        if not new:
            raise
        _accept(store, url, was, absent, by=by, reason=reason, new=True)
    except LedgerDiffers as differs:
        if not reconciled:
            raise
        _accept(store, url, was, differs, by=by, reason=reason, new=new)
    else:
        if new:
            raise NothingAccepted(f"Nothing was accepted: nothing is missing in this ledger. {_NOT_NEW}")


def _accept(store: Store, url: str, was: Head, differs: LedgerDiffers, *, by: str, reason: str, new: bool) -> None:
    head = Ledger.open(url, made=new).newest(store.tenant)
    if new and head != BEGINNING:
        raise NothingAccepted(f"Nothing was accepted: this ledger has rows up to {head.seq}. {_NOT_NEW}")
    if head == BEGINNING and not new:
        raise NothingAccepted(
            f"Nothing was accepted. {differs.lacks}: it has no row of this workspace. Mount or restore the right one."
            f" {LOST}"
        )
    why = "; ".join(part for part in (differs.lacks, reason.strip()) if part)
    if not store.ledger.accept(was, head, by=by, reason=why).ok:
        raise NothingAccepted("Nothing was accepted: events were handed over just now. Repeat it.")
    click.echo(f"Accepted as it is, and so recorded in it. {why}.")
