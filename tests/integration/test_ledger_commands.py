"""The commands an operator asks the ledger with, as they are typed."""

import csv
import io
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from click.testing import CliRunner, Result
from sqlalchemy import delete

from approvals.__main__ import cli
from approvals.anchoring import Anchoring, anchors
from approvals.anchors import Signer
from approvals.drain import drain_once
from approvals.ledger import Ledger, LedgerRow, LedgerUnreachable
from approvals.ledger_tables import EVENTS
from approvals.store import Store
from approvals.vault import Vault
from builders import (
    ANA,
    BEN,
    STATE_KEY,
    a_call,
    a_content,
    a_requirement,
    approve,
    claim,
    counting_ids,
    edit,
    lease_batch,
    paused,
    reject,
)
from policies.money import eur

TEAM = "T0HOME"
Vobo = Callable[..., Result]


@pytest.fixture
def store(redis_client: redis.Redis) -> Store:
    opened = Store.open(redis_client, Vault.from_text(STATE_KEY), tenant=TEAM, ids=counting_ids())
    opened.people.set_home_team(TEAM)
    opened.ledger.vouch(opened.ledger.server())
    return opened


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'ledger.db'}"


@pytest.fixture
def vobo(valkey_url: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reviewers_text: str) -> Vobo:
    (tmp_path / "reviewers.toml").write_text(reviewers_text)
    monkeypatch.chdir(tmp_path)
    env = {
        "REDIS_URL": valkey_url,
        "VOBO_STATE_KEYS": STATE_KEY,
        "VOBO_LEDGER_URL": url,
        "VOBO_REVIEWERS": str(tmp_path / "reviewers.toml"),
    }

    def run(*arguments: str, code: int = 0, **more: Any) -> Result:
        done = CliRunner().invoke(cli, arguments, env=env, **more)
        assert done.exit_code == code, f"{done.output}\n{done.exception!r}"
        return done

    return run


@pytest.fixture
def reviewers_text() -> str:
    sample = Path(__file__).parents[2] / "policies" / "rules" / "reviewers.toml"
    text = sample.read_text()
    team = next(line for line in text.splitlines() if line.startswith("team"))
    return text.replace(team, f'team = "{TEAM}"')


@pytest.fixture
def story(store: Store) -> None:
    """Ana approves one call, which runs, and edits another; Ben rejects a third with words of a spreadsheet."""

    def refund(amount: int, payment: str) -> Any:
        need = a_requirement(resources=(payment,), counts={"refunds": eur(amount)})
        line = {"amount": {"minor": amount * 100, "currency": "EUR"}, "note": "for Anna"}
        return a_content(json.dumps({"payment_id": payment, **line}), requirement=need, personal=("/note",))

    paused(
        store,
        a_call("call_1", content=refund(99, "pay_1")),
        a_call("call_2", number=2, content=refund(400, "pay_2")),
        a_call("call_3", number=3, content=refund(300, "pay_3")),
    )
    approve(store, "call_1")
    reject(store, "call_2", by=BEN, reason='=HYPERLINK("x")')
    edit(store, "call_3")
    lower = refund(250, "pay_3")
    store.calls.refresh("call_3", version=2, content=lower, seal="seal-2", drift=False)
    claimed = claim(store, lease_batch(store), "call_1")
    store.effects.intend(claimed)
    store.effects.succeed(claimed, receipt="{}")


pytestmark = pytest.mark.usefixtures("story")


def test_who_approved_what_is_one_command(vobo: Vobo) -> None:
    text = vobo("ledger", "--by", ANA, "--type", "approved").output
    assert "U0Ana (U0ANA)" in text
    assert "99.00 EUR" in text
    assert "call_1" in text
    assert "call_2" not in text


def test_the_ledger_is_asked_by_amount_resource_tool_and_time(vobo: Vobo) -> None:
    def calls(*arguments: str) -> set[str]:
        lines = vobo("ledger", "--as", "json", *arguments).output.splitlines()
        return {json.loads(line)["call"] for line in lines if json.loads(line).get("call")}

    assert calls("--over", "300.00 EUR") == {"call_2"}
    assert calls("--resource", "pay_3") == {"call_3"}
    assert calls("--tool", "refund_payments", "--since", "1h") == {"call_1", "call_2", "call_3"}
    assert calls("--until", "1h") == set()
    assert calls("--since", "2000-01-01", "--by", "u0ben") == {"call_2"}


def test_a_name_that_nobody_has_is_met_with_those_that_are_meant(vobo: Vobo) -> None:
    said = vobo("ledger", "--by", "Ana")
    assert (
        'Nobody in the ledger is called Ana; a name is written whole, as it was at the time. Did you mean "U0Ana"'
        in (said.stderr)
    )
    assert said.stdout == "", "no empty table"
    assert "Did you mean" in vobo("ledger", "--by", "u0anna").stderr
    assert vobo("ledger", "--by", "Zoe").stderr.strip().endswith("as it was at the time, or a Slack id (U...).")
    assert vobo("ledger", "--by", "Zoe", "--as", "csv").stdout.startswith("at,type"), "programs get what they expect"
    assert "Nothing that U0ANA did fits the rest" in vobo("ledger", "--by", "U0ANA", "--run", "run_9").stderr
    assert vobo("ledger", "--run", "run_9").stderr == "No event fits.\n"


def test_totals_are_told_tool_by_tool_and_never_added_up(vobo: Vobo) -> None:
    assert "refund_payments: requested 3, approved 2, executed 1, in 3 calls." in vobo("show", "run_1").output


def test_what_cannot_be_read_is_refused_with_an_example(vobo: Vobo) -> None:
    assert "Write 30d" in vobo("ledger", "--since", "yesterday", code=2).output
    assert "250.00 EUR" in vobo("ledger", "--over", "250,00 EUR", code=2).output
    assert "250.00 EUR" in vobo("ledger", "--over", "250", code=2).output


def test_csv_holds_nothing_that_a_spreadsheet_would_run(vobo: Vobo) -> None:
    rows = list(csv.DictReader(io.StringIO(vobo("ledger", "--as", "csv").output)))
    rejected = next(row for row in rows if row["type"] == "rejected")
    assert rejected["reason"] == '\'=HYPERLINK("x")'
    assert (rejected["amount"], rejected["currency"], rejected["resources"]) == ("400.00", "EUR", "pay_2")


def test_the_story_of_a_run_tells_what_was_requested_approved_and_executed(vobo: Vobo) -> None:
    text = " ".join(vobo("show", "run_1").output.split())
    for told in (
        "run started",
        "approved",
        "as requested",
        "+ amount: 250.00 EUR",
        "- amount: 300.00 EUR",
        "version 1",
    ):
        assert told in text
    assert "for Anna" not in text
    assert "for Anna" in " ".join(vobo("show", "run_1", "--personal").output.split())
    assert "knows no run run_9" in vobo("show", "run_9", code=1).output


def test_a_table_shows_the_newest_events_and_says_that_there_are_more(
    vobo: Vobo, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = vobo("ledger", "--as", "json").stdout.splitlines()
    few = vobo("ledger", "--as", "json", "--newest", "3")
    assert few.stdout.splitlines() == everything[-3:]
    assert "These are the newest 3." in few.stderr
    assert vobo("ledger", "--newest", str(len(everything))).stderr == ""
    monkeypatch.setattr("approvals.commands.ledger.IN_A_TABLE", 2)
    assert "These are the newest 2." in vobo("ledger").stderr
    assert vobo("ledger", "--as", "json").stdout.splitlines() == everything, "a file is whole"


def test_a_question_reads_some_rows_at_a_time_and_has_the_same_answer(
    vobo: Vobo, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("ledger", "--by", "U0Ana", "--as", "json")
    whole = vobo(*asked).output
    monkeypatch.setattr("approvals.ledger.AT_ONCE", 1)
    assert vobo(*asked).output == whole != ""


def test_an_export_is_written_to_a_file_and_its_schema_is_printed(vobo: Vobo, tmp_path: Path) -> None:
    told = vobo("export", "--out", str(tmp_path / "ledger.jsonl")).output
    lines = (tmp_path / "ledger.jsonl").read_text().splitlines()
    assert f"{len(lines)} events" in told
    assert {json.loads(line)["schema"] for line in lines} == {"vobo.ledger/1"}
    assert json.loads(vobo("export", "--schema").output)["$id"] == "vobo.ledger/1"
    assert vobo("export", "--until", "1h").output == ""


def test_an_export_takes_the_place_of_an_earlier_one_only_once_it_is_whole(
    vobo: Vobo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "ledger.jsonl"
    out.write_text("of last week\n")

    def breaks_off(self: Ledger, tenant: str, **_: Any) -> Iterator[list[LedgerRow]]:
        yield self.rows(tenant)[:1]
        raise LedgerUnreachable("The ledger could not be read.")

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "pages", breaks_off)
        assert isinstance(vobo("export", "--out", str(out), code=1).exception, LedgerUnreachable)
    assert out.read_text() == "of last week\n"
    assert [path.name for path in tmp_path.iterdir() if "jsonl" in path.name] == [out.name]
    vobo("export", "--out", str(out))
    assert "run_started" in out.read_text()
    assert out.stat().st_mode & 0o077 == 0, "it holds what was asked and shown"


def test_an_export_goes_through_a_link_and_into_a_pipe_and_replaces_neither(vobo: Vobo, tmp_path: Path) -> None:
    link, pipe = tmp_path / "newest.jsonl", tmp_path / "pipe"
    link.symlink_to(tmp_path / "of-today.jsonl")
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for out in (link, pipe):
        vobo("export", "--out", str(out))
    assert link.is_symlink()
    assert os.read(reading, 1 << 16)[:40] == (tmp_path / "of-today.jsonl").read_bytes()[:40] != b""
    assert pipe.is_fifo()
    os.close(reading)


def test_an_export_that_cannot_be_written_says_why_and_where(vobo: Vobo, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    told = vobo("export", "--out", str(tmp_path / "taken" / "ledger.jsonl"), code=1).output
    assert "was not written" in told
    assert "Name another file" in told


def test_a_whole_ledger_says_so_and_names_its_newest_anchor(vobo: Vobo, store: Store, url: str) -> None:
    assert "No anchor was made yet" in vobo("ledger", "verify").output
    ledger, signer = Ledger.open(url), Signer.of(Vault.from_text(STATE_KEY))
    Anchoring(store, ledger, signer, every_ms=0)()
    (anchor,) = anchors(ledger, TEAM)
    assert f"Signed up to row {anchor.seq}, anchors made: 1" in vobo("ledger", "verify", "--anchor", anchor.text).output
    assert vobo("ledger", "key").output.strip() == anchor.key == signer.trusted[0]
    with ledger.engine.begin() as connection:
        connection.execute(delete(EVENTS).where(EVENTS.c.seq == anchor.seq))
    text = vobo("ledger", "verify", "--anchor", f"`{anchor.text}`", code=1).output
    assert f"As posted: Anchor 1 vouches for row {anchor.seq}, which is gone." in text
    ledger.engine.dispose()


def test_an_erasure_is_asked_about_first_is_in_the_ledger_and_names_nobody(vobo: Vobo, store: Store, url: str) -> None:
    vobo("ledger")
    assert "Aborted" in vobo("ledger", "erase", "--person", ANA, code=1, input="n\n").output
    assert "were erased" in vobo("ledger", "erase", "--person", ANA, "--yes").output
    assert "(erased) (U0ANA)" in vobo("ledger", "--by", ANA).output
    assert "is whole" in vobo("ledger", "verify").output
    (event,) = [json.loads(line) for line in vobo("ledger", "--as", "json", "--type", "erased").output.splitlines()]
    assert event["reason"].endswith("of one person")
    assert "Say whose" in vobo("ledger", "erase", "--yes", code=2).output
    assert "at least 4" in vobo("ledger", "erase", "--person", "An ", "--yes", code=2).output
    drain_once(store, Ledger.open(url))


def test_a_report_is_one_page(vobo: Vobo, tmp_path: Path) -> None:
    assert "3 calls were asked about" in vobo("report", "--since", "30d", "--out", str(tmp_path / "r.html")).output
    text = (tmp_path / "r.html").read_text()
    assert "<b>3</b><span>calls asked" in text
    told = vobo("report", "--out", str(tmp_path / "r.html"), "--png", str(tmp_path / "r.png")).output
    assert "refund_payments: " in told
    assert (tmp_path / "r.png").read_bytes().startswith(b"\x89PNG")
    assert "refund_payments" in text
