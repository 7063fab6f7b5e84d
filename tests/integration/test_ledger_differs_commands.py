"""What operators are told, and can do, when the ledger is not the one that Redis handed its events to."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import delete, select, update

from approvals.__main__ import cli
from approvals.drain import drain_once
from approvals.ledger import Ledger
from approvals.ledger_head import Head, LedgerDiffers
from approvals.ledger_tables import EVENTS, HEADS
from approvals.store import Store
from builders import TENANT, a_call, approve, events, paused

READERS = [
    ("ledger",),
    ("ledger", "verify"),
    ("ledger", "drain"),
    ("ledger", "erase", "--before", "1d", "--yes"),
    ("show", "run_1"),
    ("export",),
    ("report", "--out", "report.html"),
    ("policies", "simulate", "policies.rules"),
    ("keys", "list"),
    ("keys", "rewrap"),
    ("unfreeze", "--reason", "upgraded"),
]


@pytest.fixture
def home(shell: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VOBO_RULES", "policies.rules")
    monkeypatch.chdir(shell)
    return shell


@pytest.fixture
def kept(store: Store, home: Path) -> Ledger:
    """A ledger that was handed a card, and an approval that waits."""
    ledger = Ledger.open(f"sqlite:///{home / 'ledger.db'}")
    paused(store, a_call("call_1"))
    drain(store, ledger)
    approve(store, "call_1")
    return ledger


def drain(store: Store, ledger: Ledger) -> None:
    while drain_once(store, ledger):
        continue


def vobo(*words: str) -> Result:
    return CliRunner().invoke(cli, words)


def told(said: Result) -> str:
    return said.output + str(said.exception)


def cut(ledger: Ledger) -> Head:
    with ledger.engine.begin() as connection:
        last = connection.scalar(select(HEADS.c.seq))
        connection.execute(delete(EVENTS).where(EVENTS.c.seq == last))
        digest = connection.scalar(select(EVENTS.c.hash).where(EVENTS.c.seq == last - 1))
        connection.execute(update(HEADS).values(seq=last - 1, hash=digest))
    return ledger.newest(TENANT)


@pytest.mark.parametrize("words", READERS)
def test_a_command_that_is_pointed_at_no_ledger_makes_none_and_takes_no_event(
    store: Store, kept: Ledger, home: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("VOBO_LEDGER_URL", "sqlite:///elsewhere/ledger.db")
    said = vobo(*words)
    assert said.exit_code != 0
    assert f"There is no ledger at sqlite:///{home}/elsewhere/ledger.db" in told(said)
    assert not (home / "elsewhere").exists()
    assert (events(store), store.switches.frozen()) == (["approved"], None)


@pytest.mark.parametrize("words", READERS)
def test_a_command_that_is_pointed_at_another_ledger_says_so_and_changes_nothing(
    store: Store, kept: Ledger, home: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    url = f"sqlite:///{home / 'other.db'}"
    other = Ledger.open(url)
    monkeypatch.setenv("VOBO_LEDGER_URL", url)
    said = vobo(*words)
    assert said.exit_code != 0
    assert f"{home / 'other.db'} is older than Redis, or another database" in told(said)
    assert other.rows(TENANT) == []
    assert (events(store), store.switches.frozen()) == (["approved"], None)


def test_a_ledger_in_a_database_of_somebody_elses_gets_no_tables(
    store: Store, kept: Ledger, ledger_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if ledger_url.startswith("sqlite"):
        Path(ledger_url.removeprefix("sqlite:///")).with_name("other.db").touch()
        ledger_url = ledger_url.replace("ledger.db", "other.db")
    monkeypatch.setenv("VOBO_LEDGER_URL", ledger_url)
    for _ in range(2):
        assert "There is no ledger at" in told(vobo("ledger"))


def test_the_first_command_of_a_new_installation_makes_the_ledger(store: Store, home: Path) -> None:
    paused(store, a_call("call_1"))
    assert vobo("ledger").exit_code == 0
    assert (home / "ledger.db").exists()


def test_an_operator_goes_on_with_an_older_ledger_and_it_says_what_it_lacks(store: Store, kept: Ledger) -> None:
    drain(store, kept)
    was, head = store.ledger.noted(), cut(kept)
    with pytest.raises(LedgerDiffers):
        drain_once(store, kept)
    refused = vobo("unfreeze", "--reason", "upgraded")
    assert refused.exit_code != 0
    assert store.switches.frozen(), "who did not look accepts nothing"

    said = vobo("unfreeze", "--reconciled", "--reason", "the replica was behind")
    assert said.exit_code == 0, told(said)
    assert f"up to row {head.seq + 1}, and its newest row is {head.seq}" in said.output
    drain(store, kept)
    assert store.switches.frozen() is None
    (row,) = kept.rows(TENANT, types=["ledger_accepted"])
    assert (row.raw["was"], row.raw["head"]) == (str(was), str(head))
    assert row.body["reason"].endswith(f"its newest row is {head.seq}; the replica was behind")
    assert row.body["actor"]
    assert kept.verify(TENANT) == []


def test_an_older_ledger_is_accepted_before_a_clock_has_noticed_it_and_only_once(store: Store, kept: Ledger) -> None:
    drain(store, kept)
    cut(kept)
    said = vobo("unfreeze", "--reconciled")
    assert "Accepted as it is" in said.output
    assert said.output.endswith("Nothing is frozen.\n")
    assert "Accepted" not in vobo("unfreeze", "--reconciled").output
    assert events(store) == ["ledger_accepted"]


def test_nothing_is_accepted_where_there_is_no_ledger(
    store: Store, kept: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.switches.freeze("olga", "upgrade")
    monkeypatch.setenv("VOBO_LEDGER_URL", "sqlite:///elsewhere.db")
    assert "There is no ledger at" in told(vobo("unfreeze", "--reconciled"))
    assert store.switches.frozen()


def elsewhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    url = f"sqlite:///{home / 'other.db'}"
    monkeypatch.setenv("VOBO_LEDGER_URL", url)
    return url


@pytest.mark.parametrize("other_workspace", [False, True])
def test_a_ledger_without_any_row_of_the_workspace_is_not_accepted_by_accident(
    store: Store, kept: Ledger, home: Path, monkeypatch: pytest.MonkeyPatch, *, other_workspace: bool
) -> None:
    empty = Ledger.open(elsewhere(home, monkeypatch))
    if other_workspace:
        empty.append("T0OTHER", [("1-0", {"type": "noted", "at": "1"})])
    was = store.ledger.noted()
    said = vobo("unfreeze", "--reconciled", "--reason", "it was not mounted")
    assert said.exit_code != 0
    assert "has no row of this workspace" in told(said)
    assert (store.ledger.noted(), events(store)) == (was, ["approved"])


@pytest.mark.parametrize("made", [False, True])
def test_a_new_ledger_is_begun_by_whoever_says_so(
    store: Store, kept: Ledger, home: Path, monkeypatch: pytest.MonkeyPatch, *, made: bool
) -> None:
    url = elsewhere(home, monkeypatch)
    if made:
        Ledger.open(url)
    assert vobo("unfreeze", "--new-ledger").exit_code == 2
    assert (home / "other.db").exists() is made
    said = vobo("unfreeze", "--reconciled", "--new-ledger", "--reason", "the disk burnt")
    assert said.exit_code == 0, told(said)
    begun = Ledger.open(url, made=False)
    drain(store, begun)
    assert [row.type for row in begun.rows(TENANT)] == ["approved", "ledger_accepted"]
    assert begun.rows(TENANT)[-1].body["reason"].endswith("; the disk burnt")


@pytest.mark.parametrize("older", [False, True])
def test_a_ledger_that_holds_the_workspaces_rows_is_no_new_one(store: Store, kept: Ledger, *, older: bool) -> None:
    drain(store, kept)
    if older:
        cut(kept)
    was = store.ledger.noted()
    said = vobo("unfreeze", "--reconciled", "--new-ledger")
    assert said.exit_code != 0
    assert "Leave --new-ledger out" in told(said)
    assert store.ledger.noted() == was


def test_a_ledger_that_is_away_keeps_nobody_from_unfreezing(
    store: Store, kept: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.switches.freeze("olga", "upgrade")
    monkeypatch.setenv("VOBO_LEDGER_URL", "postgresql+psycopg://nobody@127.0.0.1:1/none")
    said = vobo("unfreeze", "--reason", "upgraded")
    assert "is not known" in said.output
    assert store.switches.frozen() is None


def test_the_doctor_says_that_the_ledger_is_another_one_and_makes_none(
    store: Store, kept: Ledger, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOBO_LEDGER_URL", "sqlite:///elsewhere/ledger.db")
    said = vobo("doctor", "--without", "bot", "--without", "worker")
    assert said.exit_code == 2
    assert "There is no ledger at" in said.output
    assert not (home / "elsewhere").exists()


def test_verify_names_everything_that_is_wrong_with_an_older_ledger(store: Store, kept: Ledger) -> None:
    drain(store, kept)
    cut(kept)
    with kept.engine.begin() as connection:
        connection.execute(update(EVENTS).where(EVENTS.c.seq == 2).values(actor="U0EVE"))
    said = vobo("ledger", "verify")
    assert said.exit_code == 1
    assert "Row 2" in said.output
    assert "is older than Redis" in said.output
    assert store.switches.frozen() is None, "who only looks freezes nothing"
