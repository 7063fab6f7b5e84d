"""The Bolt app: which payload goes to which work. Buttons are acknowledged first; windows are answered."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from slack_bolt import Ack, App, BoltResponse
from slack_bolt.authorization import AuthorizeResult
from slack_sdk import WebClient

from bot import actions, home_tab, past, run_controls, starts, undoing
from bot.ack_time import TimedApp
from bot.asker import Asker, asker_of
from bot.deps import Deps
from bot.ids import ActionId
from bot.language import say
from bot.modals import Answered, Next, refusal
from bot.opening_modals import OPENINGS
from bot.operating import MARKING, OPERATING
from bot.payloads import (
    Click,
    Submission,
    read_click,
    read_event_time,
    read_home_opened,
    read_mention,
    read_revoked,
    read_slash,
    read_submission,
    read_typed,
    who_sent,
)
from bot.readers import speaking_to
from bot.undo_settling import UNDO_MARKING, UNDO_OPERATING
from bot.views import SUBMISSIONS
from bot.work import explained, later, once

#: Bolt acknowledges from this pool; with its default of five threads a burst of clicks would be answered too late.
LISTENERS = 64

CLICKS: dict[str, Callable[[Deps, Click], None]] = {
    ActionId.APPROVE: actions.approve,
    ActionId.APPROVE_ALL: actions.approve_all,
    ActionId.ON_IT: actions.on_it,
    ActionId.UNDO: undoing.undo,
    ActionId.CANCEL: run_controls.cancel,
    ActionId.ASK_AGAIN: run_controls.ask_again,
    ActionId.HOME_PAGE: home_tab.turn,
    ActionId.HOME_FILTER: home_tab.filter_by,
    ActionId.TIMELINE: past.open_timeline,
    ActionId.PAST_BACK: past.turn_past,
    ActionId.PAST_NEXT: past.turn_past,
    **OPENINGS,
    **OPERATING,
    **UNDO_OPERATING,
}


def create_app(deps: Deps) -> App:
    """A Bolt app over these dependencies; the same for Socket Mode and HTTP."""
    app = TimedApp(
        deps.timings,
        client=WebClient(base_url=deps.client.base_url, timeout=deps.client.timeout, retry_handlers=[]),
        authorize=_known(deps),
        signing_secret=deps.signing_secret or "not used in Socket Mode",
        listener_executor=ThreadPoolExecutor(LISTENERS, thread_name_prefix="listener"),
        logger=deps.log,
        token_verification_enabled=False,
    )
    for action_id, work in CLICKS.items():
        app.action(action_id)(_clicked(deps, work))
    for callback_id, submit in (SUBMISSIONS | MARKING | UNDO_MARKING).items():
        app.view(callback_id)(_submitted(deps, submit))
    app.event("app_mention")(_mentioned(deps))
    app.event("message")(_messaged(deps))
    app.event("app_home_opened")(_home_opened(deps))
    app.event("app_uninstalled")(_uninstalled(deps))
    app.event("tokens_revoked")(_revoked(deps))
    app.command("/vobo")(_commanded(deps))
    app.error(_failed(deps))
    return app


def _known(deps: Deps) -> Callable[..., AuthorizeResult]:
    """Whose app this is, known since the start. Bolt would ask Slack at the first click, before it acknowledges, and
    would keep the token it was made with; a renewed one must count at once.
    """

    def authorize(team_id: str | None = None, enterprise_id: str | None = None) -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=enterprise_id, team_id=team_id, bot_user_id=deps.bot_user, bot_token=deps.client.token
        )

    return authorize


def _clicked(deps: Deps, work: Callable[[Deps, Click], None]) -> Callable[..., None]:
    def handle(ack: Ack, body: dict[str, Any]) -> None:
        click = read_click(body)
        later(deps, asker_of(click), lambda: once(deps, click, work))
        ack()

    return handle


def _submitted(deps: Deps, submit: Callable[[Deps, Submission], Answered]) -> Callable[..., None]:
    def handle(ack: Ack, body: dict[str, Any]) -> None:
        with speaking_to(deps.store, who_sent(body), deps.language):
            try:
                answer = submit(deps, read_submission(body))
            except Exception as error:  # noqa: BLE001 - the modal is open: the person reads it there
                answer = refused_there(body, explained(deps, error))
        if answer:
            ack(**_in_slacks_words(answer))
        else:
            ack()

    return handle


def _mentioned(deps: Deps) -> Callable[..., None]:
    def handle(body: dict[str, Any]) -> None:
        said = read_mention(body)
        later(deps, asker_of(said), lambda: starts.mention(deps, said))

    return handle


def _messaged(deps: Deps) -> Callable[..., None]:
    def handle(body: dict[str, Any]) -> None:
        said = read_typed(body)
        if said and f"<@{deps.bot_user}>" not in said.text:  # a mention arrives as an event of its own
            later(deps, asker_of(said), lambda: starts.typed(deps, said))

    return handle


def _home_opened(deps: Deps) -> Callable[..., None]:
    def handle(body: dict[str, Any]) -> None:
        event = read_home_opened(body)
        if event:
            later(deps, Asker(event.user, "", None), lambda: home_tab.opened(deps, event))

    return handle


def _uninstalled(deps: Deps) -> Callable[..., None]:
    def handle(body: dict[str, Any]) -> None:
        deps.uninstalled(read_event_time(body))

    return handle


def _revoked(deps: Deps) -> Callable[..., None]:
    def handle(body: dict[str, Any]) -> None:
        if deps.bot_user in read_revoked(body):  # a member's own token may be revoked as well
            deps.uninstalled(read_event_time(body))

    return handle


def _commanded(deps: Deps) -> Callable[..., None]:
    def handle(ack: Ack, body: dict[str, Any]) -> None:
        said = read_slash(body)
        later(deps, asker_of(said), lambda: starts.slash(deps, said))
        ack()

    return handle


def _failed(deps: Deps) -> Callable[..., BoltResponse]:
    def handle(error: Exception, body: dict[str, Any]) -> BoltResponse:
        """What nobody could read: acknowledged, so that Slack does not send it again, and logged."""
        with speaking_to(deps.store, who_sent(body), deps.language):
            answer = refused_there(body, explained(deps, error))
        if body.get("type") == "view_submission":
            said = json.dumps(_in_slacks_words(answer))
            return BoltResponse(status=200, body=said, headers={"content-type": ["application/json"]})
        return BoltResponse(status=200, body="")

    return handle


def refused_there(body: dict[str, Any], sentence: str) -> Answered:
    """A sentence about the whole of a submitted window: at its first input, or in its place when it has none."""
    view = body.get("view", {})
    inputs = [str(block["block_id"]) for block in view.get("blocks", []) if block.get("type") == "input"]
    if inputs:
        return {inputs[0]: sentence}
    return Next("update", refusal(say("Nothing was decided"), sentence))


def _in_slacks_words(answer: Answered) -> dict[str, Any]:
    if not isinstance(answer, Next):
        return {"response_action": "errors", "errors": answer}
    return {"response_action": answer.action, **({"view": answer.view} if answer.view else {})}
