"""The operators' controls under an undo whose outcome nobody saw. None of them can begin an undo."""

from collections.abc import Callable

from approvals.at_work import left_ms
from approvals.lifecycle import UndoState
from bot.asker import asker_of, tell
from bot.authority import operator
from bot.deciding import wanted
from bot.deps import Deps
from bot.errors import Refused
from bot.ids import REASON, ActionId, CallbackId, Place, read_id, read_undo_ref
from bot.language import say
from bot.modals import View
from bot.opening_modals import open_modal
from bot.payloads import Click, Submission
from bot.refusals import still_at_work
from bot.settle_modal import no_reason, read_reason, settle_modal
from bot.text import plain
from bot.undoing import UNDO

_CONTROLS = {CallbackId.MARK_UNDONE: ActionId.MARK_UNDONE, CallbackId.MARK_NOT_UNDONE: ActionId.MARK_NOT_UNDONE}
_TWO = 2


def ask_provider(deps: Deps, click: Click) -> None:
    """`ops.reconcile_undo`: the tool asks its provider once more what became of the undo."""
    key = read_id(click.value)
    person = operator(deps, click.sender, ActionId.RECONCILE_UNDO, key)
    if not deps.store.undos.ask_provider(key, by=person).ok:
        deps.store.outbox.owe("alert", f"undo:{key}")
        deps.wake.set()
        raise Refused(_settled())
    deps.nudge(UNDO, key)
    tell(
        deps,
        asker_of(click),
        say(
            "The provider is being asked; this message tells what it says."
            " If the tool cannot ask, settle the undo by hand."
        ),
    )


def open_mark(callback: CallbackId) -> Callable[[Deps, Click], None]:
    """`ops.mark_undone` and `ops.mark_not_undone`: asks how the operator knows."""

    def opening(deps: Deps, click: Click) -> None:
        ref = read_undo_ref(click.value)

        def fill(place: Place) -> View:
            operator(deps, click.sender, _CONTROLS[callback], ref.key)
            call = wanted(deps, ref.key)
            return settle_modal(call, callback, place, needed=min(_TWO, call.needed))

        open_modal(deps, click, callback, say("Settle an undo"), fill)

    return opening


def submit_mark(deps: Deps, submitted: Submission) -> dict[str, str]:
    """One operator's word, about the attempt they pressed for; where the call needed two reviewers, it takes two."""
    reason = read_reason(submitted)
    if reason is None:
        return {REASON: no_reason()}
    ref = read_undo_ref(submitted.place.ref)
    callback = CallbackId(submitted.callback_id)
    person = operator(deps, submitted.sender, _CONTROLS[callback], ref.key)
    call = wanted(deps, ref.key)
    answer = deps.store.undos.settle(
        call,
        attempt=ref.attempt,
        happened=callback is CallbackId.MARK_UNDONE,
        by=person.user,
        name=person.name,
        reason=reason,
        needed=min(_TWO, call.needed),
    )
    deps.wake.set()
    if answer.ok:
        return {}
    left = left_ms(answer)
    return {REASON: plain(still_at_work(deps.store.now() + left) if left else _settled())}


def refuse_open_undo(deps: Deps, subject: str) -> None:
    """An alert about an undo stays open until somebody has settled it.

    Raises:
        Refused: nobody has.
    """
    kind, _, key = subject.partition(":")
    call = deps.store.calls.load(key) if kind == "undo" else None
    if call is not None and call.undo is not None and call.undo.state is UndoState.UNKNOWN:
        raise Refused(say("Nobody knows yet what became of this undo. Settle it first."))


def _settled() -> str:
    return say("Nothing was done: what became of this undo is known by now, or it is no longer kept.")


#: The work behind these buttons, and behind their modals.
UNDO_OPERATING: dict[str, Callable[[Deps, Click], None]] = {
    ActionId.RECONCILE_UNDO: ask_provider,
    ActionId.MARK_UNDONE: open_mark(CallbackId.MARK_UNDONE),
    ActionId.MARK_NOT_UNDONE: open_mark(CallbackId.MARK_NOT_UNDONE),
}
UNDO_MARKING: dict[str, Callable[[Deps, Submission], dict[str, str]]] = {
    CallbackId.MARK_UNDONE: submit_mark,
    CallbackId.MARK_NOT_UNDONE: submit_mark,
}
