"""The controls under what only a person can settle. None of them can run an effect."""

from collections.abc import Callable

from approvals.at_work import left_ms
from approvals.models import Call
from approvals.outcomes import Answer, Outcome
from bot.asker import asker_of, tell
from bot.authority import operator
from bot.deciding import RECONCILE, wanted
from bot.deps import Deps
from bot.errors import Refused
from bot.ids import REASON, ActionId, CallbackId, Place, read_id
from bot.language import say
from bot.modals import View
from bot.opening_modals import open_modal
from bot.payloads import Click, Submission
from bot.refusals import still_at_work
from bot.settle_modal import no_reason, read_reason, settle_modal
from bot.state_words import call_is, run_is
from bot.text import plain
from bot.undo_settling import refuse_open_undo

_CONTROLS = {CallbackId.MARK_DONE: ActionId.MARK_DONE, CallbackId.MARK_NOT_DONE: ActionId.MARK_NOT_DONE}
_TWO = 2


def ask_provider(deps: Deps, click: Click) -> None:
    """`ops.reconcile`: the tool asks its provider once more what became of the call."""
    key = read_id(click.value)
    person = operator(deps, click.sender, ActionId.RECONCILE, key)
    answer = deps.store.operators.ask_provider(key, by=person)
    if answer.ok:
        deps.nudge(RECONCILE, key)
        asked = say(
            "The provider is being asked; this message tells what it says. If the tool cannot ask, settle the call by"
            " hand."
        )
        tell(deps, asker_of(click), asked)
        return
    _again(deps, f"call:{key}")
    tell(deps, asker_of(click), _refused(answer, call_is))


def requeue(deps: Deps, click: Click) -> None:
    """`ops.requeue`: a failed run is taken up where it was. What its calls did is replayed, never done again."""
    run_id = read_id(click.value)
    person = operator(deps, click.sender, ActionId.REQUEUE, run_id)
    answer = deps.store.runs.requeue(run_id, by=person.user)
    deps.wake.set()
    if not answer.ok:
        _again(deps, f"run:{run_id}")
        tell(deps, asker_of(click), _refused(answer, run_is))
        return
    deps.nudge("worker.jobs.resume_run" if answer.detail["state"] == "ready" else "worker.jobs.start_run", run_id)


def close(deps: Deps, click: Click) -> None:
    """`ops.close`: somebody has seen to it. Whatever comes up again opens the message again."""
    person = operator(deps, click.sender, ActionId.CLOSE, click.value)
    call = deps.store.calls.load(click.value.removeprefix("call:")) if click.value.startswith("call:") else None
    if call is not None and not call.final:
        raise Refused(say("Nobody knows yet what became of this call. Settle it first."))
    refuse_open_undo(deps, click.value)
    deps.store.operators.close(click.value, by=person)
    deps.wake.set()


def open_mark(callback: CallbackId) -> Callable[[Deps, Click], None]:
    """`ops.mark_done` and `ops.mark_not_done`: asks how the operator knows."""

    def opening(deps: Deps, click: Click) -> None:
        key = read_id(click.value)

        def fill(place: Place) -> View:
            operator(deps, click.sender, _CONTROLS[callback], key)
            call = wanted(deps, key)
            return settle_modal(call, callback, place, needed=people_needed(call))

        open_modal(deps, click, callback, say("Settle an outcome"), fill)

    return opening


def submit_mark(deps: Deps, submitted: Submission) -> dict[str, str]:
    """One operator's word; where the call needed two reviewers, it takes two."""
    reason = read_reason(submitted)
    if reason is None:
        return {REASON: no_reason()}
    key = read_id(submitted.place.ref)
    callback = CallbackId(submitted.callback_id)
    person = operator(deps, submitted.sender, _CONTROLS[callback], key)
    call = wanted(deps, key)
    answer = deps.store.operators.mark(
        key, happened=callback is CallbackId.MARK_DONE, by=person, reason=reason, needed=people_needed(call)
    )
    deps.wake.set()
    if answer.ok:
        return {}
    left = left_ms(answer)
    return {REASON: plain(still_at_work(deps.store.now() + left) if left else _refused(answer, call_is))}


def people_needed(call: Call) -> int:
    """How many operators must say the same: two where the law asked two reviewers."""
    return min(_TWO, call.content.requirement.reviewers)


def _again(deps: Deps, subject: str) -> None:
    """Whoever pressed an old control sees the message as it is now."""
    deps.store.outbox.owe("alert", subject)
    deps.wake.set()


def _refused(answer: Answer, state_words: Callable[[str], str]) -> str:
    if answer.outcome is Outcome.NOT_FOUND:
        return say("This is no longer kept; nothing was done.")
    return say("Nothing was done; by now {state}.", state=state_words(answer.detail.get("state", "closed")))


#: The work behind each operators' button, and behind each of their modals.
OPERATING: dict[str, Callable[[Deps, Click], None]] = {
    ActionId.RECONCILE: ask_provider,
    ActionId.REQUEUE: requeue,
    ActionId.CLOSE: close,
    ActionId.MARK_DONE: open_mark(CallbackId.MARK_DONE),
    ActionId.MARK_NOT_DONE: open_mark(CallbackId.MARK_NOT_DONE),
}
MARKING: dict[str, Callable[[Deps, Submission], dict[str, str]]] = {
    CallbackId.MARK_DONE: submit_mark,
    CallbackId.MARK_NOT_DONE: submit_mark,
}
