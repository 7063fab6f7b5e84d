"""Installing the app: codes, tokens that may run out, refresh tokens that are good once."""

import html
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from bot.sandbox.errors import SlackError
from bot.sandbox.model import APP_ID, BOT_USER, Json
from bot.sandbox.settings import Settings

CODE_SECONDS = 600
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Install</title>
<style>:root {{ color-scheme: light dark }} body {{ font: 1.1rem/1.5 system-ui; margin: 3rem auto; max-width: 34rem;
padding: 0 1rem }} a {{ display: inline-block; margin-right: 1rem; padding: .6rem 1rem; border: 1px solid }}</style>
</head><body><main><h1>vobo wants to work in {team}</h1><p>It asks for: {scopes}.</p>
<p><a href="{allow}">Allow</a> <a href="{cancel}">Cancel</a></p></main></body></html>
"""


@dataclass
class _Code:
    redirect_uri: str | None
    scopes: str
    user: str
    at: float
    used: bool = False


@dataclass
class OAuth:
    """What one workspace has granted. Every token and code has the workspace's id in it."""

    settings: Settings
    now: Callable[[], float]
    _codes: dict[str, _Code] = field(default_factory=dict)
    _refresh: dict[str, str] = field(default_factory=dict)
    _ends: dict[str, float] = field(default_factory=dict)
    _revoked: set[str] = field(default_factory=set)
    installed: set[str] = field(default_factory=set)

    def answer(self, query: Json) -> str | None:
        """Where to go back to once the person has pressed; None while nobody has.

        Raises:
            SlackError: the app is not known, or asks for nothing.
        """
        if not query.get("client_id") or query["client_id"] != self.settings.client_id:
            raise SlackError("invalid_client_id")
        if not query.get("scope"):
            raise SlackError("invalid_scope_requested")
        decision = query.get("decision")
        if decision is None:
            return None
        state = query.get("state", "")
        if decision != "allow":
            return f"{query.get('redirect_uri', '')}?{urlencode({'error': 'access_denied', 'state': state})}"
        code = f"{self.settings.team_id}.{secrets.token_hex(8)}"
        self._codes[code] = _Code(query.get("redirect_uri"), query["scope"], query.get("user", "U0002"), self.now())
        return f"{query.get('redirect_uri', '')}?{urlencode({'code': code, 'state': state})}"

    def question(self, query: Json) -> str:
        """The page with both answers."""
        allow, cancel = (f"?{urlencode({**query, 'decision': one})}" for one in ("allow", "cancel"))
        return _PAGE.format(
            team=html.escape(self.settings.team_name),
            scopes=html.escape(str(query["scope"]).replace(",", ", ")),
            allow=html.escape(allow),
            cancel=html.escape(cancel),
        )

    def exchange(self, args: Json) -> Json:
        """A token for a code or a refresh token.

        Raises:
            SlackError: in Slack's own words.
        """
        if args.get("client_id") != self.settings.client_id or self.settings.client_id is None:
            raise SlackError("invalid_client_id")
        if args.get("client_secret") != self.settings.client_secret:
            raise SlackError("bad_client_secret")
        if args.get("grant_type") == "refresh_token":
            return self._renewed(str(args.get("refresh_token") or ""))
        if args.get("grant_type") not in {None, "authorization_code"}:
            raise SlackError("invalid_grant_type")
        code = self._codes.get(str(args.get("code") or ""))
        if code is None or self.now() > code.at + CODE_SECONDS:
            raise SlackError("invalid_code")
        if code.used:
            raise SlackError("code_already_used")
        if code.redirect_uri != args.get("redirect_uri"):
            raise SlackError("bad_redirect_uri")
        code.used = True
        return self._granted(code.scopes, code.user)

    def expired(self, token: str) -> bool:
        """Whether a token has run out."""
        return token in self._ends and self.now() >= self._ends[token]

    def revoked(self, token: str) -> bool:
        """Whether a token was given back."""
        return token in self._revoked

    def revoke(self, token: str) -> None:
        """Nothing opens to it any more."""
        self._revoked.add(token)
        self.installed.discard(token)

    def expire(self) -> None:
        """Every token that can run out has done so now."""
        self._ends = dict.fromkeys(self._ends, self.now())

    def uninstall(self) -> set[str]:
        """Every token of every installation is revoked; returns them."""
        gone = set(self.installed)
        for token in gone:
            self.revoke(token)
        self._refresh.clear()
        return gone

    def _renewed(self, refresh: str) -> Json:
        scopes = self._refresh.pop(refresh, None)
        if scopes is None:
            raise SlackError("invalid_refresh_token")
        return self._granted(scopes, None)

    def _granted(self, scopes: str, user: str | None) -> Json:
        settings, token = self.settings, f"xoxb-{self.settings.team_id}-{secrets.token_hex(12)}"
        told: dict[str, Any] = {
            "app_id": APP_ID,
            "scope": scopes,
            "token_type": "bot",
            "access_token": token,
            "bot_user_id": BOT_USER,
            "team": {"id": settings.team_id, "name": settings.team_name},
            "enterprise": None,
            "is_enterprise_install": False,
        }
        if user is not None:
            told["authed_user"] = {"id": user}
        if settings.token_seconds is not None:
            told["access_token"] = token = f"xoxe.{token.replace('xoxb-', 'xoxb-1-')}"
            refresh = f"xoxe-1-{settings.team_id}-{secrets.token_hex(12)}"
            self._refresh[refresh] = scopes
            self._ends[token] = self.now() + settings.token_seconds
            told |= {"refresh_token": refresh, "expires_in": settings.token_seconds}
        self.installed.add(token)
        return told
