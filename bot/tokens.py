"""The tokens of installed workspaces, renewed before they run out (Slack's token rotation: twelve hours).

A refresh token is good once. So only the process whose relay leads a workspace renews its token; the others read what
it has stored. What cannot be stored is held in memory, used from there, and stored as soon as the database takes it.
When the process dies before that, the old token goes on for what is left of its time, and the workspace has to install
the app again; ops is told when a renewed token is held for long, and as soon as a refresh token is refused.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from slack_sdk import WebClient
from slack_sdk.errors import SlackClientError, SlackTokenRotationError
from slack_sdk.oauth.installation_store import Bot
from slack_sdk.oauth.token_rotation import TokenRotator

from approvals.errors import ApprovalsError
from bot.errors import BotError
from bot.installations import Installations, InstallationsUnreachable

#: A token is renewed this long before it runs out.
EARLY_MIN = 120
#: Seconds until a renewed token that could not be stored is tried again: doubled each time, up to the longest.
AGAIN_S, LONGEST_S = 1.0, 60.0
#: Ops is told about one that is held for longer (s).
LASTS_S = 60.0


class TokenLost(BotError):
    """Slack does not renew a token; the text says which workspace has to do what."""


@dataclass(slots=True)
class _Held:
    """A renewed token that the database did not take, since when, and when it is tried next (s)."""

    bot: Bot
    since: float
    again_at: float
    pause: float = AGAIN_S


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
        self._held: dict[str, _Held] = {}
        self._rotator = TokenRotator(client_id=installations.client_id, client_secret=client_secret, client=client)

    def of(self, team: str) -> str | None:
        """The workspace's bot token; None when it has not installed the app.

        Raises:
            TokenLost: it has run out and cannot be renewed.
            InstallationsUnreachable, BlobTampered, BlobKeyMissing: what is stored cannot be read.
        """
        found = self._newest(team)
        if found is not None and self._due(found) and self._leads(team):
            found = self._renewed(found, team)
        return found.bot_token if found is not None else None

    def wait_s(self, most: float) -> float:
        """How long until a token that is held has to be tried again; at most so long (s)."""
        now = self._now()
        return max(0.0, min([most, *(held.again_at - now for held in self._held.values())]))

    def trouble(self, team: str) -> str | None:
        """What ops has to know about the workspace's token although it works; None when all is well."""
        held = self._held.get(team)
        if held is None or self._now() - held.since < LASTS_S:
            return None
        return (
            "Its token was renewed, and the database of installations does not take the new one. It works, and is tried"
            " again until it is stored; but it is in this process alone. See to VOBO_INSTALLATIONS_URL before you stop"
            " this bot, or let somebody there open /slack/install again afterwards."
        )

    def store_held(self) -> None:
        """The last moment: try once more to store what is held."""
        for team, held in list(self._held.items()):
            with suppress(ApprovalsError):  # nothing more can be done; ops was told
                self._stored(team, held)

    def _newest(self, team: str) -> Bot | None:
        held = self._held.get(team)
        if held is None:
            return self._installations.of_team(team)
        if held.again_at > self._now():
            return held.bot
        try:
            return self._stored(team, held)
        except InstallationsUnreachable:
            held.pause = min(held.pause * 2, LONGEST_S)
            held.again_at = self._now() + held.pause
            return held.bot

    def _stored(self, team: str, held: _Held) -> Bot | None:
        """Store what is held, unless the workspace has removed the app meanwhile, or installed it anew."""
        known = self._installations.of_team(team)
        if known is not None and known.installed_at <= held.bot.installed_at:
            self._installations.keep(held.bot)
            known = held.bot
        del self._held[team]
        return known

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
        try:
            self._installations.keep(renewed)
        except InstallationsUnreachable:
            now, before = self._now(), self._held.get(team)
            self._held[team] = _Held(renewed, before.since if before else now, now + AGAIN_S)
        else:
            self._held.pop(team, None)
        return renewed

    def _kept(self, bot: Bot, team: str, failed: Exception) -> Bot:
        """The old token for as long as it lasts: Slack may only be away, or another process was quicker."""
        newest = self._installations.of_team(team) if team not in self._held else None  # nobody else had what is held
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
