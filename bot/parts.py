"""The parts for one workspace: every one of them is made here and nowhere else."""

import logging
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from slack_sdk import WebClient

from approvals.alert_webhook import AlertWebhook
from approvals.ledger_door import LedgerDoor
from approvals.metrics import Timings
from approvals.opening import Opened
from approvals.usable import require_usable
from bot.app import create_app
from bot.deps import Deps
from bot.errors import BotCannotStart
from bot.language import shipped
from bot.people import PeopleDesk, Watch
from bot.relay import Relay
from bot.rendering import Renderer
from bot.sending import Sender
from bot.serving import Served
from bot.settings import BotSettings
from bot.slack_client import Identity, identify
from policies.law import Law

JOB_TIMEOUT_S = 600
_WORKERS = 64


def serve(
    settings: BotSettings,
    law: Law,
    opened: Opened,
    client: WebClient,
    *,
    timings: Timings,
    identity: Identity | None = None,
    name: str | None = None,
    uninstalled: Callable[[int], None] | None = None,
) -> Served:
    """The parts for one workspace. `name` is this process among the relays; without `identity` Slack is asked.

    Raises:
        BotCannotStart: Slack refuses the token, or it belongs to another workspace.
    """
    known = identity or identify(client)
    deps = make_deps(settings, law, opened, client, known, timings=timings, uninstalled=uninstalled)
    return Served(deps, create_app(deps), make_relay(deps, settings, name))


def make_deps(
    settings: BotSettings,
    law: Law,
    opened: Opened,
    client: WebClient,
    identity: Identity,
    *,
    timings: Timings,
    uninstalled: Callable[[int], None] | None = None,
) -> Deps:
    """Everything the handlers need; the store learns whose workspace this is.

    Raises:
        BotCannotStart: the token belongs to another workspace than `reviewers.toml` names.
    """
    log = logging.getLogger("vobo.bot")
    if identity.team != law.reviewers.team:
        raise BotCannotStart(
            f"SLACK_BOT_TOKEN belongs to the workspace {identity.team}, but reviewers.toml is for {law.reviewers.team}."
            " Use the token of that workspace, or correct `team` in reviewers.toml."
        )
    store = opened.store
    require_usable(store)
    store.people.set_home_team(identity.team)
    store.switches.set_self_approval(law.reviewers.development.self_approval)
    desk = PeopleDesk(client, store, law.reviewers)

    def nudge(job: str, argument: str) -> None:
        try:
            opened.queue.nudge(job, argument, tenant=store.tenant, timeout_s=JOB_TIMEOUT_S)
        except Exception as failed:  # noqa: BLE001 - only a hint: the clock finds the work by itself
            log.warning("the queue could not be nudged: %s", type(failed).__name__)

    return Deps(
        store=store,
        law=law,
        client=client,
        desk=desk,
        watch=Watch(desk, store, law.reviewers),
        pool=ThreadPoolExecutor(_WORKERS, thread_name_prefix="work"),
        home_team=identity.team,
        bot_user=identity.user,
        home_url=identity.url,
        nudge=nudge,
        ledger=LedgerDoor(settings.ledger_url, store),
        signing_secret=settings.signing_secret.get_secret_value() if settings.signing_secret else None,
        ops_channel=settings.ops_channel_of(law.reviewers),
        agents=settings.agent_names,
        language=language_of(law, settings),
        timings=timings,
        uninstalled=uninstalled or partial(note_uninstalled, log),
        log=log,
    )


def language_of(law: Law, settings: BotSettings) -> str:
    """The workspace's own language, else VOBO_LANGUAGE.

    Raises:
        BotCannotStart: it is not shipped.
    """
    language = law.reviewers.language or settings.language
    if language not in shipped():
        known = ", ".join(sorted(shipped()))
        raise BotCannotStart(f"reviewers.toml of {law.reviewers.team}: {language!r} is none of the languages {known}.")
    return language


def note_uninstalled(log: logging.Logger, _at: int) -> None:
    """With SLACK_BOT_TOKEN there is nothing to forget."""
    log.error("the app was removed from the workspace; install it again and set the new SLACK_BOT_TOKEN")


def make_relay(deps: Deps, settings: BotSettings, name: str | None = None) -> Relay:
    """The relay of this process; whether it leads, the store says."""
    renderer = Renderer(deps.store, deps.words, deps.ops_channel, deps.home_url, deps.language)
    return Relay(
        deps.store,
        renderer,
        Sender(deps.client),
        name or secrets.token_hex(8),
        second_route=second_route(settings, deps.log) if settings.alert_webhook else None,
        timings=deps.timings,
    )


def second_route(settings: BotSettings, log: logging.Logger) -> Callable[[str], bool]:
    """The way to ops that needs no Slack: VOBO_ALERT_WEBHOOK, and the log. It says whether nothing is left to tell."""
    webhook = AlertWebhook(settings.alert_webhook)

    def tell(text: str) -> bool:
        log.error("ops is told in another way than through Slack: %s", text)
        return webhook.send(text)

    return tell
