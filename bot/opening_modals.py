"""Buttons that open a modal: shown at once and empty, because Slack gives three seconds; filled a moment later."""

import contextlib
from collections.abc import Callable
from typing import Any

from slack_sdk.errors import SlackApiError, SlackClientError

from bot.actions import viewed
from bot.asker import Asker, asker_of, tell
from bot.authority import entitled, known, reader, refuse_by_law, reviewer
from bot.card_text import pending, together
from bot.deciding import refuse_second_thoughts, wanted
from bot.deps import Deps
from bot.details import Around
from bot.drift_words import look_lines
from bot.edit_modal import about_call, edit_modal, nothing_to_edit, with_rows
from bot.editing import editable
from bot.errors import BotError, Refused
from bot.ids import ActionId, CallbackId, CallRef, Place, read_batch_ref, read_call_ref
from bot.language import say, say_count
from bot.looks import Looks
from bot.modals import View, details_modal, loading, refusal
from bot.payloads import Click
from bot.reject_modal import reject_modal
from bot.review_modal import review_modal
from bot.standing import standing
from policies.edits import edit_fields

_TOO_LATE = {"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id"}


def open_reject(deps: Deps, click: Click) -> None:
    """`call.reject`: asks why."""
    ref = read_call_ref(click.value)

    def fill(place: Place) -> View:
        call = wanted(deps, ref.key)
        refuse_second_thoughts(deps, call, reviewer(deps, click.sender, call, "reject"))
        what = say("call {number}", number=call.number)
        return reject_modal(what, place, call.content.preview.headline)

    open_modal(deps, click, CallbackId.REJECT, say("Reject"), fill)


def open_reject_all(deps: Deps, click: Click) -> None:
    """`batch.reject_all`: asks why, once for all."""
    ref = read_batch_ref(click.value)

    def fill(place: Place) -> View:
        waiting = pending(viewed(deps, ref))
        person = known(deps, click.sender, waiting[0])
        refuse_by_law(deps, click.sender, waiting[0], person, "reject", waiting[0].content.requirement)
        if all(person.user in standing(call).approved_by for call in waiting):
            refuse_second_thoughts(deps, waiting[0], person)
        what = say_count(len(waiting), "all {number} call", "all {number} calls")
        return reject_modal(what, place, together(waiting, 300), len(waiting))

    open_modal(deps, click, CallbackId.REJECT, say("Reject all"), fill)


def open_review(deps: Deps, click: Click) -> None:
    """`batch.review`: every call of the card in one window."""
    ref, looks = read_batch_ref(click.value), Looks(deps)

    def fill(place: Place) -> View:
        view = viewed(deps, ref)
        waiting = pending(view)
        person = known(deps, click.sender, waiting[0])
        refuse_by_law(deps, click.sender, waiting[0], person, "reject", waiting[0].content.requirement)
        looks.ask(call for call in waiting if entitled(deps, click.sender, call, person))
        return review_modal(view, place, deps.words, person.user)

    open_modal(deps, click, CallbackId.REVIEW, say("Decide each call"), fill, looks)


def open_edit(deps: Deps, click: Click) -> None:
    """`call.edit`: what the law lets a reviewer change."""
    ref, looks = read_call_ref(click.value), Looks(deps)

    def fill(place: Place) -> View:
        return _edit(deps, click, ref, place, looks)

    open_modal(deps, click, CallbackId.EDIT, say("Edit"), fill, looks)


def choose_line(deps: Deps, click: Click) -> None:
    """`edit.line`: one more input in the same window. What was typed into the others stays where it is."""
    place = Place.model_validate_json(click.metadata)
    chosen = [int(click.value)] if click.value.isdecimal() else []
    lines = tuple(dict.fromkeys((*place.lines, *chosen)))
    now = place.model_copy(update={"lines": lines})
    _redraw(deps, click, place, lambda: _edit(deps, click, read_call_ref(place.ref), now, Looks(deps)))


def _edit(deps: Deps, click: Click, ref: CallRef, place: Place, looks: Looks) -> View:
    call = wanted(deps, ref.key)
    # Whose limit is too low for the call as it is may be the one who lowers it: judged when the edit is saved.
    refuse_second_thoughts(deps, call, reviewer(deps, click.sender, call, "reject"))
    looks.ask([call])
    args = editable(deps, call, ref.version)
    return (
        edit_modal(with_rows(edit_fields(args), call), place, call.number, [*about_call(call), *look_lines(call)])
        if args
        else nothing_to_edit(place, call.number)
    )


def open_details(deps: Deps, click: Click) -> None:
    """`call.details`: everything, unmasked."""
    ref, looks = read_call_ref(click.value), Looks(deps)

    def fill(place: Place) -> View:
        return _details(deps, click, ref, place, looks)

    open_modal(deps, click, CallbackId.DETAILS, say("Details"), fill, looks)


def turn_page(deps: Deps, click: Click) -> None:
    """`details.page_back` and `details.page_next`: another page in the same window."""
    place = Place.model_validate_json(click.metadata)
    page = int(click.value) if click.value.isdecimal() else 0
    now = place.model_copy(update={"page": page})
    _redraw(deps, click, place, lambda: _details(deps, click, read_call_ref(place.ref), now, Looks(deps)))


def _redraw(deps: Deps, click: Click, place: Place, make: Callable[[], View]) -> None:
    """Show something else in the window; what is refused is told where the card stands, and the window stays."""
    try:
        view = make()
    except BotError as refused:
        tell(deps, Asker(click.sender.user, place.channel, place.thread_ts or None), str(refused))
        return
    deps.client.views_update(view_id=click.view_id, view=view)


def _details(deps: Deps, click: Click, ref: CallRef, place: Place, looks: Looks) -> View:
    call = wanted(deps, ref.key)
    person = reader(deps, click.sender, call)
    if entitled(deps, click.sender, call, person):
        looks.ask([call])
    run = deps.store.runs.load(call.run)
    batch = deps.store.batches.load(call.batch) if call.batch else None
    around = Around(run.request if run else "", deps.law.version, batch.posted_at if batch else None)
    return details_modal(call, place, around)


def open_modal(  # noqa: PLR0917 - what, where, how, in reading order
    deps: Deps,
    click: Click,
    callback: CallbackId,
    title: str,
    fill: Callable[[Place], View],
    looks: Looks | None = None,
) -> None:
    """Open, then fill; a refusal is told privately and in the window. What `looks` finds soon is shown there too.

    Raises:
        Refused: Slack's three seconds were over before the window could be opened.
    """
    place = Place(ref=click.value, channel=click.channel, thread_ts=click.thread_ts)
    view_id = _opened(deps, click, loading(callback, title, place))
    try:
        view = fill(place)
    except BotError as refused:
        tell(deps, asker_of(click), str(refused))
        view = refusal(title, str(refused))
    shown: Any = deps.client.views_update(view_id=view_id, view=view)
    if looks is not None and looks.done_soon():
        _fill_again(deps, shown["view"], view, lambda: fill(place))


def _fill_again(deps: Deps, shown: Any, before: View, fill: Callable[[], View]) -> None:
    """Show what is known by now, unless the window says so already, was turned to something else, or is closed."""
    with contextlib.suppress(BotError, SlackClientError):
        view = fill()
        if view != before:
            deps.client.views_update(view_id=shown["id"], hash=shown["hash"], view=view)


def _opened(deps: Deps, click: Click, view: View) -> str:
    opening = deps.client.views_push if click.view_id else deps.client.views_open  # from a window: on top of it
    try:
        opened: Any = opening(trigger_id=click.trigger_id, view=view)
    except SlackApiError as failed:
        if failed.response.get("error") in _TOO_LATE:
            late = say("Slack closed the window before it could be filled. Press the button again.")
            raise Refused(late) from failed
        raise
    return str(opened["view"]["id"])


#: The work behind each button that opens or turns something.
OPENINGS: dict[str, Callable[[Deps, Click], None]] = {
    ActionId.REJECT: open_reject,
    ActionId.EDIT: open_edit,
    ActionId.DETAILS: open_details,
    ActionId.REJECT_ALL: open_reject_all,
    ActionId.REVIEW: open_review,
    ActionId.LINE: choose_line,
    ActionId.PAGE_BACK: turn_page,
    ActionId.PAGE_NEXT: turn_page,
}
