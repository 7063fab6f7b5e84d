"""An event that the database refuses is parted from the others. On SQLite and on PostgreSQL."""

import json

import pytest
from sqlalchemy import text

from approvals.drain import drain_once
from approvals.ledger import Ledger, LedgerUnreachable
from approvals.ledger_rows import NOT_KEPT
from approvals.recordings import Recordings
from approvals.store import Store
from approvals.vault import Vault
from builders import STATE_KEY, TENANT, a_call, approve, paused
from tests.integration.ledger_databases import fresh_database
from tests.private_postgres import PrivatePostgres

#: An instant no database has room for, one that is none, and a document that is none.
BAD = ({"at": str(10**30)}, {"at": "soon"}, {"kept": "{"})


def noted(number: int, **changed: str) -> tuple[str, dict[str, str]]:
    return f"{number}-0", {"type": "noted", "at": str(number), "run": "run_1", "reason": f"no. {number}", **changed}


@pytest.mark.parametrize("bad", BAD)
def test_one_refused_event_is_replaced_and_the_others_are_kept_in_order(ledger: Ledger, bad: dict[str, str]) -> None:
    events = [noted(number, **(bad if number == 7 else {})) for number in range(1, 21)]
    told: list[tuple[str, str]] = []
    assert ledger.append(TENANT, events, lambda *refused: told.append(refused)).new == 20
    assert [event_id for event_id, _ in told] == ["7-0"]
    rows = ledger.rows(TENANT)
    assert [row.event_id for row in rows] == [event_id for event_id, _ in events]
    assert [row.type for row in rows].count(NOT_KEPT) == 1
    instead = rows[6]
    assert (instead.type, instead.at, instead.body["refused"], instead.body["run"]) == (NOT_KEPT, 7, "noted", "run_1")
    assert f"({told[0][1]})" in instead.body["reason"]
    assert json.loads(instead.body["event"]) == events[6][1]
    assert ledger.verify(TENANT) == []
    assert ledger.append(TENANT, events, lambda *refused: told.append(refused)).new == 0
    assert len(told) == 1


def test_what_was_refused_can_be_erased_like_anything_of_a_person(ledger: Ledger) -> None:
    ledger.append(TENANT, [noted(1, at="soon", reason="anna@example.test bounces")])
    assert "anna" not in json.dumps(ledger.rows(TENANT)[0].raw)
    assert ledger.erase(TENANT, person="anna@example.test") == 1
    assert "anna" not in json.dumps(ledger.rows(TENANT)[0].body)
    assert ledger.verify(TENANT) == []


def test_many_refused_events_leave_nothing_out(ledger: Ledger) -> None:
    events = [noted(number, **(BAD[number % 3] if number % 5 == 0 else {})) for number in range(1, 101)]
    assert ledger.append(TENANT, events).new == 100
    assert [row.type == NOT_KEPT for row in ledger.rows(TENANT)] == [number % 5 == 0 for number in range(1, 101)]
    assert ledger.verify(TENANT) == []


def test_ops_is_told_once_a_day_and_the_stream_empties(store: Store, ledger: Ledger) -> None:
    for reason in ("first", "second"):
        store.runs.client.xadd(store.keys.ledger, {"type": "noted", "at": str(10**30), "reason": reason})
    paused(store, a_call("call_1"))
    approve(store, "call_1")
    while drain_once(store, ledger):
        continue
    assert store.ledger.read() == []
    assert len(ledger.rows(TENANT, types=[NOT_KEPT])) == 2
    (told,) = ledger.rows(TENANT, types=["event_refused"])
    assert ledger.rows(TENANT)[0].event_id in told.body["reason"]
    owed = [entry.id for entry in store.outbox.due() if entry.id.startswith("alert:not_kept:")]
    assert len(owed) == 1


@pytest.mark.parametrize("bad", [{"mode": "sideways"}, {"at": "soon"}, {"version": "two"}])
def test_a_proposal_that_cannot_be_recorded_stops_neither_ledger_nor_recordings(
    store: Store, ledger: Ledger, bad: dict[str, str]
) -> None:
    paused(store, a_call("call_1"), a_call("call_2"))
    (found,) = [
        fields for _, fields in store.ledger.read() if (fields["type"], fields.get("call")) == ("proposed", "call_1")
    ]
    store.runs.client.xadd(store.keys.ledger, {**found, **bad})
    while drain_once(store, ledger):
        continue
    kept = Recordings(ledger.engine, Vault.from_text(STATE_KEY)).since(TENANT, 0)
    assert sorted(call.call for call in kept.calls) == ["call_1", "call_2"]


def test_a_call_that_the_database_refuses_keeps_no_other_from_being_recorded(store: Store, ledger: Ledger) -> None:
    paused(store, a_call("call_1"))
    drain_once(store, ledger)
    recordings = Recordings(ledger.engine, Vault.from_text(STATE_KEY))
    (kept,) = recordings.since(TENANT, 0).calls
    recordings.keep(
        "T2", [kept, kept.model_copy(update={"call": "late", "at": 10**30}), kept.model_copy(update={"call": "call_3"})]
    )
    assert [call.call for call in recordings.since("T2", 0).calls] == ["call_1", "call_3"]


def test_an_event_whose_text_is_refused_too_leaves_its_id_and_why(postgres: PrivatePostgres) -> None:
    ledger = Ledger.open(fresh_database(postgres))
    with ledger.engine.begin() as connection:
        connection.execute(
            text("""
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '22021'; END $$""")
        )
        connection.execute(text("CREATE TRIGGER texts BEFORE INSERT ON ledger_personal EXECUTE FUNCTION refuse()"))
    assert ledger.append(TENANT, [noted(1), noted(2, reason="")]).new == 2
    bare, plain = ledger.rows(TENANT)
    assert (bare.event_id, bare.type, bare.body) == ("1-0", NOT_KEPT, bare.raw)
    assert bare.body["reason"] == "The database refused this event (DataError, CharacterNotInRepertoire)."
    assert plain.type == "noted"
    assert ledger.verify(TENANT) == []
    ledger.engine.dispose()


def test_a_database_that_refuses_everything_is_away_and_not_a_refusal(ledger: Ledger) -> None:
    told: list[str] = []
    with ledger.engine.begin() as connection:
        connection.execute(text("DROP TABLE ledger_events"))
    with pytest.raises(LedgerUnreachable, match="events wait in Redis"):
        ledger.append(TENANT, [noted(1)], lambda event_id, _: told.append(event_id))
    assert told == []
