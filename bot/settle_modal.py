"""What an operator says about an outcome that nobody saw: done or not done, with the reason they know it by."""

from approvals.models import Call
from bot.blocks import context, leaf, line, rich
from bot.ids import REASON, CallbackId, Place
from bot.language import say
from bot.modals import View, field, modal, text_input
from bot.payloads import Submission
from bot.what_words import safe_headline


def settle_modal(call: Call, callback: CallbackId, place: Place, *, needed: int) -> View:
    """Asks for the reason; `needed` is how many people must say the same."""
    key = call.idempotency_key
    if callback is CallbackId.MARK_UNDONE:
        key, title, submit = call.undo_key, say("Mark as undone"), say("It was undone")
        means = say("You say that it was taken back. It will not be tried again.")
    elif callback is CallbackId.MARK_NOT_UNDONE:
        key, title, submit = call.undo_key, say("Mark as not undone"), say("It was not undone")
        means = say("You say that it was not taken back. Whoever may can ask for it again, under the same key.")
    elif callback is CallbackId.MARK_DONE:
        title, submit = say("Mark as done"), say("It happened")
        means = say("You say that it happened, once. The agent is told so, and it will not be tried again.")
    else:
        title, submit = say("Mark as not done"), say("It did not happen")
        means = say("You say that it did not happen. Its limits are given back; it will not be tried again.")
    if needed > 1:
        means = f"{means} {say('A second operator must say the same before it counts.')}"
    about = say("Call `{call}` · idempotency key `{key}`", call=call.key, key=key)
    how = text_input(multiline=True, most=1000, placeholder=say("Kept in the ledger."))
    asked = field(REASON, say("How do you know?"), how)
    blocks = [rich(line(leaf(safe_headline(call), bold=True)), line(leaf(means))), asked, context(about)]
    return modal(callback, title, blocks, place, submit=submit)


def no_reason() -> str:
    """What stands at the field when nothing was typed."""
    return say("Say how you know, for example where you looked it up.")


def read_reason(submitted: Submission) -> str | None:
    """What was typed; None when it is empty."""
    typed = submitted.values.get(REASON)
    return typed.strip() or None if isinstance(typed, str) else None
