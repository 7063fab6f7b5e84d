"""What an operator says about an outcome that nobody saw: done or not done, with the reason they know it by."""

from approvals.models import Call
from bot.blocks import context, leaf, line, rich
from bot.ids import REASON, CallbackId, Place
from bot.modals import View, field, modal, text_input
from bot.payloads import Submission

NO_REASON = "Say how you know, for example where you looked it up."
_TITLES = {CallbackId.MARK_DONE: "Mark as done", CallbackId.MARK_NOT_DONE: "Mark as not done"}
_MEANS = {
    CallbackId.MARK_DONE: "You say that it happened, once. The agent is told so, and it will not be tried again.",
    CallbackId.MARK_NOT_DONE: "You say that it did not happen. Its limits are given back; it will not be tried again.",
}


def settle_modal(call: Call, callback: CallbackId, place: Place, *, needed: int) -> View:
    """Asks for the reason; `needed` is how many people must say the same."""
    two = " A second operator must say the same before it counts." if needed > 1 else ""
    blocks = [
        rich(line(leaf(f"{_MEANS[callback]}{two}"))),
        context(f"Call `{call.key}` · idempotency key `{call.idempotency_key}`"),
        field(REASON, "How do you know?", text_input(multiline=True, most=1000, placeholder="Kept in the ledger.")),
    ]
    return modal(callback, _TITLES[callback], blocks, place, submit="Settle")


def read_reason(submitted: Submission) -> str | None:
    """What was typed; None when it is empty."""
    typed = submitted.values.get(REASON)
    return typed.strip() or None if isinstance(typed, str) else None
