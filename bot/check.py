"""What `python -m bot --check` finds before anybody presses a button."""

from collections.abc import Iterator
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError

from approvals.errors import ApprovalsError
from approvals.findings import Finding, failure, fine, unprepared, warning
from approvals.opening import open_store
from approvals.settings import SettingsRefused
from approvals.store import Store
from approvals.store_checks import store_checks
from approvals.stuck import open_runs
from approvals.vault import Vault
from bot import slack_check
from bot.assembly import read_laws
from bot.errors import BotError
from bot.installations import Installations
from bot.oauth import INSTALL
from bot.settings import BotSettings
from bot.slack_client import UNSENDABLE, slack_client, token_refused, unanswered
from policies.law import Law, LawRefused

#: So many channels with open runs are looked at.
_CHANNELS = 20


def check() -> list[Finding]:
    """Everything that can be known without starting; all problems at once."""
    try:
        settings = BotSettings.read()
        laws = read_laws(settings)
    except (SettingsRefused, LawRefused) as refused:
        return unprepared(refused)
    return [one for law in laws for one in (*_law(law), *_store_and_slack(settings, law))]


def _law(law: Law) -> Iterator[Finding]:
    problems = law.problems()
    yield from (failure("law", problem) for problem in problems)
    if not problems:
        yield fine("law", f"Workspace {law.reviewers.team}, law {law.version}, {len(law.rules)} rules.")


def _store_and_slack(settings: BotSettings, law: Law) -> Iterator[Finding]:
    store: Store | None = None
    try:
        opened = open_store(settings, tenant=law.reviewers.team)
        store = opened.store
        yield from (warning("redis", each) for each in opened.warnings)
        yield from store_checks(store)
    except ApprovalsError as refused:
        yield failure("store", str(refused))
    try:
        client = _client(settings, law.reviewers.team)
    except (ApprovalsError, BotError) as refused:
        yield failure("slack", str(refused))
        return
    if client is None:
        place = f"{settings.public_url or 'https://<your host>'}{INSTALL}"
        yield warning("slack", f"{law.reviewers.team} has not installed the app.", f"Let somebody there open {place}.")
        return
    try:
        told: Any = client.auth_test()
    except SlackApiError as refused:
        yield failure("slack", token_refused(refused))
        return
    except ValueError:
        yield failure("slack", UNSENDABLE.format(variable="SLACK_BOT_TOKEN"))
        return
    except (SlackClientError, OSError) as failed:
        yield failure("slack", unanswered(client, failed))
        return
    yield from slack_check.token(told, law.reviewers.team)
    if store is not None:
        yield from slack_check.clock(told.headers, store.now() / 1000)
    yield from _channels(client, settings, store, settings.ops_channel_of(law.reviewers))
    yield from slack_check.people(client, law.reviewers)


def _client(settings: BotSettings, team: str) -> WebClient | None:
    """With the workspace's token; None when it has not installed the app.

    Raises:
        BotCannotStart, ApprovalsError: nobody can tell.
    """
    if settings.client_id is None:
        return slack_client(settings)
    vault = Vault.from_text(settings.state_keys.get_secret_value())
    found = Installations.open(settings.installations_url, settings.client_id, vault).of_team(team)
    return slack_client(settings, found.bot_token) if found else None


def _channels(
    client: WebClient, settings: BotSettings, store: Store | None, ops_channel: str | None
) -> Iterator[Finding]:
    if ops_channel:
        yield slack_check.channel(client, ops_channel, "The ops channel")
    else:
        yield warning(
            "channels",
            "VOBO_OPS_CHANNEL is not set, so ops reads its alerts in the log only.",
            "Set it to the id of a channel (C...), and invite the bot there.",
        )
    if settings.alert_webhook is None:
        yield warning(
            "channels",
            "VOBO_ALERT_WEBHOOK is not set, so nobody is told when Slack itself is away.",
            'Set it to a URL that takes {"text": ...}.',
        )
    runs = open_runs(store.runs) if store is not None else []
    for name in list(dict.fromkeys(run.channel for run in runs))[:_CHANNELS]:
        yield slack_check.channel(client, name, "The channel of open runs")
