"""What becomes of the window in which every call of a card is decided."""

from collections.abc import Sequence

from approvals.models import BatchView
from bot.actions import Chosen, decide_many, may_count, refuse_verdict, told_many, viewed
from bot.asker import asker_of, tell
from bot.authority import known
from bot.card_text import pending
from bot.deps import Deps
from bot.errors import Refused
from bot.ids import read_batch_ref, verdict_block
from bot.language import say
from bot.modals import Answered, Errors, Next, refusal
from bot.payloads import Submission
from bot.review_modal import Reviewed, asks_first, read_review, read_review_sure, review_sure_modal
from bot.text import plain


def submit_review(deps: Deps, submitted: Submission) -> Answered:
    """`review`: each call as it was chosen; what the card asks twice about is asked once more on top."""
    view = viewed(deps, read_batch_ref(submitted.place.ref))
    chosen, errors = read_review(submitted, [call.key for call in pending(view)])
    if errors:
        return errors
    if asks_first(view, chosen):
        refused = _refused(deps, submitted, view, chosen)
        frozen = deps.store.switches.frozen() is not None
        return refused or Next("push", review_sure_modal(view, chosen, submitted.place, deps.words, frozen=frozen))
    told, done = _decided(deps, submitted, view, chosen)
    return {} if done else {verdict_block(key): plain(text) for key, text in told.items()}


def submit_review_sure(deps: Deps, submitted: Submission) -> Answered:
    """`review_sure`: the question was answered with yes."""
    view = viewed(deps, read_batch_ref(submitted.place.ref))
    chosen, errors = read_review_sure(submitted, [call.key for call in view.calls])
    if errors:
        return errors
    told, done = _decided(deps, submitted, view, chosen)
    if done:
        return Next("clear")
    return Next("update", refusal(say("Nothing was decided"), " ".join(told.values())))


def _decided(
    deps: Deps, submitted: Submission, view: BatchView, chosen: Sequence[Reviewed]
) -> tuple[dict[str, str], bool]:
    """What became of each, in words, and whether anything was, or may have been, decided; then the person is told."""
    noes_first = sorted(chosen, key=lambda one: one.approve)
    verdicts = [Chosen(one.key, "approve" if one.approve else "reject", one.reason) for one in noes_first]
    told = decide_many(deps, submitted.sender, read_batch_ref(submitted.place.ref), verdicts)
    done = may_count(told)
    if done:
        tell(deps, asker_of(submitted), told_many(view, told))
    return {one.call: one.text for one in told}, done


def _refused(deps: Deps, submitted: Submission, view: BatchView, chosen: Sequence[Reviewed]) -> Errors:
    """Why some of these approvals cannot be given, before anybody is asked whether they are sure."""
    errors: Errors = {}
    approved = {one.key for one in chosen if one.approve}
    calls = [call for call in pending(view) if call.key in approved]
    person = known(deps, submitted.sender, calls[0])
    for call in calls:
        try:
            refuse_verdict(deps, submitted.sender, call, person, "approve")
        except Refused as refused:
            errors[verdict_block(call.key)] = plain(str(refused))
    return errors
