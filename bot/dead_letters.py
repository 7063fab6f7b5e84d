"""What an operator may press under a message of ops. Nothing here can run an effect a second time."""

from approvals.lifecycle import RunState, State, UndoState
from approvals.store import Store
from bot.blocks import Block, Message, actions, button, confirm, context
from bot.ids import OPS, ActionId, UndoRef
from bot.language import say
from bot.text import inert

#: A button's value takes no more; such a subject is told, without a button that closes it.
_LONGEST_VALUE = 2_000


def with_controls(store: Store, message: Message, subject: str, closed_by: str | None) -> Message:
    """The message with what fits its matter as it stands now; once closed, who closed it."""
    if closed_by:
        return Message(message.text, [*message.blocks, context(say("Seen by {name}", name=inert(closed_by, 80)))])
    buttons = _buttons(store, subject)
    return Message(message.text, [*message.blocks, actions(OPS, *buttons)]) if buttons else message


def _buttons(store: Store, subject: str) -> list[Block]:
    kind, _, rest = subject.partition(":")
    shown = say("Mark as seen")
    close = button(shown, ActionId.CLOSE, subject, label=say("{button}: somebody has seen to it", button=shown))
    closing = [close] if len(subject) <= _LONGEST_VALUE else []
    if kind == "switch":
        return []  # it says itself when it is over
    if kind == "call":
        call = store.calls.load(rest)
        return _settling(rest) if call and call.state is State.UNKNOWN else closing
    if kind == "undo":
        call = store.calls.load(rest)
        undo = call.undo if call else None
        if undo is None or undo.state is not UndoState.UNKNOWN:
            return closing
        return _settling_undo(UndoRef(rest, undo.token))
    if kind == "run":
        run = store.runs.load(rest)
        return [_requeue(rest), *closing] if run and run.state is RunState.FAILED else closing
    return closing


def _settling(key: str) -> list[Block]:
    return [
        button(say("Ask the provider"), ActionId.RECONCILE, key, label=say("Ask the provider again what became of it")),
        button(say("Mark as done"), ActionId.MARK_DONE, key),
        button(say("Mark as not done"), ActionId.MARK_NOT_DONE, key),
    ]


def _settling_undo(ref: UndoRef) -> list[Block]:
    ask = say("Ask the provider again what became of the undo")
    return [
        button(say("Ask the provider"), ActionId.RECONCILE_UNDO, ref.key, label=ask),
        button(say("Mark as undone"), ActionId.MARK_UNDONE, str(ref)),
        button(say("Mark as not undone"), ActionId.MARK_NOT_UNDONE, str(ref)),
    ]


def _requeue(run_id: str) -> Block:
    found = button(say("Put back in the queue"), ActionId.REQUEUE, run_id)
    question, text = say("Take it up again?"), say("What its calls did is not done again.")
    found["confirm"] = confirm(question, text, say("Put it back"))
    return found
