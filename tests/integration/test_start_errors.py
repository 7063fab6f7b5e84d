"""What keeps a process from starting is a sentence that names the variable, and never tells a secret."""

import json
import logging
import socket
import threading
import traceback
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from prometheus_client import CollectorRegistry
from slack_bolt import App
from slack_sdk import WebClient

from approvals.health import Health, PortTaken
from bot.errors import BotCannotStart, SlackAway
from bot.slack_client import identify
from bot.transports import SocketTransport

NOBODY = "http://127.0.0.1:1/api/"


def connect(token: str) -> None:
    client = WebClient("xoxb-1", base_url=NOBODY)
    app = App(client=client, token_verification_enabled=False, signing_secret="x")
    SocketTransport(app, token, client).start()


def ask_whose(token: str) -> None:
    identify(WebClient(token, base_url=NOBODY))


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


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("503/unknown", SlackAway),
        ("429/ratelimited", SlackAway),
        ("200/internal_error", SlackAway),
        ("200/invalid_auth", BotCannotStart),
    ],
)
def test_slack_in_trouble_is_told_apart_from_a_token_that_it_refuses(answer: str, kind: type) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = WebClient("xoxb-1", base_url=f"http://127.0.0.1:{server.server_port}/{answer}/")
    with pytest.raises(BotCannotStart) as refused:
        identify(client)
    server.shutdown()
    server.server_close()
    assert type(refused.value) is kind


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
