import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from dotenv import dotenv_values
from honcho.environ import parse as read_by_honcho

from approvals.__main__ import cli
from approvals.errors import ApprovalsError
from approvals.settings import Settings, SettingsRefused
from bot.settings import BotSettings
from policies.law import load_law
from policies.requirement import Requirement
from policies.reviewers import describe, entitled
from policies.rules import refunds

ROOT = Path(__file__).resolve().parents[2]
NO_MORE = "\n" * 6  # the tool, two names, zone and limit: Enter, and Enter for the store
WHO = ("--team", "T0ACME", "--reviewer", "U0ANA", "--reviewer", "U0BEN")
TOKEN, APP_TOKEN, SECRET = "xoxb-of-the-bot-1", "xapp-of-the-app-1", "a secret with spaces"


def init(into: Path, *words: str, **options: Any) -> Result:
    return CliRunner().invoke(cli, ["init", "--into", str(into), *WHO, *words], catch_exceptions=False, **options)


def read(into: Path) -> BotSettings:
    return BotSettings.read(_env_file=into / ".env")


def checked(into: Path, module: str) -> tuple[int, list[str]]:
    """What a process says of itself in a new shell, in the directory that was written."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", module, "--check"]
    done = subprocess.run(words, env=env, cwd=into, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, (done.stdout + done.stderr).splitlines()


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
    answers = [
        "",
        "Ana",
        "",
        "Europe/Berlin",
        "",
        "redis://store:6379/0",
        "",
        "C0OPS",
        "gpt-5",
        TOKEN,
        APP_TOKEN,
        "sk-of-the-model",
    ]
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


def test_a_wrong_answer_is_asked_for_again_at_once(tmp_path: Path) -> None:
    answers = [
        "acme",
        "T0ACME",
        "",
        "@bruno",
        "U0ANA, bob",
        "U0ANA, U0ANA",
        "U0ANA=Ana, U0BEN=Ben",
        "Mars",
        "Asia/Tokyo",
    ]
    answers += [
        "a lot",
        "6000.00",
        "localhost",
        "",
        "bot.acme.com",
        "https://bot.acme.com",
        "0",
        "4100",
        "#ops",
        "C0OPS",
    ]
    words = ["init", "--into", str(tmp_path), "--ask"]
    typed = "\n".join([*answers, "", "xapp-wrong", TOKEN, SECRET]) + "\n"

    said = CliRunner().invoke(cli, words, input=typed, catch_exceptions=False)

    assert said.exit_code == 0, said.output
    for sentence in (
        *(
            "'acme' is not the id",
            "'@bruno' is not",
            "'bob' is not",
            "asks two different people",
            "'Mars' is not a time",
        ),
        *(
            "is not an amount",
            "REDIS_URL must",
            "'bot.acme.com' is not an address",
            "'0' is not a port",
            "'#ops' is not",
        ),
    ):
        assert sentence in said.output
    assert "What you typed as SLACK_BOT_TOKEN is none: it begins with xoxb-." in said.output
    assert "xapp-wrong" not in said.output
    assert (read(tmp_path).ops_channel, read(tmp_path).port) == ("C0OPS", 4100)
    law = load_law(["policies.rules"], (tmp_path / "reviewers.toml").read_text())
    assert law.deadlines.zone == "Asia/Tokyo"
    assert {user: (one.name, one.limits["EUR"]) for user, one in law.reviewers.people.items()} == {
        "U0ANA": ("Ana", "6000.00"),
        "U0BEN": ("Ben", "6000.00"),
    }


@pytest.mark.parametrize(
    ("words", "missing"), [(("--reviewer", "U0ANA"), "--team"), (("--team", "T0ACME"), "--reviewer")]
)
def test_where_nobody_may_be_asked_what_is_missing_is_named(
    tmp_path: Path, words: tuple[str, ...], missing: str
) -> None:
    with pytest.raises(SettingsRefused, match=missing):
        CliRunner().invoke(cli, ["init", "--into", str(tmp_path), "--no-ask", *words], catch_exceptions=False)


@pytest.mark.parametrize(("more", "times"), [((), 1), (("--reviewer", "U0BEN"), 0), (("--self-approval",), 0)])
def test_who_is_alone_is_told_that_nobody_approves_what_they_started(
    tmp_path: Path, more: tuple[str, ...], times: int
) -> None:
    words = ["init", "--into", str(tmp_path), *WHO[:4], "--tool", "send_voucher", *more]
    said = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert said.output.count("Name a second person") == times


def test_who_names_only_themselves_is_asked_for_a_second_person_before_anything_is_written(tmp_path: Path) -> None:
    words = ["init", "--into", str(tmp_path), *WHO[:4], "--tool", "send_voucher", "--ask"]
    said = CliRunner().invoke(cli, words, input="U0BEN\n\nBen\n\n\n\n\n\n\n\n", catch_exceptions=False)
    assert said.exit_code == 0, said.output
    assert "Name a second person" not in said.output
    assert 'users = ["U0ANA", "U0BEN"]' in (tmp_path / "reviewers.toml").read_text()


def test_names_are_given_beside_the_ids_and_stand_on_cards(tmp_path: Path) -> None:
    words = ["init", "--into", str(tmp_path), "--team", "T0ACME", "--tool", "send_voucher"]
    named = ("--reviewer", 'U0ANA=Ana "Nana" Ruiz', "--reviewer", "U0BEN")
    assert CliRunner().invoke(cli, [*words, *named], catch_exceptions=False).exit_code == 0
    law = load_law(["policies.rules.lookups"], (tmp_path / "reviewers.toml").read_text())
    need = Requirement(radius="x", tier="reviewers")
    assert describe(law.reviewers, need) == 'reviewers: Ana "Nana" Ruiz or U0BEN'


@pytest.mark.parametrize("more", [(), ("--self-approval",)])
def test_the_sample_takes_two_people_since_its_rules_do(tmp_path: Path, more: tuple[str, ...]) -> None:
    with pytest.raises(SettingsRefused, match="The sample asks two different people"):
        CliRunner().invoke(cli, ["init", "--into", str(tmp_path), *WHO[:4], *more], catch_exceptions=False)
    assert list(tmp_path.iterdir()) == []


def test_of_two_people_one_is_missing_on_what_the_other_started(tmp_path: Path) -> None:
    sentence = "What one of the two starts"
    assert sentence in init(tmp_path / "two").output
    assert sentence not in init(tmp_path / "three", "--reviewer", "U0CAS").output
    assert sentence not in init(tmp_path / "self", "--self-approval").output


def test_everybody_whom_it_names_may_approve_the_largest_card_of_the_sample(tmp_path: Path) -> None:
    assert "Raise limits" not in init(tmp_path / "fitted").output
    law = load_law(["policies.rules"], (tmp_path / "fitted" / "reviewers.toml").read_text())
    assert law.gaps() == ()
    largest = Requirement(radius="refunds in EUR", tier="billing", reviewers=2, amount=refunds.PER_RUN)
    assert entitled(law.reviewers, largest).users == ("U0ANA", "U0BEN")

    told = init(tmp_path / "low", "--limit", "1000.00").output
    law = load_law(["policies.rules"], (tmp_path / "low" / "reviewers.toml").read_text())
    (gap,) = law.gaps()
    assert f"  Raise limits in reviewers.toml: {gap}" in told.splitlines()
    assert "lets up to 5,000.00 EUR be asked, but two people of billing may approve 1,000.00 EUR at most." in gap


def test_http_has_its_address_in_the_manifest_and_no_socket(tmp_path: Path) -> None:
    words = ("--http", "https://vobo.example.com", "--port", "3100", "--ask")
    said = init(tmp_path, *words, input=f"{NO_MORE}\n\n{TOKEN}\n{SECRET}\n")
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
    ("words", "sentence"),
    [
        (("--ops-channel", "#ops"), "'#ops' is not a Slack channel id"),
        (("--redis-url", "localhost"), "REDIS_URL must start with one of"),
        (("--http", "vobo.example.com"), "is not an address that Slack can reach"),
        (("--model", "it's", "--no-ask"), "VOBO_MODEL holds a character that a .env cannot"),
        (("--model", "a\udcff"), "VOBO_MODEL holds a character that a .env cannot"),
        (("--redis-url", "redis://:a${HOME}b@store:6379/0"), "REDIS_URL holds a character that a .env cannot"),
        (("--http", "https://."), "is not an address that Slack can reach"),
        (("--port", "3100"), "--port is where the bot listens with --http"),
        (("--team", "acme"), "'acme' is not the id of a Slack workspace"),
        (("--zone", 'Europe/"Berlin'), "is not a time zone"),
        (("--ops", "@bob"), "'@bob' is not a Slack user id"),
    ],
)
def test_what_cannot_be_used_is_refused_and_nothing_is_written(
    tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(ApprovalsError) as refused:
        init(tmp_path / "new", *words)
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


def test_a_link_that_leads_nowhere_yet_is_somebody_elses_and_stays(tmp_path: Path) -> None:
    (tmp_path / ".env").symlink_to(tmp_path / "secrets" / "vobo.env")
    with pytest.raises(SettingsRefused, match=r"\.env exists already, and nothing is overwritten"):
        init(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".env"]


def test_a_file_that_appears_while_it_writes_is_not_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "lexists", lambda _path: False)
    (tmp_path / "manifest.yaml").write_text("mine")
    with pytest.raises(SettingsRefused, match=r"manifest\.yaml cannot be written \(File exists\); nothing was kept"):
        init(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.yaml"]
    assert (tmp_path / "manifest.yaml").read_text() == "mine"


def test_a_port_that_is_none_is_refused(tmp_path: Path) -> None:
    said = init(tmp_path / "new", "--http", "https://vobo.example.com", "--port", "99999")
    assert said.exit_code == 2
    assert "99999 is not in the range" in said.output
    assert not (tmp_path / "new").exists()


def test_with_http_it_asks_for_the_port_and_takes_an_address_with_a_slash(tmp_path: Path) -> None:
    answers = ["sample", "", "", "", "", "", "https://vobo.example.com/", "4100", "", "", TOKEN, SECRET]
    said = init(tmp_path, "--ask", input="\n".join(answers) + "\n")
    assert said.exit_code == 0, said.output
    assert read(tmp_path).port == 4100
    assert "url: https://vobo.example.com/slack/events" in (tmp_path / "manifest.yaml").read_text()


def test_the_offline_planner_needs_no_key(tmp_path: Path) -> None:
    said = init(tmp_path, "--ask", "--model", "offline", input=f"{NO_MORE}\n\n{TOKEN}\n{APP_TOKEN}\n")
    assert said.exit_code == 0, said.output
    written = dotenv_values(tmp_path / ".env")
    assert written["VOBO_MODEL"] == "offline"
    assert "OPENAI_API_KEY" not in written


def test_after_it_the_processes_miss_only_what_was_left_out(tmp_path: Path, valkey_url: str) -> None:
    assert init(tmp_path, "--ops-channel", "C0OPS", "--redis-url", valkey_url).exit_code == 0
    code, said = checked(tmp_path, "bot")
    assert (code, [line.split()[0] for line in said]) == (1, ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"])
    assert checked(tmp_path, "worker.clock")[0] == 0


def test_the_samples_shop_is_a_step_that_is_printed_and_missed_until_it_is_taken(
    tmp_path: Path, valkey_url: str
) -> None:
    said = init(tmp_path, "--redis-url", valkey_url)
    (step,) = [line.split("#")[0] for line in said.output.splitlines() if "worker.refund_desk.shop load" in line]
    missing = "The sample's shop is empty. Load it: python -m worker.refund_desk.shop load"
    code, told = checked(tmp_path, "worker")
    assert (code, told.count(missing)) == (1, 1), told

    env = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    subprocess.run(["sh", "-c", step], env=env, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    code, told = checked(tmp_path, "worker")
    assert (code, missing in told) == (0, False), told
    assert "shop load" not in init(tmp_path / "own", "--tool", "send_voucher").output


@pytest.mark.parametrize("activated", [True, False])
def test_the_commands_it_ends_with_can_be_typed_as_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, activated: bool
) -> None:
    here = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{here}:/usr/bin:/bin" if activated else "/usr/bin:/bin")
    said = init(tmp_path / "a place").output.splitlines()
    assert f"  cd '{tmp_path / 'a place'}'" in said
    commands = [line.split("#")[0].strip() for line in said if re.search(r"(vobo|python) (doctor|-m)", line)]
    before = "" if activated else f"{here}/"
    assert commands == [
        f"{before}{words}"
        for words in (
            *("python -m worker.refund_desk.shop load", "vobo doctor"),
            *("python -m bot", "python -m worker", "python -m worker.clock"),
        )
    ]
    for command in commands:
        name = command.split()[0]
        found = subprocess.run(["sh", "-c", f"command -v {name}"], capture_output=True, text=True, check=False).stdout
        assert Path(found.strip()) == here / Path(name).name


def test_honcho_reads_the_file_as_the_processes_do(tmp_path: Path) -> None:
    answers = ["", "", "", "", "", "rediss://vobo:p%23%20w+x=@store:6380/0?wait_replicas=1", "https://vobo.example.com"]
    answers += ["", "C0OPS", "a model, with spaces", TOKEN, 'se"cret # with; $signs', "sk-of-the-model"]
    said = init(tmp_path, "--ask", input="\n".join(answers) + "\n")
    assert said.exit_code == 0, said.output
    ours = {name: value for name, value in dotenv_values(tmp_path / ".env").items() if value}
    assert ours["SLACK_SIGNING_SECRET"] == 'se"cret # with; $signs'
    assert read_by_honcho((tmp_path / ".env").read_text()) == ours
