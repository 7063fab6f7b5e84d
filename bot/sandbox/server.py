"""The HTTP server: everything mounted, and a local door for whoever steers."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from bot.sandbox.api import Api
from bot.sandbox.control import Control, is_local
from bot.sandbox.office import Office
from bot.sandbox.page import Page
from bot.sandbox.steering import VERBS

_OPEN = ("/api/", "/oauth/", "/link/", "/response/", "/upload/")
_LARGEST = 16 * 1024 * 1024


class Server:
    """One workspace on one port."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.api = Api(office)
        self._page = Page(office)
        self._runner: web.AppRunner | None = None

    async def start(self, host: str, port: int) -> int:
        """Listen; returns the port, a free one for 0."""
        app = web.Application(middlewares=[_local_only], client_max_size=_LARGEST)
        app.router.add_get("/link/", self.office.sockets.accept)
        app.router.add_get("/_control/calls", self._calls)
        app.add_routes([*self.api.routes(), *Control(self.office).routes(), *self._page.routes()])
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()
        bound = int(self._runner.addresses[0][1])
        self.office.world.base_url = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{bound}"  # noqa: S104
        return bound

    async def stop(self) -> None:
        """Stop delivering, close every connection, free the port."""
        await self.office.courier.close()
        await self.office.sockets.drop(politely=False)
        self._page.close()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _calls(self, _request: web.Request) -> web.Response:
        return web.json_response({"calls": self.api.calls, "verbs": sorted(VERBS)})


@web.middleware
async def _local_only(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """The API checks tokens; page and control have none and answer this machine only."""
    if not request.path.startswith(_OPEN) and not is_local(request):
        raise web.HTTPForbidden(text="The page and the control API answer this machine only.")
    return await handler(request)
