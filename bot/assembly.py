"""From settings to a running bot: every part is made here and nowhere else."""

import logging
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from slack_bolt import App
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.webhook import WebhookClient

from approvals.health import Health, silent_store
from approvals.ledger_door import LedgerDoor
from approvals.metrics import exposed
from approvals.opening import Opened, open_store
from approvals.store import Store
from bot.app import create_app
from bot.deps import Deps
from bot.errors import BotCannotStart
from bot.people import PeopleDesk, Watch
from bot.relay import Relay
from bot.rendering import Renderer
from bot.replays import note_replay
from bot.sending import Sender
from bot.settings import BotSettings
from bot.transports import HttpTransport, SocketTransport, Transport
from policies.law import Law, load_law

#: A call to Slack may take no longer; less than a relay leads without a word.
TIMEOUT_S = 10
WATCH_S = 20.0
JOB_TIMEOUT_S = 600
_WORKERS = 64


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose token the bot holds."""

    team: str
    user: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Bot:
    """All parts of a running bot. `stop` ends them in the order in which work flows."""

    deps: Deps
    relay: Relay
    transports: tuple[Transport, ...]
    health: Health | None
    stopping: threading.Event
    threads: list[threading.Thread]

    def start(self) -> None:
        """Receive, send, and keep people's snapshots fresh."""
        for name, loop in (("relay", self._relay), ("watch", self._watch)):
            thread = threading.Thread(target=loop, name=name, daemon=True)
            self.threads.append(thread)
            thread.start()
        for transport in self.transports:
            transport.start()
        if self.health:
            self.health.start()

    def stop(self) -> None:
        """Receive nothing more, finish what was begun, then stop sending. What is still owed stays owed."""
        for transport in self.transports:
            transport.stop()
        self.deps.pool.shutdown(wait=True)
        self.stopping.set()
        self.deps.wake.set()
        for thread in self.threads:
            thread.join(TIMEOUT_S)
        if self.health:
            self.health.stop()

    def missing(self) -> str | None:
        """What keeps the bot from working, None when all is well."""
        unanswered = silent_store(self.deps.store)
        if unanswered:
            return unanswered
        silent = [type(one).__name__ for one in self.transports if not one.ready()]
        return f"{', '.join(silent)} receives nothing" if silent else None

    def _relay(self) -> None:
        self.relay.run(self.stopping, self.deps.wake)

    def _watch(self) -> None:
        while not self.stopping.wait(WATCH_S):
            try:
                self.deps.watch.round()
            except Exception:
                self.deps.log.exception("people could not be looked up")


def slack_client(settings: BotSettings) -> WebClient:
    """A client that never retries by itself: a cut connection after Slack accepted a message would double it."""
    return WebClient(
        token=settings.bot_token.get_secret_value(), base_url=settings.api_url, timeout=TIMEOUT_S, retry_handlers=[]
    )


def identify(client: WebClient) -> Identity:
    """Ask Slack whose token this is.

    Raises:
        BotCannotStart: Slack refuses the token, or does not answer.
    """
    try:
        told: Any = client.auth_test()
    except SlackApiError as refused:
        raise BotCannotStart(token_refused(refused)) from refused
    except (SlackClientError, OSError) as failed:
        raise BotCannotStart(unanswered(client, failed)) from failed
    return Identity(team=told["team_id"], user=told["user_id"], url=told.get("url") or "")


def token_refused(refused: SlackApiError) -> str:
    """That Slack does not take the token, and where the right one is."""
    return (
        f"Slack refuses SLACK_BOT_TOKEN ({refused.response.get('error', 'unknown')}). Copy the bot token (xoxb-...)"
        " from OAuth & Permissions in the Slack app's settings; after a reinstallation it is a new one."
    )


def unanswered(client: WebClient, failed: Exception) -> str:
    """That Slack is silent."""
    return f"Slack does not answer at {client.base_url} ({type(failed).__name__}). Check the network and SLACK_API_URL."


def read_law(settings: BotSettings) -> Law:
    """The law in force.

    Raises:
        SettingsRefused: VOBO_REVIEWERS cannot be read.
        LawRefused: a rule or `reviewers.toml` cannot be used.
    """
    return load_law(settings.rules, settings.reviewers_text())


def assemble(settings: BotSettings) -> Bot:
    """A bot that is ready to start.

    Raises:
        BotCannotStart, SettingsRefused, LawRefused, ApprovalsError: one sentence about what is wrong.
    """
    law = read_law(settings)
    opened = open_store(settings, tenant=law.reviewers.team)
    client = slack_client(settings)
    identity = identify(client)
    deps = make_deps(settings, law, opened, client, identity)
    app = create_app(deps)
    stopping = threading.Event()
    bot = Bot(deps, make_relay(deps, settings), make_transports(settings, app, client, deps.store), None, stopping, [])
    if settings.health_port is None:
        return bot
    metrics = exposed(deps.store, deps.timings)
    health = Health(settings.health_port, bot.missing, settings.health_host, metrics=metrics)
    return Bot(bot.deps, bot.relay, bot.transports, health, stopping, bot.threads)


def make_deps(settings: BotSettings, law: Law, opened: Opened, client: WebClient, identity: Identity) -> Deps:
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
        ledger=LedgerDoor(settings.ledger_url),
        signing_secret=settings.signing_secret.get_secret_value() if settings.signing_secret else None,
        ops_channel=settings.ops_channel,
        agents=settings.agent_names,
        language=settings.language,
        log=log,
    )


def make_relay(deps: Deps, settings: BotSettings) -> Relay:
    """The relay of this process; whether it leads, the store says."""
    renderer = Renderer(deps.store, deps.words, deps.ops_channel, deps.home_url, deps.language)
    url = settings.alert_webhook.get_secret_value() if settings.alert_webhook else None

    def second_route(text: str) -> None:
        deps.log.error("ops is told in another way, since Slack does not take it: %s", text)
        if url is None:
            return
        try:
            WebhookClient(url, timeout=TIMEOUT_S).send(text=text)
        except OSError as failed:
            deps.log.warning("VOBO_ALERT_WEBHOOK does not answer: %s", type(failed).__name__)

    sender, token = Sender(deps.client), secrets.token_hex(8)
    return Relay(deps.store, renderer, sender, token, second_route=second_route, timings=deps.timings)


def make_transports(settings: BotSettings, app: App, client: WebClient, store: Store) -> tuple[Transport, ...]:
    """Socket Mode, HTTP, or both, as the settings say."""
    transports: list[Transport] = []
    if settings.app_token:
        transports.append(SocketTransport(app, settings.app_token.get_secret_value(), client))
    if settings.signing_secret and settings.port is not None:
        secret = settings.signing_secret.get_secret_value()
        transports.append(HttpTransport(app, secret, settings.port, partial(note_replay, store)))
    return tuple(transports)
