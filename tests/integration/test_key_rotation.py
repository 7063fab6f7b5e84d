"""A key of VOBO_STATE_KEYS is replaced as docs/security.md says, and nothing that an older one protected is lost."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
from click.testing import CliRunner, Result
from slack_sdk.oauth.installation_store import Installation

from approvals.__main__ import cli
from approvals.anchoring import Anchoring
from approvals.anchors import Signer
from approvals.drain import drain_once
from approvals.ledger import Ledger
from approvals.lifecycle import UndoState
from approvals.outcomes import Outcome
from approvals.recordings import Recordings
from approvals.sealed_places import places, rewrap, uses
from approvals.sealed_rows import Fate
from approvals.store import Store
from approvals.vault import BlobKeyMissing, Vault, new_key
from approvals.weekly import WeekNumbers
from bot.installations import Installations
from builders import (
    BEN,
    STATE_KEY,
    TENANT,
    a_call,
    a_content,
    a_requirement,
    approve,
    claim,
    edit,
    lease_batch,
    lease_run,
    loaded,
    paused,
    start_run,
)
from undos import ran, reach

Vobo = Callable[..., Result]
DOCTOR = ("doctor", "--without", "bot", "--without", "worker")
OLD, NEW = STATE_KEY, new_key(lambda size: b"n" * size)
OLD_ID, NEW_ID = (Vault.from_text(key).key_ids[0] for key in (OLD, NEW))


@pytest.fixture
def vobo(shell: Path, monkeypatch: pytest.MonkeyPatch) -> Vobo:
    monkeypatch.chdir(shell)
    monkeypatch.setenv("VOBO_INSTALLATIONS_URL", f"sqlite:///{shell / 'installations.db'}")

    def run(*arguments: str, code: int = 0) -> Result:
        done = CliRunner().invoke(cli, arguments)
        assert done.exit_code == code, f"{done.output}\n{done.exception!r}"
        for key in (OLD, NEW):
            assert key not in done.output
        return done

    return run


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Vault]:
    """Set VOBO_STATE_KEYS, newest first."""

    def put(*texts: str) -> Vault:
        monkeypatch.setenv("VOBO_STATE_KEYS", ",".join(texts))
        return Vault.from_text(",".join(texts))

    return put


@pytest.fixture
def ledger(shell: Path) -> Iterator[Ledger]:
    """The one that `vobo` is told of."""
    opened = Ledger.open(os.environ["VOBO_LEDGER_URL"])
    yield opened
    opened.engine.dispose()


def under(store: Store, *texts: str) -> Store:
    """The same store, as a process with these keys sees it."""
    return Store.open(store.runs.client, Vault.from_text(",".join(texts)), tenant=TENANT)


def everything(store: Store) -> None:
    """Each kind of value that is encrypted or marked in Redis."""
    need = a_requirement(reviewers=2, undo="Pay it back.")
    content = a_content(requirement=need)
    paused(
        store,
        a_call("call_1", content=content),
        a_call("call_2", number=2, batch="batch_b"),
        a_call("call_3", number=3, batch="batch_c"),
    )
    approve(store, "call_1")
    edit(store, "call_2")
    approve(store, "call_3")
    taken = claim(store, lease_batch(store, "batch_c"), "call_3")
    assert store.effects.intend(taken).ok
    assert store.effects.succeed(taken, receipt='"re_1"').ok
    start_run(store, "run_2")
    lease = lease_run(store, "run_2")
    assert store.runs.complete(lease, answer="It is done.").ok
    week = WeekNumbers(
        week="2026-W48", since=0, until=1, zone="UTC", runs=1, asked=1, unasked=0, approved=1, edited=0, rejected=0,
        expired=0, waiting=0, budget=0, unknown=0, median_s=None,
    )  # fmt: skip
    assert store.weekly.owe(week, b"a picture").ok


def sealed_under_old(store: Store) -> list[bytes]:
    """Every value in Redis, wherever it stands, that begins like a blob under the old key."""
    client, start = store.runs.client, b"\x02" + bytes.fromhex(OLD_ID)
    names = [name for name in client.scan_iter() if client.type(name) == b"hash"]
    return [name + b" " + field for name in names for field, value in client.hgetall(name).items() if start in value]


def an_installation() -> Installation:
    return Installation(
        app_id="A1", team_id=TENANT, bot_token="xoxe.xoxb-1", bot_id="B1", bot_user_id="U0BOT", user_id="U1",
        bot_refresh_token="xoxe-1", bot_token_expires_at=1_900_000_000, installed_at=1_800_000_000.0,
    )  # fmt: skip


def installed(vault: Vault) -> Installations:
    return Installations.open(os.environ["VOBO_INSTALLATIONS_URL"], "1.2", vault)


def test_a_key_is_replaced_as_documented_and_nothing_is_lost(
    store: Store, ledger: Ledger, vobo: Vobo, keys: Callable[..., Vault]
) -> None:
    everything(store)
    old = keys(OLD)
    installed(old).save(an_installation())
    assert store.tallies.read().undrained
    drain_once(store, ledger)
    Anchoring(store, ledger, Signer.of(old), every_ms=0)()

    noted = vobo("ledger", "key").output.strip()
    keys(NEW, OLD)
    between = under(store, NEW, OLD)
    approve(between, "call_1", by=BEN)
    assert "still need the key" in vobo(*DOCTOR, code=1).output
    told = vobo("keys", "list").output
    line = rf"^{OLD_ID}  \d+ calls, \d+ decisions, 4 installation tokens, 3 recordings, .*"
    assert re.search(line, told, re.MULTILINE), told
    assert noted in told
    assert f"Everything needs the key {NEW_ID} alone." in vobo("keys", "rewrap").output
    assert re.search(rf"^{OLD_ID}  nothing ", vobo("keys", "list").output, re.MULTILINE)
    assert f"Nothing needs the key {OLD_ID} any more" in vobo(*DOCTOR, code=1).output

    new = keys(NEW)
    found = installed(new).of_team(TENANT)
    assert found
    assert (found.bot_token, found.bot_refresh_token) == ("xoxe.xoxb-1", "xoxe-1")
    assert Recordings(ledger.engine, new).since(TENANT, 0)[1] == 0
    assert len(Recordings(ledger.engine, new).since(TENANT, 0).calls) == 3
    after = under(store, NEW)
    assert {one.reviewer for one in loaded(after, "call_1").decisions} == {"U0ANA", BEN}
    assert claim(after, lease_batch(after, "batch_a"), "call_1"), "two approvals under two keys still carry a claim"
    assert loaded(after, "call_3").receipt == '"re_1"'
    assert after.calls.refresh("call_2", version=2, content=a_content(), seal="seal-2", drift=False).ok
    assert [one.verdict for one in loaded(after, "call_2").decisions] == ["edit", "approve"], "the editor's own yes"
    run = after.runs.load("run_2")
    assert run
    assert run.answer == "It is done."
    assert after.runs.load_state("run_1") == b'{"turn": 1}'
    assert (after.weekly.picture("2026-W48"), after.weekly.numbers("2026-W48") is None) == (b"a picture", False)
    assert "forgery" in vobo("ledger", "verify", code=1).output, "whoever did not note the key cannot tell"
    assert "The ledger is whole" in vobo("ledger", "verify", "--key", noted).output


def test_without_rewrapping_the_key_cannot_be_taken_out_and_doctor_says_what_needs_it(
    store: Store, ledger: Ledger, vobo: Vobo, keys: Callable[..., Vault]
) -> None:
    installed(keys(OLD)).save(an_installation())
    new = keys(NEW)
    with pytest.raises(BlobKeyMissing):
        installed(new).of_team(TENANT)
    said = vobo(*DOCTOR, code=2).output
    assert f"4 installation tokens need the key {OLD_ID}, which VOBO_STATE_KEYS does not hold." in said
    assert "no configured key opens them" in vobo("keys", "rewrap", code=1).output
    keys(NEW, OLD)
    assert "4 sealed anew" in vobo("keys", "rewrap").output
    assert "4 needed the newest key already" in vobo("keys", "rewrap").output


def test_a_deployment_that_nobody_installs_has_no_database_of_tokens_made_for_it(
    store: Store, vobo: Vobo, shell: Path
) -> None:
    said = vobo("keys", "rewrap").output
    assert f"Tokens of installed workspaces: none found at {shell / 'installations.db'}." in said
    assert not (shell / "installations.db").exists()


@pytest.mark.parametrize("told_by", ["the law", "the store"])
def test_tokens_that_are_not_where_one_looks_keep_every_key(  # noqa: PLR0917 - fixtures
    store: Store, vobo: Vobo, shell: Path, keys: Callable[..., Vault], told_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(keys(OLD)).save(an_installation())
    if told_by == "the law":
        (shell / "laws").mkdir()
        text = Path(os.environ["VOBO_REVIEWERS"]).read_text()
        (shell / "laws" / "one.toml").write_text(text)
        monkeypatch.setenv("VOBO_REVIEWERS", str(shell / "laws"))
    else:
        store.switches.set_installed(True)
    keys(NEW, OLD)
    (shell / "elsewhere").mkdir()
    monkeypatch.setenv("VOBO_INSTALLATIONS_URL", "sqlite:///installations.db")
    monkeypatch.chdir(shell / "elsewhere")
    for command, code in ((("keys", "rewrap"), 1), (("keys", "list"), 1), (DOCTOR, 2)):
        said = " ".join(vobo(*command, code=code).output.split())
        assert f"none found at {shell / 'elsewhere' / 'installations.db'}." in said
        assert "Remove no key before." in said
        assert "Everything needs the key" not in said
        assert f"Nothing needs the key {OLD_ID}" not in said
    monkeypatch.chdir(shell)
    said = vobo("keys", "rewrap").output
    assert f"read from {shell / 'installations.db'}." in said
    assert f"Everything needs the key {NEW_ID} alone." in said


def test_every_kind_of_value_is_found_and_made_anew_once(store: Store) -> None:
    everything(store)
    kinds = {what: number for (what, key), number in uses(store.runs).items() if key == OLD_ID}
    assert kinds == {
        "requests and answers": 3,
        "states of runs": 1,
        "calls": 4,
        "decisions": 4,
        "weekly reports": 2,
    }
    between = under(store, NEW, OLD).runs
    assert rewrap(between) == {(what, Fate.RENEWED): number for what, number in kinds.items()}
    assert rewrap(between) == {(what, Fate.NEWEST): number for what, number in kinds.items()}
    assert {key for _, key in uses(between)} == {NEW_ID}
    assert sealed_under_old(store) == [], "a field that nobody thought of"


def test_receipts_of_an_undo_and_late_ones_are_made_anew_too(store: Store, redis_client: redis.Redis) -> None:
    one = ran(store, redis_client)
    assert reach(one, UndoState.UNDONE)
    other = ran(store, redis_client, run="run_2")
    assert reach(other, UndoState.UNKNOWN)
    assert other.settle(happened=False, by="U0OPS").ok
    store.undos.succeed(other.claimed, receipt='"late"')
    paused(store, a_call("call_9"), run="run_3")
    approve(store, "call_9")
    taken = claim(store, lease_batch(store), "call_9")
    assert store.effects.intend(taken).ok
    assert store.effects.abandon("call_9", token=taken.token, reason="no answer").ok
    assert store.effects.settle("call_9", happened=False, by="U0OPS", reason="not at the provider").ok
    store.effects.succeed(taken, receipt='"re_9"')
    rewrap(under(store, NEW, OLD).runs)
    after = under(store, NEW)
    assert after.undos.receipt(loaded(after, one.key)) == '"paid back"'
    assert after.undos.late_receipt(loaded(after, other.key)) == '"late"'
    assert after.effects.late_receipt("call_9") == '"re_9"'
    assert sealed_under_old(store) == []


@pytest.mark.parametrize("what", ["calls", "decisions"])
def test_what_was_written_meanwhile_stays_as_it_was_written(store: Store, what: str) -> None:
    paused(store, a_call("call_1", content=a_content(requirement=a_requirement(reviewers=2))))
    approve(store, "call_1")
    between = under(store, NEW, OLD).runs
    (seen,) = [one for one in places(between) if one.what == what]
    if what == "calls":
        assert edit(store, "call_1", by=BEN).ok
    else:
        store.runs.client.delete(store.keys.decisions("call_1"))
        approve(under(store, NEW, OLD), "call_1", by=BEN)
    where = (seen.kind, seen.subject, seen.place)
    assert between.ask("rewrap", *where, seen.value, seen.renewed()).outcome is Outcome.WRONG_STATE
    after = under(store, NEW, OLD)
    if what == "calls":
        assert loaded(after).version == 2
    else:
        assert [one.reviewer for one in loaded(after).decisions] == [BEN]


def test_the_state_of_a_run_that_is_at_work_waits_and_its_request_does_not(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2, batch="batch_b"))
    for call in ("call_1", "call_2"):
        store.calls.withdraw(call, by="U0REQ")
    lease = lease_run(store)
    between = under(store, NEW, OLD).runs
    found = rewrap(between)
    assert found["states of runs", Fate.LEFT] == 1
    assert found["requests and answers", Fate.RENEWED] == 1
    assert store.runs.give_back(lease, delay_ms=0)
    assert rewrap(between)["states of runs", Fate.RENEWED] == 1


def test_a_decision_that_nobody_took_here_is_not_made_genuine(store: Store) -> None:
    paused(store, a_call("call_1"))
    approve(store, "call_1")
    name = store.keys.decisions("call_1")
    (entry,) = store.runs.client.lrange(name, 0, -1)
    store.runs.client.rpush(name, entry.replace(b"U0ANA", b"U0EVE"), b"1 no decision at all")
    between = under(store, NEW, OLD)
    found = rewrap(between.runs)
    assert {fate: number for (what, fate), number in found.items() if what == "decisions"} == {Fate.RENEWED: 1}
    assert store.runs.client.lrange(name, 1, -1) == [entry.replace(b"U0ANA", b"U0EVE"), b"1 no decision at all"]


def test_a_value_that_was_put_elsewhere_is_not_made_genuine(store: Store) -> None:
    paused(store, a_call("call_1"), a_call("call_2", number=2, batch="batch_b"))
    blob = store.runs.client.hget(store.keys.call("call_2"), "content")
    store.runs.client.hset(store.keys.call("call_1"), "content", blob)
    found = rewrap(under(store, NEW, OLD).runs)
    assert (found["calls", Fate.UNREADABLE], found["calls", Fate.RENEWED]) == (1, 1)
    assert store.runs.client.hget(store.keys.call("call_1"), "content") == blob
