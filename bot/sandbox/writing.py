"""People who write: messages, mentions, slash commands, and opening the app home."""

from bot.sandbox import payloads
from bot.sandbox.errors import SandboxError, SlackError
from bot.sandbox.model import Actor, Channel, Json, Message
from bot.sandbox.office import Office
from bot.sandbox.seed import BOT_USER
from bot.sandbox.typed import rich_text, typed

_SILENCE = "vobo did not answer in time. Slack shows this when an app does not acknowledge within 3 seconds."


async def say(office: Office, actor: Actor, channel: str, text: str, thread_ts: str | None = None) -> Json:
    """Write a message; the app hears of it where it is a member, and of a mention in particular.

    Raises:
        SandboxError: an empty text, an archived channel, an unknown thread.
    """
    world = office.world
    place = _place(office, actor, channel)
    _may_write(place, text, thread_ts)
    words = typed(world, text)
    parent = place.messages.get(thread_ts or "")
    message = world.add(
        Message(
            ts=world.ts(),
            channel=place.id,
            user=actor.id,
            team=actor.team_id,
            text=words,
            blocks=rich_text(words),
            thread_ts=(parent.thread_ts or parent.ts) if parent else None,
        )
    )
    world.reads[actor.id, place.id] = message.ts
    told = message.to_slack()
    if parent:
        told["parent_user_id"] = parent.user
    ids = [_heard(office, kind, actor, place, told) for kind in _kinds(office, place, words)]
    return {"channel": place.id, "ts": message.ts, "thread_ts": message.thread_ts, "deliveries": ids}


async def edit(office: Office, actor: Actor, channel: str, ts: str, text: str) -> Json:
    """Change the words of an own message. The app hears of a mention anew: another event, the same `ts`.

    Raises:
        SandboxError: there is no such message of this person, or nothing is left of it.
    """
    world = office.world
    place = _place(office, actor, channel)
    message = place.messages.get(ts)
    if message is None or message.user != actor.id or message.bot:
        raise SandboxError(f"{actor.id} wrote no message {ts} in {place.id}.")
    _may_write(place, text, None)
    before = message.to_slack()
    message.keep_version()
    message.text = typed(world, text)
    message.blocks = world.named(rich_text(message.text))
    message.edited = {"user": actor.id, "ts": world.ts()}
    world.changed()
    told, ids = message.to_slack(), []
    for kind in _kinds(office, place, message.text):
        if kind == "message":
            changed = payloads.message_changed(place, told, before, at=message.edited["ts"])
            ids.append(emit(office, kind, changed, stranger=actor.team_id != world.home_team))
        else:
            ids.append(_heard(office, kind, actor, place, told))
    return {"channel": place.id, "ts": ts, "thread_ts": message.thread_ts, "deliveries": ids}


def _place(office: Office, actor: Actor, channel: str) -> Channel:
    """Where to write; a person's own direct message with the app opens by writing in it."""
    return office.world.direct(actor.id) if channel == f"D{actor.id}" else office.world.channel(channel)


def _may_write(place: Channel, text: str, thread_ts: str | None) -> None:
    if not text.strip():
        raise SandboxError("There is nothing to send; write something first.")
    if place.is_archived:
        raise SandboxError(f"#{place.name} is archived; nobody can write there.")
    if thread_ts and thread_ts not in place.messages:
        raise SandboxError(f"There is no message {thread_ts} in {place.id} to reply to.")


def _kinds(office: Office, place: Channel, words: str) -> list[str]:
    wanted = office.world.settings.subscriptions
    if BOT_USER not in place.members:
        return []
    if place.im_with is not None:
        return ["message"] if "message.im" in wanted else []
    mention = ["app_mention"] if f"<@{BOT_USER}>" in words and "app_mention" in wanted else []
    return [*mention, *(["message"] if "message.channels" in wanted else [])]


def _heard(office: Office, kind: str, actor: Actor, place: Channel, told: Json) -> str:
    home = office.world.home_team
    event = payloads.message_event(kind, actor, place, told, team=home)
    return emit(office, kind, event, stranger=actor.team_id != home)


def emit(office: Office, kind: str, event: Json, *, stranger: bool = False) -> str:
    """Send one event on its way and return the id of its delivery."""
    world = office.world
    event_id = f"Ev{world.token().upper()}"
    outer = payloads.event_callback(
        event, team=world.home_team, event_id=event_id, at=int(world.clock.now()), stranger=stranger
    )
    return office.courier.event(kind, outer).id


async def slash(office: Office, actor: Actor, channel: str, command: str, text: str) -> Json:
    """Run a slash command; what the app acknowledges with is shown, by default to this person only.

    Raises:
        SandboxError: the answer is not a message Slack could show.
    """
    world = office.world
    place = _place(office, actor, channel)
    fields = {
        "command": command,
        "text": text,
        "trigger_id": office.triggers.issue(actor),
        "response_url": office.response_urls.issue(actor, place.id, None),
    }
    payload = payloads.slash_command(actor, world.users.get(actor.id), place, world.settings, **fields)
    delivery = await office.courier.interaction("slash_commands", "slash_command", payload)
    if not delivery.acked:
        world.notice(actor, f"{command} failed with the error “dispatch_failed”. {_SILENCE}")
    elif isinstance(delivery.response, dict) and (delivery.response.get("text") or delivery.response.get("blocks")):
        try:
            office.response_urls.use(fields["response_url"].rsplit("/", 1)[1], delivery.response)
        except SlackError as refused:
            raise SandboxError(f"Slack would refuse the answer to {command}: {refused.code}.") from None
    return {"acked": delivery.acked, "response": delivery.response, "delivery": delivery.id, **fields}


async def open_home(office: Office, actor: Actor) -> Json:
    """Look at the app's home tab."""
    world = office.world
    shown = office.views.home(actor)
    if "app_home_opened" not in world.settings.subscriptions:
        return {"delivery": None}
    view = shown.to_slack() if shown else None
    event = payloads.home_opened(actor, world.direct(actor.id).id, view, world.ts())
    return {"delivery": emit(office, "app_home_opened", event, stranger=actor.team_id != world.home_team)}
