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


@pytest.mark.parametrize("name", ["bot_token", "app_token", "signing_secret", "alert_webhook", "health_host"])
def test_white_space_around_a_value_is_not_part_of_it(name: str) -> None:
    values = {
        "bot_token": "xoxb-1",
        "app_token": "xapp-1",
        "alert_webhook": "https://h/x",
        "health_host": "::1",
        **HTTP,
    }
    found = getattr(read(**{**values, name: f" {values[name]}\r\n"}), name)
    assert (found if isinstance(found, str) else found.get_secret_value()) == values[name]


def test_a_list_may_be_broken_into_lines_at_its_commas() -> None:
    two = f"{STATE_KEY},\n  {STATE_KEY}"
    found = BotSettings.read(_env_file=None, redis_url="redis://h", state_keys=two, bot_token="xoxb-1", **HTTP)
    assert found.state_keys.get_secret_value() == f"{STATE_KEY},{STATE_KEY}"


def test_a_value_of_white_space_alone_is_not_set() -> None:
    with pytest.raises(SettingsRefused, match="SLACK_BOT_TOKEN is not set"):
        read(bot_token=" \n", **HTTP)


@pytest.mark.parametrize("wrong", ["s3cret\nline", "s3\u200bcret", "s3\x00cret", '"s3cret"', "'s3cret'"])
@pytest.mark.parametrize(
    ("name", "variable"), [("signing_secret", "SLACK_SIGNING_SECRET"), ("redis_url", "REDIS_URL"), ("port", "PORT")]
)
def test_what_no_value_holds_is_refused_by_name_and_never_told(name: str, variable: str, wrong: str) -> None:
    values = {"redis_url": "redis://h", "state_keys": STATE_KEY, "bot_token": "xoxb-1", **HTTP}
    with pytest.raises(SettingsRefused) as refused:
        BotSettings.read(_env_file=None, **{**values, name: wrong})
    told = [line for line in str(refused.value).splitlines() if line.startswith(f"{variable} is wrong: it ")]
    assert len(told) == 1
    assert "quotes" in told[0] or "cannot be seen" in told[0]
    assert "cret" not in str(refused.value).replace("secret", "").replace("SECRET", "")


@pytest.mark.parametrize(
    "wrong",
    ["hooks.slack.com/services/s3cret", "file:///etc/hostname", "https:///s3cret", "https://h:s3cret/", "ftp://h"],
)
def test_a_webhook_that_no_alert_can_reach_is_refused(wrong: str) -> None:
    with pytest.raises(SettingsRefused) as refused:
        read(bot_token="xoxb-1", alert_webhook=wrong, **HTTP)
    assert "VOBO_ALERT_WEBHOOK is wrong: it must begin with https:// or http:// and name a host." in str(refused.value)
    assert "s3cret" not in str(refused.value)
