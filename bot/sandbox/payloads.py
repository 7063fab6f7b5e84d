"""What Slack sends to an app, field for field. Pure: everything needed is handed in; `own` is the workspace's."""

from typing import Any

from bot.sandbox.model import Actor, Channel, Json, User
from bot.sandbox.seed import APP_ID, BOT_USER
from bot.sandbox.settings import Settings

_VERIFICATION = "sandbox-verification"


def event_callback(event: Json, *, team: str, event_id: str, at: int, stranger: bool) -> Json:
    """The outer envelope of the Events API. `stranger`: it happened in a channel shared with another company."""
    return {
        "token": _VERIFICATION,
        "team_id": team,
        "context_team_id": team,
        "context_enterprise_id": None,
        "api_app_id": APP_ID,
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": at,
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": team,
                "user_id": BOT_USER,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": stranger,
        "event_context": f"4-{event_id}",
    }


def message_event(kind: str, actor: Actor, channel: Channel, message: Json, *, team: str) -> Json:
    """An app_mention or message event about one human message."""
    event: Json = {
        "user": actor.id,
        "type": kind,
        "ts": message["ts"],
        "client_msg_id": f"00000000-0000-4000-8000-{message['ts'].replace('.', '')[-12:]}",
        "text": message["text"],
        "team": actor.team_id,
        "channel": channel.id,
        "event_ts": message["ts"],
        "blocks": message.get("blocks", []),
    }
    if actor.team_id != team:
        event |= {"user_team": actor.team_id, "source_team": actor.team_id}
    if message.get("thread_ts"):
        event |= {"thread_ts": message["thread_ts"], "parent_user_id": message.get("parent_user_id", BOT_USER)}
    if message.get("edited"):
        event |= {"edited": message["edited"], "event_ts": message["edited"]["ts"]}
    if kind == "message":
        event["channel_type"] = _channel_type(channel)
    return event


def message_changed(channel: Channel, message: Json, before: Json, *, at: str) -> Json:
    """The message event about an edit; who edited stands inside."""
    return {
        "type": "message",
        "subtype": "message_changed",
        "hidden": True,
        "channel": channel.id,
        "channel_type": _channel_type(channel),
        "ts": at,
        "event_ts": at,
        "message": message,
        "previous_message": before,
    }


def _channel_type(channel: Channel) -> str:
    return "im" if channel.im_with is not None else "channel"


def home_opened(actor: Actor, channel_id: str, view: Json | None, event_ts: str) -> Json:
    """The app_home_opened event; `view` is what is shown already."""
    event: Json = {
        "type": "app_home_opened",
        "user": actor.id,
        "channel": channel_id,
        "tab": "home",
        "event_ts": event_ts,
    }
    return event if view is None else event | {"view": view}


def slash_command(actor: Actor, user: User | None, channel: Channel, own: Settings, **fields: str) -> dict[str, str]:
    """A slash command; the values are all strings, as a form would carry them."""
    return {
        "token": _VERIFICATION,
        "team_id": actor.team_id,
        "team_domain": own.team_domain if actor.team_id == own.team_id else "other",
        "channel_id": channel.id,
        "channel_name": "directmessage" if channel.im_with is not None else channel.name,
        "user_id": actor.id,
        "user_name": user.name if user else actor.id.lower(),
        "api_app_id": APP_ID,
        "is_enterprise_install": "false",
        **fields,
    }


def interaction(kind: str, actor: Actor, user: User | None, own: Settings, **fields: Any) -> Json:
    """The part all interactive payloads share; an outsider is recognisable by user.team_id alone."""
    name = user.name if user else actor.id.lower()
    return {
        "type": kind,
        "user": {"id": actor.id, "username": name, "name": name, "team_id": actor.team_id},
        "api_app_id": APP_ID,
        "token": _VERIFICATION,
        "team": {"id": own.team_id, "domain": own.team_domain},
        "enterprise": None,
        "is_enterprise_install": False,
        **fields,
    }


def action(element: Json, block_id: str, state: Json | None, action_ts: str) -> Json:
    """One entry of `actions`: the control, and what it now holds."""
    told: Json = {
        "action_id": element["action_id"],
        "block_id": block_id,
        "type": element["type"],
        "action_ts": action_ts,
    }
    for key in ("text", "value", "style", "url", "confirm", "placeholder", "initial_option"):
        if key in element:
            told[key] = element[key]
    return told | {key: value for key, value in (state or {}).items() if key != "type"}
