"""What operators type."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import redis
from click.testing import CliRunner, Result

from approvals.__main__ import cli
from approvals.ledger import Ledger
from approvals.outcomes import Outcome
from approvals.queue import build_worker, queue_name
from approvals.store import Store
from approvals.switches import Freeze, Switches
from approvals.vault import Vault
from builders import a_call, approve, lease_batch, paused, try_claim


@pytest.fixture
def home(shell: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VOBO_RULES", "policies.rules")
    return shell


def vobo(*words: str) -> Result:
    return CliRunner().invoke(cli, words, catch_exceptions=False)


def decided(store: Store) -> None:
    paused(store, a_call("call_1"))
    assert approve(store).outcome is Outcome.OK


def test_freeze_stops_claims_at_once_and_needs_a_reason(store: Store, home: Path) -> None:
    decided(store)
    lease = lease_batch(store)
    assert "Missing option '--reason'" in vobo("freeze").output
    said = vobo("freeze", "--reason", "a provider doubles refunds")
    assert (said.exit_code, said.output.startswith("Frozen: nothing is claimed")) == (0, True)
    assert "a provider doubles refunds" in (store.switches.frozen() or "")
    assert try_claim(store, lease)[0].outcome is Outcome.FROZEN


def test_unfreeze_asks_for_a_look_or_a_reason_first(store: Store, home: Path) -> None:
    store.switches.freeze("vobo", "Redis is older than the ledger")
    refused = vobo("unfreeze")
    assert refused.exit_code == 2
    assert "Redis is older than the ledger" in refused.output
    assert "--reconciled" in refused.output
    assert vobo("unfreeze", "--reason", "  ").exit_code == 2
    assert store.switches.frozen() is not None


def test_who_freezes_what_is_frozen_is_told_so_and_noted(store: Store, home: Path) -> None:
    store.switches.freeze("olga", "upgrade")
    said = vobo("freeze", "--reason", "refunds look wrong")
    assert said.exit_code == 0
    assert "by olga: upgrade" in said.output
    assert [one.reason for one in store.switches.freezes()] == ["upgrade", "refunds look wrong"]
    told = vobo("doctor").output
    assert "by olga: upgrade; by " in told
    assert "refunds look wrong" in told


def test_a_word_about_something_else_does_not_lift_what_the_guard_found(store: Store, home: Path) -> None:
    store.switches.freeze("olga", "upgrade")
    store.switches.guard("Redis is older than the ledger")
    refused = vobo("unfreeze", "--reason", "upgraded")
    assert refused.exit_code == 2
    assert "by vobo: Redis is older than the ledger" in refused.output
    assert "--reconciled" in refused.output
    assert vobo("unfreeze", "--reason", "upgraded", "--number", "2").exit_code == 2
    assert len(store.switches.freezes()) == 2
    lifted = vobo("unfreeze", "--reason", "upgraded, compared", "--reconciled", "--number", "2")
    assert lifted.output.startswith("Unfrozen")
    assert "by olga: upgrade\n" in lifted.output
    assert "by vobo: Redis is older than the ledger\n" in lifted.output
    assert store.switches.frozen() is None


@pytest.mark.parametrize("looked", [(), ("--reconciled",)], ids=["not compared", "compared"])
@pytest.mark.parametrize("number", [(), ("--number", "1"), ("--number", "3")], ids=["no number", "one", "three"])
def test_whoever_was_not_shown_every_reason_lifts_none_and_is_shown_them(
    store: Store, home: Path, looked: tuple[str, ...], number: tuple[str, ...]
) -> None:
    store.switches.freeze("olga", "upgrade")
    store.switches.freeze("bruno", "refunds look wrong")
    refused = vobo("unfreeze", "--reason", "upgraded", *looked, *number)
    assert refused.exit_code == 2
    assert "frozen for 2 reasons" in refused.output
    assert "by olga: upgrade\n" in refused.output
    assert "by bruno: refunds look wrong\n" in refused.output
    assert "--number 2" in refused.output
    assert len(store.switches.freezes()) == 2
    assert vobo("unfreeze", "--reason", "upgraded", *looked, "--number", "2").output.startswith("Unfrozen")
    assert store.switches.frozen() is None


def test_a_number_of_reasons_of_which_all_but_one_were_lifted_meanwhile_lifts_nothing(store: Store, home: Path) -> None:
    store.switches.freeze("bruno", "refunds look wrong")
    refused = vobo("unfreeze", "--reason", "upgraded", "--number", "2")
    assert refused.exit_code == 2
    assert "by bruno: refunds look wrong\n" in refused.output
    assert store.switches.frozen() is not None


@pytest.mark.parametrize(
    ("look", "refusal"),
    [(1, (2, "repeat this with --reconciled and --number 2")), (2, (1, "Nothing was lifted"))],
    ids=["after the first look", "after the last one"],
)
def test_a_reason_that_came_while_somebody_lifted_another_one_stays(
    store: Store, home: Path, monkeypatch: pytest.MonkeyPatch, look: int, refusal: tuple[int, str]
) -> None:
    store.switches.freeze("olga", "upgrade")
    real, looks = Switches.freezes, iter((1, 2))

    def then_something_is_found(self: Switches) -> tuple[Freeze, ...]:
        seen = real(self)
        if next(looks) == look:
            store.switches.guard("Redis is older than the ledger")
        return seen

    monkeypatch.setattr(Switches, "freezes", then_something_is_found)
    refused = vobo("unfreeze", "--reason", "upgraded")
    code, words = refusal
    assert refused.exit_code == code
    assert words in " ".join(refused.output.split())
    assert len(real(store.switches)) == 2


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--reconciled",), "reconciled"),
        (("--reason", "a drill"), "a drill"),
        (("--reconciled", "--reason", "two refunds settled"), "reconciled; two refunds settled"),
    ],
)
def test_unfreezing_lets_claims_happen_and_is_in_the_ledger_with_its_reason(
    store: Store, home: Path, words: tuple[str, ...], why: str
) -> None:
    decided(store)
    lease = lease_batch(store)
    store.switches.freeze("ops", "x")
    assert vobo("unfreeze", *words).output.startswith("Unfrozen")
    assert try_claim(store, lease)[0].outcome is Outcome.OK
    (row,) = [json.loads(line) for line in vobo("ledger", "--type", "unfrozen", "--as", "json").output.splitlines()]
    assert row["reason"] == why
    assert vobo("unfreeze", "--reconciled").output == "Nothing is frozen.\n"


def test_show_tells_the_story_of_a_run_also_before_the_clock_has_drained_it(store: Store, home: Path) -> None:
    decided(store)
    told = vobo("show", "run_1")
    assert told.exit_code == 0
    for word in ("Run run_1", "proposed", "approved", "U0Ana", "call_1", "refund_payments"):
        assert word in told.output


def test_show_of_an_unknown_run_says_how_to_find_one(store: Store, home: Path) -> None:
    told = vobo("show", "run_9")
    assert (told.exit_code, told.output) == (1, "Error: The ledger knows no run run_9. `vobo ledger` lists them.\n")


def test_the_ledger_is_narrowed_by_person_run_and_kind(store: Store, home: Path) -> None:
    decided(store)
    rows = [json.loads(line) for line in vobo("ledger", "--by", "U0ANA", "--as", "json").output.splitlines()]
    assert [(row["type"], row["call"], row["actor"]) for row in rows] == [("approved", "call_1", "U0ANA")]
    assert vobo("ledger", "--run", "run_2", "--as", "json").output == ""
    header, line = vobo("ledger", "--type", "approved", "--as", "csv").output.splitlines()
    assert header.startswith("at,type,run,call,tool,actor,name,reason,cause,seal")
    assert ",approved,run_1,call_1,refund_payments,U0ANA," in line
    assert "approved" in vobo("ledger").output


def test_verify_finds_a_row_that_somebody_changed(store: Store, home: Path) -> None:
    decided(store)
    vobo("ledger")
    assert vobo("ledger", "verify").output.startswith("The ledger is whole")
    ledger = Ledger.open(f"sqlite:///{home / 'ledger.db'}")
    with ledger.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger_events SET body = replace(body, 'U0ANA', 'U0BEN')")
    found = vobo("ledger", "verify")
    assert found.exit_code == 1
    assert "was changed" in found.output


def test_a_new_key_is_one_that_the_vault_takes(home: Path) -> None:
    assert Vault.from_text(vobo("keys", "new").output.strip())


def test_a_wrong_environment_is_one_sentence_and_no_traceback(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VOBO_STATE_KEYS")
    ran = subprocess.run(
        [sys.executable, "-m", "approvals", "ledger"], capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.returncode == 1
    assert "VOBO_STATE_KEYS is not set" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_run_can_be_started_from_the_shell(store: Store, home: Path) -> None:
    words = ("start", "refund them", "--channel", "C0PAY", "--requester", "U0REQ", "--once", "nightly-2026-11-29")
    assert "is queued by" in vobo(*words).output
    assert "nothing new was started" in vobo(*words).output
    started = [fields for _, fields in store.ledger.read() if fields["type"] == "run_started"]
    assert len(started) == 1
    run = store.runs.load(started[0]["run"])
    assert run is not None
    assert (run.request, run.requester, run.channel) == ("refund them", "U0REQ", "C0PAY")


def test_whoever_starts_a_run_that_nobody_will_take_up_is_told(store: Store, home: Path, valkey_url: str) -> None:
    words = ("start", "refund them", "--channel", "C0PAY", "--requester", "U0REQ")
    bot, worker = "Start one: python -m bot.", "Start one: python -m worker."
    said = vobo(*words)
    assert said.exit_code == 0
    assert [bot in said.stderr, worker in said.stderr] == [True, True]

    assert store.outbox.lead("a-relay", ttl_ms=20_000)
    build_worker(redis.Redis.from_url(valkey_url), store.runs.vault, queue_name(store.tenant)).register_birth()
    assert vobo(*words).stderr == ""
    store.outbox.lead("a-relay", ttl_ms=0)
    assert [bot in (said := vobo(*words)).stderr, worker in said.stderr] == [True, False]
