"""Each mistake a newcomer makes gives one sentence that names the fix, and no traceback."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from free_ports import free_port
from stack import ROOT, Stack


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    made = Stack(tmp_path_factory.mktemp("v"))
    made.prepare()
    made.start("sandbox")
    yield made
    made.stop()


def said(stack: Stack, module: str, *arguments: str, **changed: str | None) -> str:
    """What a process that must not start says, and that it says it without a traceback."""
    env = {name: value for name, value in {**stack.env, **changed}.items() if value is not None}
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    output = done.stdout + done.stderr
    assert done.returncode != 0, output
    assert "Traceback" not in output, output
    return output


def test_no_slack_token(stack: Stack) -> None:
    assert "SLACK_BOT_TOKEN is not set. Set it to the bot token (xoxb-...)" in said(stack, "bot", SLACK_BOT_TOKEN=None)


def test_a_wrong_slack_token(stack: Stack) -> None:
    output = said(stack, "bot", SLACK_BOT_TOKEN="xoxb-wrong")
    assert "SLACK_BOT_TOKEN" in output
    assert "invalid_auth" in output


def test_slack_does_not_answer_and_the_check_says_so_in_a_sentence_alone(stack: Stack) -> None:
    output = said(stack, "bot", "--check", SLACK_API_URL=f"http://127.0.0.1:{free_port()}/api/")
    assert "Check the network and SLACK_API_URL." in output
    assert '"event"' not in output, "no line for machines stands before it"


def test_no_transport(stack: Stack) -> None:
    output = said(stack, "bot", SLACK_APP_TOKEN=None)
    assert "SLACK_APP_TOKEN" in output
    assert "made under Basic Information in the Slack app's settings" in output


def test_the_sample_without_its_shop(stack: Stack, tmp_path: Path) -> None:
    empty = {"VOBO_SHOP_URL": f"sqlite:///{tmp_path / 'shop.db'}"}
    missing = "The sample's shop is empty. Load it: python -m worker.refund_desk.shop load"
    for arguments in ((), ("--check",)):
        assert said(stack, "worker", *arguments, **empty).count(missing) == 1


@pytest.mark.parametrize("how", [("bot", "--check"), ("worker",), ("worker", "--check"), ("worker.clock", "--check")])
def test_redis_is_not_reachable(stack: Stack, how: tuple[str, ...]) -> None:
    """Without `--check` bot and clock wait for it: tests/e2e/test_waiting_starts.py."""
    output = said(stack, *how, REDIS_URL=f"redis://127.0.0.1:{free_port()}/0")
    assert "REDIS_URL" in output


@pytest.mark.parametrize("module", ["bot", "worker", "worker.clock"])
def test_no_key_for_the_stored_state(stack: Stack, module: str) -> None:
    assert "VOBO_STATE_KEYS is not set." in said(stack, module, VOBO_STATE_KEYS=None)


def test_a_key_that_is_none(stack: Stack) -> None:
    assert "VOBO_STATE_KEYS" in said(stack, "worker", VOBO_STATE_KEYS="secret")


@pytest.mark.parametrize(
    "agent",
    ["nowhere.to.be:found", "worker.refund_desk:no_such_factory", "worker.refund_desk", "worker.envelope:STATUSES"],
)
def test_a_bad_agent(stack: Stack, agent: str) -> None:
    assert "VOBO_AGENT" in said(stack, "worker", VOBO_AGENT=agent)


def test_a_function_that_is_no_factory(stack: Stack) -> None:
    output = said(stack, "worker", VOBO_AGENT="json:dumps")
    assert "The agent factory json:dumps in VOBO_AGENT raised TypeError" in output
    assert "It must be a function that takes a model and returns an agents.Agent." in output
    assert "json:dumps" in said(stack, "worker", "--check", VOBO_AGENT="json:dumps")


def test_a_key_without_a_model(stack: Stack) -> None:
    output = said(stack, "worker", OPENAI_API_KEY="sk-some-secret")
    assert "OPENAI_API_KEY is set, but VOBO_MODEL is not; set it to a model's name, or to offline.\n" in output, output
    assert "value error" not in output.lower()
    assert "sk-some-secret" not in output


def test_a_model_without_a_key(stack: Stack) -> None:
    output = said(stack, "worker", VOBO_MODEL="gpt-5")
    assert output.startswith("VOBO_MODEL is gpt-5, but OPENAI_API_KEY is not set; set it (any text will do for a")


def test_a_port_that_is_no_number(stack: Stack) -> None:
    output = said(stack, "bot", SLACK_APP_TOKEN=None, SLACK_SIGNING_SECRET="secret", PORT="abc")
    assert "PORT is wrong: it is not a whole number. Set it to the number of the port at which" in output
    assert "SLACK_APP_TOKEN" not in output


def test_two_rules_for_one_tool(stack: Stack, tmp_path: Path) -> None:
    twin = tmp_path / "twin_rules.py"
    twin.write_text((ROOT / "policies" / "rules" / "mail.py").read_text())
    output = said(
        stack,
        "worker",
        VOBO_RULES="policies.rules,twin_rules",
        PYTHONPATH=f"{ROOT}:{tmp_path}",
    )
    assert "send_email" in output
    assert "twin_rules" in output
    assert "policies.rules.mail" in output


def test_a_missing_reviewers_file(stack: Stack) -> None:
    assert "VOBO_REVIEWERS" in said(stack, "bot", VOBO_REVIEWERS="nowhere.toml")


def test_a_port_that_is_taken(stack: Stack) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        output = said(stack, "bot", SLACK_APP_TOKEN=None, SLACK_SIGNING_SECRET="secret", PORT=port)
    assert port in output
    assert "PORT" in output


def test_all_that_is_missing_is_named_at_once(stack: Stack) -> None:
    output = said(stack, "bot", SLACK_BOT_TOKEN=None, REDIS_URL=None, VOBO_STATE_KEYS=None)
    for name in ("SLACK_BOT_TOKEN", "REDIS_URL", "VOBO_STATE_KEYS"):
        assert f"{name} is not set." in output
