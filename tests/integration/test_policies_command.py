"""What a team types before it changes the law."""

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from click.testing import CliRunner, Result

from approvals.__main__ import cli
from approvals.drain import drain_once
from approvals.errors import ApprovalsError
from approvals.ledger import Ledger
from approvals.recordings import KEPT_MS, Recordings
from approvals.settings import SettingsRefused
from approvals.vault import Vault, new_key
from builders import STATE_KEY
from policies.law import load_law
from workshop import ANA, REVIEWERS, TEAM, Line, Ship, Workshop, saying, shipping

RULES = '''
from policies.arguments import Arguments
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import Facts, rule

class Line(Arguments):
    item: str
    count: int

class Ship(Arguments):
    """Send items away."""
    lines: list[Line]

class Stock(Facts):
    owner_of: dict[str, str]

@rule(Ship, Stock, risk=Risk.IRREVERSIBLE)
def ship(ask, so_far):
    count = sum(line.count for line in ask.args.lines)
    items = tuple(line.item for line in ask.args.lines)
    need = Requirement(radius="stock", resources=items).auto_when(count <= MOST, f"At most {MOST} items.")
    return need.needs("desk", because="Many items.")
'''


@pytest.fixture
def home(tmp_path: Path, valkey_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The environment of a shell, and a law of one rule in it."""
    (tmp_path / "reviewers.toml").write_text(REVIEWERS)
    (tmp_path / "shipping_law.py").write_text(f"MOST = 1\n{RULES}")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, value in {
        "REDIS_URL": valkey_url,
        "VOBO_STATE_KEYS": STATE_KEY,
        "VOBO_REVIEWERS": str(tmp_path / "reviewers.toml"),
        "VOBO_RULES": "shipping_law",
        "VOBO_LEDGER_URL": f"sqlite:///{tmp_path / 'ledger.db'}",
        "COLUMNS": "220",
    }.items():
        monkeypatch.setenv(name, value)
    yield tmp_path
    __import__("sys").modules.pop("shipping_law", None)


def vobo(*words: str, **typed: str) -> Result:
    return CliRunner().invoke(cli, words, catch_exceptions=False, **typed)


def draft(home: Path, most: int) -> str:
    folder = home / "candidate"
    folder.mkdir(exist_ok=True)
    (folder / "shipping.py").write_text(f"MOST = {most}\n{RULES}")
    return str(folder)


def on_file(home: Path, name: str, value: object) -> str:
    (home / name).write_text(value if isinstance(value, str) else json.dumps(value))
    return str(home / name)


def test_the_table_says_when_a_tool_runs_unasked_and_who_is_asked_otherwise(home: Path) -> None:
    said = vobo("policies", "table").output
    (row,) = [line for line in said.splitlines() if "│ ship" in line]
    cells = [cell.strip() for cell in row.strip("│").split("│")]
    assert cells == ["ship", "irreversible", "At most 1 items.", "desk: U0ANA, U0BEN or U0LEA", "none"]
    assert "any other tool │ irreversible │ never" in said


def test_explain_prints_the_reasons_as_a_tree(home: Path) -> None:
    args = on_file(home, "args.json", {"lines": [{"item": "cup", "count": 3}]})
    facts = on_file(home, "facts.json", {"owner_of": {"cup": "ann"}})
    said = vobo(
        "policies", "explain", "--tool", "ship", "--args", args, "--facts", facts, "--at", "2026-10-23T10:00:00"
    )
    version = load_law(["shipping_law"], REVIEWERS).version
    assert said.output == textwrap.dedent(f"""\
        ship asks desk: U0ANA, U0BEN or U0LEA
        ├── because
        │   └── Many items.
        ├── risk: irreversible; no undo
        ├── blast radius: stock
        ├── touches: cup
        ├── time to decide: 15 minutes; an approval then holds 60 minutes
        └── law {version}
    """)


@pytest.mark.parametrize(
    ("args", "head", "reason"),
    [
        ({"lines": [{"item": "cup", "count": 1}]}, "ship runs unasked", "At most 1 items."),
        ({"lines": [{"item": "cup", "count": "1"}]}, "ship is refused, whoever would approve",
         '/lines/0/count must be a whole number, not the text "1".'),
        ("{", "ship is refused, whoever would approve", ""),
    ],
)  # fmt: skip
def test_explain_tells_what_is_not_asked_too(home: Path, args: object, head: str, reason: str) -> None:
    facts = on_file(home, "facts.json", {"owner_of": {"cup": "ann"}})
    said = vobo(
        "policies", "explain", "--tool", "ship", "--args", on_file(home, "args.json", args), "--facts", facts
    ).output
    assert said.startswith(head)
    assert reason in said


def test_explain_without_facts_says_that_nobody_knows_them(home: Path) -> None:
    args = on_file(home, "args.json", {"lines": [{"item": "cup", "count": 1}]})
    said = vobo("policies", "explain", "--tool", "ship", "--args", args).output
    assert said.startswith("ship asks leads: U0LEA or U0BEN")
    assert "No facts were given (--facts file.json, as Stock), so the strictest tier decides." in said
    said = vobo("policies", "explain", "--tool", "mystery", "--args", args).output
    assert "No rule covers mystery, so the strictest tier decides." in said


def history(workshop: Workshop) -> None:
    """One call ran unasked; of three that were asked about, one was approved, one rejected, one edited."""
    workshop.script.extend(
        [
            [shipping(("cup", 1))],
            [shipping((item, count), call_id=item) for item, count in (("cup", 2), ("pot", 3), ("pan", 2))],
            [saying()],
        ]
    )
    workshop.start()
    workshop.execute()
    workshop.advance()
    approved, rejected, edited = workshop.calls()
    assert workshop.decide(approved).ok
    assert workshop.decide(rejected, "reject", reason="no").ok
    assert workshop.edit(edited, Ship(lines=[Line(item="pan", count=1)])).ok
    workshop.refresh(edited)
    workshop.execute()
    workshop.advance()


def test_simulate_tells_what_would_be_asked_saved_and_let_through(home: Path, workshop: Workshop) -> None:
    history(workshop)
    said = vobo("policies", "simulate", draft(home, 2), "--since", "30d").output
    lines = said.splitlines()
    assert lines[0].startswith("4 calls of the last 30d, judged by law ")
    assert lines[1] == "Asked: 3 then, 1 now."
    assert lines[-1] == "Cards: 2 then, 1 now."
    assert "Would have been asked: 0." in lines
    assert "Would have been saved: runs unasked: 2." in lines
    assert "Would have been refused: 0." in lines
    assert "Would have been LET THROUGH although a person rejected or edited it: 1." in lines
    (row,) = [line for line in lines[lines.index(
        "Would have been LET THROUGH although a person rejected or edited it: 1.") :] if "run_1" in line]  # fmt: skip
    assert "edited" in row
    assert "At most 2 items." in row


def test_simulate_tells_what_a_stricter_law_would_have_asked(home: Path, workshop: Workshop) -> None:
    history(workshop)
    said = vobo("policies", "simulate", draft(home, 0)).output
    assert "Asked: 3 then, 4 now." in said
    assert "Would have been asked: 1." in said
    assert "LET THROUGH although a person rejected or edited it: 0." in said


BRACKETED = "Many [/urgent] [black on black]items[/] :warning: [link=x]"


@pytest.fixture
def bracketed(home: Path) -> Path:
    """The law's own words look like markup of a terminal."""
    law = home / "shipping_law.py"
    declared = "@rule(Ship, Stock, risk=Risk.IRREVERSIBLE)"
    text = law.read_text().replace("Many items.", BRACKETED)
    law.write_text(text.replace(declared, f'@rule(Ship, Stock, risk=Risk.REVERSIBLE, undo="{BRACKETED}")'))
    return home


def test_words_of_a_team_or_a_person_are_no_markup(bracketed: Path, workshop: Workshop) -> None:
    assert BRACKETED in vobo("policies", "table").output
    args = on_file(bracketed, "args.json", {"lines": [{"item": "[/cup]", "count": 3}]})
    facts = on_file(bracketed, "facts.json", {"owner_of": {"[/cup]": "ann"}})
    said = vobo("policies", "explain", "--tool", "ship", "--args", args, "--facts", facts).output
    assert f"└── {BRACKETED}\n" in said
    assert f"undo: {BRACKETED}" in said
    assert "touches: [/cup]" in said


def test_neither_are_the_reasons_in_a_simulation(
    home: Path, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "900")  # so that no cell is wrapped
    history(workshop)
    place = draft(home, 2)
    for law in Path(place).glob("*.py"):
        law.write_text(law.read_text().replace("At most {MOST} items.", BRACKETED))
    assert BRACKETED in vobo("policies", "simulate", place).output


@pytest.mark.parametrize("named", ["VOBO_REVIEWERS", "candidate", "--reviewers"])
def test_a_list_of_people_that_cannot_be_read_is_named(home: Path, workshop: Workshop, named: str) -> None:
    place = draft(home, 2)
    bad = {"VOBO_REVIEWERS": home, "candidate": Path(place), "--reviewers": home / "other"}[named] / "reviewers.toml"
    bad.parent.mkdir(exist_ok=True)
    bad.write_bytes(b"team = \xff")
    chosen = ("--reviewers", str(bad)) if named == "--reviewers" else ()
    called = place if named == "candidate" else named
    with pytest.raises(SettingsRefused, match=f"^{called} names .*which cannot be read \\(it is no UTF-8 text\\)"):
        vobo("policies", "simulate", place, *chosen)


def test_a_recorded_call_is_readable_to_nobody_without_the_keys(home: Path, workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    ledger = Ledger.open(f"sqlite:///{home / 'ledger.db'}")
    while drain_once(workshop.store, ledger):
        continue
    stored = ledger.engine.raw_connection().execute("select blob from recorded_calls").fetchall()
    assert len(stored) == 1
    assert b"cup" not in stored[0][0]
    own = Recordings(ledger.engine, Vault.from_text(STATE_KEY)).since(TEAM, 0)
    assert [call.requested for call in own.calls] == ['{"lines":[{"item":"cup","count":3}]}']
    other = Recordings(ledger.engine, Vault.from_text(new_key())).since(TEAM, 0)
    assert (other.calls, other.unreadable) == ((), 1)


def test_a_recorded_call_is_forgotten_after_a_month(home: Path, workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    ledger = Ledger.open(f"sqlite:///{home / 'ledger.db'}")
    while drain_once(workshop.store, ledger):
        continue
    recordings = Recordings(ledger.engine, Vault.from_text(STATE_KEY))
    assert recordings.forget(workshop.store.now() - KEPT_MS) == 0
    assert recordings.forget(workshop.store.now() + 1) == 1


def test_who_may_not_start_runs_is_refused_at_the_command_line_too(home: Path, workshop: Workshop) -> None:
    words = ("start", "ship it", "--channel", "C0PAY", "--requester", "U0ROSA", "--agent", "desk")
    assert "is queued" in vobo(*words).output
    (home / "reviewers.toml").write_text(REVIEWERS + f'[agents.desk]\nstarters = ["{ANA}", "S0DESK"]\n')
    said = vobo(*words)
    assert said.exit_code == 1
    assert said.output == (
        "Error: U0ROSA may not start this run: You may not start runs with the agent desk. Ask ops to add you to its"
        " starters.\n"
    )
    workshop.see("U0ROSA", usergroups=("S0DESK",))
    assert "is queued" in vobo(*words).output
    workshop.see("U0ROSA", usergroups=("S0DESK",), deactivated=True)
    assert "This account is deactivated" in vobo(*words).output


def test_a_refused_command_leaves_no_connection_open_either(home: Path, redis_client: redis.Redis) -> None:
    def connections() -> int:
        return int(redis_client.info("clients")["connected_clients"])

    (home / "reviewers.toml").write_text(REVIEWERS + f'[agents.desk]\nstarters = ["{ANA}"]\n')
    before = connections()
    said = vobo("start", "ship it", "--channel", "C0PAY", "--requester", "U0ROSA", "--agent", "desk")
    assert said.exit_code == 1  # what was raised keeps everything alive that it passed
    assert connections() == before


def test_a_candidate_that_does_not_exist_or_load_is_named(home: Path, redis_client: redis.Redis) -> None:
    with pytest.raises(SettingsRefused) as refused:
        vobo("policies", "simulate", "no/such/place")
    assert str(refused.value) == "There is no directory no/such/place. Name a directory with rule modules, or a module."
    assert (
        "'soon' is not a time; write for example 36h or 30d."
        in vobo("policies", "simulate", draft(home, 1), "--since", "soon").output
    )


def test_check_names_what_cannot_work_and_what_may_surprise(home: Path, workshop: Workshop) -> None:
    workshop.store.switches.set_worker("v1", ["ship", "label"])
    text = REVIEWERS.replace('users = ["U0LEA", "U0BEN"]', "") + (
        "[tiers.spare]\nusers = ['U0ANA']\n[deadlines]\noutside_minutes = 1440\n"
    )
    (home / "reviewers.toml").write_text(text)
    said = vobo("policies", "check")
    assert said.exit_code == 1
    cut = "but with lapse_minutes = 60 a card may wait 1380 minutes at most; so long it will be."
    assert said.output.splitlines() == [
        "reviewers.toml: the tier leads has nobody in it; name users or usergroups.",
        "Note: reviewers.toml: nothing ever asks the tier spare; no rule needs it and no tier escalates to it.",
        f"Note: reviewers.toml: outside_minutes is 1440, {cut}",
        "Note: The tool label has no rule, so all its calls ask the strictest tier, leads.",
    ]  # fmt: skip


def test_check_finds_an_amount_that_nobody_may_approve_and_says_it_once(
    home: Path, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.store.switches.set_worker("v1", ["refund_payments"])
    text = (Path(__file__).parents[2] / "policies" / "rules" / "reviewers.toml").read_text()
    monkeypatch.setenv("VOBO_RULES", "policies.rules")
    (home / "reviewers.toml").write_text(text)
    assert vobo("policies", "check").exit_code == 0
    (home / "reviewers.toml").write_text(text.replace('"5000.00"', '"1000.00"'))
    said = vobo("policies", "check")
    assert said.exit_code == 1
    told = "lets up to 5,000.00 EUR be asked, but two people of billing may approve 1,000.00 EUR at most."
    assert said.output.count(told) == 1
    assert "keeps calls from being decided" not in said.output


def test_a_law_that_always_asks_is_called_a_form(home: Path, workshop: Workshop) -> None:
    always = RULES.replace('.auto_when(count <= MOST, f"At most {MOST} items.")', "")
    for name in ("ship", "send", "sell"):
        (home / "candidate").mkdir(exist_ok=True)
        (home / "candidate" / f"{name}.py").write_text(always.replace("def ship", f"def {name}"))
    said = vobo("policies", "check", "--candidate", str(home / "candidate")).output
    assert (
        "Note: 3 of 3 tools always ask somebody. That is a form, not an agent: let what is small or can be undone run,"
        " with .auto_when(...)."
    ) in said


def test_init_writes_a_law_that_loads_and_in_which_everything_irreversible_asks(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = home / "new"
    words = ("--into", str(where), "--team", TEAM, "--reviewer", ANA, "--reviewer", "U0BEN", "--tool", "send_parcel")
    assert vobo("init", *words).exit_code == 0
    monkeypatch.syspath_prepend(str(where))
    monkeypatch.setenv("VOBO_RULES", "rules")
    monkeypatch.setenv("VOBO_REVIEWERS", str(where / "reviewers.toml"))
    law = load_law(["rules"], (where / "reviewers.toml").read_text())
    assert law.problems() == ()
    (row,) = [line for line in vobo("policies", "table").output.splitlines() if "│ send_parcel" in line]
    assert [cell.strip() for cell in row.strip("│").split("│")] == [
        "send_parcel", "irreversible", "never", "reviewers: U0ANA or U0BEN", "none",
    ]  # fmt: skip
    with pytest.raises(SettingsRefused, match="exists already, and nothing is overwritten"):
        vobo("init", *words)


def test_init_asks_for_what_was_not_given(home: Path) -> None:
    said = vobo("init", "--into", str(home / "new"), input=f"{TEAM}\nsend_parcel\nU0ANA, U0BEN\n")
    assert said.exit_code == 0
    assert 'users = ["U0ANA", "U0BEN"]' in (home / "new" / "reviewers.toml").read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--tool", "Send Mail"), "'Send Mail' cannot be the name of a tool"),
        (("--tool", "send", "--ops", "@lea"), "'@lea' is not a Slack user id; ids look like U0123ABCD, not @name."),
        (("--tool", "send", "--zone", "Mars"), "'Mars' is not a time zone"),
    ],
)
def test_init_refuses_what_could_not_be_law(home: Path, words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises((ApprovalsError, ValueError)) as refused:
        vobo("init", "--into", str(home / "new"), "--team", TEAM, "--reviewer", ANA, *words)
    assert sentence in str(refused.value)
    assert not (home / "new").exists()
