"""Buttons that open a modal: shown at once and empty, because Slack gives three seconds; filled a moment later."""

from collections.abc import Callable
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.actions import viewed
from bot.asker import asker_of, tell
from bot.authority import known, reader, refuse_by_law, reviewer
from bot.card_text import pending
from bot.deciding import wanted
from bot.deps import Deps
from bot.edit_modal import NOTHING, edit_modal
from bot.editing import editable
from bot.errors import BotError, Refused
from bot.ids import ActionId, CallbackId, CallRef, Place, read_batch_ref, read_call_ref
from bot.modals import View, details_modal, loading, notice
from bot.payloads import Click
from bot.reject_modal import reject_modal
from bot.review_modal import review_modal
from bot.sentences import OPEN_AGAIN
from bot.text import count
from policies.edits import edit_fields

_TOO_LATE = {"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id"}


def open_reject(deps: Deps, click: Click) -> None:
    """`call.reject`: asks why."""
    ref = read_call_ref(click.value)

    def fill(place: Place) -> View:
        call = wanted(deps, ref.key)
        reviewer(deps, click.sender, call, "reject")
        return reject_modal(f"call {call.number}", place)

    open_modal(deps, click, CallbackId.REJECT, "Reject", fill)


def open_reject_all(deps: Deps, click: Click) -> None:
    """`batch.reject_all`: asks why, once for all."""
    ref = read_batch_ref(click.value)

    def fill(place: Place) -> View:
        waiting = pending(viewed(deps, ref))
        person = known(deps, click.sender, waiting[0])
        refuse_by_law(deps, click.sender, waiting[0], person, "reject", waiting[0].content.requirement)
        return reject_modal(f"all {len(waiting)} calls", place)

    open_modal(deps, click, CallbackId.REJECT, "Reject all", fill)


def open_review(deps: Deps, click: Click) -> None:
    """`batch.review`: every call of the card in one window."""
    ref = read_batch_ref(click.value)

    def fill(place: Place) -> View:
        waiting = pending(viewed(deps, ref))
        person = known(deps, click.sender, waiting[0])
        refuse_by_law(deps, click.sender, waiting[0], person, "reject", waiting[0].content.requirement)
        who = deps.words.who(waiting[0].content.requirement)
        return review_modal(waiting, place, f"{count(len(waiting), 'call')}. {who}")

    open_modal(deps, click, CallbackId.REVIEW, "Decide each call", fill)


def open_edit(deps: Deps, click: Click) -> None:
    """`call.edit`: what the law lets a reviewer change."""
    ref = read_call_ref(click.value)

    def fill(place: Place) -> View:
        call = wanted(deps, ref.key)
        # Whose limit is too low for the call as it is may be the one who lowers it: judged when the edit is saved.
        reviewer(deps, click.sender, call, "reject")
        args = editable(deps, call, ref.version)
        return edit_modal(edit_fields(args), place, call.number) if args else _nothing(place, call.number)

    open_modal(deps, click, CallbackId.EDIT, "Edit", fill)


def open_details(deps: Deps, click: Click) -> None:
    """`call.details`: everything, unmasked."""
    ref = read_call_ref(click.value)

    def fill(place: Place) -> View:
        return _details(deps, click, ref, place)

    open_modal(deps, click, CallbackId.DETAILS, "Details", fill)


def turn_page(deps: Deps, click: Click) -> None:
    """`details.page_back` and `details.page_next`: another page in the same window."""
    place = Place.model_validate_json(click.metadata)
    page = int(click.value) if click.value.isdecimal() else 0
    view = _details(deps, click, read_call_ref(place.ref), place.model_copy(update={"page": page}))
    deps.client.views_update(view_id=click.view_id, view=view)


def _details(deps: Deps, click: Click, ref: CallRef, place: Place) -> View:
    call = wanted(deps, ref.key)
    reader(deps, click.sender, call)
    return details_modal(call, place)


def _nothing(place: Place, number: int) -> View:
    return notice(CallbackId.EDIT, f"Edit call {number}", place, NOTHING)


def open_modal(deps: Deps, click: Click, callback: CallbackId, title: str, fill: Callable[[Place], View]) -> None:
    """Open, then fill; a refusal is told privately and in the window.

    Raises:
        Refused: Slack's three seconds were over before the window could be opened.
    """
    place = Place(ref=click.value, channel=click.channel, thread_ts=click.thread_ts)
    view_id = _opened(deps, click, loading(callback, title, place))
    try:
        view = fill(place)
    except BotError as refused:
        tell(deps, asker_of(click), str(refused))
        view = notice(callback, title, place, "This cannot be done; the answer is in the thread.")
    deps.client.views_update(view_id=view_id, view=view)


def _opened(deps: Deps, click: Click, view: View) -> str:
    try:
        opened: Any = deps.client.views_open(trigger_id=click.trigger_id, view=view)
    except SlackApiError as failed:
        if failed.response.get("error") in _TOO_LATE:
            raise Refused(OPEN_AGAIN) from failed
        raise
    return str(opened["view"]["id"])


#: The work behind each button that opens or turns something.
OPENINGS: dict[str, Callable[[Deps, Click], None]] = {
    ActionId.REJECT: open_reject,
    ActionId.EDIT: open_edit,
    ActionId.DETAILS: open_details,
    ActionId.REJECT_ALL: open_reject_all,
    ActionId.REVIEW: open_review,
    ActionId.PAGE_BACK: turn_page,
    ActionId.PAGE_NEXT: turn_page,
}
