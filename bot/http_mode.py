"""HTTP transport: signed requests at /slack/events, handled in threads so that the event loop never waits."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from urllib.parse import parse_qs

from slack_bolt import BoltRequest, BoltResponse
from slack_bolt.oauth import OAuthFlow
from slack_sdk.signature import SignatureVerifier
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from bot.fleet import Front
from bot.replays import Replays

PATH = "/slack/events"
#: Far more than Slack sends; nobody may fill the memory.
_LARGEST = 1_000_000
#: The whole body is here within this time.
BODY_S = 10.0
#: What reading a payload of another shape raises; what the handlers themselves raise is answered by the app.
_MALFORMED = (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError)
#: What is left of a refused body is not waited for.
_CLOSE = {"connection": "close"}


def create_http(front: Front, signing_secret: str, flow: OAuthFlow | None = None, *, threads: int = 64) -> Starlette:
    """The ASGI app that receives what Slack sends; with `flow` also the way on which a workspace installs the app."""
    pool = ThreadPoolExecutor(threads, thread_name_prefix="http")
    verifier = SignatureVerifier(signing_secret)
    replays = Replays()
    log = logging.getLogger("vobo.http")

    async def receive(request: Request) -> Response:
        raw = await whole_body(request)
        if isinstance(raw, Response):
            return raw
        body = raw.decode(errors="replace")
        headers = dict(request.headers)
        if not signed(verifier, headers, body):
            return Response(status_code=401)
        try:
            bolt = BoltRequest(body=body, headers={name: [value] for name, value in headers.items()})
            if is_interaction(headers, body) and not replays.first(headers["x-slack-signature"]):
                log.warning("an exact copy of an interaction was dropped")
                await asyncio.get_running_loop().run_in_executor(pool, front.noted, bolt)
                return Response(status_code=200)
            answer = await asyncio.get_running_loop().run_in_executor(pool, front.dispatch, bolt)
        except _MALFORMED:  # signed, and not what Slack sends: Bolt looks for its listener in it before anybody checks
            log.exception("a signed request could not be read")
            return Response(status_code=400)
        return as_response(answer)

    routes = [Route(PATH, receive, methods=["POST"])]
    return Starlette(routes=[*routes, *(install_routes(flow, pool) if flow else ())])


def install_routes(flow: OAuthFlow, pool: Executor) -> list[Route]:
    """To Slack and back, in a browser."""

    def at(path: str, answer: Callable[[BoltRequest], BoltResponse]) -> Route:
        async def handle(request: Request) -> Response:
            headers: dict[str, str | Sequence[str]] = {name: [value] for name, value in request.headers.items()}
            bolt = BoltRequest(body="", query=request.url.query, headers=headers)
            told = await asyncio.get_running_loop().run_in_executor(pool, answer, bolt)
            response = as_response(told)
            for cookie in told.headers.get(
                "set-cookie", ()
            ):  # names the browser that left; see slack_sdk's state_utils
                response.headers.append("set-cookie", cookie)
            return response

        return Route(path, handle, methods=["GET"])

    return [at(flow.install_path, flow.handle_installation), at(flow.redirect_uri_path, flow.handle_callback)]


async def whole_body(request: Request) -> bytes | Response:
    """What was sent, byte for byte, however a proxy cut it up; an answer where it is too much, too slow or broken off.

    The length that the sender claims is not relied on: a body in chunks has none.
    """
    whole = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for part in request.stream():
                whole += part
                if len(whole) > _LARGEST:
                    return Response(status_code=413, headers=_CLOSE)
    except TimeoutError:
        return Response(status_code=408, headers=_CLOSE)
    except ClientDisconnect:
        return Response(status_code=400)
    return bytes(whole)


def signed(verifier: SignatureVerifier, headers: dict[str, str], body: str) -> bool:
    """Whether Slack signed this within the window. A time that is no number is no signature."""
    stamp = headers.get("x-slack-request-timestamp", "")
    signature = headers.get("x-slack-signature", "")
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 12 and signature.isascii()):  # noqa: PLR2004
        return False
    return verifier.is_valid(body=body, timestamp=stamp, signature=signature)


def is_interaction(headers: dict[str, str], body: str) -> bool:
    """Buttons, modals and commands come as forms; events as JSON, with a redelivery of their own."""
    form = headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
    return form and bool({"payload", "command"} & parse_qs(body).keys())


def as_response(answer: BoltResponse) -> Response:
    """Bolt's answer as Starlette's."""
    headers = {name: values[0] for name, values in answer.headers.items() if values and name != "set-cookie"}
    return Response(content=answer.body, status_code=answer.status, headers=headers)
