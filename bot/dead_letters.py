"""What an operator may press under a message of ops. Nothing here can run an effect a second time."""

from approvals.lifecycle import RunState, State
from approvals.store import Store
from bot.blocks import Block, Message, actions, button, confirm, context
from bot.ids import OPS, ActionId
from bot.text import inert

#: A button's value takes no more; such a subject is told, and closed by the `vobo` command.
_LONGEST_VALUE = 2_000


def with_controls(store: Store, message: Message, subject: str, closed_by: str | None) -> Message:
    """The message with what fits its matter as it stands now; once closed, who closed it."""
    if closed_by:
        return Message(message.text, [*message.blocks, context(f"Closed by {inert(closed_by, 80)}")])
    buttons = _buttons(store, subject)
    return Message(message.text, [*message.blocks, actions(OPS, *buttons)]) if buttons else message


def _buttons(store: Store, subject: str) -> list[Block]:
    kind, _, rest = subject.partition(":")
    close = button("Close", ActionId.CLOSE, subject, label="Close: somebody has seen to it")
    closing = [close] if len(subject) <= _LONGEST_VALUE else []
    if kind == "switch":
        return []  # it says itself when it is over
    if kind == "call":
        call = store.calls.load(rest)
        return _settling(rest) if call and call.state is State.UNKNOWN else closing
    if kind == "run":
        run = store.runs.load(rest)
        return [_requeue(rest), *closing] if run and run.state is RunState.FAILED else closing
    return closing


def _settling(key: str) -> list[Block]:
    return [
        button("Ask the provider", ActionId.RECONCILE, key, label="Ask the provider again what became of it"),
        button("Mark as done", ActionId.MARK_DONE, key),
        button("Mark as not done", ActionId.MARK_NOT_DONE, key),
    ]


def _requeue(run_id: str) -> Block:
    found = button("Put back in the queue", ActionId.REQUEUE, run_id)
    found["confirm"] = confirm("Take it up again?", "What its calls did is not done again.", "Put it back")
    return found
