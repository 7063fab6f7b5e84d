"""A ledger that came back older than Redis, or that is another database, gets nothing until an operator has said so."""

from pathlib import Path

import pytest
import redis
from sqlalchemy import delete, select, update

from approvals.anchoring import Anchoring, anchors, verify
from approvals.anchors import Signer
from approvals.drain import drain_once
from approvals.ledger import Ledger
from approvals.ledger_head import Head, LedgerDiffers
from approvals.ledger_tables import EVENTS, HEADS
from approvals.outcomes import Outcome
from approvals.store import Store
from approvals.vault import Vault
from builders import STATE_KEY, TENANT, a_call, a_store, approve, events, owed, paused

SIGNER = Signer.of(Vault.from_text(STATE_KEY))


def happens(store: Store) -> None:
    store.calls.note("call_1", event="press_refused", person=None, detail="once more")


def drain(store: Store, ledger: Ledger) -> None:
    while drain_once(store, ledger):
        continue


def cut(ledger: Ledger, rows: int) -> int:
    """As a replica that had not heard of the newest rows when it took over; the number of the newest it has."""
    with ledger.engine.begin() as connection:
        top = connection.scalar(select(HEADS.c.seq)) - rows
        connection.execute(delete(EVENTS).where(EVENTS.c.seq > top))
        digest = connection.scalar(select(EVENTS.c.hash).where(EVENTS.c.seq == top))
        connection.execute(update(HEADS).values(seq=top, hash=digest))
        return int(top)


@pytest.fixture
def older(store: Store, ledger: Ledger) -> Ledger:
    """A ledger that has lost the decision, which Redis handed over."""
    paused(store, a_call("call_1"))
    drain(store, ledger)
    approve(store, "call_1")
    drain(store, ledger)
    cut(ledger, 1)
    return ledger


def test_a_ledger_that_lost_its_newest_rows_gets_nothing_and_everything_freezes(store: Store, older: Ledger) -> None:
    happens(store)
    rows, waiting = len(older.rows(TENANT)), events(store)
    for _ in range(2):
        with pytest.raises(LedgerDiffers, match=f"up to row {rows + 1}, and its newest row is {rows}"):
            drain_once(store, older)
    assert len(older.rows(TENANT)) == rows
    assert events(store) == [*waiting, "frozen"], "they wait, and it is frozen once"
    assert len([entry for entry in owed(store) if entry.startswith("alert:switch:frozen")]) == 1
    assert "is older than Redis, or another database. Nothing is moved into it" in (store.switches.frozen() or "")
    assert f"up to row {rows + 1}" in "\n".join(verify(store, older, SIGNER))


def test_an_older_ledger_is_noticed_before_the_next_event(store: Store, older: Ledger) -> None:
    assert not events(store)
    with pytest.raises(LedgerDiffers):
        drain_once(store, older)
    assert store.switches.frozen()


def test_another_database_gets_no_event_and_the_real_ledger_loses_none(
    store: Store, ledger: Ledger, tmp_path: Path
) -> None:
    paused(store, a_call("call_1"))
    drain(store, ledger)
    approve(store, "call_1")
    stray = Ledger.open(f"sqlite:///{tmp_path / 'stray.db'}")
    with pytest.raises(LedgerDiffers, match=str(tmp_path / "stray.db")):
        drain_once(store, stray)
    assert not stray.rows(TENANT)
    drain(store, ledger)
    assert [row.type for row in ledger.rows(TENANT)][-2:] == ["approved", "frozen"]
    assert verify(store, ledger, SIGNER) == []


def test_two_clocks_with_two_ledgers_freeze_for_one_reason_however_the_numbers_move(
    store: Store, ledger: Ledger, tmp_path: Path
) -> None:
    paused(store, a_call("call_1"))
    drain(store, ledger)
    stray = Ledger.open(f"sqlite:///{tmp_path / 'stray.db'}")
    for _ in range(3):
        happens(store)
        with pytest.raises(LedgerDiffers):
            drain_once(store, stray)
        drain(store, ledger)
    (reason,) = store.switches.freezes()
    assert str(tmp_path / "stray.db") in reason.reason
    assert [row.type for row in ledger.rows(TENANT)].count("frozen") == 1
    assert len([entry for entry in owed(store) if entry.startswith("alert:switch:frozen")]) == 1


def test_a_database_with_as_many_rows_of_its_own_is_another_one(store: Store, ledger: Ledger, tmp_path: Path) -> None:
    paused(store, a_call("call_1"))
    drain(store, ledger)
    stray = Ledger.open(f"sqlite:///{tmp_path / 'stray.db'}")
    stray.append(TENANT, [(f"{n}-0", {"type": "noted", "at": "1"}) for n in range(1, 30)])
    happens(store)
    with pytest.raises(LedgerDiffers, match="that row is another one here"):
        drain_once(store, stray)
    assert len(stray.rows(TENANT)) == 29


def test_rows_that_vanish_between_the_look_and_the_append_are_noticed(
    store: Store, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    paused(store, a_call("call_1"))
    drain(store, ledger)
    happens(store)
    append = Ledger.append

    def appending(*arguments: object) -> object:
        cut(ledger, 1)
        return append(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Ledger, "append", appending)
    with pytest.raises(LedgerDiffers):
        drain_once(store, ledger)
    assert events(store) == ["press_refused", "frozen"]


def test_a_drainer_that_was_killed_before_it_dropped_is_no_difference(store: Store, ledger: Ledger) -> None:
    paused(store, a_call("call_1"))
    drain(store, ledger)
    happens(store)
    ledger.append(TENANT, store.ledger.read())
    drain(store, ledger)
    assert [row.type for row in ledger.rows(TENANT)].count("press_refused") == 1
    assert store.switches.frozen() is None
    assert store.ledger.noted() == ledger.newest(TENANT)


def test_events_stay_when_another_head_was_noted_while_they_were_moved(
    store: Store, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two first drainers with two databases: what only the second one has must not leave Redis."""
    paused(store, a_call("call_1"))
    approve(store, "call_1")  # a name is salted, so no two ledgers have the same rows
    stray = Ledger.open(f"sqlite:///{tmp_path / 'stray.db'}")
    append = Ledger.append

    def appending(self: Ledger, *arguments: object) -> object:
        if self is stray:
            monkeypatch.setattr(Ledger, "append", append)
            drain(store, ledger)
            happens(store)
        return append(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Ledger, "append", appending)
    drain_once(store, stray)
    with pytest.raises(LedgerDiffers):
        drain_once(store, stray)
    drain(store, ledger)
    assert [row.type for row in ledger.rows(TENANT)][-2:] == ["press_refused", "frozen"]


def test_what_is_dropped_must_have_been_compared_with_what_is_noted(store: Store) -> None:
    paused(store, a_call("call_1"))
    first, second = Head(1, "a" * 64), Head(2, "b" * 64)
    assert store.ledger.drop([], head=first).outcome is Outcome.OK
    ids = [event_id for event_id, _ in store.ledger.read()]
    assert store.ledger.drop(ids, head=second).detail == {"state": str(first)}
    assert store.ledger.drop(ids, was=second, head=second).outcome is Outcome.WRONG_STATE
    assert len(events(store)) == len(ids)
    assert store.ledger.noted() == first
    assert store.ledger.drop(ids, was=first, head=second).outcome is Outcome.OK
    assert (events(store), store.ledger.noted()) == ([], second)


def test_only_the_head_that_is_lacking_can_be_given_up(store: Store) -> None:
    noted, other = Head(3, "a" * 64), Head(2, "b" * 64)
    store.ledger.drop([], head=noted)
    assert store.ledger.accept(other, other, by="olga", reason="looked").outcome is Outcome.WRONG_STATE
    assert (store.ledger.noted(), events(store)) == (noted, [])
    assert store.ledger.accept(noted, other, by="olga", reason="looked").outcome is Outcome.OK
    assert (store.ledger.noted(), events(store)) == (other, ["ledger_accepted"])


@pytest.mark.parametrize("text", ["x", "-1:0", f"{10**20}:0", f"0:{'1' * 64}", "01:0", "٣:0", "-1:x", ":", b"\xff:"])
def test_what_somebody_else_wrote_into_redis_is_a_head_that_no_ledger_has_and_can_be_given_up(
    store: Store, ledger: Ledger, redis_client: redis.Redis, text: str | bytes
) -> None:
    redis_client.hset(store.keys.vouched, "head", text)
    with pytest.raises(LedgerDiffers):
        drain_once(store, ledger)
    was = store.ledger.noted()
    assert store.ledger.accept(was, ledger.newest(TENANT), by="olga", reason="looked").outcome is Outcome.OK
    drain(store, ledger)


def test_accepting_is_done_also_when_its_answer_was_lost_and_it_is_sent_again(store: Store) -> None:
    noted, other = Head(3, "a" * 64), Head(2, "b" * 64)
    store.ledger.drop([], head=noted)
    outcomes = [store.ledger.accept(noted, other, by="olga", reason="looked").outcome for _ in range(2)]
    assert outcomes == [Outcome.OK, Outcome.REPEATED]
    assert events(store) == ["ledger_accepted"], "noted once"


def test_a_store_of_an_earlier_version_goes_on_and_notes_a_head_from_then_on(
    store: Store, ledger: Ledger, redis_client: redis.Redis
) -> None:
    paused(store, a_call("call_1"))
    drain(store, ledger)
    redis_client.hdel(store.keys.vouched, "head")
    happens(store)
    drain(store, ledger)
    assert store.switches.frozen() is None
    assert store.ledger.noted() == ledger.newest(TENANT)


def test_each_workspace_has_a_head_of_its_own(redis_client: redis.Redis, ledger: Ledger) -> None:
    one = a_store(redis_client)
    other = Store.open(redis_client, Vault.from_text(STATE_KEY), tenant="T0OTHER")
    paused(one, a_call("call_1"))
    drain(one, ledger)
    drain(other, ledger)
    assert other.ledger.noted() is None
    other.switches.freeze("olga", "a look")
    drain(other, ledger)
    assert other.ledger.noted() == ledger.newest("T0OTHER") != ledger.newest(TENANT)


def test_an_older_ledger_is_not_signed(store: Store, older: Ledger) -> None:
    with pytest.raises(LedgerDiffers):
        Anchoring(store, older, SIGNER, every_ms=0)()
    assert anchors(older, TENANT) == []


def test_an_erasure_is_no_difference(store: Store, ledger: Ledger) -> None:
    paused(store, a_call("call_1"))
    approve(store, "call_1")
    drain(store, ledger)
    assert ledger.erase(TENANT, before=store.now() + 1)
    happens(store)
    drain(store, ledger)
    assert store.switches.frozen() is None
