"""The client that speaks to Slack, and whose token it holds."""

from dataclasses import dataclass
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.errors import BotCannotStart, SlackAway
from bot.settings import BotSettings

#: A call to Slack may take no longer; less than a relay leads without a word.
TIMEOUT_S = 10
#: What no header of HTTP can hold.
UNSENDABLE = "{variable} holds a character that no token has, so it cannot be sent. Copy it anew from Slack."

_TOO_MANY, _TROUBLE = 429, 500
_TROUBLES = frozenset({"fatal_error", "internal_error", "ratelimited", "request_timeout", "service_unavailable"})


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose token the bot holds."""

    team: str
    user: str
    url: str = ""


def slack_client(settings: BotSettings, token: str | None = None) -> WebClient:
    """A client that never retries by itself: a cut connection after Slack accepted a message would double it.

    `token` is the workspace's; without it SLACK_BOT_TOKEN, where there is one.
    """
    own = settings.bot_token.get_secret_value() if settings.bot_token else None
    return WebClient(token=token or own, base_url=settings.api_url, timeout=TIMEOUT_S, retry_handlers=[])


def identify(client: WebClient) -> Identity:
    """Ask Slack whose token this is.

    Raises:
        BotCannotStart: Slack refuses the token.
        SlackAway: Slack does not answer.
    """
    try:
        told: Any = client.auth_test()
    except SlackApiError as refused:
        if _is_away(refused):
            raise SlackAway(unanswered(client, refused)) from refused
        raise BotCannotStart(token_refused(refused)) from refused
    except ValueError:  # its text, and so a traceback's, may hold the token
        raise BotCannotStart(UNSENDABLE.format(variable="SLACK_BOT_TOKEN")) from None
    except (SlackClientError, OSError) as failed:
        raise SlackAway(unanswered(client, failed)) from failed
    return Identity(team=told["team_id"], user=told["user_id"], url=told.get("url") or "")


def _is_away(refused: SlackApiError) -> bool:
    """Whether this says nothing about the token: Slack is in trouble, or wants to be left alone for a while."""
    status = getattr(refused.response, "status_code", 200)
    return status >= _TROUBLE or status == _TOO_MANY or refused.response.get("error") in _TROUBLES


def token_refused(refused: SlackApiError) -> str:
    """That Slack does not take the token, and where the right one is."""
    return (
        f"Slack refuses SLACK_BOT_TOKEN ({refused.response.get('error', 'unknown')}). Copy the bot token (xoxb-...)"
        " from OAuth & Permissions in the Slack app's settings; after a reinstallation it is a new one."
    )


def unanswered(client: WebClient, failed: Exception) -> str:
    """That Slack is silent. SLACK_API_URL is named only where somebody has set it."""
    fix = "Check the network." if client.base_url == WebClient.BASE_URL else "Check the network and SLACK_API_URL."
    return f"Slack does not answer at {client.base_url} ({type(failed).__name__}). {fix}"
