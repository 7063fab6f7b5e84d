"""Socket Mode: envelopes out, acknowledgements in, each envelope on one connection only."""

import asyncio
import json
from typing import Any

from aiohttp import WSMsgType, web

from bot.sandbox import limits
from bot.sandbox.delivery import Attempt, Delivery
from bot.sandbox.errors import SlackError
from bot.sandbox.seed import APP_ID
from bot.sandbox.world import World


class Sockets:
    """The app's open connections, used in turn."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._tickets: set[str] = set()
        self._open: list[web.WebSocketResponse] = []
        self._waiting: dict[str, asyncio.Future[Attempt]] = {}
        self._turn = 0
        self._deaf: list[web.WebSocketResponse] = []

    def __len__(self) -> int:
        return len(self._open)

    def invite(self) -> str:
        """A fresh ws:// address that admits one connection.

        Raises:
            SlackError: too_many_websockets at ten.
        """
        if len(self._open) >= limits.SOCKETS:
            raise SlackError("too_many_websockets")
        ticket = self._world.token()
        self._tickets.add(ticket)
        return f"{self._world.base_url.replace('http', 'ws', 1)}/link/?ticket={ticket}&app_id={APP_ID}"

    async def accept(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one connection until it ends."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            raise web.HTTPForbidden(text="This ticket was used or never issued; call apps.connections.open again.")
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse(autoping=True)
        await socket.prepare(request)
        _cut(self._deaf)
        self._deaf.clear()
        self._open.append(socket)
        self._world.changed()
        try:
            await socket.send_json(self._hello())
            async for received in socket:
                if received.type is WSMsgType.TEXT:
                    self._acknowledged(received.data)
        finally:
            self._open.remove(socket)
            self._world.changed()
        return socket

    async def attempt(self, delivery: Delivery, retry: int, reason: str, seconds: float) -> Attempt:
        """Send on the next connection; without one, Slack's reason is `no_connection`."""
        if not self._open:
            return Attempt(acked=False, reason="no_connection")
        self._turn += 1
        socket = self._open[self._turn % len(self._open)]
        if socket in self._deaf:
            await asyncio.sleep(seconds)
            return Attempt(acked=False, reason="timeout")
        envelope_id = self._world.token()
        waiting: asyncio.Future[Attempt] = asyncio.get_running_loop().create_future()
        self._waiting[envelope_id] = waiting
        try:
            await socket.send_json(_envelope(delivery, envelope_id, retry, reason))
            return await asyncio.wait_for(waiting, seconds)
        except TimeoutError:
            return Attempt(acked=False, reason="timeout")
        except ConnectionError:
            return Attempt(acked=False, reason="connection_failed")
        finally:
            self._waiting.pop(envelope_id, None)

    async def drop(self, *, politely: bool) -> int:
        """End every connection: with a `disconnect` message first, or as a cable cut does."""
        dropped = list(self._open)
        if not politely:
            return _cut(dropped)
        for socket in dropped:
            await socket.send_json({"type": "disconnect", "reason": "refresh_requested", "debug_info": {}})
            await socket.close()
        return len(dropped)

    def deafen(self) -> int:
        """Every connection stays open, but nothing comes through any more, not even the answer to a ping."""
        for socket in self._open:
            if (transport := _transport(socket)) is not None:
                transport.pause_reading()
        self._deaf += self._open
        return len(self._open)

    def _acknowledged(self, text: str) -> None:
        try:
            told: Any = json.loads(text)
        except ValueError:
            return
        waiting = self._waiting.get(told.get("envelope_id", "")) if isinstance(told, dict) else None
        if waiting is not None and not waiting.done():
            waiting.set_result(Attempt(acked=True, body=told.get("payload")))

    def _hello(self) -> dict[str, Any]:
        return {
            "type": "hello",
            "num_connections": len(self._open),
            "debug_info": {"host": "sandbox", "build_number": 1, "approximate_connection_time": 18060},
            "connection_info": {"app_id": APP_ID},
        }


def _transport(socket: web.WebSocketResponse) -> asyncio.Transport | None:
    writer = socket._writer  # noqa: SLF001 - aiohttp offers no other way to a cable
    return writer.transport if writer is not None else None


def _cut(sockets: list[web.WebSocketResponse]) -> int:
    """End connections as a cable cut does; returns how many there were."""
    for socket in sockets:
        if (transport := _transport(socket)) is not None:
            transport.abort()
    return len(sockets)


def _envelope(delivery: Delivery, envelope_id: str, retry: int, reason: str) -> dict[str, Any]:
    told = {
        "envelope_id": envelope_id,
        "payload": delivery.payload,
        "type": delivery.envelope,
        "accepts_response_payload": delivery.wants_answer,
    }
    if delivery.envelope == "events_api":
        told |= {"retry_attempt": retry, "retry_reason": reason}
    return told
