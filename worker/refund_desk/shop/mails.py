"""Mails: what was sent, once to each recipient."""

from collections.abc import Sequence

from pydantic import BaseModel
from sqlalchemy.orm import Session

from worker.refund_desk.shop.errors import ShopRefused
from worker.refund_desk.shop.mailing import deliverable, normal
from worker.refund_desk.shop.tables import Mail


class MailReceipt(BaseModel):
    """What was sent to how many addresses."""

    sent: int
    subject: str
    at: str


def send(session: Session, key: str, recipients: Sequence[str], *, subject: str, body: str, at: str) -> MailReceipt:
    """Send one mail to each of these addresses.

    Raises:
        ShopRefused: an address cannot be delivered to, or nobody is left.
    """
    addresses = list(dict.fromkeys(normal(recipient) for recipient in recipients))
    if not addresses:
        raise ShopRefused("Nobody is left to write to. No mail was sent.")
    for address in addresses:
        if not deliverable(address):
            raise ShopRefused(f"{address!a} is not an address a mail can go to. No mail was sent.")
        session.add(Mail(idempotency_key=key, recipient=address, subject=subject, body=body, at=at))
    session.flush()
    return MailReceipt(sent=len(addresses), subject=subject, at=at)
