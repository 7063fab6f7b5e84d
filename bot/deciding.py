"""One verdict, under one identity, through one verb of the store."""

import time
from collections.abc import Callable

from approvals import tracing
from approvals.away import STORE_AWAY
from approvals.lifecycle import State
from approvals.models import Call, Decision, Person
from approvals.outcomes import Answer, Outcome
from approvals.sealing import intact
from bot import home_tab
from bot.authority import Verdict
from bot.deps import Deps
from bot.errors import Refused, Unsure
from bot.language import say
from bot.sentences import Waits, sentence
from bot.standing import standing
from bot.text import inert
from bot.who_words import others

#: A card is clickable a moment before its posting is recorded.
_POSTING_TRIES = 6
_POSTING_WAIT_S = 0.25
EXECUTE, REFRESH, START = "worker.jobs.execute_batch", "worker.jobs.refresh_call", "worker.jobs.start_run"
RECONCILE = "worker.jobs.reconcile_call"


def changed() -> str:
    """What a person is told about a record that is not the sealed one."""
    return say("What is stored about this call is not what was sealed, so it cannot be approved. Ops has been told.")


def wanted(deps: Deps, key: str) -> Call:
    """The call a control names.

    Raises:
        Refused: it is not kept (any more).
    """
    call = deps.store.calls.load(key)
    if call is None:
        raise Refused(say("This call is no longer kept. Ask the agent again if it is still needed."))
    return call


def refuse_changed(deps: Deps, call: Call) -> None:
    """Nobody approves or edits what is not what was sealed; ops is told.

    Raises:
        Refused: the stored record of the call was changed.
    """
    if call.state is not State.PENDING_REVIEW or call.refreshing:  # decided, or not sealed yet: the store says so
        return
    run = deps.store.runs.load(call.run)
    if run is not None and intact(call, tenant=deps.store.tenant, requester=run.requester):
        return
    deps.store.outbox.alarm(
        f"seal:{call.key}", event="seal_broken", reason="refused at the click", run=call.run, call=call.key
    )
    deps.wake.set()
    raise Refused(changed())


def refuse_second_thoughts(deps: Deps, call: Call, person: Person) -> None:
    """Whoever approved a call does not take that back, so no window is opened for it.

    Raises:
        Refused: the person approved the version that is shown; it names who can still stop it.
    """
    if call.state is not State.PENDING_REVIEW or person.user not in standing(call).approved_by:
        return
    run = deps.store.runs.load(call.run)
    asker = run.requester if run else ""
    found = deps.store.people.get(asker) if asker else None
    owner = inert(found.name if found else deps.law.reviewers.name_of(asker), 60) or say("whoever asked")
    whom = inert(_others(deps, call, {person.user}))
    if not whom:
        raise Refused(
            say("You approved this, and that cannot be taken back. Ask {owner} to cancel the run.", owner=owner)
        )
    raise Refused(
        say(
            "You approved this, and that cannot be taken back. Ask {whom} to reject it, or {owner} to cancel the run.",
            whom=whom,
            owner=owner,
        )
    )


def in_words(deps: Deps, call: Call, person: Person, answer: Answer, verb: Verdict) -> str:
    """What became of a verdict, for the person who gave it; of an approval that is not the last also who is missing."""
    waits: list[Waits] = []  # stays empty when nobody could read it

    def look() -> None:
        batch = deps.store.batches.load(call.batch) if call.batch else None
        waits.append(Waits(_others(deps, call, {person.user}), batch.decide_by if batch else None))

    if answer.outcome is Outcome.OK and answer.detail.get("verdict") == "pending":
        best_effort(deps, look)
    return sentence(answer, verb=verb, me=person.user, waits=waits[0] if waits else None)


def held_up(deps: Deps, answer: Answer) -> bool:
    """Whether this was the last approval of a call that cannot run, since all is frozen. Not, where nobody can tell."""
    found: list[object] = []
    if answer.outcome is Outcome.OK and answer.detail.get("verdict") == "approved":
        best_effort(deps, lambda: found.append(deps.store.switches.frozen()))
    return any(found)


def unread() -> str:
    """What a person is told beside a decision that stands when the rest of its card could not be read."""
    return say(
        "That is recorded. The rest of the card could not be read just now; the card shows it as soon as it can."
    )


def _others(deps: Deps, call: Call, but: set[str]) -> str:
    """Who else may decide a call, in words: neither these, nor who approved it, nor who asked for it."""
    run, batch = deps.store.runs.load(call.run), deps.store.batches.load(call.batch) if call.batch else None
    besides = {*but, *standing(call).approved_by, *([run.requester] if run else [])}
    escalated = batch is not None and batch.escalated_at is not None
    return others(deps.people(), call.content.requirement, besides, escalated=escalated)


def decision(deps: Deps, call: Call, version: int, verdict: Verdict, person: Person) -> Decision:
    """A verdict on one version, to be completed with a reason by the caller."""
    return Decision(
        call=call.key,
        version=version,
        verdict=verdict,
        reviewer=person.user,
        name=person.name,
        at=deps.store.now(),
    )


def decided(deps: Deps, person: Person, verb: Callable[[Person], Answer]) -> Answer:
    """Run a verb; once more when the snapshot was replaced meanwhile, and when the card is only just being recorded.

    Raises:
        Unsure: the store broke off, and nobody knows whether it had taken the decision by then.
    """
    answer = _asked(deps, person, verb)
    for _ in range(_POSTING_TRIES):
        if answer.outcome is Outcome.STALE_PERSON:
            person = deps.desk.ask(person.user)
        elif answer.outcome is Outcome.NOT_POSTED:
            time.sleep(_POSTING_WAIT_S)
        else:
            return answer
        answer = _asked(deps, person, verb)
    return answer


def _asked(deps: Deps, person: Person, verb: Callable[[Person], Answer]) -> Answer:
    try:
        return verb(person)
    except STORE_AWAY as away:
        deps.log.warning("nobody knows whether a decision was taken: %s", away)
        raise Unsure(
            say(
                "The store broke off, so this may or may not have been recorded. Look at the card before you try again."
            )
        ) from away


def after_decision(deps: Deps, call: Call, person: Person, answer: Answer) -> bool:
    """What follows a decision that stands: the card, the worker, and the freshness of everybody it rests on.

    Whatever fails here, the decision is taken, so nothing is raised. Returns whether the rest of the card could not be
    read, which whoever decided is then told (`unread`).
    """
    about = {"batch": call.batch, "call": call.key, "tool": call.tool, "version": call.version}
    verdict = answer.detail.get("verdict")
    tracing.mark("call.decide", run=call.run, **about, outcome=answer.outcome.value, verdict=verdict)
    if not answer.ok:
        best_effort(deps, lambda: _too_late(deps, call, person, answer))
        deps.wake.set()
        return False
    found: list[Call] = []
    read = best_effort(deps, lambda: found.extend(_siblings(deps, call)))
    approvers = {one.reviewer for each in (call, *found) for one in each.decisions if one.verdict != "reject"}
    best_effort(deps, lambda: deps.watch.add({person.user, *approvers}))
    if call.batch and not any(one.state is State.PENDING_REVIEW for one in found):
        # The worker claims under these snapshots, and that comes first. It looks itself whether something still waits.
        best_effort(deps, lambda: deps.watch.refresh(approvers))
        deps.nudge(EXECUTE, call.batch)
    home_tab.again(deps, person.user)
    deps.wake.set()
    return not read


def best_effort(deps: Deps, step: Callable[[], object]) -> bool:
    """Do a step that follows a stored decision. False, and logged, when it failed: that undoes no decision."""
    try:
        step()
    # A boundary: told as a failure of the decision, it would deny what stands.
    except Exception:
        deps.log.warning("a decision stands, but not all that follows it was done", exc_info=True)
        return False
    return True


def _too_late(deps: Deps, call: Call, person: Person, answer: Answer) -> None:
    deps.store.calls.note(call.key, event="decision_late", person=person, detail=answer.outcome.value)
    if call.batch and answer.outcome is not Outcome.NOT_FOUND:
        deps.store.outbox.owe("card", call.batch)  # whoever sees an old card sees the new one now


def _siblings(deps: Deps, call: Call) -> tuple[Call, ...]:
    view = deps.store.batches.view(call.batch) if call.batch else None
    return view.calls if view else ()
