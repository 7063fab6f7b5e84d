"""What an agent, a provider or a person wrote moves nothing on an operator's terminal, and hides nothing there."""

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from approvals.__main__ import cli
from approvals.commands.tables import as_csv
from approvals.store import Store
from builders import BEN, a_call, a_content, a_decision, a_person, a_requirement, paused
from policies.plain_text import is_hidden, visible_json, visible_lines

#: Erases its line, goes up one and hides what follows; the same as one character (C1); turns the direction around.
EVIL = "x\x1b[2K\x1b[1A\x1b[8m\x9b2K\u202e"
SHOWN = "x\\u{001b}[2K\\u{001b}[1A\\u{001b}[8m\\u{009b}2K\\u{202e}"


def vobo(*words: str) -> Result:
    """As on a terminal: `click` takes nothing away from what is printed."""
    return CliRunner().invoke(cli, words, catch_exceptions=False, color=True)


def hidden(text: str) -> set[str]:
    return {char for char in text if is_hidden(char) and char != "\n"}


@pytest.fixture
def home(store: Store, shell: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shell beside a store in which everybody wrote what they should not: agent, reviewer, operator."""
    monkeypatch.setenv("VOBO_RULES", "policies.rules")
    need = a_requirement(resources=(EVIL,))
    content = a_content(json.dumps({"payment_id": EVIL}), requirement=need)
    paused(store, a_call("call_1", content=content, tool=f"tool{EVIL}"))
    ben = store.people.put(a_person(BEN, name=f"Ben{EVIL}"))
    word = a_decision("call_1", "reject", by=BEN, reason=f"no {EVIL}")
    assert store.calls.reject("call_1", version=1, decision=word, person=ben).ok
    store.switches.freeze(f"olga{EVIL}", f"upgrade {EVIL}")
    return shell


@pytest.mark.parametrize(
    "words",
    [
        ("show", "run_1"),
        ("show", "run_1", "--full", "--personal"),
        ("ledger",),
        ("ledger", "--by", "Ben"),
        ("ledger", "--as", "json"),
        ("ledger", "--as", "csv"),
        ("doctor", "--without", "bot", "--without", "worker"),
        ("doctor", "--without", "bot", "--without", "worker", "--json"),
        ("freeze", "--reason", "something else"),
        ("unfreeze",),
        ("unfreeze", "--reconciled"),
        ("export", "--personal"),
    ],
    ids=" ".join,
)
def test_no_command_prints_what_moves_or_hides_something(home: Path, words: tuple[str, ...]) -> None:
    said = vobo(*words)
    assert hidden(said.stdout + said.stderr) <= ({"\r"} if "csv" in words else set())
    assert "001b" in said.stdout + said.stderr, "it is spelled out, not left out"


def test_whoever_reads_json_reads_what_was_written(home: Path) -> None:
    rows = [json.loads(line) for line in vobo("ledger", "--type", "rejected", "--as", "json").stdout.splitlines()]
    assert [row["reason"] for row in rows] == [f"no {EVIL}"]
    (exported,) = [
        row
        for line in vobo("export", "--personal").stdout.splitlines()
        if (row := json.loads(line))["type"] == "rejected"
    ]
    assert exported["reason"] == f"no {EVIL}"


def test_a_table_and_a_csv_show_the_very_characters(home: Path) -> None:
    (row,) = csv.DictReader(io.StringIO(vobo("ledger", "--type", "rejected", "--as", "csv").stdout))
    assert (row["reason"], row["resources"]) == (f"no {SHOWN}", SHOWN)
    assert visible_lines(f"one\n{EVIL}") == f"one\n{SHOWN}"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", " =", "\n=", "\uff1d", "\uff20"])
def test_no_cell_of_a_csv_begins_a_formula(start: str) -> None:
    (row,) = csv.DictReader(io.StringIO(as_csv([{"reason": f"{start}1+1", "name": "Ana"}])))
    assert (row["reason"], row["name"]) == (f"'{start}1+1", "Ana")


@pytest.mark.parametrize("text", [EVIL, "\U000e0041", "\ud800", "plain", "\t\r\n"])
def test_json_without_hidden_characters_is_the_same_json(text: str) -> None:
    document = json.dumps({text: [text]}, ensure_ascii=False, indent=1)
    assert json.loads(visible_json(document)) == {text: [text]}
    assert hidden(visible_json(document)) == set()
