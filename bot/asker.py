"""Private answers: only the person who asked sees them."""

from typing import NamedTuple

from pydantic import ValidationError
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.webhook import WebhookClient

from bot.blocks import Block, section
from bot.deps import Deps
from bot.ids import Place
from bot.payloads import Click, Mention, Slash, Submission, Typed
from bot.text import pieces

_TIMEOUT_S = 5
#: Characters of one section, and how many of them stay below what Slack takes in one message.
_SECTION, _SECTIONS = 3_000, 3


class Asker(NamedTuple):
    """Whom to answer, and where."""

    user: str
    channel: str
    thread_ts: str | None
    response_url: str | None = None


def asker_of(payload: Click | Submission | Mention | Slash | Typed) -> Asker:
    """Who sent this, and where an answer belongs."""
    user = payload.sender.user
    match payload:
        case Click():
            channel, thread_ts = _pressed_at(payload)
            return Asker(user, channel, thread_ts or None, payload.response_url)
        case Submission():
            return Asker(user, payload.place.channel, payload.place.thread_ts or None)
        case Mention():
            # In a thread of its own a private answer would be out of sight until somebody opens the thread.
            return Asker(user, payload.channel, payload.thread_ts if payload.thread_ts != payload.ts else None)
        case Slash():
            return Asker(user, payload.channel, None, payload.response_url)
        case Typed():
            return Asker(user, payload.channel, payload.thread_ts)


def _pressed_at(click: Click) -> tuple[str, str]:
    """Channel and thread of a card; of a control in a window those that the window remembers. The Home tab has none."""
    if click.channel:
        return click.channel, click.thread_ts
    try:
        place = Place.model_validate_json(click.metadata)
    except ValidationError:
        return "", ""
    return place.channel, place.thread_ts


def tell(deps: Deps, asker: Asker, mrkdwn: str) -> None:
    """Answer privately. Everything untrusted in the text was made inert by the caller.

    An answer that cannot be delivered is logged and dropped: the decision it speaks of stands in the store. One that is
    too long loses its end, so what matters most stands first.
    """
    if not asker.channel:
        return
    parts = list(pieces(mrkdwn, _SECTION - 1))
    if len(parts) > _SECTIONS:
        parts = [*parts[: _SECTIONS - 1], f"{parts[_SECTIONS - 1]}…"]
    blocks = [section(part) for part in parts]
    try:
        deps.client.chat_postEphemeral(
            channel=asker.channel, user=asker.user, thread_ts=asker.thread_ts, text=parts[0], blocks=blocks
        )
    except (SlackClientError, OSError) as failed:
        if asker.response_url and isinstance(failed, SlackApiError):
            _respond(deps, asker.response_url, parts[0], blocks)
        else:
            deps.log.warning("a private answer could not be delivered: %s", type(failed).__name__)


def _respond(deps: Deps, url: str, text: str, blocks: list[Block]) -> None:
    """The way that needs no membership of the channel."""
    try:
        sent = WebhookClient(url, timeout=_TIMEOUT_S).send(
            text=text, blocks=blocks, response_type="ephemeral", replace_original=False
        )
    except OSError as failed:
        deps.log.warning("a private answer could not be delivered: %s", type(failed).__name__)
        return
    if sent.status_code >= 400:  # noqa: PLR2004 - HTTP's line between done and refused
        deps.log.warning("a private answer could not be delivered: HTTP %s", sent.status_code)
