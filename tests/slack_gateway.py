"""Slack's one host in front of several sandbox workspaces: who is meant says the token, the code, or `team=`."""

import json
import re
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: Access tokens, refresh tokens and codes of the sandbox say whose they are.
_OWNER = re.compile(r"(?:(?:xoxe\.)?xoxb-(?:1-)?|xoxe-1-)?(T[A-Z0-9]+)[-.]")
_ACCESS, _AUTHORIZE = "/api/oauth.v2.access", "/oauth/v2/authorize"
_PASSED = ("Authorization", "Content-Type")
_INVALID = b'{"ok": false, "error": "invalid_auth"}'


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: object, **_kwargs: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_Stay)


class _Gateway(ThreadingHTTPServer):
    daemon_threads = True
    workspaces: Mapping[str, str] = {}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._pass_on(None)

    def do_POST(self) -> None:
        self._pass_on(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _pass_on(self, body: bytes | None) -> None:
        place = self._place(body or b"")
        if place is None:
            self._refuse()
            return
        headers = {name: self.headers[name] for name in _PASSED if name in self.headers}
        request = urllib.request.Request(place + self.path, data=body, headers=headers, method=self.command)  # noqa: S310
        try:
            with _OPENER.open(request, timeout=15) as told:
                self._answer(told.status, dict(told.headers), told.read())
        except urllib.error.HTTPError as told:
            self._answer(told.code, dict(told.headers), told.read())
        except urllib.error.URLError:
            self._answer(503, {"Content-Type": "text/plain"}, b"This workspace does not answer.")

    def _place(self, body: bytes) -> str | None:
        """The workspace that is meant. Only what Slack itself goes by counts, never what a message says."""
        assert isinstance(self.server, _Gateway)
        known = self.server.workspaces
        path, _, query = self.path.partition("?")
        given = {**dict(urllib.parse.parse_qsl(query)), **self._fields(body)}
        if path == _AUTHORIZE:
            return known.get(given.get("team", ""))
        if path == _ACCESS:  # whose code nobody knows, any workspace refuses in Slack's words
            return known.get(_owner(given.get("code") or given.get("refresh_token", "")), next(iter(known.values())))
        bearer = self.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        return known.get(_owner(bearer or given.get("token", "")))

    def _fields(self, body: bytes) -> dict[str, str]:
        text = body.decode(errors="replace")
        if not self.headers.get("Content-Type", "").startswith("application/json"):
            return dict(urllib.parse.parse_qsl(text))
        try:
            told = json.loads(text)
        except ValueError:
            return {}
        return {name: str(value) for name, value in told.items()} if isinstance(told, dict) else {}

    def _refuse(self) -> None:
        if self.path.startswith("/api/"):
            self._answer(200, {"Content-Type": "application/json"}, _INVALID)
        else:
            self._answer(404, {"Content-Type": "text/plain"}, b"Say which workspace with team=.")

    def _answer(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in {"transfer-encoding", "content-length", "connection"}:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        pass


def _owner(token: str) -> str:
    found = _OWNER.match(token)
    return found[1] if found else ""


@contextmanager
def gateway(workspaces: Mapping[str, str]) -> Iterator[str]:
    """`workspaces` maps team ids to base URLs; yields the base URL of the one host."""
    server = _Gateway(("127.0.0.1", 0), _Handler)
    server.workspaces = workspaces
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
