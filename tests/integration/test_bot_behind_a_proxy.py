"""HTTP mode behind a reverse proxy, and in front of people who are slow on purpose."""

import json
import socket
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import closing

import pytest
from slack_sdk.signature import SignatureVerifier

from approvals.lifecycle import State
from bot import http_mode, http_server
from bot.transports import HttpTransport
from bot_office import BRUNO, SECRET, Office, a_refund
from reverse_proxy import reverse_proxy

FIRST = "call_000000000001"
ENDPOINT = "/slack/events"


@pytest.fixture
def transport(office: Office) -> HttpTransport:
    found = office.bot.transports[0]
    assert isinstance(found, HttpTransport)
    return found


@pytest.fixture
def proxy(transport: HttpTransport) -> Iterator[int]:
    with reverse_proxy(transport.port) as port:
        yield port


def signed(body: str) -> dict[str, str]:
    stamp = str(int(time.time()))
    return {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": SignatureVerifier(SECRET).generate_signature(timestamp=stamp, body=body) or "",
    }


def post(port: int, body: str, headers: dict[str, str]) -> int:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{ENDPOINT}", body.encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - this machine
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code


def an_approval(office: Office) -> str:
    """The form that Slack sends when Bruno approves, with letters outside of ASCII."""
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    office.press(BRUNO, batch, "call.details")
    (delivery,) = office.slack.deliveries("block_actions")
    payload = delivery["payload"]
    payload["actions"][0]["action_id"] = "call.approve"
    payload["user"]["note"] = "señal ✓"
    return urllib.parse.urlencode({"payload": json.dumps(payload, ensure_ascii=False)})


def connected(transport: HttpTransport) -> "closing[socket.socket]":
    return closing(socket.create_connection(("127.0.0.1", transport.port), timeout=5))


def head(headers: dict[str, str], *more: str) -> bytes:
    lines = [f"POST {ENDPOINT} HTTP/1.1", "Host: bot", *(f"{name}: {value}" for name, value in headers.items()), *more]
    return "\r\n".join([*lines, "", ""]).encode()


def answered(connection: socket.socket) -> str:
    """The status line, or nothing when the connection was closed without one."""
    try:
        return connection.recv(4096).decode().partition("\r\n")[0]
    except ConnectionResetError:
        return ""


def test_a_click_counts_whatever_a_proxy_does_to_its_pieces_and_says_about_its_sender(
    office: Office, proxy: int
) -> None:
    body = an_approval(office)
    assert post(proxy, body, signed(body)) == 200
    office.state(FIRST, State.APPROVED)


def test_a_body_that_was_changed_on_the_way_is_refused(office: Office, proxy: int) -> None:
    body = an_approval(office)
    assert post(proxy, body + "&x=1", signed(body)) == 401
    assert office.call(FIRST).state is State.PENDING_REVIEW


def test_a_body_that_claims_no_length_is_cut_off_all_the_same(transport: HttpTransport, proxy: int) -> None:
    body = "x" * (http_mode._LARGEST + 1)
    assert post(transport.port, body, signed(body)) == 413
    with connected(transport) as connection:
        connection.sendall(head({}, "Transfer-Encoding: chunked"))
        piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        for _ in range(http_mode._LARGEST // 0x10000 + 1):
            connection.sendall(piece)
        assert answered(connection) == "HTTP/1.1 413 Request Entity Too Large"
    small = "payload=%7B%7D"
    assert post(proxy, small, signed(small)) in {200, 404}


def test_a_body_that_never_ends_is_not_waited_for(transport: HttpTransport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_mode, "BODY_S", 0.3)
    with connected(transport) as connection:
        connection.sendall(head({}, "Content-Length: 100") + b"payload=")
        assert answered(connection) == "HTTP/1.1 408 Request Timeout"


def test_a_body_that_breaks_off_is_no_failure(transport: HttpTransport, office: Office) -> None:
    with connected(transport) as connection:
        connection.sendall(head({}, "Content-Length: 100") + b"payload=")
    body = an_approval(office)
    assert post(transport.port, body, signed(body)) == 200


@pytest.mark.parametrize("earlier", [0, 1], ids=["first", "after an answer"])
def test_a_head_that_never_ends_is_not_waited_for(
    earlier: int, transport: HttpTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "HEAD_S", 0.4)
    with connected(transport) as connection:
        for _ in range(earlier):
            connection.sendall(head({}, "Content-Length: 0"))
            assert answered(connection) == "HTTP/1.1 401 Unauthorized"
        began = time.monotonic()
        for letter in b"POST /slack":  # a letter now and then keeps no connection open
            try:
                connection.sendall(bytes([letter]))
            except OSError:
                break
            time.sleep(0.1)
        assert answered(connection) == ""
        assert time.monotonic() - began < 3


def test_a_connection_on_which_nothing_comes_is_closed(
    transport: HttpTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "HEAD_S", 0.3)
    with connected(transport) as connection:
        assert answered(connection) == ""


def test_a_proxy_that_keeps_connections_for_a_minute_never_meets_one_that_is_just_closing() -> None:
    assert http_server.IDLE_S > 60


def test_at_the_end_what_was_begun_is_answered_and_nothing_more_is_taken(
    office: Office, transport: HttpTransport
) -> None:
    body = an_approval(office)
    data = body.encode()
    with connected(transport) as connection, connected(transport) as idle:
        connection.sendall(head(signed(body), f"Content-Length: {len(data)}") + data[:100])
        time.sleep(0.2)
        began = time.monotonic()
        stopping = threading.Thread(target=transport.stop)
        stopping.start()
        time.sleep(0.5)
        assert stopping.is_alive(), "it waits for what was begun"
        connection.sendall(data[100:])
        assert answered(connection) == "HTTP/1.1 200 OK"
        stopping.join(10)
        assert not stopping.is_alive()
        assert time.monotonic() - began < 5
        assert answered(idle) == ""
    with pytest.raises(ConnectionRefusedError):
        connected(transport)
    office.state(FIRST, State.APPROVED)
