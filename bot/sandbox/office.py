"""One workspace put together: the world and everything that acts on it."""

from bot.sandbox.clock import Clock
from bot.sandbox.courier import Courier
from bot.sandbox.delivery import Transport
from bot.sandbox.faults import Faults
from bot.sandbox.model import Json
from bot.sandbox.rates import Rates
from bot.sandbox.response_urls import ResponseUrls
from bot.sandbox.seed import Seed
from bot.sandbox.settings import Settings
from bot.sandbox.signed_http import SignedHttp
from bot.sandbox.sockets import Sockets
from bot.sandbox.triggers import Triggers
from bot.sandbox.view_stacks import ViewStacks
from bot.sandbox.world import World


class Office:
    """The parts of one running workspace, by name."""

    def __init__(self, settings: Settings, seed: Seed | None = None, clock: Clock | None = None) -> None:
        self.world = World(settings, seed, clock)
        self.faults = Faults()
        self.rates = Rates(self.world)
        self.triggers = Triggers(self.world)
        self.views = ViewStacks(self.world)
        self.response_urls = ResponseUrls(self.world)
        self.files: dict[str, Json] = {}
        self.sockets = Sockets(self.world)
        self.courier = Courier(self.world, self.faults, self._transport(settings))

    def _transport(self, settings: Settings) -> Transport:
        if settings.deliver_to is None:
            return self.sockets
        return SignedHttp(settings.deliver_to, settings.signing_secret or "", self.world.clock)
