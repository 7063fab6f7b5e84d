"""Everything that is true in the workspace right now. Touched only from the server's event loop."""

import asyncio
import copy
import secrets
from collections.abc import Callable
from typing import Any

from bot.sandbox.clock import Clock
from bot.sandbox.errors import SandboxError, SlackError
from bot.sandbox.model import Actor, Channel, Json, Message, User, Usergroup
from bot.sandbox.oauth import OAuth
from bot.sandbox.seed import BOT_USER, Seed, default_seed
from bot.sandbox.settings import Settings
from bot.sandbox.validate_blocks import Block, controls_of, walk


class World:
    """People, channels and messages; `changed` wakes every open page."""

    def __init__(self, settings: Settings, seed: Seed | None = None, clock: Clock | None = None) -> None:
        seed = seed or default_seed(settings.team_id)
        self.settings = settings
        self.clock = clock or Clock()
        self.token: Callable[[], str] = lambda: secrets.token_hex(8)
        self.users: dict[str, User] = {user.id: user for user in seed.users}
        self.usergroups: dict[str, Usergroup] = {group.id: group for group in seed.usergroups}
        self.channels: dict[str, Channel] = {channel.id: channel for channel in seed.channels}
        self.bot_tokens = set(seed.bot_tokens)
        self.app_tokens = set(seed.app_tokens)
        self.revoked_tokens: set[str] = set()
        self.oauth = OAuth(settings, self.clock.now)
        self.prompts = list(settings.examples or seed.prompts)
        self.notices: list[Json] = []
        self.drafts: dict[tuple[str, str, str], Json] = {}
        self.reads: dict[tuple[str, str], str] = {}
        self.base_url = "http://127.0.0.1"
        self._last_ts = 0
        self._watchers: set[asyncio.Event] = set()

    def ts(self) -> str:
        """A message timestamp: unique, increasing, a string."""
        self._last_ts = max(self._last_ts + 1, int(self.clock.now() * 1_000_000))
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def changed(self) -> None:
        """Tell every watcher that something is different."""
        for watcher in self._watchers:
            watcher.set()

    def watch(self) -> asyncio.Event:
        """An event that is set at every change, until `unwatch`."""
        watcher = asyncio.Event()
        self._watchers.add(watcher)
        return watcher

    def unwatch(self, watcher: asyncio.Event) -> None:
        """Stop waking a watcher."""
        self._watchers.discard(watcher)

    def actor(self, user: str, team_id: str | None = None) -> Actor:
        """Who acts; a `team_id` of another company makes a stranger of any id.

        Raises:
            SandboxError: nobody of that id and no team given.
        """
        if team_id is None and user not in self.users:
            raise SandboxError(f"There is no user {user}. Known: {', '.join(self.users)}.")
        return Actor(user, team_id or self.users[user].team_id)

    def channel(self, name: str) -> Channel:
        """A channel by id or #name, or the direct message with a user id.

        Raises:
            SlackError: channel_not_found.
        """
        if name in self.channels:
            return self.channels[name]
        if name in self.users:
            return self.direct(name)
        for channel in self.channels.values():
            if name.lstrip("#") == channel.name and channel.im_with is None:
                return channel
        raise SlackError("channel_not_found")

    def direct(self, user: str) -> Channel:
        """The direct message between the bot and a user, opened when needed."""
        known = f"D{user}"
        if known not in self.channels:
            self.channels[known] = Channel(known, user, {user, BOT_USER}, im_with=user)
        return self.channels[known]

    def add(self, message: Message) -> Message:
        """Put a message where it belongs, naming the blocks and controls nobody named, as Slack does."""
        message.blocks = self.named(message.blocks)
        self.channels[message.channel].messages[message.ts] = message
        self.changed()
        return message

    def named(self, blocks: list[Block] | None) -> list[Block] | None:
        """A copy of the blocks in which each block and each control has an id."""
        if blocks is None:
            return None
        blocks = copy.deepcopy(blocks)
        for block in walk(blocks):
            block.setdefault("block_id", self.token()[:5])
            for control in controls_of(block):
                control.setdefault("action_id", self.token()[:5])
        return blocks

    def notice(self, actor: Actor, text: str) -> None:
        """Slack's own warning, shown to one person only."""
        self.notices.append({"user": actor.id, "team_id": actor.team_id, "text": text, "at": self.clock.now()})
        self.changed()

    def replies(self, channel: Channel, thread_ts: str) -> list[Message]:
        """The replies of a thread that everybody sees, oldest first."""
        return [
            m for m in channel.messages.values() if m.thread_ts == thread_ts and m.ts != thread_ts and not m.only_for
        ]

    def told(self, channel: Channel, message: Message, **options: Any) -> Json:
        """A message with the counters of its thread."""
        told = message.to_slack(**options)
        replies = self.replies(channel, message.ts)
        if replies:
            who = list(dict.fromkeys(reply.user for reply in replies))
            told |= {
                "thread_ts": message.ts,
                "reply_count": len(replies),
                "reply_users": who,
                "reply_users_count": len(who),
                "latest_reply": replies[-1].ts,
            }
        return told

    @property
    def home_team(self) -> str:
        """The team the app is installed in."""
        return self.settings.team_id
