"""Buttons of a card: find the call, ask who is there, one verb of the store, answer."""

from collections.abc import Sequence
from typing import NamedTuple

from approvals.models import BatchView, Call, Decision, Person
from approvals.outcomes import Answer, Outcome
from approvals.replicas import NotReplicated
from bot.approval_words import while_frozen
from bot.asker import asker_of, tell
from bot.authority import Verdict, known, refuse_by_law, reviewer
from bot.card_text import pending
from bot.deciding import after_decision, decided, decision, held_up, in_words, refuse_changed, unread, wanted
from bot.deps import Deps
from bot.details import fully_readable
from bot.errors import Refused, Unsure
from bot.ids import BatchRef, read_batch_ref, read_call_ref
from bot.language import say
from bot.payloads import Click, Sender
from bot.what_words import full_stop
from bot.work import explained


class Chosen(NamedTuple):
    """What somebody chose for one of several calls."""

    call: str
    verdict: Verdict
    reason: str | None = None
    correction: bool = False


class Told(NamedTuple):
    """What became of that, in a sentence; `answer` is the store's, where it was asked and answered.

    `unsure`: nobody knows whether it counts. `unread`: it does, but the rest of the card could not be read. `frozen`:
    it was the last approval, and nothing runs for now.
    """

    call: str
    text: str
    answer: Answer | None = None
    unsure: bool = False
    unread: bool = False
    frozen: bool = False

    @property
    def done(self) -> bool:
        """Whether it certainly counts."""
        return self.answer is not None and self.answer.ok


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
    half_read = after_decision(deps, call, person, answer)
    frozen = held_up(deps, answer)
    if half_read or frozen or answer.outcome is not Outcome.OK or answer.detail.get("verdict") == "pending":
        said = [in_words(deps, call, person, answer, "approve"), *([full_stop(while_frozen())] if frozen else [])]
        tell(deps, asker_of(click), " ".join([*said, *([unread()] if half_read else [])]))


def approve_all(deps: Deps, click: Click) -> None:
    """`batch.approve_all`: exactly the versions that the card showed."""
    ref = read_batch_ref(click.value)
    view = viewed(deps, ref)
    told = decide_many(deps, click.sender, ref, [Chosen(call.key, "approve") for call in pending(view)])
    tell(deps, asker_of(click), told_many(view, told))


def on_it(deps: Deps, click: Click) -> None:
    """`batch.on_it`: somebody who may decide is looking, so the next tier is not asked. Decides nothing."""
    ref = read_batch_ref(click.value)
    person = reviewer(deps, click.sender, pending(viewed(deps, ref))[0], "reject")
    answer = deps.store.batches.on_it(ref.batch, by=person.user, name=person.name)
    deps.wake.set()
    if answer.outcome is Outcome.ALREADY_DECIDED:
        raise Refused(say("You have approved all that waits here, and somebody else must decide too. So it is theirs."))


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


def decide_many(deps: Deps, sender: Sender, ref: BatchRef, chosen: Sequence[Chosen]) -> list[Told]:
    """Verdicts on several calls of a card, one after the other; what fails for one is told of that one alone."""
    view = deps.store.batches.view(ref.batch)
    calls = {call.key: call for call in view.calls} if view else {}
    versions = dict(zip(calls, ref.versions, strict=False))
    told: list[Told] = []
    person: Person | None = None
    for one in chosen:
        call = calls.get(one.call)
        if call is None:
            continue
        person = person or known(deps, sender, call)
        try:
            told.append(_decide(deps, sender, ref, call, versions[call.key], person, one))
        except Exception as error:  # noqa: BLE001 - a boundary: the others are decided, whatever becomes of this one
            said = explained(deps, error, say("This one could not be decided just now. Try again in a minute."))
            told.append(Told(call.key, said, unsure=isinstance(error, Unsure | NotReplicated)))
    return told


def _decide(  # noqa: PLR0917 - who, where, what, in reading order
    deps: Deps, sender: Sender, ref: BatchRef, call: Call, version: int, person: Person, chosen: Chosen
) -> Told:
    refuse_verdict(deps, sender, call, person, chosen.verdict)
    word = decision(deps, call, version, chosen.verdict, person)
    word = word.model_copy(update={"reason": chosen.reason, "correction": chosen.correction})
    answer = _one_of_many(deps, ref, word, person)
    half_read = after_decision(deps, call, person, answer)
    said = in_words(deps, call, person, answer, chosen.verdict)
    return Told(call.key, said, answer, unread=half_read, frozen=held_up(deps, answer))


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


def told_many(view: BatchView, told: Sequence[Told]) -> str:
    """What became of several decisions, for the person who made them."""
    numbers = {call.key: call.number for call in view.calls}
    lines = [_counted(told)]
    lines += [f"{numbers[one.call]}. {one.text}" for one in told if not _waits(one) and not _taken(one)]
    lines += [full_stop(while_frozen())] if any(one.frozen for one in told) else []
    lines += [f"{numbers[one.call]}. {one.text}" for one in told if _waits(one)]
    lines += [unread()] if any(one.unread for one in told) else []
    return "\n".join(line for line in lines if line)


def _counted(told: Sequence[Told]) -> str:
    """How many were decided; nothing when that is not even known of one."""
    done = sum(one.done for one in told)
    if not any(one.unsure for one in told):
        return say("{done} of {all} decided as you said.", done=done, all=len(told))
    return say("At least {done} of {all} decided as you said.", done=done, all=len(told)) if done else ""


def _taken(one: Told) -> bool:
    return one.answer is not None and one.answer.outcome is Outcome.OK


def _waits(one: Told) -> bool:
    """Whether it was an approval and more are needed."""
    return _taken(one) and one.answer is not None and one.answer.detail.get("verdict") == "pending"


def may_count(told: Sequence[Told]) -> bool:
    """Whether anything was decided, or nobody knows."""
    return any(one.done or one.unsure for one in told)
