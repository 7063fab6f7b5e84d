"""What one person sees, as one JSON object: the page asks for it after every change."""

import zlib

from bot.sandbox.clicking import told_view
from bot.sandbox.model import Actor, Channel, Json, Message
from bot.sandbox.office import Office
from bot.sandbox.seed import BOT_USER


def snapshot(office: Office, actor: Actor, channel: str) -> Json:
    """People, channels with unread counts, one channel's messages, this person's modals, home and warnings."""
    world = office.world
    place = world.channels.get(channel) or next(iter(world.channels.values()))
    world.direct(actor.id)
    visible = [one for one in world.channels.values() if _visible(one, actor)]
    home = office.views.home(actor)
    return {
        "me": actor.id,
        "people": [{**vars(user)} for user in world.users.values()],
        "usergroups": [{"id": group.id, "handle": group.handle} for group in world.usergroups.values()],
        "channels": [_rail_entry(office, one, actor) for one in visible],
        "channel": place.id,
        "messages": [_seen(office, place, one) for one in place.messages.values() if _for(one, actor)],
        "views": [{**told_view(view), "errors": view.errors} for view in office.views.stack(actor)],
        "home": None if home is None else told_view(home),
        "notices": [one for one in world.notices if one["user"] == actor.id][-3:],
        "prompts": world.prompts,
        "connected": len(office.sockets) > 0 or world.settings.deliver_to is not None,
    }


def _visible(place: Channel, actor: Actor) -> bool:
    return place.im_with == actor.id if place.im_with is not None else actor.id in place.members


def _for(message: Message, actor: Actor) -> bool:
    return message.only_for in (None, actor.id)


def _seen(office: Office, place: Channel, message: Message) -> Json:
    told = office.world.told(place, message)
    # The page redraws a message only when this number differs.
    return {**told, "revision": zlib.crc32(repr(sorted(told.items())).encode())}


def _rail_entry(office: Office, place: Channel, actor: Actor) -> Json:
    seen = office.world.reads.get((actor.id, place.id), "0")
    unread = [one for one in place.messages.values() if one.ts > seen and one.user != actor.id and _for(one, actor)]
    return {
        "id": place.id,
        "name": place.name,
        "topic": place.topic,
        "is_archived": place.is_archived,
        "is_direct": place.im_with is not None,
        "has_bot": BOT_USER in place.members,
        "unread": len(unread),
        "mentions": sum(f"<@{actor.id}>" in one.text for one in unread),
    }
