"""The planner's last words: what happened to each call, from its envelope and nothing else."""

from collections.abc import Iterator, Mapping
from typing import Any

from worker.refund_desk.planner.conversation import Conversation, Envelope, Exchange
from worker.refund_desk.planner.corrections import was_corrected
from worker.refund_desk.planner.findings import Findings
from worker.refund_desk.planner.proposals import GATED, GROUNDS, Proposals
from worker.refund_desk.planner.wishes import Wish
from worker.refund_desk.planner.words import counted, money, sums

STAND_IN = (
    "(I am the offline planner that comes with this sample, a stand-in for a language model."
    " Set VOBO_MODEL and OPENAI_API_KEY for a real one.)"
)
ABLE = (
    "I can refund failed payments (of a day, or by id), mail the affected customers, erase customers on the erasure"
    " list, deploy a manifest, draft a refund report, and tell you the refund policy. For example: refund yesterday's"
    " failed payments, mail the affected customers and delete the customers on the erasure list."
)
_NOT_DONE = {
    "rejected": "a person refused it",
    "expired": "its time ended, which is not a refusal; ask again if it is still wanted",
    "refused": "a limit or a policy refused it",
    "failed": "it was tried and nothing happened",
    "withdrawn": "it was taken back",
}


def not_understood(request: str) -> str:
    """What to say to a request nobody can make sense of here."""
    said = " ".join(request.split())
    shown = f'"{said[:80]}{"..." if len(said) > 80 else ""}"' if said else "an empty request"  # noqa: PLR2004
    return f"I do not understand {shown}. {ABLE}\n\n{STAND_IN}"


def account(findings: Findings, proposed: Proposals, *, toolless: bool) -> str:
    """Everything that was asked for: found, done, not done, and why."""
    lines = [*_found(findings), *_outcomes(findings.conversation), *proposed.notes]
    lines += [f"A lookup gave no answer: {trouble}" for trouble in findings.troubles]
    if toolless and not findings.conversation.of(*GATED):
        lines.append("Nothing was proposed: no tools were left to me in this turn.")
    lines += [f"Left alone, as you asked: {wish}." for wish in sorted(findings.wanted.declined)]
    lines += [f'Not understood: "{clause}".' for clause in findings.wanted.unread]
    return "\n".join([*(lines or ["There was nothing to do."]), "", STAND_IN])


def _outcomes(conversation: Conversation) -> Iterator[str]:
    for exchange in conversation.of(*GATED):
        what = _what(exchange.tool, exchange.arguments)
        envelope = exchange.envelope
        again = " I proposed it once more with that changed." if was_corrected(exchange, conversation) else ""
        if envelope is None:
            yield f"{what}: the result cannot be read, so I do not claim that it happened."
        elif envelope.status == "executed":
            yield _done(exchange, envelope)
        elif envelope.status == "unknown":
            yield f"{what}: UNKNOWN, it may or may not have happened. An operator has to check. {envelope.sentence}"
        else:
            quoted = f' The reason given: "{envelope.reason}"' if envelope.reason else ""
            why = _NOT_DONE[envelope.status]
            yield f"{what}: NOT done, {why}. {_without_shout(envelope.sentence)}{quoted}{again}"


def _done(exchange: Exchange, envelope: Envelope) -> str:
    ran = envelope.executed if envelope.executed is not None else exchange.arguments
    changed = envelope.executed is not None and dict(envelope.executed) != dict(exchange.arguments)
    asked = f" (asked for: {_what(exchange.tool, exchange.arguments)})" if changed else ""
    done = f"done{' with changes' if changed else ''}{asked}"
    return f"{_what(exchange.tool, ran)}: {done}. {_without_shout(envelope.sentence)}".strip()


def _without_shout(sentence: str) -> str:
    """The envelope's sentence without what is said to models alone."""
    for start in ("NOT executed.", "EXECUTED WITH CHANGES.", "EXECUTED."):
        sentence = sentence.removeprefix(start)
    return sentence.removesuffix("See executed_input.").strip()


def _what(tool: str, arguments: Mapping[str, Any]) -> str:
    """A call in words, from the arguments it had."""
    match tool:
        case "refund_payments":
            lines = arguments.get("lines", [])
            return f"Refund of {counted(len(lines), 'payment')}, {sums([money(line['amount']) for line in lines])}"
        case "send_email":
            return f"Mail to {counted(len(arguments.get('recipients', [])), 'customer')}"
        case "delete_customers":
            ground = GROUNDS.get(str(arguments.get("ground")), "no known ground")
            return f"Erasure of {counted(len(arguments.get('customer_ids', [])), 'customer')} ({ground})"
        case "deploy":
            return f"Deployment of {arguments.get('manifest_id')} to {arguments.get('environment')}"
        case _:
            return f'Draft report "{arguments.get("title")}"'


def _found(findings: Findings) -> Iterator[str]:
    wanted = findings.wanted
    if Wish.POLICY in wanted:
        yield findings.policy() or "The refund policy could not be read."
    erasure = findings.erasure()
    if wanted.erasure_list(Wish.LOOK) and erasure is not None:
        yield (
            f"{erasure['count']} customers are on the erasure list; {len(erasure['erasable'])} can be erased,"
            f" {len(erasure['kept'])} must stay."
        )
    elif Wish.LOOK in wanted and findings.payments():
        payments = findings.payments()
        yield f"{counted(len(payments), 'payment')} found, {sums([money(each['amount']) for each in payments])}."
    newest = wanted.day is None and not findings.by_id and findings.day
    if newest and any(wish in wanted for wish in (Wish.REFUND, Wish.LOOK, Wish.REPORT)):
        yield f"The newest day with failed payments is {newest}; that is the day I used."
