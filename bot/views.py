"""Submitted modals: read, ask who is there, one verb of the store, and errors at the field while the modal is open."""

from collections.abc import Callable

from approvals.models import Call, CallContent, Person
from approvals.outcomes import Answer
from bot import home_tab
from bot.actions import Chosen, decide_many, may_count, told_many, viewed
from bot.asker import asker_of, tell
from bot.authority import refuse_by_law, reviewer
from bot.card_text import pending
from bot.deciding import (
    REFRESH,
    after_decision,
    best_effort,
    decided,
    decision,
    in_words,
    refuse_changed,
    unread,
    wanted,
)
from bot.deps import Deps
from bot.edit_modal import edit_errors, read_edit, with_rows
from bot.editing import editable, edited, first_changed
from bot.errors import Refused
from bot.ids import REASON, CallbackId, is_batch_ref, read_batch_ref, read_call_ref
from bot.language import say
from bot.law_words import in_readers_words
from bot.modals import Answered, Errors
from bot.payloads import Submission
from bot.reject_modal import Rejection, no_reason, read_rejection
from bot.reviewing import submit_review, submit_review_sure
from bot.sentences import sentence
from bot.text import plain
from policies.edits import EditRefused, edit_fields


def submit_reject(deps: Deps, submitted: Submission) -> Errors:
    """`reject`: one call, or all that wait on a card."""
    said = read_rejection(submitted)
    if said is None:
        return {REASON: no_reason()}
    if is_batch_ref(submitted.place.ref):
        return _reject_all(deps, submitted, said)
    ref = read_call_ref(submitted.place.ref)
    call = wanted(deps, ref.key)
    person = reviewer(deps, submitted.sender, call, "reject")
    word = decision(deps, call, ref.version, "reject", person)
    word = word.model_copy(update={"reason": said.reason, "correction": said.correction})
    answer = decided(
        deps, person, lambda who: deps.store.calls.reject(call.key, version=ref.version, decision=word, person=who)
    )
    if after_decision(deps, call, person, answer):
        tell(deps, asker_of(submitted), f"{in_words(deps, call, person, answer, 'reject')} {unread()}")
    return {} if answer.ok else {REASON: plain(sentence(answer, verb="reject", me=person.user))}


def _reject_all(deps: Deps, submitted: Submission, said: Rejection) -> Errors:
    ref = read_batch_ref(submitted.place.ref)
    view = viewed(deps, ref)
    chosen = [Chosen(call.key, "reject", said.reason, said.correction) for call in pending(view)]
    told = decide_many(deps, submitted.sender, ref, chosen)
    if not may_count(told):
        return {REASON: plain(told[0].text)}
    tell(deps, asker_of(submitted), told_many(view, told))
    return {}


def submit_edit(deps: Deps, submitted: Submission) -> Errors:
    """`edit`: version n+1, undecidable until the worker has checked it."""
    ref = read_call_ref(submitted.place.ref)
    call = wanted(deps, ref.key)
    args = editable(deps, call, ref.version)
    if args is None:
        raise Refused(say("Nothing of this call can be changed."))
    refuse_changed(deps, call)
    person = reviewer(deps, submitted.sender, call, "reject")
    fields, lines = with_rows(edit_fields(args), call), submitted.place.lines  # as the window was made
    typed = read_edit(fields, submitted)
    changed = {one.pointer: typed[one.pointer] for one in fields if typed.get(one.pointer, one.current) != one.current}
    try:
        content, requirement = edited(deps, call, args, changed)
        refuse_by_law(deps, submitted.sender, call, person, "edit", requirement)
    except EditRefused as refused:
        return edit_errors(fields, {at: in_readers_words(text) for at, text in refused.errors.items()}, lines)
    except Refused as refused_by_law:
        return edit_errors(fields, {first_changed(changed): str(refused_by_law)}, lines)
    answer = _saved(deps, call, person, content)
    return (
        {}
        if answer.ok
        else edit_errors(fields, {first_changed(changed): sentence(answer, verb="edit", me=person.user)}, lines)
    )


def _saved(deps: Deps, call: Call, person: Person, content: CallContent) -> Answer:
    word = decision(deps, call, call.version, "edit", person)

    def verb(who: Person) -> Answer:
        return deps.store.calls.edit(call.key, version=call.version, decision=word, person=who, content=content)

    answer = decided(deps, person, verb)
    if not answer.ok:
        after_decision(deps, call, person, answer)
        return answer
    best_effort(deps, lambda: deps.watch.add({person.user}))
    home_tab.again(deps, person.user)
    deps.wake.set()
    deps.nudge(REFRESH, call.key)
    return answer


#: The work behind each modal that can be submitted.
SUBMISSIONS: dict[str, Callable[[Deps, Submission], Answered]] = {
    CallbackId.REJECT: submit_reject,
    CallbackId.REVIEW: submit_review,
    CallbackId.REVIEW_SURE: submit_review_sure,
    CallbackId.EDIT: submit_edit,
}
