"""What every Web API method is handed."""

from dataclasses import dataclass
from typing import Any

from bot.sandbox.errors import SlackError
from bot.sandbox.model import Channel, Json
from bot.sandbox.office import Office
from bot.sandbox.seed import BOT_USER


@dataclass(frozen=True)
class Call:
    """One call: its arguments as sent (strings when form-encoded), and the workspace it acts on."""

    office: Office
    method: str
    args: Json
    token: str = ""

    def need(self, name: str, code: str = "invalid_arguments") -> Any:
        """A required argument.

        Raises:
            SlackError: `code` when it is absent.
        """
        value = self.args.get(name)
        if value in (None, ""):
            raise SlackError(code)
        return value

    def flag(self, name: str) -> bool:
        """A boolean argument in any of the spellings Slack takes."""
        return self.args.get(name) in (True, 1, "1", "true", "True")

    def number(self, name: str, default: int, most: int) -> int:
        """A whole number, at most `most`.

        Raises:
            SlackError: invalid_limit.
        """
        try:
            return min(most, max(1, int(self.args.get(name) or default)))
        except (TypeError, ValueError):
            raise SlackError("invalid_limit") from None

    def channel(self) -> Channel:
        """The channel argument.

        Raises:
            SlackError: channel_not_found.
        """
        return self.office.world.channel(str(self.need("channel", "channel_not_found")))

    def writable_channel(self, archived: str = "is_archived") -> Channel:
        """A channel the bot may write to.

        Raises:
            SlackError: channel_not_found, is_archived (or the name given), not_in_channel.
        """
        channel = self.channel()
        if channel.is_archived:
            raise SlackError(archived)
        if BOT_USER not in channel.members:
            raise SlackError("not_in_channel")
        return channel


def page(found: list[Json], call: Call, default: int = 100) -> tuple[list[Json], Json]:
    """One page of results and its response_metadata, with an opaque cursor."""
    size = call.number("limit", default, 1_000)
    cursor = str(call.args.get("cursor") or "0")
    if not cursor.removeprefix("next:").isdigit():
        raise SlackError("invalid_cursor")
    start = int(cursor.removeprefix("next:"))
    following = f"next:{start + size}" if start + size < len(found) else ""
    return found[start : start + size], {"next_cursor": following}
