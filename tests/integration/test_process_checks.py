"""What `python -m bot --check` asks Slack, and `python -m worker --check` the model's provider."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner
from slack_sdk import WebClient

from approvals.findings import Finding, Level, from_json
from bot import slack_check
from bot.__main__ import main
from bot.slack_client import unanswered
from bot_office import REVIEWERS, STATE_KEY, Office
from policies.reviewers import Reviewers
from worker.model_check import model_reachable
from worker.settings import WorkerSettings


@pytest.fixture
def client(office: Office) -> WebClient:
    return office.bot.deps.client


def bad(found: list[Finding]) -> list[str]:
    return [str(one) for one in found if one.level is not Level.OK]


def test_the_scopes_of_the_manifest_are_what_is_looked_for() -> None:
    wanted = slack_check.wanted_scopes()
    assert {"chat:write", "commands", "users:read", "usergroups:read", "im:write"} <= wanted
    assert slack_check.scopes(", ".join(wanted)).level is Level.OK
    lacking = slack_check.scopes(",".join(wanted - {"users:read", "usergroups:read"}))
    assert lacking.level is Level.FAILURE
    assert str(lacking) == (
        "The token lacks the scopes usergroups:read, users:read."
        " Install the Slack app again with the scopes of bot/manifest.yaml."
    )


def test_everybody_the_sample_names_is_a_full_member(client: WebClient) -> None:
    found = list(slack_check.people(client, Reviewers.from_toml(REVIEWERS.read_text())))
    assert bad(found) == []
    assert "Slack knows all 5 people" in found[-1].sentence


def test_people_who_can_decide_nothing_are_named_with_why(client: WebClient) -> None:
    law = Reviewers.from_toml(
        'team = "T0000HOME"\nstrictest = "desk"\nops = ["U0003"]\n[tiers.desk]\n'
        'users = ["U0006", "U0007", "U0NOBODY"]\nusergroups = ["S_BILLING", "S_NOWHERE"]\n'
        '[people.U0006]\nname = "Dora"\n'
    )
    assert bad(list(slack_check.people(client, law))) == [
        "Dora (U0006) is deactivated and may decide nothing. Name somebody else in reviewers.toml.",
        "U0007 is a guest and may decide nothing. Name somebody else in reviewers.toml.",
        "Slack does not know U0NOBODY (user_not_found). Correct the id in reviewers.toml.",
        "The usergroup S_NOWHERE does not exist in Slack. Correct it in reviewers.toml, or switch it on.",
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("C_OPS", "The ops channel C_OPS can be written to."),
        ("C_OLD", "The ops channel C_OLD cannot be written to (is_archived)."),
        ("C_NOWHERE", "The ops channel C_NOWHERE cannot be written to (channel_not_found)."),
    ],
)
def test_a_channel_is_looked_at_before_it_is_needed(client: WebClient, name: str, said: str) -> None:
    assert slack_check.channel(client, name, "The ops channel").sentence == said


def test_slacks_clock_is_compared_with_the_stores(client: WebClient) -> None:
    headers = {"Date": ["Mon, 30 Nov 2026 00:00:00 GMT"]}
    (found,) = slack_check.clock(headers, 1_796_000_400 + 100)
    assert (found.level, found.sentence) == (Level.FAILURE, "The store's clock and Slack's are 3700.0 s apart.")
    assert list(slack_check.clock({}, 0)) == []


def test_the_report_of_the_bot_is_json_without_its_token(
    office: Office, valkey_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    env = {
        "REDIS_URL": valkey_url,
        "VOBO_STATE_KEYS": STATE_KEY,
        "VOBO_REVIEWERS": str(REVIEWERS),
        "SLACK_BOT_TOKEN": "xoxb-sandbox",
        "SLACK_APP_TOKEN": "xapp-sandbox",
        "SLACK_API_URL": office.slack.api_url,
        "VOBO_OPS_CHANNEL": "C_OLD",
    }
    office.start()
    said = CliRunner().invoke(main, ["--check", "--json"], env=env)
    assert said.exit_code == 1
    found = {one.sentence: one.level for one in from_json(said.stdout)}
    assert found["The ops channel C_OLD cannot be written to (is_archived)."] is Level.FAILURE
    assert found["The channel of open runs C_REFUNDS can be written to."] is Level.OK
    assert found["Slack knows SLACK_BOT_TOKEN: workspace T0000HOME, bot UBOT."] is Level.OK
    assert "xoxb-" not in said.output
    assert STATE_KEY not in said.output
    wrong = CliRunner().invoke(main, ["--check", "--json"], env={**env, "SLACK_BOT_TOKEN": "xoxb-wrong"})
    assert "Slack refuses SLACK_BOT_TOKEN (invalid_auth)." in wrong.stdout
    silent = CliRunner().invoke(main, ["--check", "--json"], env={**env, "SLACK_API_URL": "http://127.0.0.1:1/api/"})
    assert "Slack does not answer at http://127.0.0.1:1/api/" in silent.stdout


def test_an_address_that_nobody_set_is_no_fix() -> None:
    assert unanswered(WebClient(), OSError()) == (
        "Slack does not answer at https://slack.com/api/ (OSError). Check the network."
    )
    assert unanswered(WebClient(base_url="http://x/api/"), OSError()).endswith("Check the network and SLACK_API_URL.")


def test_what_plays_the_model_is_named_as_it_is() -> None:
    assert "the sample's offline planner stands in" in str(asked("http://127.0.0.1:1/v1", model="offline"))
    own = str(asked("http://127.0.0.1:1/v1", model="offline", offline="acme.offline:Vouchers"))
    assert "acme.offline:Vouchers of VOBO_OFFLINE stands in" in own
    assert "sample" not in own


@contextmanager
def provider(status: int, body: object) -> Iterator[str]:
    """A model's provider that answers every question alike."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_args: object) -> None:
            """Questions are no news."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def asked(url: str, **changes: str) -> Finding:
    fields = {
        "redis_url": "redis://x",
        "state_keys": "k",
        "model": "gpt-x",
        "openai_key": "sk-secret",
        "openai_url": url,
    }
    return model_reachable(WorkerSettings.read(_env_file=None, **{**fields, **changes}))


def a_list(*names: str) -> object:
    models = [{"id": name, "object": "model", "created": 1, "owned_by": "x"} for name in names]
    return {"object": "list", "data": models}


@pytest.mark.parametrize(
    ("status", "body", "level", "said"),
    [
        (200, a_list("gpt-x", "gpt-y"), Level.OK, "answers and knows gpt-x."),
        (200, a_list("gpt-y"), Level.WARNING, "does not list gpt-x. Check the name in VOBO_MODEL."),
        (401, {"error": {"message": "no"}}, Level.FAILURE, "refuses OPENAI_API_KEY (401)."),
        (404, {"error": {"message": "no"}}, Level.WARNING, "answers, but lists no models (404)."),
    ],
)
def test_the_models_provider_is_asked_without_spending_a_token(
    status: int, body: object, level: Level, said: str
) -> None:
    with provider(status, body) as url:
        found = asked(url)
    assert found.level is level
    assert said in str(found)
    assert "sk-secret" not in str(found)


def test_a_provider_that_does_not_answer_fails_and_the_planner_is_a_warning() -> None:
    silent = asked("http://user:pw@127.0.0.1:1/v1")
    assert silent.level is Level.FAILURE
    assert "does not answer (APIConnectionError). Check the network and OPENAI_BASE_URL." in str(silent)
    assert "pw@" not in str(silent)
    assert asked("http://127.0.0.1:1/v1", model="offline").level is Level.WARNING
