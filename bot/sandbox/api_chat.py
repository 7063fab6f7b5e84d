"""chat.*: the messages of the bot."""

from bot.sandbox import limits
from bot.sandbox.api_call import Call
from bot.sandbox.errors import SlackError
from bot.sandbox.model import Channel, Json, Message
from bot.sandbox.seed import BOT_USER
from bot.sandbox.validate_blocks import Block
from bot.sandbox.validate_message import checked_blocks, checked_metadata, checked_text, decoded

_KEPT_ARGUMENTS = ("unfurl_links", "unfurl_media", "mrkdwn", "parse", "link_names")


async def post_message(call: Call) -> Json:
    """chat.postMessage."""
    channel = call.writable_channel()
    call.office.rates.spend(call.method, channel.id)
    message = _made(call, channel)
    message.broadcast = call.flag("reply_broadcast")
    call.office.world.add(message)
    return {"channel": channel.id, "ts": message.ts, "message": message.to_slack()}


async def post_ephemeral(call: Call) -> Json:
    """chat.postEphemeral."""
    channel = call.writable_channel()
    user = str(call.need("user", "no_user"))
    if user not in channel.members:
        raise SlackError("user_not_in_channel")
    call.office.rates.spend(call.method, channel.id)
    message = _made(call, channel)
    message.only_for = user
    call.office.world.add(message)
    return {"message_ts": message.ts}


async def update(call: Call) -> Json:
    """chat.update: `text` without `blocks` takes the blocks away; neither leaves nothing to do."""
    channel = call.writable_channel("is_inactive")
    call.office.rates.spend(call.method, channel.id)
    message = _own(call, channel, "cant_update_message")
    blocks = checked_blocks(call.args.get("blocks"))
    words = checked_text(call.args.get("text"), limits.UPDATE_TEXT)
    metadata = checked_metadata(call.args.get("metadata"))
    attachments = _attachments(call)
    if not words and not blocks and not attachments:
        raise SlackError("no_text")
    message.keep_version()
    if blocks is not None or words:
        message.blocks = call.office.world.named(blocks)
    if words or blocks is not None:
        message.text = words
    message.attachments = attachments if attachments is not None else message.attachments
    message.metadata = metadata or message.metadata
    if not blocks:
        message.edited = {"user": BOT_USER, "ts": call.office.world.ts()}
    call.office.world.changed()
    return {"channel": channel.id, "ts": message.ts, "text": message.text, "message": message.to_slack()}


async def delete(call: Call) -> Json:
    """chat.delete."""
    channel = call.channel()
    call.office.rates.spend(call.method, channel.id)
    message = _own(call, channel, "cant_delete_message")
    channel.messages.pop(message.ts)
    call.office.world.changed()
    return {"channel": channel.id, "ts": message.ts}


async def get_permalink(call: Call) -> Json:
    """chat.getPermalink: a link this workspace's own page follows."""
    channel = call.channel()
    message = _found(channel, str(call.need("message_ts", "message_not_found")))
    link = f"{call.office.world.base_url}/archives/{channel.id}/p{message.ts.replace('.', '')}"
    if message.thread_ts:
        link += f"?thread_ts={message.thread_ts}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


async def add_reaction(call: Call) -> Json:
    """reactions.add."""
    channel = call.writable_channel()
    message = _found(channel, str(call.need("timestamp", "no_item_specified")))
    who = message.reactions.setdefault(str(call.need("name", "invalid_name")), [])
    if BOT_USER in who:
        raise SlackError("already_reacted")
    who.append(BOT_USER)
    call.office.world.changed()
    return {}


def _made(call: Call, channel: Channel) -> Message:
    blocks: list[Block] | None = checked_blocks(call.args.get("blocks"))
    words = checked_text(call.args.get("text"), limits.POST_TEXT)
    attachments = _attachments(call)
    if not words and not blocks and not attachments:
        raise SlackError("no_text")
    return Message(
        ts=call.office.world.ts(),
        channel=channel.id,
        user=BOT_USER,
        team=call.office.world.home_team,
        text=words,
        bot=True,
        blocks=blocks,
        attachments=attachments,
        thread_ts=_thread(call, channel),
        metadata=checked_metadata(call.args.get("metadata")),
        arguments={key: call.args[key] for key in _KEPT_ARGUMENTS if key in call.args},
    )


def _attachments(call: Call) -> list[Json] | None:
    attachments: list[Json] | None = decoded(call.args.get("attachments"), "invalid_attachments")
    if attachments is None:
        return None
    if not isinstance(attachments, list):
        raise SlackError("invalid_attachments")
    if len(attachments) > limits.ATTACHMENTS:
        raise SlackError("too_many_attachments")
    return attachments


def _thread(call: Call, channel: Channel) -> str | None:
    thread_ts = call.args.get("thread_ts")
    if thread_ts in (None, ""):
        return None
    parent = channel.messages.get(thread_ts) if isinstance(thread_ts, str) else None
    if parent is None or parent.only_for:
        raise SlackError("thread_not_found")
    if parent.thread_ts and parent.thread_ts != parent.ts:
        raise SlackError("cannot_reply_to_message")
    return parent.ts


def _found(channel: Channel, ts: str) -> Message:
    message = channel.messages.get(ts)
    if message is None or message.only_for:
        raise SlackError("message_not_found")
    return message


def _own(call: Call, channel: Channel, otherwise: str) -> Message:
    message = _found(channel, str(call.need("ts", "message_not_found")))
    if message.user != BOT_USER:
        raise SlackError(otherwise)
    return message


METHODS = {
    "chat.postMessage": post_message,
    "chat.postEphemeral": post_ephemeral,
    "chat.update": update,
    "chat.delete": delete,
    "chat.getPermalink": get_permalink,
    "reactions.add": add_reaction,
}
