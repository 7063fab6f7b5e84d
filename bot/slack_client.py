"""The client that speaks to Slack, and whose token it holds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

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


class Reached(NamedTuple):
    """What Slack said before a start, so that nothing is asked twice. `socket` is where Socket Mode is opened first."""

    identity: Identity
    socket: str | None


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
    with _told_apart(client, "SLACK_BOT_TOKEN", token_refused):
        told: Any = client.auth_test()
    return Identity(team=told["team_id"], user=told["user_id"], url=told.get("url") or "")


def socket_address(client: WebClient, app_token: str) -> str:
    """Ask Slack where one connection of Socket Mode may be opened, in the next seconds.

    Raises:
        BotCannotStart: Slack refuses the app-level token.
        SlackAway: Slack does not answer.
    """
    with _told_apart(client, "SLACK_APP_TOKEN", _app_token_refused):
        told: Any = client.apps_connections_open(app_token=app_token)
    return str(told["url"])


@contextmanager
def _told_apart(client: WebClient, variable: str, refusal: Callable[[SlackApiError], str]) -> Iterator[None]:
    """What waiting may mend, and what it cannot. `refusal` says of an answer that Slack does not take the token."""
    try:
        yield
    except SlackApiError as refused:
        if _is_away(refused):
            raise SlackAway(unanswered(client, refused)) from refused
        raise BotCannotStart(refusal(refused)) from refused
    except ValueError:  # its text, and so a traceback's, may hold the token
        raise BotCannotStart(UNSENDABLE.format(variable=variable)) from None
    except (SlackClientError, OSError) as failed:
        raise SlackAway(unanswered(client, failed)) from failed


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


def _app_token_refused(refused: SlackApiError) -> str:
    return (
        f"Slack refuses SLACK_APP_TOKEN ({refused.response.get('error', 'unknown')}). Make an app-level token"
        " (xapp-...) with connections:write under Basic Information, and turn on Socket Mode."
    )


def unanswered(client: WebClient, failed: Exception) -> str:
    """That Slack is silent. SLACK_API_URL is named only where somebody has set it."""
    fix = "Check the network." if client.base_url == WebClient.BASE_URL else "Check the network and SLACK_API_URL."
    return f"Slack does not answer at {client.base_url} ({type(failed).__name__}). {fix}"
