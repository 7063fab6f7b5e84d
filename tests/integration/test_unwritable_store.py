"""A store that answers everything and takes no writes: it is seen everywhere, and nothing can begin meanwhile."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import redis
from click.testing import CliRunner

from approvals import valkey
from approvals.__main__ import cli
from approvals.findings import Level, from_json
from approvals.lifecycle import State, UndoState
from approvals.outcomes import Answer, Outcome
from approvals.redis_check import connect
from approvals.redis_refusals import StoreUnusable
from approvals.store import Store
from approvals.store_checks import NEARLY_FULL, of_memory, store_checks
from approvals.undos import undo_seal
from approvals.usable import Memory, memory, require_usable, trouble, why_unusable
from broken_stores import WAYS, full, unable_to_save
from builders import ANA, LONG, a_call, a_store, approve, claim, lease_batch, loaded, paused, reject
from tests.integration.test_metrics import scrape
from undos import FIRST, ran


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A server of this file's own, which no signal about a full disk ends."""
    data = Path(tempfile.mkdtemp(prefix="vk-"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(valkey.subprocess, "Popen", partial(subprocess.Popen, restore_signals=False))
        url = valkey.ensure_server(data).url
    try:
        yield url
    finally:
        valkey.stop_server(data)
        shutil.rmtree(data)


@pytest.fixture
def client(server: str) -> Iterator[redis.Redis]:
    client = connect(server)
    client.flushall()
    yield client
    client.close()


@pytest.fixture
def own(client: redis.Redis) -> Store:
    return a_store(client)


@pytest.fixture
def shell_of_it(shell: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REDIS_URL", server)
    monkeypatch.chdir(shell)
    return shell


def told(*words: str) -> dict[str, Level]:
    """What `vobo doctor` says about redis."""
    said = CliRunner().invoke(cli, ("doctor", "--without", "bot", "--without", "worker", "--json"))
    return {str(one): one.level for one in from_json(said.output) if one.about == "redis"}


@pytest.mark.parametrize("way", WAYS)
def test_readiness_says_why_it_takes_no_writes_and_what_to_do_and_is_well_again_afterwards(
    own: Store, client: redis.Redis, way: str
) -> None:
    assert why_unusable(own) is None
    with WAYS[way](client):
        assert client.time()
        said = why_unusable(own)
        assert said is not None
        assert said.startswith("the store takes no writes: ")
        assert way in said
        found = trouble(own)
        assert found is not None
        assert found.fix.endswith(".")
        with pytest.raises(StoreUnusable, match=way):
            require_usable(own)
    assert why_unusable(own) is None


@pytest.mark.parametrize("way", WAYS)
def test_nothing_can_be_decided_and_no_effect_can_begin_while_the_store_takes_no_writes(
    own: Store, client: redis.Redis, way: str
) -> None:
    paused(own, a_call("call_1"), a_call("call_2", number=2), a_call("call_3", batch="batch_b"))
    assert approve(own, "call_1").ok
    assert approve(own, "call_2").ok
    lease = lease_batch(own)
    begun = claim(own, lease, "call_1")
    ana = own.people.get(ANA)
    assert ana

    def claim_the_second() -> Answer:
        taking = {"lease": lease, "token": "gate", "seal": loaded(own, "call_2").seal, "ttl_ms": LONG}
        return own.effects.claim("call_2", people=[ana], day="2026-11-29", **taking)[0]

    before = loaded(own, "call_1"), loaded(own, "call_2")
    with WAYS[way](client):
        with pytest.raises(redis.ResponseError):
            claim_the_second()
        with pytest.raises(redis.ResponseError):
            own.effects.intend(begun)
        with pytest.raises(redis.ResponseError):
            approve(own, "call_3")
        with pytest.raises(redis.ResponseError):
            reject(own, "call_3")
        assert loaded(own, "call_3").state is State.PENDING_REVIEW
        assert (loaded(own, "call_1"), loaded(own, "call_2")) == before
    own.ledger.vouch(own.ledger.server())
    assert own.effects.intend(begun).ok
    assert claim_the_second().ok


@pytest.mark.parametrize("way", WAYS)
def test_no_undo_can_begin_while_the_store_takes_no_writes(own: Store, client: redis.Redis, way: str) -> None:
    one = ran(own, client)
    assert one.ask().ok
    ana = own.people.get(ANA)
    assert ana

    def claim_it() -> Answer:
        seal = undo_seal(one.call, tenant=own.tenant)
        return own.undos.claim(one.call, token=FIRST, seal=seal, ttl_ms=LONG, people=[ana], needed=1)[0]

    with WAYS[way](client), pytest.raises(redis.ResponseError):
        claim_it()
    assert one.state is UndoState.ASKED
    own.ledger.vouch(own.ledger.server())
    assert claim_it().ok
    with WAYS[way](client), pytest.raises(redis.ResponseError):
        one.intend()
    assert one.intend().outcome is Outcome.OK


@pytest.mark.parametrize("way", ["memory is full", "too few of its replicas", "cannot save to its disk"])
def test_a_freeze_that_cannot_be_written_says_so_what_holds_and_what_to_do(
    own: Store, client: redis.Redis, shell_of_it: Path, way: str
) -> None:
    with WAYS[way](client):
        said = CliRunner().invoke(cli, ("freeze", "--reason", "refunds look wrong"))
        assert isinstance(said.exception, StoreUnusable)
        text = str(said.exception)
    assert own.switches.frozen() is None
    assert text.startswith("NOT FROZEN. The store takes no writes: ")
    assert way in text
    assert "no call can be claimed, and none can begin" in text
    assert "stop all workers, repair it, repeat this command, then start the workers" in text
    assert CliRunner().invoke(cli, ("freeze", "--reason", "x")).exit_code == 0


def test_an_unfreeze_that_cannot_be_written_says_so(own: Store, client: redis.Redis, shell_of_it: Path) -> None:
    assert own.switches.freeze("lea", "x").ok
    with WAYS["too few of its replicas"](client):
        said = CliRunner().invoke(cli, ("unfreeze", "--reconciled"))
    assert str(said.exception).startswith("NOT UNFROZEN. The store takes no writes: too few of its replicas")
    assert own.switches.frozen() is not None


def test_the_doctor_fails_when_it_is_full_and_says_how_full(own: Store, client: redis.Redis, shell_of_it: Path) -> None:
    assert set(told().values()) == {Level.OK}
    assert any("no maxmemory is set" in one for one in told())
    with full(client):
        found = told()
    failures = [one for one, level in found.items() if level is Level.FAILURE]
    assert len(failures) == 2
    assert failures[0].startswith("The store takes no writes: its memory is full (maxmemory). Raise maxmemory")
    assert "(maxmemory): 10" in failures[1]


def test_the_doctor_warns_before_it_is_full(own: Store, client: redis.Redis, shell_of_it: Path) -> None:
    client.config_set("maxmemory", int(memory(own).used / 0.9))
    try:
        found = [one for one, level in told().items() if level is Level.WARNING]
    finally:
        client.config_set("maxmemory", 0)
    (said,) = found
    assert "Raise maxmemory before it is full" in said


def test_how_full_it_is_is_a_warning_from_four_fifths_on_and_a_failure_at_the_end() -> None:
    levels = {used: of_memory(Memory(used, 100)).level for used in (79, 80, 99, 100, 101)}
    assert levels == {79: Level.OK, 80: Level.WARNING, 99: Level.WARNING, 100: Level.FAILURE, 101: Level.FAILURE}
    assert NEARLY_FULL == 0.8
    assert of_memory(Memory(10**12, 0)).level is Level.OK


def test_the_doctor_says_that_snapshots_fail(own: Store, client: redis.Redis, shell_of_it: Path) -> None:
    with unable_to_save(client):
        found = {str(one): one.level for one in store_checks(own)}
        said = CliRunner().invoke(cli, ("doctor", "--without", "bot", "--without", "worker"))
    assert [level for one, level in found.items() if "rdb_last_bgsave_status" in one] == [Level.WARNING]
    assert [level for one, level in found.items() if "(MISCONF). Make room" in one] == [Level.FAILURE]
    assert said.exit_code == 2
    assert "The store takes no writes: it cannot save to its disk (MISCONF)." in said.output


def test_metrics_say_whether_it_takes_writes_and_how_full_it_is(own: Store, client: redis.Redis) -> None:
    def value(name: str) -> float:
        (found,) = [line for line in scrape(own).splitlines() if line.startswith(f"{name}{{")]
        return float(found.rpartition(" ")[2])

    assert (value("vobo_store_up"), value("vobo_store_writable"), value("vobo_store_memory_max_bytes")) == (1, 1, 0)
    with full(client):
        assert (value("vobo_store_up"), value("vobo_store_writable")) == (1, 0)
        assert value("vobo_store_memory_used_bytes") > value("vobo_store_memory_max_bytes") > 0


def test_a_probe_leaves_nothing_for_good(own: Store, client: redis.Redis) -> None:
    before = set(client.scan_iter())
    assert why_unusable(own) is None
    (left,) = set(client.scan_iter()) - before
    assert left == f"{own.keys.prefix}probed".encode()
    assert 0 < client.pttl(left) <= 10_000
