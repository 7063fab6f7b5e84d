"""What was shown is never lost because a drainer lacks a key: events wait for it, until somebody gives it up."""

from pathlib import Path
from typing import Any

import pytest
import redis
from click.testing import CliRunner, Result

from approvals.__main__ import cli
from approvals.checkup import undrained
from approvals.drain import drain_once
from approvals.findings import Level
from approvals.ledger import Ledger
from approvals.ledger_rows import ERASED
from approvals.ledger_stream import EventsWait
from approvals.preview import Preview
from approvals.store import Store
from approvals.vault import Vault, new_key
from builders import STATE_KEY, TEAM, TENANT, a_call, a_content, events, owed, paused, start_run

NEW = new_key()
NEW_ID = Vault.from_text(NEW).key_ids[0]
ANNA = "anna@example.com"
ASKED = a_content(
    f'{{"email":"{ANNA}"}}', personal=("/email",), preview=Preview(headline="Mail one", body="Dear Anna, ...")
)


@pytest.fixture
def newer(redis_client: redis.Redis, store: Store) -> Store:
    """A bot or worker that was restarted with a new key, while the clock was not."""
    return restarted(redis_client)


def restarted(client: redis.Redis) -> Store:
    opened = Store.open(client, Vault.from_text(f"{NEW},{STATE_KEY}"), tenant=TENANT)
    opened.people.set_home_team(TEAM)
    return opened


def drain(store: Store, ledger: Ledger) -> None:
    while drain_once(store, ledger):
        continue


def shown(ledger: Ledger) -> str:
    (row,) = ledger.rows(TENANT, types=["proposed"])
    return str(row.shown)


def test_a_clock_without_the_new_key_moves_what_came_before_and_waits_with_the_rest(
    store: Store, newer: Store, ledger: Ledger
) -> None:
    start_run(newer)
    paused(newer, a_call("call_1", content=ASKED))
    waiting = events(store)
    place = waiting.index("proposed")
    for _ in range(2):
        with pytest.raises(EventsWait, match=NEW_ID):
            drain_once(store, ledger)
    assert [row.type for row in ledger.rows(TENANT)] == waiting[:place]
    assert events(store) == [*waiting[place:], "blob_no_key"], "in order, and ops is told once"
    assert len([entry for entry in owed(store) if entry.startswith(f"alert:undrained:{NEW_ID}:")]) == 1
    assert not [entry for entry in owed(store) if entry.startswith("alert:blob:")]

    drain(newer, ledger)
    assert ANNA in shown(ledger)
    assert [row.type for row in ledger.rows(TENANT)] == [*waiting, "blob_no_key"]
    assert ledger.verify(TENANT) == []


def test_what_was_changed_in_redis_is_lost_and_holds_nothing_up(
    store: Store, ledger: Ledger, redis_client: redis.Redis
) -> None:
    paused(store, a_call("call_1", content=ASKED))
    ((place, fields),) = [one for one in store.ledger.read() if one[1]["type"] == "proposed"]
    redis_client.delete(store.keys.ledger)
    redis_client.xadd(store.keys.ledger, {**fields, "call": "call_2"}, id=place)
    drain(store, ledger)
    assert ANNA not in shown(ledger)


@pytest.fixture
def home(shell: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(shell)
    return shell


def vobo(*words: str) -> Result:
    return CliRunner().invoke(cli, words)


@pytest.fixture
def lost(store: Store, newer: Store, home: Path) -> Ledger:
    """A call that waits for a key which the shell does not have."""
    paused(newer, a_call("call_1", content=ASKED))
    return Ledger.open(f"sqlite:///{home / 'ledger.db'}")


def test_a_key_that_is_lost_for_good_is_given_up_by_name_and_with_a_reason(store: Store, lost: Ledger) -> None:
    assert f"--without-key {NEW_ID}" in vobo("ledger", "drain").output
    assert vobo("ledger", "drain", "--without-key", NEW_ID, "--reason", " ").exit_code == 2
    assert "drained_without_key" not in events(store)
    assert lost.rows(TENANT, types=["proposed"]) == []

    said = vobo("ledger", "drain", "--without-key", NEW_ID, "--reason", "the host burnt")
    assert said.exit_code == 0, said.output
    assert events(store) == []
    assert ANNA not in shown(lost)
    assert ERASED in shown(lost)
    (row,) = lost.rows(TENANT, types=["drained_without_key"])
    assert row.body["reason"] == f"the key {NEW_ID}: the host burnt"
    assert row.body["actor"]


@pytest.mark.parametrize("key", ["00000000", Vault.from_text(STATE_KEY).key_ids[0]])
def test_no_other_key_is_given_up(store: Store, lost: Ledger, key: str) -> None:
    said = vobo("ledger", "drain", "--without-key", key, "--reason", "why")
    assert said.exit_code == 2
    assert "Nothing was done." in said.output
    assert "drained_without_key" not in events(store)


def test_a_key_that_is_only_missing_here_is_not_given_up_where_it_is_configured(
    store: Store, lost: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOBO_STATE_KEYS", f"{STATE_KEY},{NEW}")
    assert vobo("ledger", "drain", "--without-key", NEW_ID, "--reason", "why").exit_code == 2
    assert vobo("ledger", "drain").exit_code == 0
    assert ANNA in shown(lost)


def test_whoever_reads_is_told_that_the_newest_events_wait(store: Store, lost: Ledger) -> None:
    for words in (("ledger",), ("export",), ("ledger", "verify")):
        said = vobo(*words)
        assert said.exit_code == 0, said.output
        assert f"Warning: Events wait in Redis and are not in the ledger yet: they need the key {NEW_ID}" in said.output


def test_an_erasure_says_that_what_waits_was_not_reached_and_so_does_the_ledger(
    store: Store, lost: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost.append(TENANT, [("1-0", {"type": "failed", "at": "1", "reason": f"{ANNA} bounced"})])
    said = vobo("ledger", "erase", "--person", ANNA, "--yes")
    assert said.exit_code == 1
    assert "1 personal values and 0 calls kept for simulations were erased. But" in said.output
    assert f"they need the key {NEW_ID}" in said.output
    assert "Once nothing waits any more, repeat this" in said.output

    monkeypatch.setenv("VOBO_STATE_KEYS", f"{STATE_KEY},{NEW}")
    assert vobo("ledger", "erase", "--person", ANNA, "--yes").exit_code == 0
    assert ANNA not in shown(lost)
    vobo("ledger", "drain")
    first, second = (row.body["reason"] for row in lost.rows(TENANT, types=["erased"]))
    assert first.endswith(f"of one person, and not what waits for the key {NEW_ID}")
    assert second.endswith("of one person")


def test_a_long_stream_is_read_in_parts_and_no_further_than_it_takes(
    store: Store, newer: Store, redis_client: redis.Redis
) -> None:
    paused(newer, a_call("call_1", content=ASKED))
    ((_, fields),) = [one for one in store.ledger.read() if one[1]["type"] == "proposed"]
    redis_client.delete(store.keys.ledger)
    stored: dict[Any, Any] = dict(fields)
    with redis_client.pipeline() as pipe:
        for _ in range(1_201):
            pipe.xadd(store.keys.ledger, stored)
        pipe.execute()

    def sent() -> int:
        return int(redis_client.info("stats")["total_net_output_bytes"])

    begun = sent()
    assert [one.level for one in undrained(store)] == [Level.FAILURE]
    looked = sent() - begun
    assert list(store.ledger.needed()) == [NEW_ID] * 1_201
    assert len(store.ledger.of_run(fields["run"])) == 1_201
    assert looked < (sent() - begun) / 4


def test_no_key_may_go_while_events_wait_for_it(store: Store, lost: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    said = vobo("keys", "rewrap")
    assert said.exit_code == 1
    assert "events on their way to the ledger:" in said.output
    assert f"{NEW_ID}  1 calls, 1 events on their way to the ledger" in vobo("keys", "list").output
    assert f"they need the key {NEW_ID}" in vobo("doctor", "--without", "bot", "--without", "worker").output
