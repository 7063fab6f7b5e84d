"""Opening the Home tab, its filters and pages, and showing it anew after a decision."""

import contextlib
import time
from collections.abc import Callable

from slack_sdk.errors import SlackApiError, SlackClientError

from approvals.models import Person
from bot.deps import Deps
from bot.errors import SlackUnavailable
from bot.home import render_home, render_outsider, render_unavailable
from bot.home_reading import read_home
from bot.home_state import BACK, HERE, NEXT, HomeState
from bot.ids import IdRefused
from bot.language import switch_to
from bot.modals import View
from bot.payloads import Click, HomeOpened
from bot.readers import speaking_to

#: A moment in which several decisions of one person (a whole card) become one new view.
_SETTLE_S = 0.4


def opened(deps: Deps, event: HomeOpened) -> None:
    """`app_home_opened`: the first page, under the filters that were chosen before."""
    before = HomeState.read(event.metadata)
    kept = before.model_copy(update={"start": "", "first": "", "next": ""})
    show(deps, event.user, kept, seen=event.view_hash)


def filter_by(deps: Deps, click: Click) -> None:
    """`home.filter`."""
    _refuse_strangers(deps, click)
    show(deps, click.sender.user, HomeState.read(click.metadata).filtered(click.value), seen=click.view_hash)


def turn(deps: Deps, click: Click) -> None:
    """`home.page`: the next or the previous page, or this one as it is now."""
    _refuse_strangers(deps, click)
    state = HomeState.read(click.metadata)
    if click.value not in {NEXT, BACK, HERE}:
        raise IdRefused(f"{click.value[:40]!r} turns no page.")
    if click.value == NEXT:
        state = state.model_copy(update={"start": state.next})
    show(deps, click.sender.user, state, seen=click.view_hash, back=click.value == BACK)


def again(deps: Deps, user: str) -> None:
    """After a decision of this person: their tab, if they looked at it lately, is shown anew in a moment."""
    if deps.visits.want(user):
        with contextlib.suppress(RuntimeError):  # the bot is stopping; the tab is read anew when it is opened
            deps.pool.submit(_show_again, deps, user)


def _show_again(deps: Deps, user: str) -> None:
    time.sleep(_SETTLE_S)
    state = deps.visits.take(user)
    if state is None:
        return
    try:
        with speaking_to(deps.store, user, deps.language):
            show(deps, user, state)
    except Exception as failed:  # noqa: BLE001 - the boundary of a job: the decision stands, only a view is old
        deps.log.warning("a Home tab could not be shown anew: %s", type(failed).__name__)


def show(deps: Deps, user: str, state: HomeState, *, seen: str = "", back: bool = False) -> None:
    """Publish the tab as it has to look now. `seen` is the hash of what the person looks at, if it is known."""
    try:
        person = deps.desk.ask(user)
    except SlackUnavailable:
        _publish(deps, user, seen, render_unavailable)
        return
    switch_to(person.locale, person.tz)
    if not _full_member(deps, person):
        _publish(deps, user, seen, render_outsider)
        return

    def rendered() -> View:
        home = read_home(deps, person, state, back=back)
        deps.visits.note(user, home.state)
        return render_home(home)

    _publish(deps, user, seen, rendered)


def _publish(deps: Deps, user: str, seen: str, render: Callable[[], View]) -> None:
    """Once more, read anew, when another view was published meanwhile."""
    try:
        if not seen:
            deps.client.views_publish(user_id=user, view=render())
            return
        try:
            deps.client.views_publish(user_id=user, view=render(), hash=seen)
        except SlackApiError as refused:
            if refused.response.get("error") != "hash_conflict":
                raise
            deps.client.views_publish(user_id=user, view=render())
    except (SlackClientError, OSError) as failed:
        deps.log.warning("a Home tab could not be published: %s", failed)


def _refuse_strangers(deps: Deps, click: Click) -> None:
    if click.sender.team != deps.home_team:
        raise IdRefused(f"{click.sender.user} of {click.sender.team} pressed a control of the Home tab.")


def _full_member(deps: Deps, person: Person) -> bool:
    return person.team == deps.home_team and not (person.guest or person.bot or person.deactivated or person.stranger)
