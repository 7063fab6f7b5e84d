"""What an app hears when a workspace removes it."""

from collections.abc import Iterator

import pytest

from bot.sandbox import Workspace
from tests.integration.sandbox_bot import Bot, connected

APP = {"client_id": "111.222", "client_secret": "sandbox-secret"}


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with Workspace.serve(team_id="T0ACME", team_name="Acme", team_domain="acme", **APP) as made:
        yield made


def test_the_app_hears_whose_tokens_are_gone_and_that_it_was_removed_in_slacks_shape(workspace: Workspace) -> None:
    bot = Bot(workspace)
    for kind in ("tokens_revoked", "app_uninstalled"):
        bot.app.event(kind)(bot.note(kind))
    with connected(workspace, bot):
        told = workspace.uninstall()
        workspace.until(lambda: bot.bodies("tokens_revoked") and bot.bodies("app_uninstalled"))
        workspace.until(lambda: all(one["done"] for one in workspace.deliveries()))
    (revoked,), (removed,) = bot.bodies("tokens_revoked"), bot.bodies("app_uninstalled")
    assert revoked["event"] == {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": ["UBOT"]}}
    assert removed["event"] == {"type": "app_uninstalled"}
    assert {(one["type"], one["team_id"], one["api_app_id"]) for one in (revoked, removed)} == {
        ("event_callback", "T0ACME", "A0SANDBOX")
    }
    assert [(one["id"], one["acked"]) for one in workspace.deliveries()] == [(id_, True) for id_ in told["deliveries"]]


@pytest.mark.parametrize("wanted", ["tokens_revoked", "app_uninstalled", "app_mention"])
def test_it_hears_only_of_what_it_has_subscribed_to(wanted: str) -> None:
    with Workspace.serve(subscriptions=frozenset({wanted})) as workspace:
        workspace.uninstall()
        heard = [one["kind"] for one in workspace.deliveries()]
    assert heard == ([] if wanted == "app_mention" else [wanted])


def test_everything_a_workspace_says_of_itself_is_its_own(workspace: Workspace) -> None:
    bot = Bot(workspace)
    own = bot.app.client.team_info()["team"]
    assert (own["id"], own["name"], own["domain"]) == ("T0ACME", "Acme", "acme")
    assert bot.app.client.auth_test()["team"] == "Acme"
    assert bot.app.client.users_info(user="U0001")["user"]["team_id"] == "T0ACME"
    assert {group["team_id"] for group in bot.app.client.usergroups_list()["usergroups"]} == {"T0ACME"}
    bot.app.command("/vobo")(lambda ack: ack())
    with connected(workspace, bot):
        workspace.slash("U0005", "C_REFUNDS", "help")
        workspace.slash("U0005", "C_REFUNDS", "help", team_id="T0BOLT")
    own_domains = [one["payload"]["team_domain"] for one in workspace.deliveries("slash_command")]
    assert own_domains == ["acme", "other"]
