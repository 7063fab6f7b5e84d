"""The tokens of installed workspaces, renewed before they run out (Slack's token rotation: twelve hours).

A refresh token is good once. So only the process whose relay leads a workspace renews its token; the others read what
it has stored. When a process dies between Slack's answer and the store, the old token goes on for what is left of its
time, and the workspace has to install the app again; ops is told as soon as the refresh token is refused.
"""

from collections.abc import Callable

from slack_sdk import WebClient
from slack_sdk.errors import SlackClientError, SlackTokenRotationError
from slack_sdk.oauth.installation_store import Bot
from slack_sdk.oauth.token_rotation import TokenRotator

from bot.errors import BotError
from bot.installations import Installations

#: A token is renewed this long before it runs out.
EARLY_MIN = 120


class TokenLost(BotError):
    """Slack does not renew a token; the text says which workspace has to do what."""


class Tokens:
    """`leads(team)` says whether this process may renew the workspace's token now; `now` is in seconds."""

    def __init__(
        self,
        installations: Installations,
        client: WebClient,
        client_secret: str,
        leads: Callable[[str], bool],
        now: Callable[[], float],
    ) -> None:
        self._installations, self._leads, self._now = installations, leads, now
        self._rotator = TokenRotator(client_id=installations.client_id, client_secret=client_secret, client=client)

    def of(self, team: str) -> str | None:
        """The workspace's bot token; None when it has not installed the app.

        Raises:
            TokenLost: it has run out and cannot be renewed.
            InstallationsUnreachable, BlobTampered, BlobKeyMissing: what is stored cannot be read.
        """
        found = self._installations.of_team(team)
        if found is not None and self._due(found) and self._leads(team):
            found = self._renewed(found, team)
        return found.bot_token if found is not None else None

    def _due(self, bot: Bot) -> bool:
        ends = bot.bot_token_expires_at
        return ends is not None and ends <= self._now() + EARLY_MIN * 60

    def _renewed(self, bot: Bot, team: str) -> Bot:
        try:
            renewed = self._rotator.perform_bot_token_rotation(bot=bot, minutes_before_expiration=EARLY_MIN)
        except (SlackTokenRotationError, SlackClientError, OSError) as failed:
            return self._kept(bot, team, failed)
        if renewed is None:
            return bot
        self._installations.keep(renewed)
        return renewed

    def _kept(self, bot: Bot, team: str, failed: Exception) -> Bot:
        """The old token for as long as it lasts: Slack may only be away, or another process was quicker."""
        newest = self._installations.of_team(team)
        if newest is not None and newest.bot_token != bot.bot_token:
            return newest
        if bot.bot_token_expires_at is None or bot.bot_token_expires_at > self._now():
            return bot
        raise TokenLost(
            f"The token of {team} has run out and Slack does not renew it ({_error(failed)}). Let somebody there open"
            " /slack/install again."
        ) from failed


def _error(failed: Exception) -> str:
    api = getattr(failed, "api_error", failed)
    response = getattr(api, "response", None)
    return str(response.get("error")) if response is not None else type(failed).__name__
