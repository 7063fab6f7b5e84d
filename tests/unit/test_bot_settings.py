from pathlib import Path
from typing import Any

import pytest

from approvals.settings import SettingsRefused
from bot.settings import BotSettings
from builders import STATE_KEY

HTTP = {"signing_secret": "a-secret", "port": 3000}
INSTALLED = {"client_id": "111.222", "client_secret": "another-secret", **HTTP}


def read(**fields: Any) -> BotSettings:
    return BotSettings.read(_env_file=None, redis_url="redis://localhost", state_keys=STATE_KEY, **fields)


def test_a_bot_has_the_token_of_its_workspace_or_workspaces_that_install_it() -> None:
    assert read(bot_token="xoxb-1", **HTTP).client_id is None
    assert read(**INSTALLED).bot_token is None


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (HTTP, "SLACK_BOT_TOKEN is not set. Set it to the bot token"),
        ({**INSTALLED, "client_secret": None}, "SLACK_CLIENT_SECRET is not set. Set it to the client secret"),
        ({**INSTALLED, "bot_token": "xoxb-1"}, "SLACK_BOT_TOKEN is wrong: with SLACK_CLIENT_ID each workspace has"),
        ({**INSTALLED, "app_token": "xapp-1"}, "SLACK_APP_TOKEN is wrong: where workspaces install the app"),
        ({**INSTALLED, "port": None}, "SLACK_CLIENT_ID is wrong: workspaces install the app over HTTP; set SLACK_"),
        ({**INSTALLED, "public_url": "vobo.example"}, "VOBO_PUBLIC_URL is wrong: it must begin with https://"),
    ],
)
def test_variables_that_do_not_fit_each_other_are_refused_by_name(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingsRefused) as refused:
        read(**fields)
    assert sentence in str(refused.value)
    assert "another-secret" not in str(refused.value)


def test_the_public_address_is_kept_without_its_last_slash() -> None:
    assert read(**INSTALLED, public_url="https://vobo.example/").public_url == "https://vobo.example"


def test_whoever_starts_in_the_wrong_directory_is_told_that_no_dot_env_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsRefused, match=rf"There is no \.env in {tmp_path}"):
        BotSettings.read(redis_url="redis://localhost", state_keys=STATE_KEY, **HTTP)
    (tmp_path / ".env").touch()
    with pytest.raises(SettingsRefused) as refused:
        BotSettings.read(redis_url="redis://localhost", state_keys=STATE_KEY, **HTTP)
    assert "There is no .env" not in str(refused.value)


def test_a_wrong_value_is_no_matter_of_where_one_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsRefused) as refused:
        read(**INSTALLED, app_token="xapp-1")
    assert "There is no .env" not in str(refused.value)
