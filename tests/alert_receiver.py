"""Where VOBO_ALERT_WEBHOOK leads in tests: a real HTTP server that keeps what it is told."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver:
    """`heard` are the texts it took; with another `status` than 200 it takes none, and counts in `refused`."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.refused = 0
        self.status = 200
        self.url = ""

    def take(self, body: bytes) -> int:
        if self.status == 200:
            self.heard.append(json.loads(body)["text"])
        else:
            self.refused += 1
        return self.status


def hearing(told: list[str]) -> Callable[[str], bool]:
    """A second route that takes everything, without a server."""

    def take(text: str) -> bool:
        told.append(text)
        return True

    return take


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(receiver.take(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}/alerts"
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
