"""A reverse proxy that hands bodies on in other pieces than it got them, and says what proxies say about clients."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: What a proxy adds; some of it lies here, since nothing may depend on it.
SAID = {
    "X-Forwarded-For": "203.0.113.9, 10.0.0.1",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "elsewhere.example",
    "X-Real-IP": "198.51.100.7",
    "Forwarded": "for=203.0.113.9;proto=https",
}
PIECE = 7
OWN = {"host", "content-length", "connection", "transfer-encoding"}


@contextmanager
def reverse_proxy(behind: int) -> Iterator[int]:
    """The port of a proxy in front of the port `behind`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            pieces = (body[at : at + PIECE] for at in range(0, len(body), PIECE))
            kept = {name: value for name, value in self.headers.items() if name.lower() not in OWN}
            there = http.client.HTTPConnection("127.0.0.1", behind, timeout=10)
            there.request("POST", self.path, pieces, {**kept, **SAID}, encode_chunked=True)
            answer = there.getresponse()
            told = answer.read()
            self.send_response(answer.status)
            self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)
            there.close()

        def log_message(self, *_args: object) -> None:
            """No news."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
