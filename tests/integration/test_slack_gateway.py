"""One host in front of two workspaces that have the same people."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import urlopen

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.sandbox import Workspace
from bot.sandbox.pressing import pressed
from free_ports import free_port
from slack_gateway import gateway

APP = {"client_id": "111.222", "client_secret": "sandbox-secret"}
BACK = "https://vobo.example/slack/oauth_redirect"
HOME, OTHER = "T0HOME", "T0OTHER"


class Front(NamedTuple):
    """The one host and what is behind it."""

    host: str
    workspaces: dict[str, Workspace]

    def client(self, token: str | None = None) -> WebClient:
        return WebClient(token, base_url=f"{self.host}/api/", retry_handlers=[])

    def page(self, team: str) -> str:
        asked = {"client_id": APP["client_id"], "scope": "chat:write", "redirect_uri": BACK, "team": team}
        return f"{self.host}/oauth/v2/authorize?{urlencode(asked)}"

    def code(self, team: str) -> str:
        return parse_qs(urlsplit(pressed(self.host, self.page(team), "allow")).query)["code"][0]

    def install(self, team: str) -> dict[str, str]:
        told = self.client().oauth_v2_access(**APP, code=self.code(team), redirect_uri=BACK)
        assert told["team"]["id"] == team
        return {name: told[name] for name in ("access_token", "refresh_token")}


@pytest.fixture
def front() -> Iterator[Front]:
    with ExitStack() as stack:
        workspaces = {
            team: stack.enter_context(Workspace.serve(team_id=team, token_seconds=43_200, **APP))
            for team in (HOME, OTHER)
        }
        host = stack.enter_context(gateway({team: one.url for team, one in workspaces.items()}))
        yield Front(host, workspaces)


def refusal(call: SlackApiError) -> str:
    return str(call.response["error"])


def test_each_token_opens_its_own_workspace_although_the_people_have_the_same_ids(front: Front) -> None:
    clients = {team: front.client(front.install(team)["access_token"]) for team in (OTHER, HOME)}
    for team, client in clients.items():
        assert client.auth_test()["team_id"] == team
        assert client.users_info(user="U0001")["user"]["team_id"] == team
    clients[HOME].chat_postMessage(channel="C_OPS", text=f"said of {OTHER} and xoxb-{OTHER}-token")
    assert len(front.workspaces[HOME].messages("C_OPS")) == 1
    assert front.workspaces[OTHER].messages("C_OPS") == []


def test_a_token_in_a_field_is_as_good_as_one_in_the_header_and_no_message_stands_in_for_it(front: Front) -> None:
    token = front.install(OTHER)["access_token"]
    with urlopen(f"{front.host}/api/auth.test", urlencode({"token": token}).encode(), timeout=10) as told:  # noqa: S310
        assert OTHER in told.read().decode()
    with pytest.raises(SlackApiError) as unknown:
        front.client("xoxb-of-nobody").chat_postMessage(channel="C_OPS", text=token)
    assert refusal(unknown.value) == "invalid_auth"
    assert front.workspaces[OTHER].calls("chat.postMessage") == []


@pytest.mark.parametrize("token", ["xoxb-sandbox", f"xoxb-{HOME}-guessed", "xoxb-T0NOBODY-guessed", HOME])
def test_a_token_that_was_never_given_opens_nothing(front: Front, token: str) -> None:
    with pytest.raises(SlackApiError) as unknown:
        front.client(token).auth_test()
    assert refusal(unknown.value) == "invalid_auth"


def test_codes_and_refresh_tokens_find_their_workspace_and_unknown_ones_are_refused(front: Front) -> None:
    for team in (OTHER, HOME):
        again = {"grant_type": "refresh_token", "refresh_token": front.install(team)["refresh_token"]}
        renewed = front.client().oauth_v2_access(**APP, **again)
        assert renewed["team"]["id"] == team
        assert front.client(renewed["access_token"]).auth_test()["team_id"] == team
    with pytest.raises(SlackApiError) as unknown:
        front.client().oauth_v2_access(**APP, code="T0NOBODY.guessed", redirect_uri=BACK)
    assert refusal(unknown.value) == "invalid_code"


def test_the_page_is_that_of_the_workspace_named_and_of_no_other(front: Front) -> None:
    assert front.code(OTHER).startswith(f"{OTHER}.")
    with pytest.raises(HTTPError) as nowhere:
        urlopen(front.page("T0NOBODY"), timeout=10)  # noqa: S310
    with nowhere.value as told:
        assert told.code == 404


def test_removing_the_app_in_one_workspace_leaves_the_other_alone(front: Front) -> None:
    home, other = (front.client(front.install(team)["access_token"]) for team in (HOME, OTHER))
    front.workspaces[HOME].uninstall()
    with pytest.raises(SlackApiError) as gone:
        home.auth_test()
    assert refusal(gone.value) == "account_inactive"
    assert other.auth_test()["team_id"] == OTHER
    assert front.workspaces[OTHER].deliveries() == []


def test_a_workspace_that_does_not_answer_is_an_outage_and_no_refusal() -> None:
    with gateway({HOME: f"http://127.0.0.1:{free_port()}"}) as host, pytest.raises(HTTPError) as away:
        urlopen(f"{host}/api/auth.test?token=xoxb-{HOME}-token", timeout=10)  # noqa: S310
    with away.value as told:
        assert told.code == 503
