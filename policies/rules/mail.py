"""Mail to customers: what may be asked, and what it takes."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from policies.arguments import Arguments, Id
from policies.edits import SubsetOfProposed, Text
from policies.plain_text import quoted
from policies.requirement import Requirement
from policies.risk import Mode, Risk
from policies.rule import Ask, Facts, Spend, rule

#: Up to so many recipients the people who answer customers decide; above, it is a mailing.
FEW = 10


class SendEmail(Arguments):
    """Send one text by email to customers. Sent mail cannot be taken back."""

    recipients: Annotated[
        list[Id],
        SubsetOfProposed(),
        Field(min_length=1, max_length=500, description="Customer ids (cus_0001) or email addresses; all in one call."),
    ]
    subject: Annotated[str, Text(max=120)] = Field(min_length=1, description="Subject line.")
    body: Annotated[str, Text(max=4000)] = Field(min_length=1, description="The text exactly as it will be sent.")


class MailFacts(Facts):
    """By recipient as proposed: the address it stands for, and a sentence where it may not be written to."""

    address_of: dict[str, str]
    problems: dict[str, str] = {}


@rule(SendEmail, MailFacts, risk=Risk.IRREVERSIBLE)
def send_email(ask: Ask[SendEmail, MailFacts], so_far: Spend) -> Requirement:  # noqa: ARG001 - mail costs no money
    """A person reads every mail; many recipients are asked of a stricter tier, twice."""
    recipients = ask.args.recipients
    addresses = [ask.facts.address_of[name] for name in recipients if name in ask.facts.address_of]
    # A refusal is remembered for who was meant, however the address is spelled.
    meant = [ask.facts.address_of.get(name, name) if "@" in name else name for name in recipients]
    need = Requirement(radius=_radius(addresses), resources=tuple(dict.fromkeys([*meant, *recipients])))
    for objection in _objections(recipients, ask.facts):
        need = need.forbid_when(True, objection)
    if need.mode is Mode.FORBIDDEN:
        return need
    if len(recipients) <= FEW:
        return need.needs("support", because=f"Mail to {_people(len(recipients))}.")
    return need.needs("billing", because=f"Mail to {_people(len(recipients))}, more than {FEW}.", confirm=True)


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number} people"


def _radius(addresses: list[str]) -> str:
    domains = sorted({address.rpartition("@")[2].lower() for address in addresses})
    if len(domains) == 1:
        return f"mail to {domains[0]}"
    return f"mail to {len(domains)} domains"


def _objections(recipients: list[str], facts: MailFacts) -> Iterator[str]:
    for name in recipients:
        address = facts.address_of.get(name)
        if address is None:
            yield f"{quoted(name)} is nobody we know an address of."
        elif address.count("@") != 1 or not all(address.split("@")):
            yield f"{quoted(address)} is not an email address."
        elif not address.isascii():
            yield f"{quoted(address)} has letters outside ASCII and may imitate another address; leave it out."
        if name in facts.problems:
            yield f"{quoted(name)}: {facts.problems[name]}"
    twins = Counter(facts.address_of[name].lower() for name in recipients if name in facts.address_of)
    yield from (f"{quoted(address)} is listed {times} times." for address, times in twins.items() if times > 1)
