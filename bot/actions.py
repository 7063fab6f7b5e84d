"""Buttons of a card: find the call, ask who is there, one verb of the store, answer."""

from collections.abc import Sequence

from approvals.models import BatchView, Call, Decision, Person
from approvals.outcomes import Answer, Outcome
from bot.asker import asker_of, tell
from bot.authority import Verdict, known, refuse_by_law, reviewer
from bot.card_text import pending
from bot.deciding import after_decision, decided, decision, in_words, refuse_changed, wanted
from bot.deps import Deps
from bot.details import fully_readable
from bot.errors import Refused
from bot.ids import BatchRef, read_batch_ref, read_call_ref
from bot.language import say
from bot.payloads import Click, Sender


def approve(deps: Deps, click: Click) -> None:
    """`call.approve`."""
    ref = read_call_ref(click.value)
    call = wanted(deps, ref.key)
    if not fully_readable(call):
        raise Refused(_unreadable())
    refuse_changed(deps, call)
    person = reviewer(deps, click.sender, call, "approve")
    word = decision(deps, call, ref.version, "approve", person)
    answer = decided(
        deps, person, lambda who: deps.store.calls.approve(call.key, version=ref.version, decision=word, person=who)
    )
    after_decision(deps, call, person, answer)
    if answer.outcome is not Outcome.OK or answer.detail.get("verdict") == "pending":
        tell(deps, asker_of(click), in_words(deps, call, person, answer, "approve"))


def approve_all(deps: Deps, click: Click) -> None:
    """`batch.approve_all`: exactly the versions that the card showed."""
    ref = read_batch_ref(click.value)
    view = viewed(deps, ref)
    chosen = [(call.key, None) for call in pending(view)]
    told = decide_many(deps, click.sender, ref, "approve", chosen)
    tell(deps, asker_of(click), told_many(view, told))


def on_it(deps: Deps, click: Click) -> None:
    """`batch.on_it`: somebody who may decide is looking, so the next tier is not asked. Decides nothing."""
    ref = read_batch_ref(click.value)
    view = deps.store.batches.view(ref.batch)
    waiting = pending(view) if view else []
    if not waiting:
        raise Refused(say("Nothing is left to decide here."))
    person = reviewer(deps, click.sender, waiting[0], "reject")
    deps.store.batches.on_it(ref.batch, by=person.user, name=person.name)
    deps.wake.set()


def viewed(deps: Deps, ref: BatchRef) -> BatchView:
    """The batch a control names, if it still is as the control's card showed it.

    Raises:
        Refused: it is gone or has changed.
    """
    view = deps.store.batches.view(ref.batch)
    if view is None:
        raise Refused(say("These calls are no longer kept. Ask the agent again if they are still needed."))
    if view.batch.generation != ref.generation or tuple(call.version for call in view.calls) != ref.versions:
        deps.store.outbox.owe("card", ref.batch)
        deps.wake.set()
        raise Refused(say("The card has changed since you saw it. Read it as it is now, then decide."))
    if not pending(view):
        raise Refused(say("Nothing is left to decide here."))
    return view


def decide_many(
    deps: Deps,
    sender: Sender,
    ref: BatchRef,
    verdict: Verdict,
    chosen: Sequence[tuple[str, str | None]],
    *,
    correction: bool = False,
) -> list[tuple[str, str, Answer | None]]:
    """One verdict on several calls (key, reason): key, sentence, and the store's answer where it was asked."""
    view = deps.store.batches.view(ref.batch)
    calls = {call.key: call for call in view.calls} if view else {}
    versions = dict(zip(calls, ref.versions, strict=False))
    told: list[tuple[str, str, Answer | None]] = []
    person: Person | None = None
    for key, reason in chosen:
        call = calls.get(key)
        if call is None:
            continue
        person = person or known(deps, sender, call)
        try:
            refuse_verdict(deps, sender, call, person, verdict)
        except Refused as refused:
            told.append((key, str(refused), None))
            continue
        word = decision(deps, call, versions[key], verdict, person)
        word = word.model_copy(update={"reason": reason, "correction": correction})
        answer = _one_of_many(deps, ref, word, person)
        after_decision(deps, call, person, answer)
        told.append((key, in_words(deps, call, person, answer, verdict), answer))
    return told


def refuse_verdict(deps: Deps, sender: Sender, call: Call, person: Person, verdict: Verdict) -> None:
    """What speaks against a verdict before the store is asked.

    Raises:
        Refused: the law does not let this person give it, or nobody may approve what is there.
    """
    refuse_by_law(deps, sender, call, person, verdict, call.content.requirement)
    if verdict != "approve":
        return
    if not fully_readable(call):
        raise Refused(_unreadable())
    refuse_changed(deps, call)


def _unreadable() -> str:
    return say(
        "Part of this call cannot be shown, so it cannot be approved here. Reject it, or ask the agent for less."
    )


def _one_of_many(deps: Deps, ref: BatchRef, word: Decision, person: Person) -> Answer:
    def verb(who: Person) -> Answer:
        found = deps.store.batches.view(ref.batch)
        generation = found.batch.generation if found else ref.generation
        chosen = [(word.call, word.version, word)]
        ((_, answer),) = deps.store.calls.decide_batch(ref.batch, generation=generation, decisions=chosen, person=who)
        return answer

    return decided(deps, person, verb)


def told_many(view: BatchView, told: list[tuple[str, str, Answer | None]]) -> str:
    """What became of several decisions, for the person who made them."""
    numbers = {call.key: call.number for call in view.calls}
    done = sum(answer is not None and answer.ok for _, _, answer in told)
    lines = [
        f"{numbers[key]}. {text}" for key, text, answer in told if answer is None or answer.outcome is not Outcome.OK
    ]
    pend = [
        f"{numbers[key]}. {text}"
        for key, text, answer in told
        if answer is not None and answer.outcome is Outcome.OK and answer.detail.get("verdict") == "pending"
    ]
    return "\n".join([say("{done} of {all} decided as you said.", done=done, all=len(told)), *lines, *pend])
