"""A token that Slack renewed and the database does not take: used from memory, and stored as soon as it does."""

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from slack_sdk import WebClient
from slack_sdk.oauth.installation_store import Installation

from approvals.vault import Vault, new_key
from bot.installations import Installations, InstallationsUnreachable
from bot.sandbox import Workspace
from bot.tokens import AGAIN_S, LASTS_S, LONGEST_S, TokenLost, Tokens

TEAM, BACK = "T0ACME", "https://vobo.example/slack/oauth_redirect"
APP = {"client_id": "111.222", "client_secret": "sandbox-secret"}
HALF_AN_HOUR = 1_800


class Rotating:
    """A workspace whose first token is due; `now` is this process's clock (s)."""

    def __init__(self, slack: Workspace, file: Path) -> None:
        self.slack, self.file, self.now = slack, file, time.time()
        self.installations = Installations.open(f"sqlite:///{file}", APP["client_id"], Vault.from_text(new_key()))
        self.client = WebClient(base_url=slack.api_url, retry_handlers=[])
        self.tokens = self.process()
        self.first = self.install()

    def process(self) -> Tokens:
        """The tokens of another process, or of this one started again."""
        return Tokens(self.installations, self.client, APP["client_secret"], lambda _team: True, lambda: self.now)

    def install(self) -> str:
        asked = {"client_id": APP["client_id"], "scope": "chat:write", "redirect_uri": BACK, "state": "s"}
        back = self.slack.allow(f"{self.slack.url}/oauth/v2/authorize?{urlencode(asked)}")
        code = parse_qs(urlsplit(back).query)["code"][0]
        told = self.client.oauth_v2_access(**APP, code=code, redirect_uri=BACK)
        token, until = str(told["access_token"]), int(self.now) + HALF_AN_HOUR  # those after it last twelve hours
        made = Installation(app_id="A1", team_id=TEAM, user_id="U1", bot_id="B1", bot_user_id="UBOT", bot_token=token)
        made.bot_refresh_token, made.bot_token_expires_at = told["refresh_token"], until
        made.installed_at = self.now
        self.installations.save(made)
        return token

    def full(self, *, full: bool) -> None:
        """The database reads, and takes no row of a bot."""
        with sqlite3.connect(self.file) as database:
            database.execute("DROP TRIGGER IF EXISTS full")
            if full:
                said = "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
                database.execute(f"CREATE TRIGGER full BEFORE UPDATE ON slack_bots {said}")

    def stored(self) -> str:
        found = self.installations.of_team(TEAM)
        assert found
        return found.bot_token

    def works(self, token: str | None) -> bool:
        return bool(WebClient(token=token, base_url=self.slack.api_url, retry_handlers=[]).auth_test()["ok"])


@pytest.fixture
def lasts() -> int:
    """How long a token lasts (s)."""
    return 43_200


@pytest.fixture
def one(tmp_path: Path, lasts: int) -> Iterator[Rotating]:
    with Workspace.serve(team_id=TEAM, team_name="Acme", token_seconds=lasts, **APP) as slack:
        made = Rotating(slack, tmp_path / "installations.db")
        made.full(full=True)
        yield made
        made.installations.engine.dispose()


def test_it_is_used_meanwhile_and_stored_once_the_database_takes_it(one: Rotating) -> None:
    renewed = one.tokens.of(TEAM)
    assert renewed != one.first
    assert one.works(renewed)
    assert one.stored() == one.first
    one.full(full=False)
    assert one.tokens.of(TEAM) == renewed, "too early to try again, and nothing is renewed twice"
    assert one.stored() == one.first
    one.now += AGAIN_S
    assert one.tokens.of(TEAM) == renewed
    assert one.stored() == renewed
    assert one.tokens.wait_s(20.0) == 20.0
    assert one.process().of(TEAM) == renewed, "whoever starts now finds it"
    asked = [one["args"].get("grant_type") for one in one.slack.calls() if one["method"] == "oauth.v2.access"]
    assert asked == [None, "refresh_token"]


def test_it_is_tried_again_with_growing_and_bounded_pauses(one: Rotating) -> None:
    waits = []
    one.tokens.of(TEAM)
    for _ in range(9):
        waits.append(one.tokens.wait_s(1_000.0))
        one.now += waits[-1]
        one.tokens.of(TEAM)
    assert waits == sorted(waits)
    assert (waits[0], max(waits)) == (AGAIN_S, LONGEST_S)
    assert one.tokens.wait_s(20.0) == 20.0, "a round comes sooner"


def test_ops_is_told_only_when_it_lasts(one: Rotating) -> None:
    one.tokens.of(TEAM)
    assert one.tokens.trouble(TEAM) is None
    one.now += LASTS_S
    one.tokens.of(TEAM)
    said = one.tokens.trouble(TEAM)
    assert said
    assert "before you stop this bot" in said
    assert one.tokens.trouble(TEAM) == said, "the same words, so that they are told once"
    one.full(full=False)
    one.now += LONGEST_S
    one.tokens.of(TEAM)
    assert one.tokens.trouble(TEAM) is None


def test_it_outlives_a_database_that_is_gone_altogether(one: Rotating) -> None:
    renewed = one.tokens.of(TEAM)
    one.now += AGAIN_S
    with sqlite3.connect(one.file) as database:
        database.execute("ALTER TABLE slack_bots RENAME TO away")
    assert one.works(one.tokens.of(TEAM))
    with pytest.raises(InstallationsUnreachable):
        one.process().of(TEAM)
    with sqlite3.connect(one.file) as database:
        database.execute("ALTER TABLE away RENAME TO slack_bots")
    one.full(full=False)
    assert renewed
    one.tokens.store_held()
    assert one.stored() != one.first, "at the latest when the bot stops"


@pytest.mark.parametrize("lasts", [3_600])
def test_one_that_is_due_itself_is_renewed_and_goes_on_while_slack_is_away(one: Rotating) -> None:
    held = one.tokens.of(TEAM)
    one.slack.fault("oauth.v2.access", "error", error="internal_error")
    assert one.tokens.of(TEAM) == held, "not the one in the database, which runs out before"
    after = one.tokens.of(TEAM)
    assert after not in {held, one.first}
    one.full(full=False)
    one.tokens.store_held()
    assert one.stored() == after


def test_a_newer_installation_and_a_removal_take_its_place(one: Rotating) -> None:
    one.tokens.of(TEAM)
    one.now += 2 * AGAIN_S
    one.full(full=False)
    newer = one.install()
    assert one.tokens.of(TEAM) == one.stored(), "the newer one, which was due and is renewed"
    assert one.stored() != newer
    one.full(full=True)
    one.tokens.of(TEAM)
    one.full(full=False)
    one.installations.forget(TEAM, int(one.now))
    one.now += AGAIN_S
    assert one.tokens.of(TEAM) is None, "what was removed does not come back"
    assert one.installations.of_team(TEAM) is None


def test_a_process_that_dies_before_that_leaves_the_documented_limit(one: Rotating) -> None:
    one.tokens.of(TEAM)
    one.full(full=False)
    restarted = one.process()
    assert restarted.of(TEAM) == one.first, "for as long as it lasts"
    one.now += HALF_AN_HOUR
    with pytest.raises(TokenLost, match="open /slack/install again"):
        restarted.of(TEAM)
