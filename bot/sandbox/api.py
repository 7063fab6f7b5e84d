"""The Web API's front door: tokens, encodings, planned misfortunes, and Slack's shape of every answer."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import BasicAuth, web

from bot.sandbox import api_chat, api_conversations, api_files, api_people, api_views
from bot.sandbox.api_call import Call
from bot.sandbox.errors import RateLimitedError, SlackError
from bot.sandbox.faults import Fault
from bot.sandbox.model import Json
from bot.sandbox.office import Office

Method = Callable[[Call], Awaitable[Json]]
METHODS: dict[str, Method] = {
    **api_people.METHODS,
    **api_chat.METHODS,
    **api_conversations.METHODS,
    **api_views.METHODS,
    **api_files.METHODS,
}
_KEPT_CALLS = 5_000
_WITHOUT_TOKEN = "oauth.v2.access"  # noqa: S105 - a method, and the one that is asked for tokens
_APP_LEVEL = frozenset({"apps.connections.open"})


class Api:
    """Serves /api/<method> and /response/<secret>."""

    def __init__(self, office: Office) -> None:
        self._office = office
        self.calls: list[Json] = []

    def routes(self) -> list[web.RouteDef]:
        """What to mount."""
        return [
            web.route("*", "/api/{method}", self.method),
            web.post("/response/{name}", self.response_url),
            web.post("/upload/{file_id}", self.upload),
            web.get("/files/{file_id}", self.file),
            web.route("*", "/oauth/v2/authorize", self.authorize),
        ]

    async def method(self, request: web.Request) -> web.StreamResponse:
        """Serve one Web API call."""
        name = request.match_info["method"]
        args, broken = await _arguments(request)

        async def work() -> web.Response:
            if broken:
                raise SlackError(broken)
            token = "" if name == _WITHOUT_TOKEN else self._check_token(name, request, args)
            return web.json_response({"ok": True, **await METHODS[name](Call(self._office, name, args, token))})

        return await self._served(request, name, args, work)

    async def response_url(self, request: web.Request) -> web.StreamResponse:
        """Serve one use of a response URL."""
        args, broken = await _arguments(request)

        async def work() -> web.Response:
            if broken:
                raise SlackError(broken)
            self._office.response_urls.use(request.match_info["name"], args)
            return web.Response(text="ok")

        answer = await self._served(request, "response_url", args, work)
        if isinstance(answer, web.Response) and answer.text != "ok":
            code = json.loads(answer.text or "{}").get("error", "")
            if code in ("expired_url", "used_url"):
                return web.Response(status=404, text=code)
        return answer

    async def authorize(self, request: web.Request) -> web.Response:
        """The page that asks whether to install the app, and the way back."""
        oauth, query = self._office.world.oauth, dict(request.query)
        pressed = (await request.post()).get("decision")
        try:
            if pressed is None:
                return web.Response(text=oauth.question(query), content_type="text/html")
            back = oauth.answer(query, allow=pressed == "allow")
        except SlackError as refused:
            return web.Response(status=400, text=f"Something went wrong: {refused.code}")
        raise web.HTTPFound(back)

    async def upload(self, request: web.Request) -> web.Response:
        """Take the content of a file whose upload was announced."""
        file = self._office.files.get(request.match_info["file_id"])
        if file is None:
            raise web.HTTPNotFound
        file["content"] = await request.read()
        return web.Response(text=f"OK - {len(file['content'])}")

    async def file(self, request: web.Request) -> web.Response:
        """The content of an uploaded picture, for the page."""
        file = self._office.files.get(request.match_info["file_id"])
        if file is None or file["content"] is None:
            raise web.HTTPNotFound
        return web.Response(body=file["content"], content_type="image/png")

    async def _served(
        self, request: web.Request, name: str, args: Json, work: Callable[[], Awaitable[web.Response]]
    ) -> web.StreamResponse:
        record: Json = {"method": name, "args": args, "at": self._office.world.clock.now(), "outcome": "ok"}
        self.calls.append(record)
        del self.calls[:-_KEPT_CALLS]
        fault = self._office.faults.next_for(name)
        if fault is not None:
            record["fault"] = fault.kind
            planned = await _suffered(request, fault)
            if planned is not None:
                record["outcome"] = fault.error if fault.kind == "error" else fault.kind
                return planned
        try:
            answer = await work()
        except RateLimitedError as refused:
            record["outcome"] = refused.code
            answer = web.json_response(refused.body(), status=429, headers={"Retry-After": str(refused.retry_after)})
        except SlackError as refused:
            record["outcome"] = refused.code
            answer = web.json_response(refused.body())
        if fault is not None and fault.kind == "cut_after":
            return _cut(request)
        return answer

    def _check_token(self, name: str, request: web.Request, args: Json) -> str:
        if name not in METHODS:
            raise SlackError("unknown_method", req_method=name)
        given = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        token = given or str(args.pop("token", "") or "")
        world = self._office.world
        if not token:
            raise SlackError("not_authed")
        if token in world.revoked_tokens or world.oauth.revoked(token):
            raise SlackError("token_revoked")
        if world.oauth.gone(token):
            raise SlackError("account_inactive")
        if world.oauth.expired(token):
            raise SlackError("token_expired")
        if token not in world.bot_tokens | world.app_tokens:
            raise SlackError("invalid_auth")
        if (token in world.app_tokens) != (name in _APP_LEVEL):
            raise SlackError("not_allowed_token_type")
        return token


async def _arguments(request: web.Request) -> tuple[Json, str]:
    """The arguments of a call and, when they cannot be read, Slack's word for that."""
    args: dict[str, Any] = {**request.query, **_credentials(request)}
    if request.method != "POST":
        return args, ""
    if request.content_type == "application/json":
        try:
            body = json.loads(await request.text() or "{}")
        except ValueError:
            return args, "invalid_json"
        if not isinstance(body, dict):
            return args, "json_not_object"
        return args | body, ""
    return args | dict(await request.post()), ""


def _credentials(request: web.Request) -> Json:
    """The app's own, as oauth.v2.access takes them in a header."""
    try:
        given = BasicAuth.decode(request.headers.get("Authorization", ""))
    except ValueError:
        return {}
    return {"client_id": given.login, "client_secret": given.password}


async def _suffered(request: web.Request, fault: Fault) -> web.StreamResponse | None:
    """The answer a planned misfortune gives instead of the real one, if it does."""
    if fault.kind == "delay":
        await asyncio.sleep(fault.seconds)
    elif fault.kind == "error":
        return web.json_response({"ok": False, "error": fault.error})
    elif fault.kind == "http":
        headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
        body = {"ok": False, "error": "ratelimited" if fault.retry_after is not None else fault.error}
        return web.json_response(body, status=fault.status, headers=headers)
    elif fault.kind == "cut_before":
        return _cut(request)
    return None


def _cut(request: web.Request) -> web.StreamResponse:
    """End the connection without an answer."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
