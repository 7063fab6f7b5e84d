"""Private answers: only the person who asked sees them."""

from typing import NamedTuple

from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.webhook import WebhookClient

from bot.deps import Deps
from bot.payloads import Click, Mention, Slash, Submission, Typed

_TIMEOUT_S = 5


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
            return Asker(user, payload.channel, payload.thread_ts or None, payload.response_url)
        case Submission():
            return Asker(user, payload.place.channel, payload.place.thread_ts or None)
        case Mention():
            # In a thread of its own a private answer would be out of sight until somebody opens the thread.
            return Asker(user, payload.channel, payload.thread_ts if payload.thread_ts != payload.ts else None)
        case Slash():
            return Asker(user, payload.channel, None, payload.response_url)
        case Typed():
            return Asker(user, payload.channel, payload.thread_ts)


def tell(deps: Deps, asker: Asker, mrkdwn: str) -> None:
    """Answer privately. Everything untrusted in the text was made inert by the caller.

    An answer that cannot be delivered is logged and dropped: the decision it speaks of stands in the store.
    """
    if not asker.channel:
        return
    try:
        deps.client.chat_postEphemeral(
            channel=asker.channel, user=asker.user, thread_ts=asker.thread_ts, text=mrkdwn, blocks=[_block(mrkdwn)]
        )
    except (SlackClientError, OSError) as failed:
        if asker.response_url and isinstance(failed, SlackApiError):
            _respond(deps, asker.response_url, mrkdwn)
        else:
            deps.log.warning("a private answer could not be delivered: %s", type(failed).__name__)


def _block(mrkdwn: str) -> dict[str, object]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn, "verbatim": True}}


def _respond(deps: Deps, url: str, mrkdwn: str) -> None:
    """The way that needs no membership of the channel."""
    try:
        sent = WebhookClient(url, timeout=_TIMEOUT_S).send(
            text=mrkdwn, response_type="ephemeral", replace_original=False
        )
    except OSError as failed:
        deps.log.warning("a private answer could not be delivered: %s", type(failed).__name__)
        return
    if sent.status_code >= 400:  # noqa: PLR2004 - HTTP's line between done and refused
        deps.log.warning("a private answer could not be delivered: HTTP %s", sent.status_code)
