import re
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from approvals.__main__ import cli
from approvals.errors import ApprovalsError
from approvals.settings import Settings, SettingsRefused
from bot.settings import BotSettings
from policies.law import load_law

ROOT = Path(__file__).resolve().parents[2]
WHO = ("--team", "T0ACME", "--reviewer", "U0ANA", "--reviewer", "U0BEN")
TOKEN, APP_TOKEN, SECRET = "xoxb-of-the-bot-1", "xapp-of-the-app-1", "a secret with spaces"


def init(into: Path, *words: str, **options: Any) -> Result:
    return CliRunner().invoke(cli, ["init", "--into", str(into), *WHO, *words], catch_exceptions=False, **options)


def read(into: Path) -> BotSettings:
    return BotSettings.read(_env_file=into / ".env")


def test_the_template_is_the_same_with_and_without_a_checkout() -> None:
    template = ROOT / "approvals" / "commands" / "env.example"
    assert template.read_text() == (ROOT / ".env.example").read_text()


def test_unattended_it_writes_everything_but_the_tokens(tmp_path: Path) -> None:
    said = init(tmp_path, "--ops-channel", "C0OPS", "--redis-url", "redis://store:6379/0")
    assert said.exit_code == 0
    with pytest.raises(SettingsRefused) as refused:
        read(tmp_path)
    assert [line.split()[0] for line in str(refused.value).splitlines()] == ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"]
    found = Settings.read(_env_file=tmp_path / ".env")
    assert (found.redis_url, found.ops_channel) == ("redis://store:6379/0", "C0OPS")
    assert found.reviewers == Path("reviewers.toml")
    assert "# Encrypts what waits for a decision" in (tmp_path / ".env").read_text(), "the comments stay"


def test_at_a_terminal_it_asks_and_shows_no_secret(tmp_path: Path) -> None:
    answers = ["", "redis://store:6379/0", "", "C0OPS", "gpt-5", TOKEN, APP_TOKEN, "sk-of-the-model"]
    said = init(tmp_path, "--ask", input="\n".join(answers) + "\n")
    assert said.exit_code == 0, said.output
    found = read(tmp_path)
    assert found.bot_token
    assert found.app_token
    assert (found.bot_token.get_secret_value(), found.app_token.get_secret_value()) == (TOKEN, APP_TOKEN)
    for secret in (TOKEN, APP_TOKEN, "sk-of-the-model", found.state_keys.get_secret_value()):
        assert secret not in said.output
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    assert "VOBO_MODEL=gpt-5" in (tmp_path / ".env").read_text()


def test_http_has_its_address_in_the_manifest_and_no_socket(tmp_path: Path) -> None:
    words = ("--http", "https://vobo.example.com", "--port", "3100", "--ask")
    said = init(tmp_path, *words, input=f"\n\n\n\n{TOKEN}\n{SECRET}\n")
    assert said.exit_code == 0, said.output
    found = read(tmp_path)
    assert found.signing_secret
    assert (found.signing_secret.get_secret_value(), found.port, found.app_token) == (SECRET, 3100, None)
    manifest = (tmp_path / "manifest.yaml").read_text()
    assert len(re.findall(r"^ +(request_)?url: https://vobo\.example\.com/slack/events$", manifest, re.MULTILINE)) == 3
    assert "socket_mode_enabled: false" in manifest
    assert re.findall(r"^ *# *\w*url: ", manifest, re.MULTILINE) == []


def test_without_http_the_manifest_is_the_shipped_one(tmp_path: Path) -> None:
    init(tmp_path)
    assert (tmp_path / "manifest.yaml").read_text() == (ROOT / "bot" / "manifest.yaml").read_text()


def test_the_sample_has_people_for_every_tier_its_rules_name(tmp_path: Path) -> None:
    init(tmp_path)
    law = load_law(["policies.rules"], (tmp_path / "reviewers.toml").read_text())
    assert law.problems() == ()
    assert not (tmp_path / "rules").exists()


@pytest.mark.parametrize(
    ("words", "answers", "sentence"),
    [
        (("--ops-channel", "#ops"), "", "'#ops' is not a Slack channel id"),
        (("--redis-url", "localhost"), "", "REDIS_URL must start with one of"),
        (("--http", "vobo.example.com"), "", "is not an address that Slack can reach"),
        (("--ask",), "\n\n\n\n\nxapp-wrong\n\n", "What you typed as SLACK_BOT_TOKEN is none: it begins with xoxb-."),
        (("--model", "it's", "--no-ask"), "", "VOBO_MODEL holds a character that a .env cannot"),
    ],
)
def test_what_cannot_be_used_is_refused_and_nothing_is_written(
    tmp_path: Path, words: tuple[str, ...], answers: str, sentence: str
) -> None:
    with pytest.raises(ApprovalsError) as refused:
        init(tmp_path / "new", *words, input=answers)
    assert sentence in str(refused.value)
    assert not (tmp_path / "new").exists()


def test_nothing_is_overwritten_and_nothing_is_written_beside_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "manifest.yaml").write_text("mine")
    with pytest.raises(SettingsRefused, match=r"manifest.yaml exists already, and nothing is overwritten"):
        init(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.yaml"]


def test_a_half_written_set_is_taken_back(tmp_path: Path) -> None:
    (tmp_path / "rules").write_text("a file where a directory belongs")
    with pytest.raises(SettingsRefused, match="nothing was kept"):
        init(tmp_path, "--tool", "send_parcel")
    assert [path.name for path in tmp_path.iterdir()] == ["rules"]
