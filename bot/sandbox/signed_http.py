"""Signed HTTP: what Slack posts to an app's request URL, and how the answer counts as an acknowledgement."""

import hashlib
import hmac
import json
from typing import Any
from urllib.parse import urlencode

from aiohttp import ClientError, ClientSession, ClientTimeout

from bot.sandbox.clock import Clock
from bot.sandbox.delivery import Attempt, Delivery

_OK = 200


def signature(secret: str, timestamp: str, body: str) -> str:
    """Slack's v0 signature over timestamp and raw body."""
    base = f"v0:{timestamp}:{body}".encode()
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()


class SignedHttp:
    """Posts to one URL."""

    def __init__(self, url: str, secret: str, clock: Clock) -> None:
        self._url = url
        self._secret = secret
        self._clock = clock

    async def attempt(self, delivery: Delivery, retry: int, reason: str, seconds: float) -> Attempt:
        """Post once; only status 200 acknowledges."""
        body, headers = self._signed(delivery)
        if retry:
            headers |= {"X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": reason}
        try:
            async with (
                ClientSession(timeout=ClientTimeout(total=seconds)) as session,
                session.post(self._url, data=body.encode(), headers=headers) as answer,
            ):
                text = await answer.text()
                again = answer.headers.get("X-Slack-No-Retry") != "1"
                if answer.status != _OK:
                    return Attempt(acked=False, reason="http_error", body=text, retry=again)
                return Attempt(acked=True, body=_read(text))
        except TimeoutError:
            return Attempt(acked=False, reason="http_timeout")
        except ClientError:
            return Attempt(acked=False, reason="connection_failed")

    def _signed(self, delivery: Delivery) -> tuple[str, dict[str, str]]:
        if delivery.envelope == "events_api":
            body, kind = json.dumps(delivery.payload), "application/json"
        elif delivery.envelope == "slash_commands":
            body, kind = urlencode(delivery.payload), "application/x-www-form-urlencoded"
        else:
            body = urlencode({"payload": json.dumps(delivery.payload)})
            kind = "application/x-www-form-urlencoded"
        timestamp = str(int(self._clock.now()))
        return body, {
            "Content-Type": kind,
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": signature(self._secret, timestamp, body),
        }


def _read(text: str) -> Any:
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return {"text": text}
