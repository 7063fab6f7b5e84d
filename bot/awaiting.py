"""What a bot waits for before it starts: the store, and Slack."""

from contextlib import closing

from approvals.awaiting import Start
from approvals.opening import connected
from approvals.redis_refusals import Trouble
from bot.assembly import read_laws
from bot.errors import SlackAway
from bot.settings import BotSettings
from bot.slack_client import identify, slack_client

_MEANS = "Until then nobody can decide anything; cards and alerts wait, and deadlines run on."


def await_what_it_needs(settings: BotSettings) -> None:
    """Return once store and Slack can be used.

    Raises:
        BotCannotStart, SettingsRefused, LawRefused, ApprovalsError: waiting would not help.
    """
    first, *_ = read_laws(settings)  # one server keeps all workspaces
    store = connected(settings, tenant=first.reviewers.team)
    start = Start(settings, store, "the bot", settings.health_port)
    with closing(store.runs.client):
        start.await_store()
        if settings.client_id is None:  # else whoever has installed the app is looked after once Slack answers
            start.awaited("Slack", lambda: _slack_away(settings), _MEANS)


def _slack_away(settings: BotSettings) -> Trouble | None:
    try:
        identify(slack_client(settings))
    except SlackAway as away:
        return Trouble("Slack does not answer", str(away))
    return None
