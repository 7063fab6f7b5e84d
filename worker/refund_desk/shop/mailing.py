"""The mailing list: who can be written to, as the sender itself would select them."""

import unicodedata
from collections.abc import Iterable, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from policies.plain_text import is_hidden
from worker.refund_desk.shop.tables import Customer, Recipient

SUBSCRIBED = "subscribed"


def normal(address: str) -> str:
    """An address in the one form in which two equal addresses are equal."""
    return unicodedata.normalize("NFC", address.strip()).casefold()


def deliverable(address: str) -> bool:
    """Nothing invisible in it, and a domain nobody can confuse with another one."""
    local, at, domain = normal(address).rpartition("@")
    return bool(local and at and domain) and domain.isascii() and not any(is_hidden(char) for char in local)


def addresses(session: Session, recipients: Sequence[str]) -> dict[str, str]:
    """The address each recipient stands for: an id its customer's, an address itself. Unknown ids are left out."""
    ids = [name for name in recipients if "@" not in name]
    known = dict(
        session.execute(select(Customer.customer_id, Customer.email).where(Customer.customer_id.in_(ids)))
        .tuples()
        .all()
    )
    found = {name: name if "@" in name else known.get(name) for name in recipients}
    return {name: normal(address) for name, address in found.items() if address is not None}


def owners(session: Session, wanted: Iterable[str]) -> dict[str, str]:
    """Address -> the customer whose it is, the first by id of several; left out when it is nobody's."""
    asked = set(wanted)
    rows = session.execute(select(Customer.email, Customer.customer_id).order_by(Customer.customer_id.desc()))
    return {address: customer for email, customer in rows.tuples() if (address := normal(email)) in asked}


def consents(session: Session, wanted: Iterable[str]) -> dict[str, str]:
    """What each address said about campaigns; one no is a no, and who was never asked is on no list."""
    said: dict[str, str] = {}
    rows = session.execute(select(Recipient.email, Recipient.consent).order_by(Recipient.recipient_id))
    for email, consent in rows.tuples():
        address = normal(email)
        if said.get(address, SUBSCRIBED) == SUBSCRIBED:
            said[address] = consent
    return {address: said.get(address, "on no list") for address in wanted}


def consenting(session: Session) -> dict[str, str]:
    """Address -> customer id of everybody who may get a campaign: each once, and only if no row of theirs says no."""
    chosen: dict[str, str] = {}
    refused: set[str] = set()
    for row in session.scalars(select(Recipient).order_by(Recipient.recipient_id)):
        address = normal(row.email)
        if row.consent != SUBSCRIBED:
            refused.add(address)
        elif deliverable(address):
            chosen.setdefault(address, row.customer_id)
    return {address: customer for address, customer in chosen.items() if address not in refused}
