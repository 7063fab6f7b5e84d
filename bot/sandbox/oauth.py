"""Installing the app: codes, tokens that may run out, refresh tokens that are good once."""

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from bot.sandbox.errors import SlackError
from bot.sandbox.install_page import install_page
from bot.sandbox.model import APP_ID, BOT_USER, Json
from bot.sandbox.settings import Settings

CODE_SECONDS = 600


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
    _gone: set[str] = field(default_factory=set)
    installed: set[str] = field(default_factory=set)

    def question(self, query: Json) -> str:
        """The page that asks whether to install the app.

        Raises:
            SlackError: the app is not known, asks for nothing, or would be answered at an address that is not its own.
        """
        self._check(query)
        return install_page(self.settings.team_name, str(query["scope"]).split(","))

    def answer(self, query: Json, *, allow: bool) -> str:
        """Where the person goes back to once they have pressed.

        Raises:
            SlackError: as for the question.
        """
        back = self._check(query)
        if allow:
            code = f"{self.settings.team_id}.{secrets.token_hex(8)}"
            user = query.get("user", "U0002")
            self._codes[code] = _Code(query.get("redirect_uri"), query["scope"], user, self.now())
            told = {"code": code}
        else:
            told = {"error": "access_denied"}
        joint = "&" if urlsplit(back).query else "?"
        return f"{back}{joint}{urlencode({**told, 'state': query.get('state', '')})}"

    def check_app(self, args: Json) -> None:
        """Whether it is the app that asks.

        Raises:
            SlackError: it is not, or the settings name no app.
        """
        settings = self.settings
        if not settings.client_id or args.get("client_id") != settings.client_id:
            raise SlackError("invalid_client_id")
        given = str(args.get("client_secret") or "")
        if not settings.client_secret or not hmac.compare_digest(given.encode(), settings.client_secret.encode()):
            raise SlackError("bad_client_secret")

    def exchange(self, args: Json) -> Json:
        """A token for a code or a refresh token.

        Raises:
            SlackError: in Slack's own words.
        """
        self.check_app(args)
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

    def gone(self, token: str) -> bool:
        """Whether the app was removed from the workspace since the token was given."""
        return token in self._gone

    def revoke(self, token: str) -> None:
        """Nothing opens to it any more."""
        self._revoked.add(token)
        self.installed.discard(token)

    def expire(self) -> None:
        """Every token that can run out has done so now."""
        self._ends = dict.fromkeys(self._ends, self.now())

    def uninstall(self) -> set[str]:
        """Every token of every installation opens nothing any more; returns them."""
        gone = set(self.installed)
        self._gone |= gone
        self.installed.clear()
        self._refresh.clear()
        return gone

    def _check(self, query: Json) -> str:
        """Where to go back to from the page: what was asked for, or else the app's first address."""
        if not query.get("client_id") or query["client_id"] != self.settings.client_id:
            raise SlackError("invalid_client_id")
        if not query.get("scope"):
            raise SlackError("invalid_scope_requested")
        own = self.settings.redirect_uris
        back = str(query.get("redirect_uri") or next(iter(own), ""))
        if urlsplit(back).scheme not in {"http", "https"} or (own and not any(_within(back, one) for one in own)):
            raise SlackError("bad_redirect_uri")
        return back

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


def _within(address: str, own: str) -> bool:
    """Whether an address is the app's own one or lies below it; another host that begins alike does not."""
    return address == own or address.startswith((f"{own.rstrip('/')}/", f"{own}?"))
