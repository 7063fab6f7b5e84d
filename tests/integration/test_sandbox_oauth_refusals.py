"""What the sandbox's way of installing an app refuses, and how exactly it answers; over real HTTP."""

import json
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from bot.sandbox import Workspace
from bot.sandbox.errors import SandboxError

APP = {"client_id": "111.222", "client_secret": "sandbox-secret"}
BACK = "https://vobo.example/slack/oauth_redirect"


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with Workspace.serve(team_id="T0ACME", team_name="Acme", **APP) as made:
        yield made


def page(workspace: Workspace, **changes: str | None) -> str:
    asked = {"client_id": "111.222", "scope": "chat:write", "redirect_uri": BACK, "state": "s", **changes}
    return f"{workspace.url}/oauth/v2/authorize?{urlencode({key: one for key, one in asked.items() if one})}"


def code(workspace: Workspace, **changes: str | None) -> str:
    return parse_qs(urlsplit(workspace.allow(page(workspace, **changes))).query)["code"][0]


def call(workspace: Workspace, method: str, token: str = "", **fields: str) -> dict[str, Any]:
    """A form, as any HTTP client may send it; the SDK sends the app's own in a header."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(workspace.api_url + method, urlencode(fields).encode(), headers)  # noqa: S310
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
        return dict(json.load(answer))


def installed(workspace: Workspace) -> dict[str, Any]:
    return call(workspace, "oauth.v2.access", **APP, code=code(workspace), redirect_uri=BACK)


def test_the_answer_to_a_code_has_slacks_shape_and_no_refresh_token_without_rotation(workspace: Workspace) -> None:
    told = installed(workspace)
    token = told.pop("access_token")
    assert token.startswith("xoxb-T0ACME-")
    assert told == {
        "ok": True,
        "app_id": "A0SANDBOX",
        "authed_user": {"id": "U0002"},
        "scope": "chat:write",
        "token_type": "bot",
        "bot_user_id": "UBOT",
        "team": {"id": "T0ACME", "name": "Acme"},
        "enterprise": None,
        "is_enterprise_install": False,
    }


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"client_id": "9.9"}, "invalid_client_id"),
        ({"client_id": ""}, "invalid_client_id"),
        ({"client_secret": "guessed"}, "bad_client_secret"),
        ({"client_secret": ""}, "bad_client_secret"),
        ({"grant_type": "password"}, "invalid_grant_type"),
        ({"code": ""}, "invalid_code"),
        ({"redirect_uri": ""}, "bad_redirect_uri"),
        ({"grant_type": "refresh_token"}, "invalid_refresh_token"),
        ({"grant_type": "refresh_token", "refresh_token": "xoxe-1-T0ACME-guessed"}, "invalid_refresh_token"),
    ],
)
def test_a_code_is_refused_in_slacks_words_and_stays_good_for_who_asks_rightly(
    workspace: Workspace, changed: dict[str, str], error: str
) -> None:
    right = {**APP, "code": code(workspace), "redirect_uri": BACK}
    assert call(workspace, "oauth.v2.access", **{**right, **changed}) == {"ok": False, "error": error}
    assert call(workspace, "oauth.v2.access", **right)["ok"]


def test_an_app_without_a_secret_gets_no_token_for_a_secret_left_out() -> None:
    with Workspace.serve(client_id="111.222") as open_to_all:
        asked = {"client_id": "111.222", "code": code(open_to_all), "redirect_uri": BACK}
        assert call(open_to_all, "oauth.v2.access", **asked)["error"] == "bad_client_secret"


def test_a_workspace_whose_settings_name_no_app_installs_none() -> None:
    with Workspace.serve() as plain:
        with pytest.raises(SandboxError, match="invalid_client_id"):
            plain.allow(page(plain))
        assert call(plain, "oauth.v2.access", **APP, code="T0000HOME.x")["error"] == "invalid_client_id"


def test_looking_at_the_page_decides_nothing_and_a_state_comes_back_as_it_was_sent(workspace: Workspace) -> None:
    with urllib.request.urlopen(page(workspace, decision="allow"), timeout=10) as shown:  # noqa: S310
        assert (shown.status, shown.headers.get_content_type()) == (200, "text/html")
        assert "Acme" in shown.read().decode()
    went = workspace.allow(page(workspace, state="a&b=<c>", redirect_uri=f"{BACK}?of=one"))
    told = parse_qs(urlsplit(went).query)
    assert (told["state"], told["of"], len(told["code"])) == (["a&b=<c>"], ["one"], 1)


def test_nobody_is_sent_back_to_an_address_that_is_none_of_the_apps() -> None:
    own = {"team_id": "T0ACME", **APP, "redirect_uris": (BACK, "https://second.example/")}
    with Workspace.serve(**own) as workspace:
        for wrong in ("https://evil.example/", "https://vobo.example/slack", f"{BACK}.evil", "javascript:alert(1)"):
            with pytest.raises(SandboxError, match="bad_redirect_uri"):
                workspace.allow(page(workspace, redirect_uri=wrong))
        assert workspace.allow(page(workspace, redirect_uri=f"{BACK}/below")).startswith(f"{BACK}/below?code=")
        assert workspace.allow(page(workspace, redirect_uri=None)).startswith(f"{BACK}?code=T0ACME.")
        asked = {**APP, "code": code(workspace, redirect_uri=None)}
        assert call(workspace, "oauth.v2.access", **asked)["ok"], "it named no address, so it need not name it again"


def test_an_app_with_no_address_at_all_is_refused_at_the_page(workspace: Workspace) -> None:
    for none in (None, "nowhere"):
        with pytest.raises(SandboxError, match="bad_redirect_uri"):
            workspace.allow(page(workspace, redirect_uri=none))


def test_a_removed_app_is_an_inactive_account_and_one_that_gave_its_token_back_is_revoked(
    workspace: Workspace,
) -> None:
    given_back, removed = installed(workspace)["access_token"], installed(workspace)["access_token"]
    assert call(workspace, "auth.revoke", given_back) == {"ok": True, "revoked": True}
    workspace.uninstall()
    assert call(workspace, "auth.test", given_back)["error"] == "token_revoked"
    assert call(workspace, "auth.test", removed)["error"] == "account_inactive"
    assert call(workspace, "chat.postMessage", removed, channel="C_OPS", text="x")["error"] == "account_inactive"
    assert call(workspace, "auth.test", installed(workspace)["access_token"])["ok"], "it may be installed again"


def test_the_fixed_token_goes_on_through_installing_and_removing(workspace: Workspace) -> None:
    installed(workspace)
    workspace.uninstall()
    assert call(workspace, "auth.test", "xoxb-sandbox")["team_id"] == "T0ACME"


def test_renewing_takes_the_apps_own_secret_and_the_old_token_lasts_its_time() -> None:
    with Workspace.serve(team_id="T0ACME", token_seconds=43_200, **APP) as workspace:
        told = installed(workspace)
        assert (told["refresh_token"].startswith("xoxe-1-"), told["expires_in"]) == (True, 43_200)
        again = {"grant_type": "refresh_token", "refresh_token": told["refresh_token"]}
        wrong = {**APP, "client_secret": "guessed"}
        assert call(workspace, "oauth.v2.access", **wrong, **again)["error"] == "bad_client_secret"
        renewed = call(workspace, "oauth.v2.access", **APP, **again)
        assert renewed["refresh_token"] != told["refresh_token"]
        workspace.advance(43_199)
        assert [call(workspace, "auth.test", one["access_token"])["ok"] for one in (told, renewed)] == [True, True]
        workspace.advance(1)
        assert call(workspace, "chat.postMessage", told["access_token"], channel="C_OPS")["error"] == "token_expired"


def test_removing_the_app_voids_its_refresh_tokens_and_its_expired_tokens_too() -> None:
    with Workspace.serve(team_id="T0ACME", token_seconds=43_200, **APP) as workspace:
        told = installed(workspace)
        workspace.expire_tokens()
        assert call(workspace, "auth.test", told["access_token"])["error"] == "token_expired"
        workspace.uninstall()
        assert call(workspace, "auth.test", told["access_token"])["error"] == "account_inactive"
        again = {"grant_type": "refresh_token", "refresh_token": told["refresh_token"]}
        assert call(workspace, "oauth.v2.access", **APP, **again)["error"] == "invalid_refresh_token"


def test_an_app_may_remove_itself_with_its_own_secret(workspace: Workspace) -> None:
    token = installed(workspace)["access_token"]
    wrong = {**APP, "client_secret": "guessed"}
    assert call(workspace, "apps.uninstall", token, **wrong)["error"] == "bad_client_secret"
    assert call(workspace, "apps.uninstall", **APP)["error"] == "not_authed"
    assert call(workspace, "auth.test", token)["ok"]
    assert call(workspace, "apps.uninstall", token, **APP) == {"ok": True}
    assert call(workspace, "auth.test", token)["error"] == "account_inactive"
    assert [one["kind"] for one in workspace.deliveries()] == ["tokens_revoked", "app_uninstalled"]
