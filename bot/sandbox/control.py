"""/_control/: what a person at the keyboard does, for the page and for tests. Loopback only, JSON only."""

from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from bot.sandbox import steering
from bot.sandbox.clicking import Press, click_message, click_view
from bot.sandbox.errors import SandboxError, SlackError
from bot.sandbox.model import Json
from bot.sandbox.office import Office
from bot.sandbox.submitting import close_view, submit
from bot.sandbox.writing import edit, open_home, say, slash

Verb = Callable[[Office, Json], Awaitable[Json]]
_LOCAL_PEERS = frozenset({"127.0.0.1", "::1"})
_LOCAL_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})


async def _say(office: Office, args: Json) -> Json:
    return await say(office, _actor(office, args), args["channel"], args["text"], args.get("thread_ts"))


async def _mention(office: Office, args: Json) -> Json:
    words = args["text"]
    if "@vobo" not in words and "<@UBOT>" not in words:
        words = f"<@UBOT> {words}"
    return await _say(office, {**args, "text": words})


async def _edit(office: Office, args: Json) -> Json:
    return await edit(office, _actor(office, args), args["channel"], args["ts"], args["text"])


async def _slash(office: Office, args: Json) -> Json:
    actor = _actor(office, args)
    return await slash(office, actor, args["channel"], args.get("command") or "/vobo", args.get("text") or "")


async def _click(office: Office, args: Json) -> Json:
    return await click_message(office, _actor(office, args), args["channel"], args["ts"], _press(args))


async def _click_view(office: Office, args: Json) -> Json:
    return await click_view(office, _actor(office, args), _press(args), home=bool(args.get("home")))


async def _submit(office: Office, args: Json) -> Json:
    return await submit(office, _actor(office, args), args.get("values") or {}, force=bool(args.get("force")))


async def _close_view(office: Office, args: Json) -> Json:
    return await close_view(office, _actor(office, args), everything=bool(args.get("everything")))


async def _open_home(office: Office, args: Json) -> Json:
    return await open_home(office, _actor(office, args))


def _actor(office: Office, args: Json) -> Any:
    return office.world.actor(args["user"], args.get("team_id"))


def _press(args: Json) -> Press:
    return Press(
        action_id=args["action_id"],
        block_id=args.get("block_id"),
        value=args.get("value"),
        chosen=args.get("chosen"),
        stale=bool(args.get("stale")),
    )


VERBS: dict[str, Verb] = {
    "say": _say,
    "mention": _mention,
    "edit": _edit,
    "slash": _slash,
    "click": _click,
    "click_view": _click_view,
    "submit": _submit,
    "close_view": _close_view,
    "open_home": _open_home,
    **steering.VERBS,
}


class Control:
    """Serves POST /_control/<verb>."""

    def __init__(self, office: Office) -> None:
        self._office = office

    def routes(self) -> list[web.RouteDef]:
        """What to mount."""
        return [web.post("/_control/{verb}", self.serve)]

    async def serve(self, request: web.Request) -> web.Response:
        """Do one thing; 400 with a sentence when it cannot be done."""
        verb = VERBS.get(request.match_info["verb"])
        if verb is None:
            return _refused(f"Unknown verb. Known: {', '.join(sorted(VERBS))}.", 404)
        if request.content_type != "application/json":
            return _refused("Send JSON with Content-Type application/json.", 415)
        try:
            return web.json_response(await verb(self._office, await request.json()))
        except KeyError as missing:
            return _refused(f"The field {missing} is missing.", 400)
        except SandboxError as refused:
            return _refused(str(refused), 400)
        except SlackError as refused:
            return _refused(f"Slack would answer {refused.code}.", 400)


def _refused(text: str, status: int) -> web.Response:
    return web.json_response({"error": text}, status=status)


def is_local(request: web.Request) -> bool:
    """Whether the peer is this machine and the page was asked for by a local name (no DNS rebinding)."""
    host = request.headers.get("Host", "").rsplit(":", 1)[0] if "Host" in request.headers else ""
    origin = request.headers.get("Origin")
    same = origin is None or origin == f"{request.scheme}://{request.headers.get('Host', '')}"
    return request.remote in _LOCAL_PEERS and host in _LOCAL_NAMES and same
