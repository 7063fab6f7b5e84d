"""From settings to a running bot."""

import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from prometheus_client import CollectorRegistry

from approvals.alert_webhook import AlertWebhook
from approvals.health import Health
from approvals.metrics import Timings, exposed
from approvals.opening import open_store
from approvals.outages import OutageWatch
from approvals.store import Store
from approvals.usable import trouble
from approvals.vault import Vault
from bot.deps import Deps
from bot.fleet import Fleet, Front
from bot.installations import Installations
from bot.oauth import Installing, installing
from bot.parts import second_route, serve
from bot.relay import LEAD_MS, Relay
from bot.serving import Served
from bot.settings import BotSettings
from bot.slack_client import Reached, slack_client
from bot.tokens import Tokens
from bot.transports import HttpTransport, SocketTransport, Transport
from policies.law import Law, load_law


@dataclass(frozen=True, slots=True)
class Bot:
    """Everything that runs in a bot's process: what it serves, and the ways on which Slack reaches it."""

    front: Served | Fleet
    transports: tuple[Transport, ...]
    health: Health | None
    outages: OutageWatch

    @property
    def deps(self) -> Deps:
        """Of the one workspace that is served."""
        assert isinstance(self.front, Served)
        return self.front.deps

    @property
    def relay(self) -> Relay:
        """Of the one workspace that is served."""
        assert isinstance(self.front, Served)
        return self.front.relay

    def start(self) -> None:
        """Send, and receive."""
        self.front.start()
        for transport in self.transports:
            transport.start()
        if self.health:
            self.health.start()
        self.outages.start()

    def stop(self) -> None:
        """Receive nothing more, finish what was begun, then stop sending. What is still owed stays owed."""
        self.outages.stop()
        for transport in self.transports:
            transport.stop()
        self.front.stop()
        if self.health:
            self.health.stop()

    def missing(self) -> str | None:
        """What keeps the bot from working, None when all is well."""
        unanswered = self.front.missing()
        if unanswered:
            return unanswered
        silent = [type(one).__name__ for one in self.transports if not one.ready()]
        return f"{', '.join(silent)} receives nothing" if silent else None


def read_laws(settings: BotSettings) -> list[Law]:
    """The law of every workspace that is served; with SLACK_BOT_TOKEN there is one.

    Raises:
        SettingsRefused: VOBO_REVIEWERS cannot be read.
        LawRefused: a rule or a reviewers.toml cannot be used.
    """
    one = settings.client_id is None
    texts = [settings.reviewers_text()] if one else settings.reviewers_texts().values()
    return [load_law(settings.rules, text) for text in texts]


def assemble(settings: BotSettings, reached: Reached | None = None) -> Bot:
    """A bot that is ready to start: for the workspace of SLACK_BOT_TOKEN, or for all that install the app.

    `reached` is what Slack said just now; without it the bot asks.

    Raises:
        BotCannotStart, SettingsRefused, LawRefused, ApprovalsError: one sentence about what is wrong.
    """
    if settings.client_id is not None:
        return assemble_fleet(settings)
    (law,) = read_laws(settings)
    timings = Timings()
    opened = open_store(settings, tenant=law.reviewers.team)
    client = slack_client(settings)
    identity, address = reached or (None, None)
    served = serve(settings, law, opened, client, timings=timings, identity=identity)
    transports: list[Transport] = []
    if settings.app_token:
        transports.append(SocketTransport(served.app, settings.app_token.get_secret_value(), client, address))
    transports += http_transport(settings, served)
    bot = Bot(served, tuple(transports), None, outage_watch(settings, opened.store))
    return healthy(bot, settings, lambda: exposed(served.deps.store, timings))


def assemble_fleet(settings: BotSettings) -> Bot:
    """A bot for every workspace of VOBO_REVIEWERS that installs the app.

    Raises:
        BotCannotStart, SettingsRefused, LawRefused, ApprovalsError: one sentence about what is wrong.
    """
    laws = read_laws(settings)
    vault = Vault.from_text(settings.state_keys.get_secret_value())
    installations = Installations.open(settings.installations_url, settings.client_id or "", vault)
    stores = {law.reviewers.team: open_store(settings, tenant=law.reviewers.team) for law in laws}
    timings, name = Timings(), secrets.token_hex(8)
    told = second_route(settings, logging.getLogger("vobo.fleet"))
    fleet: Fleet

    def one(law: Law) -> Callable[[str], Served]:
        team = law.reviewers.team

        def uninstalled(at: int) -> None:
            installations.forget(team, at)
            fleet.look()

        def made(token: str) -> Served:
            client = slack_client(settings, token)
            served = serve(settings, law, stores[team], client, timings=timings, name=name, uninstalled=uninstalled)
            served.deps.store.changes.note_start(law, settings, process="bot")
            return served

        return made

    def leads(team: str) -> bool:
        return stores[team].store.outbox.lead(name, ttl_ms=LEAD_MS)

    def noted(team: str, installed: bool) -> None:  # noqa: FBT001 - handed on as it comes
        stores[team].store.switches.set_installed(installed)

    secret = settings.client_secret.get_secret_value() if settings.client_secret else ""
    tokens = Tokens(installations, slack_client(settings), secret, leads, time.time)
    fleet = Fleet({law.reviewers.team: one(law) for law in laws}, tokens, told, noted)
    flow = installing(settings, slack_client(settings), installations, stores, lambda _team: fleet.look())
    transports = http_transport(settings, fleet, flow)
    first, *rest = (opened.store for opened in stores.values())
    watch = outage_watch(settings, first)  # one server keeps them all
    return healthy(Bot(fleet, tuple(transports), None, watch), settings, lambda: exposed(first, timings, *rest))


def healthy(bot: Bot, settings: BotSettings, metrics: Callable[[], CollectorRegistry]) -> Bot:
    """The bot with its health on VOBO_HEALTH_PORT, where that is set."""
    if settings.health_port is None:
        return bot
    health = Health(settings.health_port, bot.missing, settings.health_host, metrics=metrics())
    return replace(bot, health=health)


def outage_watch(settings: BotSettings, store: Store) -> OutageWatch:
    """Tells ops when this process cannot use the store. Once for all workspaces."""
    return OutageWatch(lambda: trouble(store), AlertWebhook(settings.alert_webhook).send, "the bot")


def http_transport(settings: BotSettings, front: Front, flow: Installing | None = None) -> list[Transport]:
    """HTTP, where SLACK_SIGNING_SECRET and PORT are set."""
    if settings.signing_secret is None or settings.port is None:
        return []
    return [HttpTransport(front, settings.signing_secret.get_secret_value(), settings.port, flow)]
