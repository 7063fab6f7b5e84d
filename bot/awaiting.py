"""What a bot waits for before it starts: the store, and Slack."""

from contextlib import closing

from approvals.awaiting import Start
from approvals.opening import connected
from approvals.redis_refusals import Trouble
from bot.assembly import read_laws
from bot.errors import SlackAway
from bot.settings import BotSettings
from bot.slack_client import Reached, identify, slack_client, socket_address

_MEANS = "Until then nobody can decide anything; cards and alerts wait, and deadlines run on."


def await_what_it_needs(settings: BotSettings) -> Reached | None:
    """Return once store and Slack can be used, with what Slack said; None where workspaces install the app.

    Raises:
        BotCannotStart, SettingsRefused, LawRefused, ApprovalsError: waiting would not help.
    """
    first, *_ = read_laws(settings)  # one server keeps all workspaces
    store = connected(settings, tenant=first.reviewers.team)
    start = Start(settings, store, "the bot", settings.health_port)
    found: list[Reached] = []
    with closing(store.runs.client):
        start.await_store()
        if settings.client_id is None:  # else whoever has installed the app is looked after once Slack answers
            start.awaited("Slack", lambda: _slack_away(settings, found), _MEANS)
    return found[0] if found else None


def _slack_away(settings: BotSettings, found: list[Reached]) -> Trouble | None:
    client, token = slack_client(settings), settings.app_token
    try:
        identity = identify(client)
        found.append(Reached(identity, socket_address(client, token.get_secret_value()) if token else None))
    except SlackAway as away:
        return Trouble("Slack does not answer", str(away))
    return None
