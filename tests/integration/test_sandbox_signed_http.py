"""Signed HTTP delivery, verified by Bolt itself."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from slack_bolt import App, BoltRequest
from slack_sdk import WebClient

from bot.sandbox import Workspace

SECRET = "a shared secret"
BUTTON = [
    {
        "type": "actions",
        "block_id": "call:a",
        "elements": [
            {"type": "button", "action_id": "call.approve", "text": {"type": "plain_text", "text": "Approve"}},
        ],
    }
]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        headers = {name: [value] for name, value in self.headers.items()}
        app: App = self.server.app  # type: ignore[attr-defined]
        answer = app.dispatch(BoltRequest(body=body, headers=headers))
        self.server.statuses.append(answer.status)  # type: ignore[attr-defined]
        self.send_response(answer.status)
        for name, values in answer.headers.items():
            self.send_header(name, values[0])
        self.end_headers()
        self.wfile.write((answer.body or "").encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[Any]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.statuses = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def serve(endpoint: Any, secret: str = SECRET) -> Any:
    url = f"http://127.0.0.1:{endpoint.server_port}/slack/events"
    return Workspace.serve(deliver_to=url, signing_secret=secret, retry_delays=(0.02, 0.02, 0.02), ack_timeout=1.0)


def bolt(workspace: Workspace) -> App:
    return App(
        client=WebClient("xoxb-sandbox", base_url=workspace.api_url),
        signing_secret=SECRET,
        raise_error_for_unhandled_request=False,
    )


def test_events_clicks_and_commands_arrive_signed_and_are_acknowledged_by_the_answer(endpoint: Any) -> None:
    with serve(endpoint) as workspace:
        app = endpoint.app = bolt(workspace)
        heard: list[Any] = []
        app.event("app_mention")(lambda body, ack: (ack(), heard.append(body)))
        app.event("message")(lambda: None)
        app.action("call.approve")(lambda ack, body: (ack(), heard.append(body)))
        app.command("/vobo")(lambda ack, body: ack(f"you said {body['text']}"))
        workspace.mention("U0005", "C_REFUNDS", "hello")
        workspace.until(lambda: heard)
        ts = app.client.chat_postMessage(channel="C_REFUNDS", text="card", blocks=BUTTON)["ts"]
        assert workspace.click("U0001", "C_REFUNDS", ts, "call.approve")["acked"]
        assert workspace.slash("U0005", "C_REFUNDS", "help")["acked"]
        assert workspace.ephemerals("U0005", "C_REFUNDS")[0]["text"] == "you said help"
    assert [body["type"] for body in heard] == ["event_callback", "block_actions"]


def test_a_wrong_secret_is_refused_by_the_app_and_the_event_is_tried_again(endpoint: Any) -> None:
    with serve(endpoint, "another secret") as workspace:
        endpoint.app = bolt(workspace)
        workspace.mention("U0005", "C_REFUNDS", "hello")
        [delivery] = workspace.until(lambda: [one for one in workspace.deliveries("app_mention") if one["done"]])
    assert not delivery["acked"]
    assert [one["reason"] for one in delivery["attempts"]] == ["http_error"] * 4
    assert set(endpoint.statuses) == {401}


def test_an_event_that_failed_comes_again_with_slacks_retry_headers(endpoint: Any) -> None:
    with serve(endpoint) as workspace:
        app = endpoint.app = bolt(workspace)
        retries: list[Any] = []

        @app.middleware
        def look(req: BoltRequest, next: Any) -> None:  # noqa: A002 - Bolt's own name for it
            retries.append([req.headers.get("x-slack-retry-num"), req.headers.get("x-slack-retry-reason")])
            next()

        app.event("app_mention")(lambda: None)
        app.event("message")(lambda: None)
        workspace.lose_next_acks(1)
        workspace.mention("U0005", "C_REFUNDS", "hello")
        workspace.until(lambda: sum(one["done"] for one in workspace.deliveries()) == 2)
    assert retries.count([None, None]) == 2
    assert [one for one in retries if one[0]] == [[["1"], ["ack_lost"]]]
