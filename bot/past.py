"""What has happened, in a window: `/vobo history ...` over everything, the `History` of a card over its run.

Personal values stay masked: what is shown of a call is its headline, from which they were taken out.
"""

from approvals.history import Past, past
from approvals.ledger import Ledger, LedgerUnreachable
from approvals.ledger_head import LedgerDiffers
from approvals.models import Person
from approvals.questions import Question
from bot.asker import asker_of, tell
from bot.authority import entitled_by
from bot.deps import Deps
from bot.errors import BotError
from bot.ids import ActionId, CallbackId, Place, is_run_id, read_id
from bot.language import say
from bot.modals import View
from bot.opening_modals import open_modal
from bot.past_modal import history_modal, timeline_modal
from bot.past_words import DAYS, read_question
from bot.payloads import Click, Sender, Slash
from bot.refusals import may_not_operate
from bot.text import inert
from policies.authority import Refusal, may_look_back

HISTORY = "history"
#: Of the events in SQL no more are read for one question; who needs more has `vobo ledger`.
NEWEST = 1_000
_MOST_WORDS = 300


def asks_for_history(request: str) -> bool:
    """Whether a slash command is about the past, not a request to the agent."""
    return request.split(" ", 1)[0].lower() == HISTORY


def history(deps: Deps, said: Slash, request: str) -> None:
    """`/vobo history [words]`: the last decisions and effects; of one run its timeline."""
    words = request[len(HISTORY) :].strip()[:_MOST_WORDS]
    click = Click(
        sender=said.sender,
        action_id=ActionId.TIMELINE,
        value=words,
        channel=said.channel,
        thread_ts="",
        trigger_id=said.trigger_id,
        response_url=said.response_url,
    )
    title = say("What happened") if is_run_id(words) else say("History")
    callback = CallbackId.TIMELINE if is_run_id(words) else CallbackId.HISTORY
    open_modal(deps, click, callback, title, lambda place: _filled(deps, said.sender, place))


def open_timeline(deps: Deps, click: Click) -> None:
    """`run.timeline`: the story of the card's run. Pressed in the details, its answers go where theirs go."""
    read_id(click.value)
    if click.metadata:
        place = Place.model_validate_json(click.metadata)
        click = click.model_copy(update={"channel": place.channel, "thread_ts": place.thread_ts})
    title = say("What happened")
    open_modal(deps, click, CallbackId.TIMELINE, title, lambda place: _filled(deps, click.sender, place))


def turn_past(deps: Deps, click: Click) -> None:
    """`past.page_back` and `past.page_next`: another page in the same window, asked anew."""
    place = Place.model_validate_json(click.metadata)
    page = int(click.value) if click.value.isdecimal() else 0
    try:
        view = _filled(deps, click.sender, place.model_copy(update={"page": page}))
    except BotError as refused:
        tell(deps, asker_of(click), str(refused))
        return
    deps.client.views_update(view_id=click.view_id, view=view)


def _filled(deps: Deps, sender: Sender, place: Place) -> View:
    if is_run_id(place.ref):
        run = deps.store.runs.load(place.ref)
        _looking_back(deps, sender, place.ref, requester=run.requester if run else None)
        return timeline_modal(run, _past(deps, Question(run=place.ref)), place)
    _looking_back(deps, sender, HISTORY)
    law = deps.law
    question = read_question(place.ref, tools=law.rules, now=deps.store.now(), zone=law.deadlines.zone)
    return history_modal(_past(deps, question), place, _asked(place.ref))


def _asked(words: str) -> str:
    if words:
        return say("What fits {words}; the newest first.", words=f"`{inert(words, 200)}`")
    return say("Decisions and effects of the last {days} days, the newest first.", days=DAYS)


def _past(deps: Deps, question: Question) -> Past:
    ledger: Ledger | None = None
    try:
        ledger = deps.ledger()
    except (LedgerUnreachable, LedgerDiffers) as refused:
        deps.log.warning("%s", refused)
    return past(deps.store, ledger, question, newest=None if question.run else NEWEST)


def _looking_back(deps: Deps, sender: Sender, subject: str, *, requester: str | None = None) -> Person:
    """The person, when they may read what happened.

    Raises:
        Refused: they may not; noted in the ledger.
        SlackUnavailable: nobody can tell who they are.
    """

    def law(person: Person) -> Refusal | None:
        return may_look_back(deps.people(), person, clicker_team=sender.team, requester=requester)

    return entitled_by(deps, sender, ActionId.TIMELINE, subject, law, _may_not_look_back)


def _may_not_look_back(refusal: Refusal) -> str:
    if refusal.cause == "not_in_tier":
        return say("Only ops and reviewers may read this.")
    return may_not_operate(refusal)
