"""`python -m bot.sandbox` as a process of its own."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from bot.sandbox import WorkspaceClient


def test_it_tells_where_it_listens_serves_and_stops_cleanly_on_sigterm(tmp_path: Path) -> None:
    where = tmp_path / "url"
    process = subprocess.Popen(
        [sys.executable, "-m", "bot.sandbox", "--port", "0", "--port-file", str(where)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 20
        while not where.exists() or not where.read_text(encoding="utf-8"):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        workspace = WorkspaceClient(where.read_text(encoding="utf-8"))
        assert workspace.mention("U0005", "C_REFUNDS", "hello")["channel"] == "C_REFUNDS"
    finally:
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert f"SLACK_API_URL={workspace.api_url}" in said


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
