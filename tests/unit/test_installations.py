import sqlite3
import time
from pathlib import Path

import pytest
from slack_sdk.oauth.installation_store import Bot, Installation
from sqlalchemy import text

from approvals.vault import BlobKeyMissing, BlobTampered, Vault, new_key
from bot.errors import BotCannotStart
from bot.installations import Installations, InstallationsUnreachable

TOKEN, REFRESH = "xoxe.xoxb-1-of-the-workspace", "xoxe-1-for-the-next"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/installations.db"


@pytest.fixture
def installations(url: str) -> Installations:
    return Installations.open(url, "111.222", Vault.from_text(new_key()))


def installed(
    team: str, *, token: str = TOKEN, at: float = 1_800_000_000.0, enterprise: str | None = None
) -> Installation:
    return Installation(
        app_id="A1",
        enterprise_id=enterprise,
        team_id=team,
        bot_token=token,
        bot_id="B1",
        bot_user_id="U0BOT",
        bot_refresh_token=REFRESH,
        bot_token_expires_at=int(at) + 43_200,
        user_id="U1",
        installed_at=at,
    )


def test_the_newest_installation_of_a_workspace_counts(installations: Installations) -> None:
    installations.save(installed("T1", token="xoxb-old", at=1_800_000_000.0))
    installations.save(installed("T1", token="xoxb-new", at=1_800_000_001.0))
    installations.save(installed("T2", token="xoxb-other", at=1_800_000_002.0))
    found = installations.of_team("T1")
    assert found
    assert found.bot_token == "xoxb-new"
    assert installations.of_team("T3") is None


def test_a_workspace_of_an_enterprise_is_found_by_its_own_id(installations: Installations) -> None:
    installations.save(installed("T1", enterprise="E1"))
    assert installations.of_team("T1")


def test_no_token_stands_in_the_database_in_clear(installations: Installations, url: str, tmp_path: Path) -> None:
    installations.save(installed("T1"))
    for file in tmp_path.iterdir():
        content = file.read_bytes()
        assert TOKEN.encode() not in content, file.name
        assert REFRESH.encode() not in content, file.name
    found = installations.of_team("T1")
    assert found
    assert (found.bot_token, found.bot_refresh_token) == (TOKEN, REFRESH)


def test_a_token_that_was_put_into_another_column_is_refused(installations: Installations, tmp_path: Path) -> None:
    installations.save(installed("T1"))
    with sqlite3.connect(tmp_path / "installations.db") as database:
        database.execute("UPDATE slack_bots SET bot_token = bot_refresh_token")
    with pytest.raises(BlobTampered):
        installations.of_team("T1")


def test_a_key_that_is_gone_is_named(installations: Installations, url: str) -> None:
    installations.save(installed("T1"))
    with pytest.raises(BlobKeyMissing, match="Add the old key"):
        Installations.open(url, "111.222", Vault.from_text(new_key())).of_team("T1")


def test_the_tokens_of_another_app_are_not_ours(installations: Installations, url: str) -> None:
    installations.save(installed("T1"))
    other = Installations.open(url, "333.444", Vault.from_text(new_key()))
    assert other.of_team("T1") is None
    assert not other.forget("T1", 1_900_000_000)
    assert installations.of_team("T1")


def test_a_forgotten_workspace_leaves_no_token_behind_and_the_others_stay(installations: Installations) -> None:
    installations.save(installed("T1"))
    installations.save(installed("T2"))
    assert installations.forget("T1", 1_900_000_000)
    assert not installations.forget("T1", 1_900_000_000)
    assert installations.of_team("T1") is None
    assert installations.of_team("T2")
    with installations.engine.connect() as connection:
        rows = connection.execute(text("SELECT team_id FROM slack_installations")).scalars().all()
    assert rows == ["T2"]


def test_what_was_installed_after_the_app_was_removed_stays(installations: Installations) -> None:
    removed = 1_800_000_010
    installations.save(installed("T1", token="xoxb-old", at=removed - 10.0))
    installations.save(installed("T1", token="xoxb-new", at=removed + 1.0))
    assert installations.forget("T1", removed)
    assert not installations.forget("T1", removed), "told again it does nothing more"
    found = installations.of_team("T1")
    assert found
    assert found.bot_token == "xoxb-new"
    installations.save(installed("T2", at=removed + 0.9))
    assert installations.forget("T2", removed), "an instant of Slack's is a whole second"


def test_a_renewed_token_takes_the_place_of_the_old_one(installations: Installations) -> None:
    installations.save(installed("T1", at=time.time()))
    old = installations.of_team("T1")
    assert old
    renewed = Bot(
        **{**old.to_dict_for_copying(), "bot_token": "xoxe.xoxb-1-second", "bot_refresh_token": "xoxe-1-third"}
    )
    installations.keep(renewed)
    found = installations.of_team("T1")
    assert found
    assert (found.bot_token, found.bot_refresh_token) == ("xoxe.xoxb-1-second", "xoxe-1-third")
    with installations.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM slack_bots")).scalar() == 1


def test_a_database_that_cannot_be_opened_is_named_without_its_password() -> None:
    with pytest.raises(BotCannotStart, match="cannot be opened") as refused:
        Installations.open("postgresql+psycopg://vobo:s3cret@127.0.0.1:1/none", "1.2", Vault.from_text(new_key()))
    assert "s3cret" not in str(refused.value)


def test_a_database_that_went_away_gives_no_token(installations: Installations) -> None:
    installations.save(installed("T1"))
    with installations.engine.begin() as connection:
        connection.execute(text("DROP TABLE slack_bots"))
    with pytest.raises(InstallationsUnreachable):
        installations.of_team("T1")
