"""The one second try a refusal allows: leave out the entry or shorten the text that it names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from worker.refund_desk.planner.conversation import Conversation, Exchange
from worker.refund_desk.planner.proposals import GATED
from worker.refund_desk.planner.steps import ToolCall

#: What the engine says when it allows one.
_ALLOWED = {"refused": "call the tool again", "rejected": "one new proposal"}
_POINTER = re.compile(r"(?<!\S)/([a-z_]+)(?:/(\d+))?")
_LIMIT = re.compile(r"at most (\d+) characters")
_LEAVE_OUT = re.compile(r"\b(?:leave out|without|except|not|drop|remove|exclude|take out)\b", re.IGNORECASE)
_ID = re.compile(r"\b(?:pay|cus)_\w+")
_LISTS = {"refund_payments": "lines", "send_email": "recipients", "delete_customers": "customer_ids"}


def corrections(conversation: Conversation) -> tuple[ToolCall, ...]:
    """Second tries for the newest turn of gated calls; none when a tool had its second try already."""
    return tuple(_corrected(conversation.of(*GATED)))


def was_corrected(exchange: Exchange, conversation: Conversation) -> bool:
    """A later turn tried this call again."""
    return any(other.turn > exchange.turn for other in conversation.of(exchange.tool))


def _corrected(exchanges: Sequence[Exchange]) -> Iterator[ToolCall]:
    first = min((exchange.turn for exchange in exchanges), default=0)
    retried = {exchange.tool for exchange in exchanges if exchange.turn > first}
    for exchange in exchanges:
        envelope = exchange.envelope
        if envelope is None or exchange.turn != first or exchange.tool in retried:
            continue
        if _ALLOWED.get(envelope.status, "\n") not in envelope.next:
            continue
        said = envelope.sentence if envelope.status == "refused" else envelope.reason or ""
        changed = _without_named(exchange, said) if envelope.status == "rejected" else _without_field(exchange, said)
        if changed is not None:
            yield ToolCall(exchange.tool, changed)


def _without_named(exchange: Exchange, reason: str) -> Mapping[str, Any] | None:
    """The call without the ids that a person wants left out; None when the reason says something else."""
    name, ids = _LISTS.get(exchange.tool), set(_ID.findall(reason))
    if name is None or not ids or not _LEAVE_OUT.search(reason):
        return None
    entries = exchange.arguments.get(name, [])
    left = [entry for entry in entries if _id(entry) not in ids]
    return {**exchange.arguments, name: left} if left and len(left) < len(entries) else None


def _without_field(exchange: Exchange, sentence: str) -> Mapping[str, Any] | None:
    """The call without the list entry, or with the text cut, that a field error names."""
    found = _POINTER.search(sentence)
    if found is None or found[1] not in exchange.arguments:
        return None
    name, value = found[1], exchange.arguments[found[1]]
    if isinstance(value, list) and found[2] is not None and len(value) > 1 and int(found[2]) < len(value):
        return {**exchange.arguments, name: [entry for at, entry in enumerate(value) if at != int(found[2])]}
    limit = _LIMIT.search(sentence)
    if isinstance(value, str) and limit is not None:
        return {**exchange.arguments, name: value[: int(limit[1])]}
    return None


def _id(entry: Any) -> str:
    return str(entry.get("payment_id")) if isinstance(entry, dict) else str(entry)
