"""What is erased is nowhere any more: not in another spelling, not in SQLite's log, and never without a record."""

import getpass
import json
import sqlite3
from pathlib import Path

import pytest
import redis

from approvals import databases
from approvals.databases import swept
from approvals.errors import ApprovalsError
from approvals.ledger import Ledger
from approvals.ledger_errors import LedgerUnreachable
from approvals.operators import Operators
from approvals.recordings import Recordings
from approvals.store import Store
from builders import TENANT, a_call, paused, reject
from policies.strict_json import write_json
from tests.integration.test_vobo_command import vobo

NAME = "Zoë Müllerstein"


@pytest.fixture
def home(shell: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VOBO_RULES", "policies.rules")
    return shell


def vobo_refused(*words: str) -> str:
    """What a command that refuses says at last, as `main` prints it."""
    with pytest.raises(ApprovalsError) as refusal:
        vobo(*words)
    return str(refusal.value)


def refused(reason: str, number: int = 1, **more: str) -> tuple[str, dict[str, str]]:
    """An event that no database takes, so that all it said stands in one text."""
    return f"{number}-0", {"type": "noted", "at": "soon", "reason": reason, **more}


def left(ledger: Ledger) -> str:
    with ledger.engine.connect() as connection:
        return str([row.value for row in connection.exec_driver_sql("SELECT value FROM ledger_personal")])


@pytest.mark.parametrize("asked", ["Müllerstein", "müllerstein", "MÜLLERSTEIN", "Mu\u0308llerstein", NAME])
def test_a_name_is_found_in_an_event_that_was_refused_however_its_letters_are_written(
    ledger: Ledger, asked: str
) -> None:
    kept = write_json({"body": json.dumps({"to": NAME})})
    ledger.append(TENANT, [refused(f"{NAME} bounces"), refused("x", 2, kept=kept), refused("somebody else", 3)])
    assert "llerstein" in left(ledger)
    assert ledger.erase(TENANT, person=asked) == 2
    assert "llerstein" not in left(ledger)
    assert "somebody else" in left(ledger)
    assert ledger.verify(TENANT) == []


@pytest.mark.parametrize(
    ("person", "text"),
    [
        ("Östlund", "ÖSTLUND is angry"),
        ("Müllerstein", 'the provider said {"name": "M\\u00fcllerstein"}, in the middle'),
        ("Müllerstein", 'the provider said {"body": "{\\"name\\": \\"M\\\\u00FCllerstein\\"}"}'),
        ('Jo "Joe" Smith', json.dumps({"inner": json.dumps({"to": 'Jo "Joe" Smith'})})),
        ("DOMAIN\\user", json.dumps({"login": "DOMAIN\\user"})),
        ("a/b@example.com", '{"to": "a\\/b@example.com"}'),
        ("𠮷野", json.dumps({"to": "𠮷野"})),
    ],
)
def test_a_value_is_found_in_a_reason_in_every_spelling_json_has_for_it(ledger: Ledger, person: str, text: str) -> None:
    events = [
        ("1-0", {"type": "failed", "at": "1", "reason": text}),
        ("2-0", {"type": "failed", "at": "2", "reason": "no"}),
    ]
    ledger.append(TENANT, events)
    assert ledger.erase(TENANT, person=person) == 1
    assert [row.body["reason"] for row in ledger.rows(TENANT)] == ["(erased)", "no"]


def test_nobody_elses_name_goes_with_one_that_only_looks_alike(ledger: Ledger) -> None:
    ledger.append(TENANT, [refused("Muellerstein, Mullerstein and M0llerstein"), refused("100% of Mary_Ann", 2)])
    assert [ledger.erase(TENANT, person=one) for one in ("Müllerstein", "%ller%", "Mary Ann")] == [0, 0, 0]


@pytest.fixture
def open_ledger(tmp_path: Path) -> Ledger:
    """As bot and clock have it: a connection in the pool keeps SQLite's log from being folded at the end."""
    opened = Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    opened.append(TENANT, [(f"{n}-0", {"type": "failed", "at": str(n), "reason": f"{NAME} {n}"}) for n in range(1, 9)])
    return opened


def on_disk(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in tmp_path.glob("ledger.db*") if NAME.encode() in path.read_bytes())


def test_what_was_erased_is_in_no_file_while_others_have_the_ledger_open(open_ledger: Ledger, tmp_path: Path) -> None:
    assert on_disk(tmp_path) != []
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}").engine.connect() as another:
        another.exec_driver_sql("SELECT 1")
        another.rollback()
        assert open_ledger.erase(TENANT, person=NAME) == 8
        assert on_disk(tmp_path) != [], "the log still has it"
        assert swept(open_ledger.engine)
        assert on_disk(tmp_path) == []


def test_a_log_that_somebody_reads_is_not_called_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "LOCK_MS", 20)
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    ledger.append(TENANT, [("1-0", {"type": "failed", "at": "1", "reason": NAME})])
    reader = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM ledger_personal").fetchall()
    ledger.erase(TENANT, person=NAME)
    waits: list[float] = []
    assert not swept(ledger.engine, sleep=waits.append)
    assert len(waits) == databases.SWEEPS - 1, "tried again, and not for ever"
    assert on_disk(tmp_path) != []
    reader.execute("ROLLBACK")
    assert swept(ledger.engine)
    assert on_disk(tmp_path) == []
    reader.close()


def told(home: Path) -> list[tuple[str, str, str]]:
    """The erasures that the ledger knows of: what, who, how many or why."""
    ledger = Ledger.open(f"sqlite:///{home / 'ledger.db'}")
    vobo("ledger", "--newest", "1")  # drains
    rows = ledger.rows(TENANT, types=("erasing", "erased"))
    ledger.engine.dispose()
    return [(row.type, row.body["actor"], row.body["reason"]) for row in rows]


@pytest.fixture
def named(store: Store, home: Path) -> Path:
    """A ledger that names somebody in a reason."""
    paused(store, a_call("call_1"))
    assert reject(store, reason=f"{NAME} bounced").ok
    vobo("ledger")
    return home


def test_an_erasure_notes_who_why_and_what_before_and_how_many_after_and_never_the_value(named: Path) -> None:
    said = vobo("ledger", "erase", "--person", NAME, "--reason", "ticket 12", "--yes")
    assert said.output == (
        "1 personal values and 0 calls kept for simulations were erased. Backups and exports made before still hold"
        " them.\n"
    )
    me = getpass.getuser()
    assert told(named) == [
        ("erasing", me, "values of one person: ticket 12"),
        ("erased", me, "1 personal values and 0 calls kept for simulations, of one person"),
    ]
    assert on_disk(named) == []


def test_why_something_is_forgotten_does_not_say_what(named: Path) -> None:
    said = vobo("ledger", "erase", "--person", NAME, "--reason", f"{NAME.upper()} asked", "--yes")
    assert said.exit_code == 2
    assert "Name a ticket instead" in said.output
    assert told(named) == []


class Killed(BaseException):
    """As a signal that nothing catches."""


def test_an_erasure_that_is_killed_between_its_deletions_is_in_the_ledger_and_repeating_it_finishes_it(
    named: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> int:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Recordings, "erase", killed)
        with pytest.raises(Killed):
            vobo("ledger", "erase", "--person", NAME, "--yes")
    assert [event for event, _, _ in told(named)] == ["erasing"]
    assert vobo("ledger", "erase", "--person", NAME, "--yes").exit_code == 0
    assert [event for event, _, _ in told(named)] == ["erasing", "erasing", "erased"]


def test_an_erasure_that_cannot_be_noted_deletes_nothing(named: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise redis.OutOfMemoryError("OOM command not allowed")

    monkeypatch.setattr(Operators, "note", full)
    said = vobo_refused("ledger", "erase", "--person", NAME, "--yes")
    assert "NOTHING WAS ERASED. The store takes no writes: its memory is full" in said
    assert NAME in left(Ledger.open(f"sqlite:///{named / 'ledger.db'}"))


def test_what_could_not_be_finished_says_what_is_gone_and_to_repeat_it(
    named: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> int:
        raise LedgerUnreachable("The recorded calls could not be written (OperationalError).")

    with monkeypatch.context() as patched:
        patched.setattr(Recordings, "erase", away)
        said = vobo_refused("ledger", "erase", "--person", NAME, "--yes")
    assert "1 personal values were erased, the calls kept for simulations were not: repeat this." in said
    with monkeypatch.context() as patched:
        patched.setattr(databases, "LOCK_MS", 20)
        patched.setattr(databases, "SWEEP_S", 0)
        reader = sqlite3.connect(named / "ledger.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM ledger_personal").fetchall()
        busy = vobo("ledger", "erase", "--person", "U0ANA", "--yes")
        reader.close()
    assert busy.exit_code == 1
    assert "SQLite's log (the file that ends in -wal) still holds them" in busy.output
