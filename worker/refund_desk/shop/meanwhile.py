"""What happens in the shop while somebody decides: applied on demand, to show and to test drift."""

from collections.abc import Callable

from sqlalchemy.orm import Session

from policies.money import Money
from worker.refund_desk.shop.files import data_text, read_json, read_payments
from worker.refund_desk.shop.load import put_manifest, put_payments
from worker.refund_desk.shop.tables import Invoice, Payment, Recipient


def overnight(session: Session) -> str:
    """Three more payments fail during the night."""
    return _more_payments(session, "failed_payments_new_overnight.csv")


def mixed_currency(session: Session) -> str:
    """Six payments of the same day in four currencies."""
    return _more_payments(session, "failed_payments_mixed_currency.csv")


def retagged_manifest(session: Session) -> str:
    """The registry now answers one tag with another digest."""
    return f"manifest {put_manifest(session, 'deploy_manifest_retagged.json')} put in place of the old one"


def campaign_events(session: Session) -> str:
    """Two recipients cannot be written to any more."""
    events = read_json("campaign_events_during_wait.json")
    for event in events:
        recipient = session.get(Recipient, event["recipient_id"])
        if recipient is not None:
            recipient.consent = event["change"]
    return f"{len(events)} recipients changed"


def deletion_events(session: Session) -> str:
    """A draft invoice is opened, an open one is paid, and somebody on the erasure list buys again."""
    events = read_json("deletion_events_during_wait.json")
    for event in events:
        if "invoice_id" in event:
            invoice = session.get(Invoice, event["invoice_id"])
            if invoice is not None:
                invoice.state = event["change"].partition("->")[2]
        else:
            _pays(session, event["customer_id"], Money.typed(event["amount"], "EUR"), event["at"])
    return f"{len(events)} changes on the erasure list"


EVENTS: dict[str, Callable[[Session], str]] = {
    "overnight": overnight,
    "mixed-currency": mixed_currency,
    "retagged-manifest": retagged_manifest,
    "campaign-events": campaign_events,
    "deletion-events": deletion_events,
}


def _more_payments(session: Session, name: str) -> str:
    return f"{put_payments(session, read_payments(name, data_text(name)))} payments added"


def _pays(session: Session, customer_id: str, amount: Money, at: str) -> None:
    session.merge(
        Payment(
            payment_id=f"pay_new_{customer_id}",
            customer_id=customer_id,
            invoice_id=f"inv_new_{customer_id}",
            charge_id=f"ch_new_{customer_id}",
            amount_minor=amount.minor,
            currency=amount.currency,
            failure_code="",
            failed_at=at,
            attempts=1,
            status="succeeded",
        )
    )
