"""response_url: thirty minutes, five uses, no token, no membership needed."""

from dataclasses import dataclass
from typing import Any

from bot.sandbox import limits
from bot.sandbox.errors import SlackError
from bot.sandbox.model import Actor, Json, Message
from bot.sandbox.seed import BOT_USER
from bot.sandbox.validate_message import checked_blocks, checked_text
from bot.sandbox.world import World


@dataclass
class _Url:
    actor: Actor
    channel: str
    original: str | None
    thread_ts: str | None
    born: float
    uses: int = 0


class ResponseUrls:
    """All response URLs handed out."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._known: dict[str, _Url] = {}

    def issue(self, actor: Actor, channel: str, original: str | None, thread_ts: str | None = None) -> str:
        """A fresh URL; `original` is the ts of the message that was clicked."""
        name = self._world.token()
        self._known[name] = _Url(actor, channel, original, thread_ts, self._world.clock.now())
        return f"{self._world.base_url}/response/{name}"

    def use(self, name: str, body: Json) -> None:
        """Post, replace or delete.

        Raises:
            SlackError: expired_url, used_url, or what is wrong with the message.
        """
        url = self._known.get(name)
        if url is None or self._world.clock.now() - url.born > limits.RESPONSE_URL_SECONDS:
            raise SlackError("expired_url")
        if url.uses >= limits.RESPONSE_URL_USES:
            raise SlackError("used_url")
        url.uses += 1
        original = self._world.channels[url.channel].messages.get(url.original or "")
        if body.get("delete_original"):
            self._delete(original)
        elif body.get("replace_original"):
            self._replace(original, body)
        else:
            self._post(url, body)

    def _delete(self, original: Message | None) -> None:
        if original is None:
            raise SlackError("message_not_found")
        self._world.channels[original.channel].messages.pop(original.ts)
        self._world.changed()

    def _replace(self, original: Message | None, body: Json) -> None:
        if original is None:
            raise SlackError("message_not_found")
        words, blocks = _content(body)
        original.keep_version()
        original.text, original.blocks = words, self._world.named(blocks)
        self._world.changed()

    def _post(self, url: _Url, body: Json) -> None:
        words, blocks = _content(body)
        private = body.get("response_type", "ephemeral") != "in_channel"
        self._world.add(
            Message(
                ts=self._world.ts(),
                channel=url.channel,
                user=BOT_USER,
                team=self._world.home_team,
                text=words,
                bot=True,
                blocks=blocks,
                thread_ts=body.get("thread_ts"),
                only_for=url.actor.id if private else None,
            )
        )


def _content(body: Json) -> tuple[str, Any]:
    blocks = checked_blocks(body.get("blocks"))
    words = checked_text(body.get("text"), limits.POST_TEXT)
    if not words and not blocks:
        raise SlackError("no_text")
    return words, blocks
