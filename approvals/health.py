"""`/healthz`, `/readyz` and `/metrics` for whoever watches a process: bot, worker, clock."""

import errno
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from approvals.errors import ApprovalsError

Check = Callable[[], str | None]


class PortTaken(ApprovalsError):
    """Nothing can listen on VOBO_HEALTH_PORT of VOBO_HEALTH_HOST."""


class Health:
    """Answers on a port of its own. `ready` returns a sentence about what is missing, None when all is well."""

    def __init__(self, port: int, ready: Check, host: str = "127.0.0.1", *, metrics: CollectorRegistry) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path.partition("?")[0] == "/metrics":
                    encode, kind = choose_encoder(self.headers.get("Accept", ""))
                    self._send(200, encode(metrics), kind)
                    return
                missing = ready() if self.path == "/readyz" else None
                known = self.path in {"/healthz", "/readyz"}
                self._answer(404 if not known else 503 if missing else 200, missing or ("ok" if known else "not found"))

            def _answer(self, status: int, text: str) -> None:
                self._send(status, f"{text}\n".encode(), "text/plain; charset=utf-8")

            def _send(self, status: int, body: bytes, kind: str) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_args: object) -> None:
                """Probes are no news."""

        try:
            self._server = ThreadingHTTPServer((host, port), Handler)
        except (OSError, UnicodeError) as refused:
            raise PortTaken(_why_taken(host, port, refused)) from refused
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, name="health", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Answer nothing more."""
        self._server.shutdown()
        self._server.server_close()


def _why_taken(host: str, port: int, refused: OSError | UnicodeError) -> str:
    if isinstance(refused, socket.gaierror | UnicodeError) or refused.errno == errno.EADDRNOTAVAIL:
        return (
            f"{host} is neither an IPv4 address of this machine nor a name of one. Set VOBO_HEALTH_HOST to 127.0.0.1,"
            " or to 0.0.0.0 for all its addresses."
        )
    return f"Port {port} cannot be used ({refused.strerror}). Set VOBO_HEALTH_PORT to a free one."
