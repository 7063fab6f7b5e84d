from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.sandbox import Workspace
from bot.sandbox.errors import SandboxError

APP = {"client_id": "111.222", "client_secret": "sandbox-secret"}
BACK = "https://vobo.example/slack/oauth_redirect"


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with Workspace.serve(team_id="T0ACME", team_name="Acme", token_seconds=43_200, **APP) as made:
        yield made


def page(workspace: Workspace, **changes: str) -> str:
    asked = {
        "client_id": "111.222",
        "scope": "chat:write,commands",
        "redirect_uri": BACK,
        "state": "a-state",
        **changes,
    }
    return f"{workspace.url}/oauth/v2/authorize?{urlencode(asked)}"


def came_back(workspace: Workspace, **changes: Any) -> dict[str, str]:
    return {
        name: values[0]
        for name, values in parse_qs(urlsplit(workspace.allow(page(workspace), **changes)).query).items()
    }


def client(workspace: Workspace, token: str | None = None) -> WebClient:
    return WebClient(token=token, base_url=workspace.api_url, retry_handlers=[])


def refused(ask: Callable[[], object]) -> str:
    with pytest.raises(SlackApiError) as error:
        ask()
    return str(error.value.response["error"])


def test_whoever_allows_it_comes_back_with_a_code_and_whoever_cancels_with_none(workspace: Workspace) -> None:
    assert came_back(workspace).keys() == {"code", "state"}
    assert came_back(workspace, allow=False) == {"error": "access_denied", "state": "a-state"}


def test_an_app_that_is_not_known_or_asks_for_nothing_is_refused_at_the_page(workspace: Workspace) -> None:
    with pytest.raises(SandboxError, match="invalid_client_id"):
        workspace.allow(page(workspace, client_id="9.9"))
    with pytest.raises(SandboxError, match="invalid_scope"):
        workspace.allow(page(workspace, scope=""))


def test_a_code_is_good_once_for_the_app_and_the_address_it_was_made_for(workspace: Workspace) -> None:
    web, code = client(workspace), came_back(workspace)["code"]
    assert refused(lambda: web.oauth_v2_access(**APP, code="T0ACME.none", redirect_uri=BACK)) == "invalid_code"
    assert (
        refused(lambda: web.oauth_v2_access(**APP, code=code, redirect_uri="https://evil.example"))
        == "bad_redirect_uri"
    )
    wrong = {**APP, "client_secret": "guessed"}
    assert refused(lambda: web.oauth_v2_access(**wrong, code=code, redirect_uri=BACK)) == "bad_client_secret"
    told = web.oauth_v2_access(**APP, code=code, redirect_uri=BACK)
    assert told["team"] == {"id": "T0ACME", "name": "Acme"}
    assert client(workspace, told["access_token"]).auth_test()["team_id"] == "T0ACME"
    assert refused(lambda: web.oauth_v2_access(**APP, code=code, redirect_uri=BACK)) == "code_already_used"


def test_a_code_grows_old_in_ten_minutes(workspace: Workspace) -> None:
    code = came_back(workspace)["code"]
    workspace.advance(601)
    assert refused(lambda: client(workspace).oauth_v2_access(**APP, code=code, redirect_uri=BACK)) == "invalid_code"


def test_a_token_runs_out_and_its_refresh_token_is_good_once(workspace: Workspace) -> None:
    web = client(workspace)
    told = web.oauth_v2_access(**APP, code=came_back(workspace)["code"], redirect_uri=BACK)
    assert told["access_token"].startswith("xoxe.xoxb-1-")
    assert told["expires_in"] == 43_200
    workspace.advance(43_200)
    assert refused(client(workspace, told["access_token"]).auth_test) == "token_expired"
    again = {**APP, "grant_type": "refresh_token", "refresh_token": told["refresh_token"]}
    renewed = web.oauth_v2_access(**again)
    assert client(workspace, renewed["access_token"]).auth_test()["ok"]
    assert refused(lambda: web.oauth_v2_access(**again)) == "invalid_refresh_token"


def test_a_token_that_was_given_back_opens_nothing(workspace: Workspace) -> None:
    told = client(workspace).oauth_v2_access(**APP, code=came_back(workspace)["code"], redirect_uri=BACK)
    holder = client(workspace, told["access_token"])
    assert holder.auth_revoke()["revoked"]
    assert refused(holder.auth_test) == "token_revoked"


def test_a_workspace_that_removes_the_app_says_so_and_voids_its_tokens(workspace: Workspace) -> None:
    told = client(workspace).oauth_v2_access(**APP, code=came_back(workspace)["code"], redirect_uri=BACK)
    gone = workspace.uninstall()
    assert gone["revoked"] == [told["access_token"]]
    assert len(gone["deliveries"]) == 2
    assert refused(client(workspace, told["access_token"]).auth_test) == "account_inactive"
