"""The nouns of the workspace, each knowing how Slack writes it as JSON."""

import copy
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]


#: The workspace's own team, where its settings name no other.
HOME_TEAM = "T0000HOME"
BOT_USER = "UBOT"
APP_ID = "A0SANDBOX"


@dataclass(frozen=True)
class Actor:
    """Who acts: a user id means nothing without its team."""

    id: str
    team_id: str


@dataclass
class User:
    """A person or the bot. `role` and `blurb` are captions for the page, unknown to Slack."""

    id: str
    team_id: str
    name: str
    real_name: str
    role: str = ""
    blurb: str = ""
    deleted: bool = False
    is_bot: bool = False
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    is_stranger: bool = False
    locale: str = "en-US"
    tz: str = "Europe/Berlin"

    def to_slack(self, *, include_locale: bool = False) -> Json:
        """As users.info answers; the language only to who asks for it."""
        spoken = {"locale": self.locale} if include_locale else {}
        return spoken | {
            "id": self.id,
            "team_id": self.team_id,
            "name": self.name,
            "deleted": self.deleted,
            "real_name": self.real_name,
            "tz": self.tz,
            "tz_label": "Central European Time",
            "tz_offset": 3600,
            "profile": {
                "real_name": self.real_name,
                "display_name": self.name,
                "email": f"{self.name}@example.test",
                "team": self.team_id,
            },
            "is_admin": False,
            "is_owner": False,
            "is_primary_owner": False,
            "is_restricted": self.is_restricted,
            "is_ultra_restricted": self.is_ultra_restricted,
            "is_bot": self.is_bot,
            "is_app_user": False,
            "is_stranger": self.is_stranger,
            "updated": 1_700_000_000,
        }


@dataclass
class Usergroup:
    """A user group, mentioned by its handle."""

    id: str
    handle: str
    name: str
    users: list[str]

    def to_slack(self, team_id: str) -> Json:
        """As usergroups.list answers (without users)."""
        return {
            "id": self.id,
            "team_id": team_id,
            "is_usergroup": True,
            "name": self.name,
            "handle": self.handle,
            "description": "",
            "is_external": False,
            "date_delete": 0,
            "user_count": len(self.users),
        }


@dataclass
class Message:
    """One message. `versions` keeps what it said before each edit, oldest first."""

    ts: str
    channel: str
    user: str
    team: str
    text: str
    bot: bool = False
    blocks: list[Json] | None = None
    attachments: list[Json] | None = None
    files: list[Json] | None = None
    thread_ts: str | None = None
    metadata: Json | None = None
    edited: Json | None = None
    only_for: str | None = None
    broadcast: bool = False
    reactions: dict[str, list[str]] = field(default_factory=dict)
    arguments: Json = field(default_factory=dict)
    versions: list[Json] = field(default_factory=list)

    def to_slack(self, *, with_metadata: bool = True) -> Json:
        """As conversations.history answers, without the reply counters."""
        told: Json = {"type": "message", "user": self.user, "text": self.text, "ts": self.ts, "team": self.team}
        if self.bot:
            told |= {"bot_id": "BBOT", "app_id": "A0SANDBOX", "bot_profile": {"id": "BBOT", "name": "vobo"}}
        if self.only_for:
            told["is_ephemeral"] = True
        if self.reactions:
            told["reactions"] = [
                {"name": name, "users": who, "count": len(who)} for name, who in self.reactions.items()
            ]
        kept = {
            "blocks": self.blocks,
            "attachments": self.attachments,
            "files": self.files,
            "thread_ts": self.thread_ts,
            "edited": self.edited,
            "metadata": self.metadata if with_metadata else None,
        }
        return copy.deepcopy(told | {key: value for key, value in kept.items() if value is not None})

    def keep_version(self) -> None:
        """Remember the present words before they change."""
        self.versions.append({"text": self.text, "blocks": copy.deepcopy(self.blocks), "metadata": self.metadata})


@dataclass
class Channel:
    """A channel, or a direct message when `im_with` names the person."""

    id: str
    name: str
    members: set[str]
    topic: str = ""
    is_archived: bool = False
    im_with: str | None = None
    messages: dict[str, Message] = field(default_factory=dict)

    def to_slack(self, bot_user: str) -> Json:
        """As conversations.info answers."""
        told: Json = {
            "id": self.id,
            "created": 1_700_000_000,
            "is_archived": self.is_archived,
            "is_im": self.im_with is not None,
            "is_channel": self.im_with is None,
            "is_private": False,
            "is_ext_shared": False,
        }
        if self.im_with is not None:
            return told | {"user": self.im_with}
        return told | {
            "name": self.name,
            "is_member": bot_user in self.members,
            "num_members": len(self.members),
            "topic": {"value": self.topic},
        }
