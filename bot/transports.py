"""Socket Mode and HTTP, behind the same handlers; both may be on."""

import socket
import threading
import time
from collections.abc import Callable
from typing import Protocol

import uvicorn
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.oauth import OAuthFlow
from slack_sdk import WebClient

from bot.errors import BotCannotStart
from bot.fleet import Front
from bot.http_mode import create_http
from bot.http_server import GRACE_S, server_config
from bot.slack_client import socket_address

_CONCURRENCY = 64
_STARTED_S = 10.0
#: Seconds between two pings. A web socket may die without a word: after four unanswered ones it is opened anew.
PING_S = 10.0
_SILENT_PINGS = 4


class Transport(Protocol):
    """A way on which Slack reaches the bot."""

    def start(self) -> None:
        """Begin to receive."""
        ...

    def stop(self) -> None:
        """Receive nothing more."""
        ...

    def ready(self) -> bool:
        """Whether payloads arrive."""
        ...


class SocketTransport:
    """Socket Mode: the bot opens the connection, nothing has to reach it from outside."""

    def __init__(self, app: App, app_token: str, client: WebClient, address: str | None = None) -> None:
        """`address` is where the first connection may be opened, if Slack was asked for it just now."""
        self._handler = SocketModeHandler(
            app, app_token, web_client=client, concurrency=_CONCURRENCY, ping_interval=PING_S
        )
        self._address = address

    def start(self) -> None:
        """Connect. A web socket that cannot be opened is opened anew every few seconds.

        Raises:
            BotCannotStart: Slack refuses the app-level token.
            SlackAway: Slack does not answer.
        """
        client = self._handler.client
        client.wss_uri = self._address or socket_address(client.web_client, client.app_token)
        client.connect()

    def stop(self) -> None:
        """Close the connection."""
        self._handler.client.close()

    def ready(self) -> bool:
        """Whether the connection is open and has answered a ping lately."""
        client = self._handler.client
        if not client.is_connected():
            return False
        session = client.current_session
        last = session.last_ping_pong_time if session else None
        return last is None or time.time() - last < PING_S * _SILENT_PINGS


class HttpTransport:
    """HTTP at `/slack/events`, for installations that Slack can reach. With `flow` workspaces can install the app."""

    def __init__(
        self,
        front: Front,
        signing_secret: str,
        port: int,
        flow: OAuthFlow | None = None,
        host: str = "0.0.0.0",  # noqa: S104 - Slack calls from outside
    ) -> None:
        self._listening = listening_socket(host, port, "PORT")
        self._server = uvicorn.Server(server_config(create_http(front, signing_secret, flow)))
        self._thread = threading.Thread(target=self._serve, name="http", daemon=True)
        self.port = int(self._listening.getsockname()[1])

    def start(self) -> None:
        """Serve in a thread of its own."""
        self._thread.start()
        _until(lambda: self._server.started, _STARTED_S)

    def stop(self) -> None:
        """Finish what was begun, then stop."""
        self._server.should_exit = True
        self._thread.join(GRACE_S + _STARTED_S)
        self._listening.close()

    def ready(self) -> bool:
        """Whether requests are answered."""
        return bool(self._server.started) and self._thread.is_alive()

    def _serve(self) -> None:
        self._server.run(sockets=[self._listening])


def listening_socket(host: str, port: int, variable: str) -> socket.socket:
    """A bound socket.

    Raises:
        BotCannotStart: the port is taken or may not be used.
    """
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(128)
    except OSError as taken:
        made.close()
        raise BotCannotStart(f"Port {port} cannot be used ({taken.strerror}). Set {variable} to a free one.") from taken
    return made


def _until(true: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.01)
