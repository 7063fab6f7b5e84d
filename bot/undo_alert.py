"""What ops is told about an undo whose outcome nobody saw."""

from approvals.lifecycle import UndoState
from approvals.models import Call, Run
from bot.alerts import alert_message, at_work, begun, ids
from bot.blocks import Message
from bot.language import say
from bot.text import inert
from bot.what_words import capital, full_stop


def undo_alert(
    call: Call,
    run: Run,
    marked: tuple[str, str] | None = None,
    *,
    link: str | None = None,
    now: int | None = None,
) -> Message | None:
    """An undo was begun and nobody knows how it ended. `marked` is the first of two operators' words.

    With `now` it says until when a worker may be at work on it, if that is still to come.
    """
    if call.undo is None:
        return None
    why = f" {inert(full_stop(capital(call.undo.reason)), 300)}" if call.undo.reason else ""
    asked = say("Its undo was asked for by {names}.", names=inert(call.undo.name, 120))
    about, keys = f"{begun(call, link)}\n{asked}", ids(call, run, call.undo_key)
    text = f"{about} *{_said(call.undo.state)}*{why}\n{keys}"
    title = say("Unknown undo")
    if call.undo.contradicted:
        late = say("A receipt came late: it was undone, whatever was said before.")
        return alert_message(
            title,
            f"*{late}*\n{text}",
            say(
                "Compare with the provider by the idempotency key, then mark this as seen. It is not undone once more."
            ),
        )
    if call.undo.state is not UndoState.UNKNOWN:
        return alert_message(title, text, say("Nothing is left to do."))
    if marked:
        says = say("undone") if marked[1] == UndoState.UNDONE else say("not undone")
        second = say("a second operator must say the same.")
        text = f"{about} *{_said(call.undo.state)}*{why} {inert(marked[0], 80)}: {says}; {second}\n{keys}"
    return alert_message(
        title,
        text,
        say("Look it up at the provider by the idempotency key, and mark it as undone or not undone."),
        certain=say("The call itself took effect. Its undo was asked for, and begun exactly once."),
        unclear=say("Whether it was taken back. The undo is not begun again while nobody can tell.")
        + at_work(call.undo.at_work_until, now),
    )


def _said(state: UndoState) -> str:
    match state:
        case UndoState.UNKNOWN:
            return say("Nobody can tell whether it was undone.")
        case UndoState.UNDONE:
            return say("It was undone.")
        case UndoState.FAILED:
            return say("It was not undone.")
        case _:
            return say("It was asked for again.")
