"""Mail: how recipients are found, what a reviewer reads, and how it is sent."""

from sqlalchemy.orm import Session

from policies.plain_text import is_hidden, quoted
from policies.rules.mail import MailFacts, SendEmail
from worker.actions import ActionContext, Ask, NothingHappened, Precondition, Preview, action
from worker.refund_desk.shop import mailing, mails
from worker.refund_desk.shop.mails import MailReceipt
from worker.refund_desk.tools.doors import counted, find, once, read, sealed

SAMPLE = 5
#: Characters of the subject in the headline; all of it stands with the text.
SUBJECT = 60


async def look_up_recipients(args: SendEmail) -> MailFacts:
    """The address each recipient stands for, and why one may not be written to.

    A customer has one name, the id: what a person refused of it does not come back under its address.
    """
    address_of = await read(lambda session: mailing.addresses(session, args.recipients))
    owners = await read(lambda session: mailing.owners(session, address_of.values()))
    return MailFacts(
        address_of=address_of,
        problems={
            name: f"it is the address of {owners[address]}; name the customer by id."
            for name, address in address_of.items()
            if "@" in name and address in owners
        }
        | {
            name: "its address has a character nobody can see."
            for name, address in address_of.items()
            if any(is_hidden(char) for char in address)
        },
    )


async def preview_mail(ask: Ask[SendEmail, MailFacts]) -> Preview:
    """The mail itself, who gets it, and who of them opted out of campaigns."""
    address_of = ask.facts.address_of
    consent = await read(lambda session: mailing.consents(session, address_of.values()))
    rows = tuple(
        {"recipient": name, "address": address_of[name], "campaigns": consent[address_of[name]]}
        for name in ask.args.recipients
    )
    out = sum(row["campaigns"] != mailing.SUBSCRIBED for row in rows)
    people = counted(len(rows), "person", "people")
    return Preview(
        headline=f"Mail {people}: {quoted(ask.args.subject, SUBJECT)}",  # in quotes: these are the agent's own words
        impact=(
            people,
            f"{out} of them not subscribed to campaigns, mailed all the same" if out else "all subscribed to campaigns",
            f"a text of {counted(len(ask.args.body), 'character')}, sent exactly as written",
        ),
        columns=("recipient", "address", "campaigns"),
        brief=("recipient", "address"),
        sample=rows[:SAMPLE],
        rows=rows,
        personal=("address",),
        body=f"Subject: {ask.args.subject}\n\n{ask.args.body}",
        precondition=Precondition.over(
            f"{counted(len(rows), 'recipient')} with these addresses and consents",
            rows,
            key="recipient",
            material=("recipient", "address", "campaigns"),
        ),
    )


async def find_mail(idempotency_key: str, args: SendEmail) -> MailReceipt | None:  # noqa: ARG001 - the key says it all
    """The receipt of an earlier attempt, None when nothing was sent."""
    return await find(idempotency_key, MailReceipt)


@action(SendEmail, check=look_up_recipients, preview=preview_mail, reconcile=find_mail, remembers_s=None)
async def send_email(ctx: ActionContext, args: SendEmail) -> MailReceipt:
    """Send one plain text by mail to customers, by customer id or address. Sent mail cannot be taken back."""

    def send(session: Session, at: str) -> MailReceipt:
        facts = sealed(ctx, MailFacts, "send_email", "No mail was sent.")
        address_of = mailing.addresses(session, args.recipients)
        unknown = [name for name in args.recipients if name not in address_of]
        if unknown:
            raise NothingHappened(f"There is no address of {unknown[0]}. No mail was sent.")
        moved = [name for name in args.recipients if address_of[name] != facts.address_of.get(name)]
        if moved:
            raise NothingHappened(f"The address of {moved[0]} changed after it was looked at last. No mail was sent.")
        addresses = [address_of[name] for name in args.recipients]
        return mails.send(session, ctx.idempotency_key, addresses, subject=args.subject, body=args.body, at=at)

    return await once(ctx, "send_email", args, send, MailReceipt)
