"""`call.undo`: somebody who may decide a call wants back what it did. One word in the store; a worker does the rest."""

from approvals.lifecycle import State
from approvals.models import Call, Person, Run
from approvals.sealing import intact
from bot.asker import asker_of, tell
from bot.authority import known
from bot.deciding import best_effort, decided, wanted
from bot.deps import Deps
from bot.errors import Refused
from bot.ids import read_call_ref
from bot.language import say
from bot.payloads import Click, Sender
from bot.undo_law import undo_need
from bot.undo_sentences import undo_refusal, undo_sentence
from bot.undo_text import can_be_undone
from policies.authority import may_undo
from policies.requirement import Requirement
from policies.undoing import people_needed

UNDO = "worker.jobs.undo_call"


def undo(deps: Deps, click: Click) -> None:
    """One person's word, noted in the ledger in any case; where a call needed two reviewers, so does its undo."""
    ref = read_call_ref(click.value)
    call = wanted(deps, ref.key)
    run = deps.store.runs.load(call.run)
    need = undo_need(deps.law, call, requester=run.requester if run else "", now_ms=deps.store.now())
    person = undoer(deps, click.sender, call, need, run)
    refuse_impossible(deps, call, ref.version)
    answer = decided(deps, person, lambda who: deps.store.undos.ask_for(call, person=who, needed=people_needed(need)))
    deps.wake.set()
    if answer.ok:  # the worker claims under these snapshots; the watch looks again at those that fail here
        best_effort(deps, lambda: deps.watch.refresh({person.user, *deps.store.undos.voters(call.key)}))
        deps.nudge(UNDO, call.key)
    else:
        deps.store.calls.note(call.key, event="undo_refused", person=person, detail=answer.outcome.value)
        _show_again(deps, call)
    tell(deps, asker_of(click), undo_sentence(answer))


def undoer(deps: Deps, sender: Sender, call: Call, need: Requirement, run: Run | None) -> Person:
    """The person, when the law lets them take back a call that needs this.

    Raises:
        Refused: they may not; noted in the ledger.
        SlackUnavailable: nobody can tell who they are.
    """
    person = known(deps, sender, call)
    batch = deps.store.batches.load(call.batch) if call.batch else None
    refusal = may_undo(
        deps.people(),
        need,
        person,
        requester=run.requester if run else person.user,
        clicker_team=sender.team,
        escalated=batch is not None and batch.escalated_at is not None,
    )
    if refusal:
        deps.store.calls.note(call.key, event="undo_refused", person=person, detail=refusal.cause)
        raise Refused(undo_refusal(refusal, need))
    return person


def refuse_impossible(deps: Deps, call: Call, version: int) -> None:
    """What nobody can take back (any more), whoever asks. What the state of the call says is the store's to answer.

    Raises:
        Refused: saying why; ops is told where the record was changed.
    """
    if call.version != version:
        raise Refused(say("This call has changed since you saw it. Look at it as it is now."))
    run = deps.store.runs.load(call.run)
    if run is None or not intact(call, tenant=deps.store.tenant, requester=run.requester):
        reason = "refused at the click"
        deps.store.outbox.alarm(f"seal:{call.key}", event="seal_broken", reason=reason, run=call.run, call=call.key)
        deps.wake.set()
        raise Refused(
            say("What is stored about this call is not what was sealed, so it is not undone here. Ops has been told.")
        )
    never_asked = call.model_copy(update={"undo": None})
    if call.state is State.SUCCEEDED and not can_be_undone(never_asked, deps.store.switches.undoable()):
        _show_again(deps, call)
        raise Refused(say("This cannot be undone here: its tool does not say how, or no receipt was kept of it."))


def _show_again(deps: Deps, call: Call) -> None:
    """Whoever pressed an old button sees the outcome as it is now."""
    deps.store.outbox.owe("outcome", f"{call.run}:{call.pause}")
    deps.wake.set()
