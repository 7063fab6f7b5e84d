"""What an operator says about an outcome that nobody saw: done or not done, with the reason they know it by."""

from approvals.models import Call
from bot.blocks import context, leaf, line, rich
from bot.ids import REASON, CallbackId, Place
from bot.language import say
from bot.modals import View, field, modal, text_input
from bot.payloads import Submission


def settle_modal(call: Call, callback: CallbackId, place: Place, *, needed: int) -> View:
    """Asks for the reason; `needed` is how many people must say the same."""
    key = call.idempotency_key
    if callback is CallbackId.MARK_UNDONE:
        key, title = call.undo_key, say("Mark as undone")
        means = say("You say that it was taken back. It will not be tried again.")
    elif callback is CallbackId.MARK_NOT_UNDONE:
        key, title = call.undo_key, say("Mark as not undone")
        means = say("You say that it was not taken back. Whoever may can ask for it again, under the same key.")
    elif callback is CallbackId.MARK_DONE:
        title = say("Mark as done")
        means = say("You say that it happened, once. The agent is told so, and it will not be tried again.")
    else:
        title = say("Mark as not done")
        means = say("You say that it did not happen. Its limits are given back; it will not be tried again.")
    if needed > 1:
        means = f"{means} {say('A second operator must say the same before it counts.')}"
    about = say("Call `{call}` · idempotency key `{key}`", call=call.key, key=key)
    how = text_input(multiline=True, most=1000, placeholder=say("Kept in the ledger."))
    blocks = [rich(line(leaf(means))), context(about), field(REASON, say("How do you know?"), how)]
    return modal(callback, title, blocks, place, submit=say("Settle"))


def no_reason() -> str:
    """What stands at the field when nothing was typed."""
    return say("Say how you know, for example where you looked it up.")


def read_reason(submitted: Submission) -> str | None:
    """What was typed; None when it is empty."""
    typed = submitted.values.get(REASON)
    return typed.strip() or None if isinstance(typed, str) else None
