"""conversations.*: channels, direct messages and what was said in them."""

from bot.sandbox.api_call import Call, page
from bot.sandbox.errors import SlackError
from bot.sandbox.model import Channel, Json
from bot.sandbox.seed import BOT_USER


async def open_direct(call: Call) -> Json:
    """conversations.open: the direct message with one user."""
    users = str(call.need("users", "users_list_not_supplied")).split(",")
    user = call.office.world.users.get(users[0])
    if len(users) != 1:
        raise SlackError("too_many_users")
    if user is None:
        raise SlackError("user_not_found")
    if user.deleted:
        raise SlackError("user_disabled")
    channel = call.office.world.direct(user.id)
    return {"channel": channel.to_slack(BOT_USER) if call.flag("return_im") else {"id": channel.id}}


async def info(call: Call) -> Json:
    """conversations.info."""
    return {"channel": call.channel().to_slack(BOT_USER)}


async def list_channels(call: Call) -> Json:
    """conversations.list."""
    kinds = str(call.args.get("types") or "public_channel").split(",")
    found = [
        channel.to_slack(BOT_USER)
        for channel in call.office.world.channels.values()
        if ("im" if channel.im_with is not None else "public_channel") in kinds
        and not (call.flag("exclude_archived") and channel.is_archived)
    ]
    channels, more = page(found, call)
    return {"channels": channels, "response_metadata": more}


async def members(call: Call) -> Json:
    """conversations.members."""
    found = [{"id": user} for user in sorted(call.channel().members)]
    some, more = page(found, call)
    return {"members": [one["id"] for one in some], "response_metadata": more}


async def history(call: Call) -> Json:
    """conversations.history: newest first, replies left out unless they were broadcast."""
    channel = _readable(call)
    with_metadata = call.flag("include_all_metadata")
    found = [
        call.office.world.told(channel, message, with_metadata=with_metadata)
        for message in reversed(channel.messages.values())
        if not message.only_for
        and (message.thread_ts in (None, message.ts) or message.broadcast)
        and _in_range(call, message.ts)
    ]
    messages, more = page(found, call)
    return {"messages": messages, "has_more": bool(more["next_cursor"]), "response_metadata": more}


async def replies(call: Call) -> Json:
    """conversations.replies: the parent, then its replies, oldest first."""
    channel = _readable(call)
    parent = channel.messages.get(str(call.need("ts", "thread_not_found")))
    if parent is None or parent.only_for:
        raise SlackError("thread_not_found")
    with_metadata = call.flag("include_all_metadata")
    thread = [parent, *(one for one in call.office.world.replies(channel, parent.ts) if _in_range(call, one.ts))]
    found = [call.office.world.told(channel, message, with_metadata=with_metadata) for message in thread]
    messages, more = page(found, call)
    return {"messages": messages, "has_more": bool(more["next_cursor"]), "response_metadata": more}


def _readable(call: Call) -> Channel:
    channel = call.channel()
    if channel.im_with is not None:  # bot/manifest.yaml asks for no im:history
        raise SlackError("missing_scope")
    if BOT_USER not in channel.members:
        raise SlackError("not_in_channel")
    return channel


def _in_range(call: Call, ts: str) -> bool:
    """Between `oldest` and `latest`, the ends only when `inclusive`."""
    oldest, latest = str(call.args.get("oldest") or "0"), str(call.args.get("latest") or "9999999999.999999")
    if call.flag("inclusive") and ts in (oldest, latest):
        return True
    return float(oldest) < float(ts) < float(latest)


METHODS = {
    "conversations.open": open_direct,
    "conversations.info": info,
    "conversations.list": list_channels,
    "conversations.members": members,
    "conversations.history": history,
    "conversations.replies": replies,
}
