"""Sending to Slack, once: no blind retries, a pace per channel, and a look into the thread when unsure."""

import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.blocks import Message

#: Slack takes about one message a second in a channel, with a little patience for bursts.
BURST = 4
PER_SECOND = 1.0
#: Nobody is told to come back later than this, however long the list.
LONGEST_WAIT_S = 30.0
EVENT_TYPE = "vobo_message"
_PAGE = 200
_PAGES = 10
#: The message stood there once and is gone.
GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed", "block_mismatch"})
#: About the app as a whole, whatever channel it was told for: one matter for ops.
OF_THE_APP = frozenset(
    {
        "missing_scope",
        "invalid_auth",
        "not_authed",
        "account_inactive",
        "token_revoked",
        "token_expired",
        "team_access_not_granted",
    }
)
#: Only a person can repair it; trying again soon is of no use.
NEEDS_OPS = OF_THE_APP | {
    "is_archived",
    "is_inactive",
    "channel_not_found",
    "not_in_channel",
    "restricted_action",
    "restricted_action_thread_locked",
    "thread_not_found",
}
#: Our own fault: the same message would be refused again.
MALFORMED = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_too_long", "msg_blocks_too_long", "no_text"})
#: Slack says of these that the message may have been taken.
_UNSURE = frozenset({"fatal_error", "internal_error", "request_timeout", "service_unavailable"})
_TOO_MANY = 429
_BROKEN = 500


class Target(NamedTuple):
    """Where a message goes; without a thread, into the channel itself."""

    channel: str
    thread_ts: str | None


class Picture(NamedTuple):
    """A PNG; `name` is what it is found again by, `alt` says what it shows."""

    name: str
    title: str
    alt: str
    content: bytes


class SendingFailed(Exception):
    """A message did not arrive, as far as we know. `unsure`: it may have; look before posting again."""

    def __init__(self, error: str, *, unsure: bool, retry_after_ms: int | None = None) -> None:
        super().__init__(error)
        self.error = error
        self.unsure = unsure
        self.retry_after_ms = retry_after_ms


class Pace:
    """A token bucket per channel. `clock` counts seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}
        self._slots: dict[str, float] = {}

    def wait_ms(self, channel: str) -> int:
        """0 when one more message may go to this channel now, else when to ask again: everybody at another moment."""
        left, at = self._buckets.get(channel, (float(BURST), self._clock()))
        now = self._clock()
        left = min(float(BURST), left + (now - at) * PER_SECOND)
        self._buckets[channel] = (left - 1 if left >= 1 else left, now)
        if left >= 1:
            return 0
        slot = max(now, self._slots.get(channel, now)) + 1 / PER_SECOND
        self._slots[channel] = slot if slot - now < LONGEST_WAIT_S else now
        return max(1, int((slot - now) * 1000))


class Sender:
    """Posts, updates and finds messages. Its client must not retry by itself."""

    def __init__(self, client: WebClient) -> None:
        self._client = client

    def opened(self, target: Target) -> Target:
        """The place itself: the direct message with a user, where the target is a user.

        Raises:
            SendingFailed: Slack does not open it.
        """
        if not target.channel.startswith(("U", "W")):
            return target
        answer = self._call(self._client.conversations_open, users=target.channel)
        return Target(str(answer["channel"]["id"]), target.thread_ts)

    def post(self, target: Target, message: Message, entry_id: str) -> str:
        """Post and return the message's ts.

        Raises:
            SendingFailed: it was refused, or nobody knows.
        """
        answer = self._call(
            self._client.chat_postMessage,
            channel=target.channel,
            thread_ts=target.thread_ts,
            text=message.text,
            blocks=message.blocks,
            metadata=_metadata(entry_id),
            unfurl_links=False,
            unfurl_media=False,
        )
        return str(answer["ts"])

    def update(self, channel: str, ts: str, message: Message, entry_id: str) -> None:
        """Replace text and blocks, always both: text alone would take the blocks away.

        Raises:
            SendingFailed: it was refused, or nobody knows. Repeating an update is harmless.
        """
        self._call(
            self._client.chat_update,
            channel=channel,
            ts=ts,
            text=message.text,
            blocks=message.blocks,
            metadata=_metadata(entry_id),
        )

    def upload(self, target: Target, picture: Picture) -> str:
        """Put a picture below a message and return its file's id.

        Raises:
            SendingFailed: it was refused, or nobody knows.
        """
        answer = self._call(
            self._client.files_upload_v2,
            channel=target.channel,
            thread_ts=target.thread_ts,
            filename=picture.name,
            title=picture.title,
            content=picture.content,
            alt_txt=picture.alt,
        )
        return str(answer["files"][0]["id"])

    def find_file(self, target: Target, name: str) -> str | None:
        """The id of a file of this name that an earlier attempt left below the message, or None.

        Raises:
            SendingFailed: Slack did not say; then nothing may be uploaded.
        """
        found = (file for message in self._messages(target) for file in message.get("files") or [])
        return next((str(file["id"]) for file in found if file.get("name") == name), None)

    def find(self, target: Target, entry_id: str, *, after: str | None = None) -> str | None:
        """The ts of a message of ours that an earlier attempt left in Slack, or None.

        `after`: the ts of a message that told of the same at an earlier time, and is none of this attempt.

        Nobody looks into direct messages: that takes `im:history`, with which the app could read what people write to
        it. A reminder that comes twice harms nobody.

        Raises:
            SendingFailed: Slack did not say; then nothing may be posted.
        """
        if target.channel.startswith("D"):
            return None
        for message in self._messages(target):
            payload = (message.get("metadata") or {}).get("event_payload") or {}
            if payload.get("id") == entry_id and (after is None or Decimal(message["ts"]) > Decimal(after)):
                return str(message["ts"])
        return None

    def _messages(self, target: Target) -> Iterator[dict[str, Any]]:
        cursor: str | None = None
        for _ in range(_PAGES):
            place: dict[str, Any] = {"channel": target.channel, "limit": _PAGE, "include_all_metadata": True}
            if target.thread_ts:
                place["ts"] = target.thread_ts
            method = self._client.conversations_replies if target.thread_ts else self._client.conversations_history
            page = self._call(method, cursor=cursor, **place)
            yield from page.get("messages") or []
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or None
            if cursor is None:
                return

    def _call(self, method: Callable[..., Any], **arguments: Any) -> Any:
        try:
            return method(**arguments)
        except SlackApiError as refused:
            raise _failure(refused) from refused
        except (SlackClientError, OSError) as failed:  # timeouts and broken connections are OSError
            raise SendingFailed(type(failed).__name__, unsure=True) from failed


def _metadata(entry_id: str) -> dict[str, Any]:
    return {"event_type": EVENT_TYPE, "event_payload": {"id": entry_id}}


def retry_after_ms(refused: SlackApiError) -> int | None:
    """For how long Slack wants to be left alone; None when that is not what it says."""
    response: Any = refused.response
    body = response.data if isinstance(getattr(response, "data", None), dict) else {}
    if getattr(response, "status_code", 200) != _TOO_MANY and body.get("error") not in {"ratelimited", "rate_limited"}:
        return None
    headers = {str(name).lower(): value for name, value in (response.headers or {}).items()}
    wait = headers.get("retry-after", "1")
    return int(wait[0] if isinstance(wait, list) else wait) * 1000


def _failure(refused: SlackApiError) -> SendingFailed:
    response: Any = refused.response
    status = int(getattr(response, "status_code", 200))
    body = response.data if isinstance(getattr(response, "data", None), dict) else {}
    error = str(body.get("error") or f"HTTP {status}")
    wait_ms = retry_after_ms(refused)
    if wait_ms is not None:
        return SendingFailed("ratelimited", unsure=False, retry_after_ms=wait_ms)
    return SendingFailed(error, unsure=status >= _BROKEN or error in _UNSURE)
