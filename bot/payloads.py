"""What Slack sends, read once into small frozen values; everything unexpected is refused."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.ids import VALUE, Place


class PayloadRefused(ValueError):
    """Slack sent something that this bot does not expect; nothing was done."""


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Sender(_Read):
    """Who acted. `team` is the person's own workspace, the only field that tells a stranger from a colleague."""

    user: str = Field(pattern=r"^[UW][A-Za-z0-9_]{1,40}$")
    team: str = Field(pattern=r"^[TE][A-Za-z0-9_]{1,40}$")


class Click(_Read):
    """A button was pressed. `thread_ts` is the thread the card stands in; empty for a message of the channel."""

    sender: Sender
    action_id: str
    value: str
    channel: str
    thread_ts: str
    trigger_id: str
    response_url: str | None = None
    view_id: str | None = None
    view_hash: str = ""
    metadata: str = ""


class HomeOpened(_Read):
    """Somebody looks at the Home tab. What it shows already has `metadata` of ours and a hash of Slack's."""

    user: str = Field(pattern=r"^[UW][A-Za-z0-9_]{1,40}$")
    view_hash: str = ""
    metadata: str = ""


class Submission(_Read):
    """A modal was submitted. `values` maps block ids to what was typed or chosen."""

    sender: Sender
    callback_id: str
    place: Place
    values: dict[str, str | tuple[str, ...] | None]


class Mention(_Read):
    """Somebody wrote to the bot. `thread_ts` is the thread it was written in, or the message that opens one.

    `edited` is when it was last changed (Slack's time, as `ts`), empty for a message as it was written.
    """

    sender: Sender
    channel: str
    ts: str
    thread_ts: str
    text: str
    edited: str = ""


class Slash(_Read):
    """Somebody used the slash command."""

    sender: Sender
    text: str
    channel: str
    trigger_id: str
    response_url: str | None = None


class Typed(_Read):
    """A message in a thread."""

    sender: Sender
    channel: str
    thread_ts: str
    text: str


def read_click(body: Mapping[str, Any]) -> Click:
    """Read a `block_actions` payload, from a message or from a modal.

    Raises:
        PayloadRefused: a field is missing or of another kind.
    """
    with _refusing("button"):
        action = body["actions"][0]
        view = body.get("view") or {}
        container = body.get("container") or {}
        message = body.get("message") or {}
        thread = container.get("thread_ts") or message.get("thread_ts") or ""
        place = {
            "channel": (body.get("channel") or {}).get("id") or container.get("channel_id") or "",
            # In a thread that nobody has opened Slack does not show a private answer at all.
            "thread_ts": "" if thread == message.get("ts") else thread,
        }
        return Click.model_validate(
            {
                "sender": _sender(body["user"]),
                "action_id": action["action_id"],
                "value": action.get("value") or (action.get("selected_option") or {}).get("value", ""),
                **place,
                "trigger_id": body["trigger_id"],
                "response_url": body.get("response_url"),
                "view_id": view.get("id"),
                "view_hash": view.get("hash") or "",
                "metadata": view.get("private_metadata", ""),
            }
        )


def read_revoked(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Whose bot tokens a `tokens_revoked` event names, by user.

    Raises:
        PayloadRefused: a field is missing or of another kind.
    """
    with _refusing("revocation"):
        return tuple(str(user) for user in body["event"]["tokens"].get("bot") or ())


def read_event_time(body: Mapping[str, Any]) -> int:
    """When what an event tells happened (s), which may be long ago.

    Raises:
        PayloadRefused: it does not say so.
    """
    with _refusing("event"):
        return int(body["event_time"])


def read_home_opened(body: Mapping[str, Any]) -> HomeOpened | None:
    """Read an `app_home_opened` event; None when another tab of the app was opened.

    Raises:
        PayloadRefused: a field is missing or of another kind.
    """
    with _refusing("Home tab"):
        event = body["event"]
        if event["tab"] != "home":
            return None
        view = event.get("view") or {}
        seen = {"view_hash": view.get("hash") or "", "metadata": view.get("private_metadata") or ""}
        return HomeOpened.model_validate({"user": event["user"], **seen})


def read_submission(body: Mapping[str, Any]) -> Submission:
    """Read a `view_submission` payload.

    Raises:
        PayloadRefused: a field is missing or of another kind.
    """
    with _refusing("modal"):
        view = body["view"]
        values = {block: _typed(inputs[VALUE]) for block, inputs in view["state"]["values"].items() if VALUE in inputs}
        return Submission.model_validate(
            {
                "sender": _sender(body["user"]),
                "callback_id": view["callback_id"],
                "place": Place.model_validate_json(view["private_metadata"]),
                "values": values,
            }
        )


def read_mention(body: Mapping[str, Any]) -> Mention:
    """Read an `app_mention` event.

    Raises:
        PayloadRefused: a field is missing or of another kind.
    """
    with _refusing("mention"):
        event = body["event"]
        return Mention.model_validate(
            {
                "sender": {"user": event["user"], "team": _event_team(body)},
                "channel": event["channel"],
                "ts": event["ts"],
                "thread_ts": event.get("thread_ts") or event["ts"],
                "text": event.get("text", ""),
                "edited": (event.get("edited") or {}).get("ts", ""),
            }
        )


def read_typed(body: Mapping[str, Any]) -> Typed | None:
    """Read a `message` event; None when it is not a person's message in a thread.

    Raises:
        PayloadRefused: a field is missing or of another kind.
    """
    with _refusing("message"):
        event = body["event"]
        if event.get("subtype") or event.get("bot_id") or not event.get("thread_ts") or not event.get("user"):
            return None
        return Typed.model_validate(
            {
                "sender": {"user": event["user"], "team": _event_team(body)},
                "channel": event["channel"],
                "thread_ts": event["thread_ts"],
                "text": event.get("text", ""),
            }
        )


def read_slash(body: Mapping[str, Any]) -> Slash:
    """Read a slash command.

    Raises:
        PayloadRefused: a field is missing or of another kind.
    """
    with _refusing("command"):
        return Slash.model_validate(
            {
                "sender": {"user": body["user_id"], "team": body["team_id"]},
                "text": body.get("text", ""),
                "channel": body["channel_id"],
                "trigger_id": body["trigger_id"],
                "response_url": body.get("response_url"),
            }
        )


def who_sent(body: Mapping[str, Any]) -> str:
    """The user id in an interaction, to answer in their language; empty where there is none. Proves nothing."""
    user = body.get("user")
    found = user.get("id") if isinstance(user, Mapping) else None
    return found if isinstance(found, str) else ""


def _sender(user: Mapping[str, Any]) -> dict[str, Any]:
    return {"user": user["id"], "team": user["team_id"]}


def _event_team(body: Mapping[str, Any]) -> str:
    """The writer's own workspace: strangers' events carry it in `user_team`, colleagues' in `team`."""
    event = body["event"]
    return str(event.get("user_team") or event.get("source_team") or event.get("team") or body["team_id"])


def _typed(state: Mapping[str, Any]) -> str | tuple[str, ...] | None:
    """What an input holds, whatever its kind."""
    if "selected_options" in state:
        return tuple(chosen["value"] for chosen in state["selected_options"] or ())
    if "selected_option" in state:
        return state["selected_option"]["value"] if state["selected_option"] else None
    value = state.get("value")
    return value if value is None or isinstance(value, str) else str(value)


class _refusing:  # noqa: N801 - reads as a clause after `with`
    """Turns every way in which a payload can be malformed into one refusal."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, KeyError | TypeError | IndexError | AttributeError | ValidationError):
            raise PayloadRefused(f"Slack sent a {self._what} that cannot be read ({type(error).__name__}).") from error
