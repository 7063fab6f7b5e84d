"""The HTTP server in front of `create_http`: nobody may hold it up, and it ends only after what it has begun."""

import asyncio

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

#: A request's line and headers are here within this time, or the connection is closed. Slack sends them at once.
HEAD_S = 10.0
#: Connections and requests at once; more are answered 503, which Slack tries again (events) or shows (clicks).
MOST_AT_ONCE = 1_000
#: Longer than proxies keep an idle connection (60 s as a rule): else they would send into one that is just closing.
IDLE_S = 75
#: At the end, what was begun has so long to be answered. Slack waits three seconds.
GRACE_S = 8


class PatientProtocol(H11Protocol):
    """uvicorn's HTTP/1.1, which waits for ever for the rest of a request's head, with an end to that."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody connected, and owes a request."""
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """A part of a request; the head is whole once there is a cycle that is not answered yet."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._late is None:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is waited for any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        self._late = self.loop.call_later(HEAD_S, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


def server_config(app: Starlette) -> uvicorn.Config:
    """How the server runs. What a proxy says about clients is not read: Slack's signature alone says who it is."""
    return uvicorn.Config(
        app,
        http=PatientProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        limit_concurrency=MOST_AT_ONCE,
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=GRACE_S,
    )
