"""What keeps a process from starting is a sentence that names the variable, and never tells a secret."""

import json
import logging
import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import redis
from prometheus_client import CollectorRegistry
from slack_bolt import App
from slack_sdk import WebClient

from approvals import awaiting
from approvals.health import Health, PortTaken
from bot.assembly import assemble
from bot.awaiting import await_what_it_needs
from bot.errors import BotCannotStart, SlackAway
from bot.sandbox import Workspace
from bot.slack_client import identify
from bot.transports import SocketTransport
from bot_office import settings_for

NOBODY = "http://127.0.0.1:1/api/"


def connect(token: str, url: str = NOBODY) -> None:
    client = WebClient("xoxb-1", base_url=url, retry_handlers=[])
    app = App(client=client, token_verification_enabled=False, signing_secret="x")
    SocketTransport(app, token, client).start()


def ask_whose(token: str, url: str = NOBODY) -> None:
    identify(WebClient(token, base_url=url, retry_handlers=[]))


@pytest.mark.parametrize(
    ("start", "variable", "token"),
    [
        (connect, "SLACK_APP_TOKEN", "xapp-s3cret\n"),
        (connect, "SLACK_APP_TOKEN", "xapp-s3cret…"),
        (ask_whose, "SLACK_BOT_TOKEN", "xoxb-s3cret…"),
    ],
)
def test_a_token_that_no_header_can_hold_is_a_sentence_without_it(
    start: Callable[[str], None], variable: str, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("slack_bolt.App"), "disabled", True)
    with pytest.raises(BotCannotStart, match=f"{variable} holds a character that no token has") as refused:
        start(token)
    assert "s3cret" not in "".join(traceback.format_exception(refused.value))


class Answering(BaseHTTPRequestHandler):
    """Slack in trouble, or before a wrong token, as the path says: `/<status>/<error>/auth.test`."""

    def do_POST(self) -> None:
        _, status, error, _ = self.path.split("/")
        body = json.dumps({"ok": False, "error": error}).encode()
        self.send_response(int(status))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        """Silent."""


@pytest.fixture
def answering() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(("start", "token"), [(connect, "xapp-1"), (ask_whose, "xoxb-1")])
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("503/unknown", SlackAway),
        ("429/ratelimited", SlackAway),
        ("200/internal_error", SlackAway),
        ("200/invalid_auth", BotCannotStart),
    ],
)
def test_slack_in_trouble_is_told_apart_from_a_token_that_it_refuses(
    answering: str, answer: str, kind: type, start: Callable[[str, str], None], token: str
) -> None:
    with pytest.raises(BotCannotStart) as refused:
        start(token, f"{answering}/{answer}/")
    assert type(refused.value) is kind
    assert ("Slack refuses" in str(refused.value)) is (kind is BotCannotStart)


@pytest.mark.parametrize(("start", "token"), [(connect, "xapp-1"), (ask_whose, "xoxb-1")])
def test_a_slack_that_cannot_be_reached_is_away(start: Callable[[str], None], token: str) -> None:
    with pytest.raises(SlackAway, match=f"^Slack does not answer at {NOBODY} "):
        start(token)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch, valkey_url: str, redis_client: redis.Redis) -> str:
    """Where a start finds its store, and looks again at once; no law and no token come from this machine's files."""
    monkeypatch.setattr(awaiting, "AGAIN_S", 0.05)
    return valkey_url


def test_a_start_waits_for_socket_mode_and_asks_slack_for_nothing_twice(hasty: str) -> None:
    with Workspace.serve() as workspace:
        settings = settings_for(workspace, hasty, app_token="xapp-sandbox")
        workspace.fault("apps.connections.open", "error", error="internal_error", count=2)
        reached = await_what_it_needs(settings)
        asked = [call["method"] for call in workspace.calls()]
        assert asked == ["auth.test", "apps.connections.open"] * 3
        bot = assemble(settings, reached)
        bot.start()
        workspace.until(lambda: bot.missing() is None, 5, "it receives")
        bot.stop()
        asked = [call["method"] for call in workspace.calls()]
        assert (asked.count("auth.test"), asked.count("apps.connections.open")) == (3, 3)


def test_a_start_does_not_wait_for_socket_mode_where_slack_refuses_the_app_token(hasty: str) -> None:
    with Workspace.serve() as workspace:
        settings = settings_for(workspace, hasty, app_token="xapp-sandbox")
        workspace.fault("apps.connections.open", "error", error="not_allowed_token_type")
        with pytest.raises(BotCannotStart, match=r"^Slack refuses SLACK_APP_TOKEN \(not_allowed_token_type\)"):
            await_what_it_needs(settings)


@pytest.mark.parametrize("host", ["::", "192.0.2.1", "a..b"])
def test_a_host_at_which_nobody_can_listen_is_named_and_not_the_port(host: str) -> None:
    with pytest.raises(PortTaken, match=rf"^{host} is neither .* Set VOBO_HEALTH_HOST to 127.0.0.1"):
        Health(0, lambda: None, host, metrics=CollectorRegistry())


def test_a_port_that_is_taken_is_named_with_its_variable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(PortTaken, match=rf"^Port {port} cannot be used .* Set VOBO_HEALTH_PORT"):
            Health(port, lambda: None, metrics=CollectorRegistry())
