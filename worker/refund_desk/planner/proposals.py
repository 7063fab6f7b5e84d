"""From findings to calls that need a decision, with a note for everything that is not proposed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from policies.money import Money
from worker.refund_desk.planner.findings import Findings, Found
from worker.refund_desk.planner.selection import select_payments
from worker.refund_desk.planner.steps import ToolCall
from worker.refund_desk.planner.wishes import Wish
from worker.refund_desk.planner.words import counted

#: The tools whose calls need a decision.
GATED = ("refund_payments", "send_email", "delete_customers", "deploy", "draft_refund_report")
MOST_LINES, MOST_RECIPIENTS, MOST_CUSTOMERS, MOST_REPORTED = 100, 500, 100, 500
GROUNDS = {"erasure_request": "asked to be erased", "inactive_3y": "inactive for 3 years"}
BODY = """\
Hello,

your payment of {day} did not go through. You do not need to do anything now: our billing desk is looking into it.

Your billing desk"""


@dataclass(frozen=True, slots=True)
class Proposals:
    """The calls, why they are proposed, and what is not proposed and why; both in whole sentences."""

    calls: tuple[ToolCall, ...]
    why: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """What one wish comes to."""

    calls: Sequence[ToolCall] = ()
    why: str = ""
    notes: Sequence[str] = ()


def proposals(findings: Findings) -> Proposals:
    """Every call the request asks for, at once: none of them depends on another's outcome."""
    parts = [make(findings) for wish, make in _PARTS.items() if wish in findings.wanted]
    return Proposals(
        calls=tuple(call for part in parts for call in part.calls),
        why=tuple(part.why for part in parts if part.calls),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )


def _refunds(findings: Findings) -> Part:
    chosen = select_payments(findings, Wish.REFUND)
    by_currency: dict[str, list[tuple[Found, Money]]] = {}
    for payment, amount in chosen.refundable:
        by_currency.setdefault(amount.currency, []).append((payment, amount))
    calls = [
        ToolCall("refund_payments", {"lines": [_line(*pair) for pair in lines], "reason": "failed_capture"})
        for pairs in by_currency.values()
        for lines in _chunks(pairs, MOST_LINES)
    ]
    why = f"{counted(len(chosen.refundable), 'payment')} to refund, {chosen.total}: {chosen.origin}."
    return Part(calls, why, chosen.notes)


def _mails(findings: Findings) -> Part:
    wanted = findings.wanted
    ids = wanted.ids("cus", Wish.MAIL)
    if not wanted.campaign() and not ids:
        chosen = select_payments(findings, Wish.REFUND if Wish.REFUND in wanted else Wish.MAIL)
        affected = list(dict.fromkeys(str(payment["customer_id"]) for payment in chosen.payments))
        day = findings.day or ""
        body = wanted.quoted or BODY.format(day=day)
        return _mail(affected, f"Your payment of {day}", body, f"the customers of {chosen.origin}", chosen.notes)
    if wanted.quoted is None:
        return Part(notes=["What should the mail say? Put its text into quotation marks."])
    if ids:
        return _mail(list(ids), "A message from our billing desk", wanted.quoted, "the customers who were named", ())
    return _campaign(findings, wanted.quoted)


def _campaign(findings: Findings, text: str) -> Part:
    able = [customer for customer in findings.customers() if customer["may_get_campaigns"]]
    plain = [str(customer["customer_id"]) for customer in able if str(customer["email"]).isascii()]
    notes = (
        [f"{len(able) - len(plain)} of the mailing list left out: letters outside ASCII in the address."]
        if len(plain) < len(able)
        else []
    )
    return _mail(plain, "News from our shop", text, "everybody on the mailing list who consented", notes)


def _mail(recipients: list[str], subject: str, body: str, who: str, notes: Sequence[str]) -> Part:
    calls = [
        ToolCall("send_email", {"recipients": chunk, "subject": subject, "body": body})
        for chunk in _chunks(recipients, MOST_RECIPIENTS)
    ]
    return Part(calls, f"A mail to {counted(len(recipients), 'customer')}: {who}.", notes)


def _deletions(findings: Findings) -> Part:
    listed, wanted = findings.erasure(), findings.wanted
    if listed is None:
        return Part(notes=["The erasure list could not be read, so nobody is proposed for erasure."])
    named, excepted = wanted.ids("cus", Wish.DELETE), wanted.excepted(Wish.DELETE)
    if not named and not wanted.erasure_list(Wish.DELETE):
        return Part(notes=["Which customers should be erased? Name them, or say that you mean the erasure list."])
    kept = {str(entry["customer_id"]): str(entry["why"]) for entry in listed["kept"]}
    grounds = {str(entry["customer_id"]): str(entry["ground"]) for entry in listed["erasable"]}
    by_ground: dict[str, list[str]] = {}
    for customer, ground in grounds.items():
        if ground in GROUNDS and customer not in excepted and (not named or customer in named):
            by_ground.setdefault(ground, []).append(customer)
    calls = [
        ToolCall("delete_customers", {"customer_ids": chunk, "ground": ground})
        for ground, customers in by_ground.items()
        for chunk in _chunks(customers, MOST_CUSTOMERS)
    ]
    parts = [f"{len(customers)} {GROUNDS[ground]}" for ground, customers in by_ground.items()]
    why = f"Customers of the erasure list to erase: {', '.join(parts)}; they owe nothing."
    return Part(calls, why, _not_erased(named, kept, grounds))


def _not_erased(named: Sequence[str], kept: Mapping[str, str], grounds: Mapping[str, str]) -> list[str]:
    if named:
        notes = [f"{customer} stays: {kept[customer]}." for customer in named if customer in kept]
        unknown = [customer for customer in named if customer not in kept and customer not in grounds]
        return notes + [f"{customer} is not on the erasure list, so it is not proposed." for customer in unknown]
    other = [customer for customer, ground in grounds.items() if ground not in GROUNDS]
    notes = [f"{counted(len(other), 'customer')} on the list for a ground that no rule knows."] if other else []
    if kept:
        reasons = ", ".join(f"{list(kept.values()).count(why)} for {why}" for why in dict.fromkeys(kept.values()))
        notes.append(f"{len(kept)} on the erasure list stay: {reasons}.")
    return notes


def _deploys(findings: Findings) -> Part:
    manifest = findings.manifest()
    if manifest is None:
        return Part(notes=["No manifest was found, so nothing is proposed for deployment."])
    name, environment = manifest["manifest_id"], manifest["environment"]
    call = ToolCall("deploy", {"manifest_id": name, "environment": environment})
    return Part([call], f"Manifest {name} to {environment}, as it was asked for.")


def _reports(findings: Findings) -> Part:
    chosen = select_payments(findings, Wish.REPORT)
    if not chosen.payments:
        return Part(notes=chosen.notes or ["There is nothing to report on."])
    counts: dict[str, int] = {}
    for payment in chosen.payments:
        counts[payment["failure_code"]] = counts.get(payment["failure_code"], 0) + 1
    causes = "\n".join(f"{number} x {code.replace('_', ' ')}" for code, number in sorted(counts.items()))
    head = f"{counted(len(chosen.payments), 'payment')}, {chosen.charged}."
    call = ToolCall(
        "draft_refund_report",
        {
            "title": f"Failed payments of {findings.day}",
            "body": f"{head}\n\n{causes}",
            "payment_ids": [payment["payment_id"] for payment in chosen.payments][:MOST_REPORTED],
        },
    )
    return Part([call], "A draft report, as it was asked for.")


_PARTS: dict[Wish, Callable[[Findings], Part]] = {
    Wish.REFUND: _refunds,
    Wish.MAIL: _mails,
    Wish.DELETE: _deletions,
    Wish.DEPLOY: _deploys,
    Wish.REPORT: _reports,
}


def _line(payment: Found, amount: Money) -> dict[str, Any]:
    return {"payment_id": payment["payment_id"], "amount": {"minor": amount.minor, "currency": amount.currency}}


def _chunks(entries: Sequence[Any], most: int) -> Iterator[list[Any]]:
    for start in range(0, len(entries), most):
        yield list(entries[start : start + most])
