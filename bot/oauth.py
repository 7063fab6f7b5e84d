"""How a workspace gets the app: `/slack/install` sends somebody to Slack, `/slack/oauth_redirect` takes them back.

Only workspaces that the deployment has a reviewers file for are let in: elsewhere nobody could decide anything.
"""

import html
import logging
from collections.abc import Callable, Collection

from slack_bolt import BoltRequest, BoltResponse
from slack_bolt.error import BoltError
from slack_bolt.oauth import OAuthFlow
from slack_bolt.oauth.callback_options import CallbackOptions, FailureArgs, SuccessArgs
from slack_bolt.oauth.oauth_settings import OAuthSettings
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.oauth.installation_store import Installation

from bot.installations import Installations
from bot.settings import BotSettings
from bot.slack_check import wanted_scopes

INSTALL, REDIRECT = "/slack/install", "/slack/oauth_redirect"
_AGAIN = "Begin anew at the address you were given."
_REASONS = {
    "access_denied": "You cancelled at Slack, and nothing was installed.",
    "invalid_browser": f"You came back in another browser than you left in. {_AGAIN}",
    "invalid_state": f"That took longer than ten minutes, or was done already. {_AGAIN}",
    "missing_code": f"Slack sent no code along. {_AGAIN}",
    "invalid_code": f"Slack does not take the code back. {_AGAIN}",
}
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>:root {{ color-scheme: light dark }} body {{ font: 1.1rem/1.5 system-ui; margin: 3rem auto; max-width: 34rem;
padding: 0 1rem }}</style></head><body><main><h1>{title}</h1><p>{text}</p></main></body></html>
"""


class NotInvited(BoltError):
    """A workspace that the deployment has no reviewers file for; the text is for whoever tried to install."""


class Installing(OAuthFlow):
    """Bolt's flow, which lets in whom the operators expect and nobody else."""

    def __init__(
        self, *, client: WebClient, settings: OAuthSettings, teams: Collection[str], installed: Callable[[str], None]
    ) -> None:
        super().__init__(client=client, logger=logging.getLogger("vobo.oauth"), settings=settings)
        self._teams, self._installed = teams, installed

    def store_installation(self, request: BoltRequest, installation: Installation) -> None:
        """Keep the token, or give it back.

        Raises:
            NotInvited: nobody could decide anything there.
        """
        team = installation.team_id or ""
        if installation.is_enterprise_install or team not in self._teams or not installation.bot_token:
            self._give_back(installation)
            whole = installation.is_enterprise_install
            raise NotInvited(
                "Install it in single workspaces: an installation for a whole organisation is not supported."
                if whole
                else f"Nobody is named as a reviewer for the workspace {team}. Ask whoever runs this vobo to add it."
            )
        super().store_installation(request, installation)
        self.logger.info("installed in %s by %s", team, installation.user_id)
        self._installed(team)

    def _give_back(self, installation: Installation) -> None:
        """A token that nobody uses should open nothing."""
        try:
            self.client.auth_revoke(token=installation.bot_token)
        except (SlackApiError, SlackClientError, OSError) as failed:
            self.logger.warning("the token of %s could not be revoked: %s", installation.team_id, type(failed).__name__)


def installing(
    settings: BotSettings,
    client: WebClient,
    installations: Installations,
    teams: Collection[str],
    installed: Callable[[str], None],
) -> Installing:
    """The flow of this deployment. `installed` is told the workspace."""
    assert settings.client_id
    assert settings.client_secret
    public = settings.public_url
    oauth = OAuthSettings(
        client_id=settings.client_id,
        client_secret=settings.client_secret.get_secret_value(),
        scopes=sorted(wanted_scopes()),
        redirect_uri=f"{public}{REDIRECT}" if public else None,
        install_path=INSTALL,
        redirect_uri_path=REDIRECT,
        install_page_rendering_enabled=False,
        callback_options=CallbackOptions(success=_welcome, failure=_sorry),
        authorization_url=f"{settings.api_url.removesuffix('api/')}oauth/v2/authorize",
        installation_store=installations,
        state_store=installations.states(),
    )
    return Installing(client=client, settings=oauth, teams=teams, installed=installed)


def _welcome(told: SuccessArgs) -> BoltResponse:
    name = told.installation.team_name or told.installation.team_id or "your workspace"
    text = f"vobo is installed in {name}. Invite it to the channels where it is to work. You can close this window."
    return _page(200, "Installed", text)


def _sorry(told: FailureArgs) -> BoltResponse:
    if isinstance(told.error, NotInvited):
        return _page(403, "Not installed", str(told.error))
    return _page(told.suggested_status_code, "Not installed", _REASONS.get(told.reason, f"Slack said no. {_AGAIN}"))


def _page(status: int, title: str, text: str) -> BoltResponse:
    body = _PAGE.format(title=html.escape(title), text=html.escape(text))
    return BoltResponse(status=status, body=body, headers={"content-type": ["text/html; charset=utf-8"]})
