"""`python -m bot.sandbox` as a process of its own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from slack_sdk import WebClient

from bot.sandbox import WorkspaceClient


@contextmanager
def process(where: Path, *options: str, **environment: str) -> Iterator[WorkspaceClient]:
    """A sandbox of its own; what it said stands in `where` with another ending once it has stopped."""
    started = subprocess.Popen(
        [sys.executable, "-m", "bot.sandbox", "--port", "0", "--port-file", str(where), *options],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        deadline = time.monotonic() + 20
        while not where.exists() or not where.read_text(encoding="utf-8"):
            assert started.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield WorkspaceClient(where.read_text(encoding="utf-8"))
    finally:
        started.send_signal(signal.SIGTERM)
        said, _ = started.communicate(timeout=20)
        where.with_suffix(".said").write_text(said, encoding="utf-8")
    assert started.returncode == 0


def test_it_tells_where_it_listens_serves_and_stops_cleanly_on_sigterm(tmp_path: Path) -> None:
    with process(tmp_path / "url") as workspace:
        assert workspace.mention("U0005", "C_REFUNDS", "hello")["channel"] == "C_REFUNDS"
    assert f"SLACK_API_URL={workspace.api_url}" in (tmp_path / "url.said").read_text(encoding="utf-8")


def test_two_processes_are_two_workspaces_named_by_options_or_by_the_environment(tmp_path: Path) -> None:
    app = {"client_id": "111.222", "client_secret": "sandbox-secret"}
    options = ("--client-id", app["client_id"], "--client-secret", app["client_secret"], "--token-seconds", "43200")
    back = "https://vobo.example/slack/oauth_redirect"
    page = "/oauth/v2/authorize?client_id=111.222&scope=chat:write"
    named = {"VOBO_SANDBOX_TEAM_ID": "T0OTHER", "VOBO_SANDBOX_TEAM_NAME": "Other", "VOBO_SANDBOX_REDIRECT_URI": back}
    with (
        process(tmp_path / "home", "--team-id", "T0HOME", "--redirect-uri", back, *options) as home,
        process(tmp_path / "other", *options, **named) as other,
    ):
        for workspace, team in ((home, {"id": "T0HOME", "name": "Home"}), (other, {"id": "T0OTHER", "name": "Other"})):
            went = workspace.allow(workspace.url + page)
            assert went.startswith(f"{back}?")
            told = WebClient(base_url=workspace.api_url).oauth_v2_access(
                **app, code=parse_qs(urlsplit(went).query)["code"][0]
            )
            assert (told["team"], told["expires_in"]) == (team, 43_200)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--client-id", "111.222"), "--client-id and --client-secret belong together"),
        (("--client-secret", "guessed"), "--client-id and --client-secret belong together"),
        (("--token-seconds", "43200"), "--token-seconds needs --client-id"),
    ],
)
def test_half_an_app_is_refused_with_a_sentence(options: tuple[str, ...], sentence: str) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "bot.sandbox", "--port", "0", *options],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert answer.returncode == 2
    assert sentence in answer.stderr


def test_signed_delivery_without_a_secret_is_refused_with_a_sentence() -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "bot.sandbox", "--deliver-to", "http://127.0.0.1:1/slack/events"],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert answer.returncode == 2
    assert "--deliver-to needs --signing-secret" in answer.stderr
