"""What docs/your-own-agent.md prints, typed: its files in a directory, its one command, and a card of one's own."""

import json
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from free_ports import free_port
from reviewing import BRUNO, CHANNEL, ROSA
from stack import ROOT, Stack, listens, tails, until

PAGE = (ROOT / "docs" / "your-own-agent.md").read_text(encoding="utf-8")
FILES = re.findall(r"^```(?:python|toml)\n# (\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
(TYPED,) = re.findall(r'^make demo ARGS="(.*)"$', PAGE, re.MULTILINE)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with the page's package in it, as it is printed."""
    for name, text in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def command(place: Path, arguments: list[str], port: int) -> list[str]:
    return [
        sys.executable,
        str(ROOT / "tests" / "demo.py"),
        *arguments,
        "--port",
        str(port),
        "--home",
        str(place / "v"),
    ]


@contextmanager
def demo(place: Path) -> Iterator[Stack]:
    """The command as the page has it, ended with Ctrl-C."""
    port = free_port()
    words = command(place, shlex.split(TYPED), port)
    with (place / "demo.out").open("wb") as out:
        process = subprocess.Popen(words, cwd=place, stdout=out, stderr=out, start_new_session=True)
    said = place / "demo.out"
    try:
        until(lambda: "Ctrl-C ends" in said.read_text() or process.poll() is not None, "the demo", 60)
        assert process.poll() is None, said.read_text()
        yield Stack(place / "v", port=port)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0, said.read_text() + tails(place / "v")
    assert not listens(port)


def test_the_pages_one_command_ends_with_a_card_of_ones_own(place: Path) -> None:
    with demo(place) as stack:
        with urlopen(f"{stack.page}/_page/snapshot?channel={CHANNEL}") as shown:  # noqa: S310 - our own sandbox
            assert json.load(shown)["prompts"] == ["@vobo help C-17"], "the sample's examples are of no use here"
        slack = stack.slack
        said = slack.mention(ROSA, CHANNEL, "help C-17")
        card = slack.wait_message(CHANNEL, "Send C-17 a voucher of 25.00 EUR", thread_ts=said["ts"], seconds=60)
        (controls,) = [block["block_id"] for block in card["blocks"] if block["block_id"].startswith("call:")]
        slack.click(BRUNO, CHANNEL, card["ts"], "call.approve", controls)
        slack.wait_message(CHANNEL, "Outcome: 1 done", thread_ts=said["ts"], seconds=60)
        slack.wait_message(CHANNEL, "This became of it: EXECUTED. Approved by Bruno", thread_ts=said["ts"], seconds=60)
        assert "voucher" in ledger_of_the_demo(place)


def ledger_of_the_demo(place: Path) -> str:
    """As its last words say, where a `.env` is about another workspace."""
    (place / ".env").write_text("VOBO_REVIEWERS=nowhere.toml\nREDIS_URL=redis://127.0.0.1:1/0\n")
    (typed,) = re.findall(r"^ +(\(.*vobo ledger\))$", (place / "demo.out").read_text(), re.MULTILINE)
    typed = typed.replace(".venv/bin/vobo", f"{sys.executable} -m approvals")
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["sh", "-c", typed], cwd=place, env=env, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(place: Path, *arguments: str) -> str:
    done = subprocess.run(
        command(place, list(arguments), free_port()), cwd=place, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stdout + done.stderr
    return " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--agent", "acme.agent:build_agent"), "--agent needs --rules"),
        (("--agent", "acme.agent:build_agent", "--rules", "acme.rules"), "--agent needs --offline"),
        (("--rules", "acme.rules"), "name --agent"),
        (("--auto", "--agent", "acme.agent:build_agent"), "your own agent you play by hand"),
        (("--agent", "acme.nobody:x", "--rules", "acme.rules", "--offline", "acme.offline:Vouchers"), "acme.nobody"),
    ],
)
def test_what_does_not_fit_is_one_sentence_before_anything_opens(
    place: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    assert sentence in refused(place, *arguments)
