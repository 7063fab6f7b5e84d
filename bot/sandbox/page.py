"""The page: its files, the snapshot it draws, and the stream that tells it to draw again."""

import asyncio
from pathlib import Path

from aiohttp import web

from bot.sandbox.errors import SandboxError
from bot.sandbox.office import Office
from bot.sandbox.snapshot import snapshot

_STATIC = Path(__file__).parent / "static"
_HEARTBEAT = 15.0
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: https:; style-src 'self'; base-uri 'none'",
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Page:
    """Serves / and what belongs to it."""

    def __init__(self, office: Office) -> None:
        self._office = office
        self._closing = asyncio.Event()

    def routes(self) -> list[web.RouteDef | web.StaticDef]:
        """What to mount."""
        return [
            web.get("/", self.index),
            web.get("/archives/{channel}/{ts}", self.permalink),
            web.get("/_page/snapshot", self.snapshot),
            web.get("/_page/stream", self.stream),
            web.static("/static", _STATIC),
        ]

    async def index(self, _request: web.Request) -> web.FileResponse:
        """The one HTML document."""
        return web.FileResponse(_STATIC / "index.html", headers=_HEADERS)

    async def permalink(self, request: web.Request) -> web.Response:
        """Follow a message link into the page."""
        number = request.match_info["ts"].removeprefix("p")
        ts = f"{number[:-6]}.{number[-6:]}"
        query = {"channel": request.match_info["channel"], "ts": ts}
        if "thread_ts" in request.query:
            query["thread"] = request.query["thread_ts"]
        raise web.HTTPFound(str(request.url.with_path("/").with_query(query).relative()))

    async def snapshot(self, request: web.Request) -> web.Response:
        """What one person sees now."""
        try:
            actor = self._office.world.actor(request.query.get("as", "U0005"), request.query.get("team"))
        except SandboxError as refused:
            return web.json_response({"error": str(refused)}, status=400)
        return web.json_response(snapshot(self._office, actor, request.query.get("channel", "")))

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """Server-sent events: one `change` after each burst of changes, a comment as heartbeat."""
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        await answer.prepare(request)
        watcher = self._office.world.watch()
        try:
            await answer.write(b"event: change\ndata: 1\n\n")
            while not self._closing.is_set():
                try:
                    await asyncio.wait_for(watcher.wait(), _HEARTBEAT)
                    watcher.clear()
                    await answer.write(b"event: change\ndata: 1\n\n")
                except TimeoutError:
                    await answer.write(b": still here\n\n")
        except ConnectionError:
            pass  # the tab was closed; nothing is left to tell it
        finally:
            self._office.world.unwatch(watcher)
        return answer

    def close(self) -> None:
        """Let open streams end."""
        self._closing.set()
        self._office.world.changed()
