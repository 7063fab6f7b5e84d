"""What the ledger keeps of a decision, who may ask what of it, and what is forgotten. On SQLite and on PostgreSQL."""

import hashlib
import json
from typing import Any

import jsonschema
import pytest
import redis
import rfc8785
from sqlalchemy import select

from approvals.drain import drain_once
from approvals.export import SCHEMA_FILE, export
from approvals.ledger import Ledger
from approvals.ledger_rows import ERASED, GENESIS
from approvals.ledger_stream import UNREADABLE
from approvals.ledger_tables import EVENTS, PERSONAL
from approvals.masks import MASKED
from approvals.preview import Preview
from approvals.questions import Question, answer
from approvals.store import Store
from approvals.stories import stories
from builders import (
    ANA,
    BEN,
    REQUESTER,
    TENANT,
    a_call,
    a_content,
    a_requirement,
    approve,
    claim,
    edit,
    lease_batch,
    paused,
    reject,
)
from policies.money import Money, eur

ANNA = "anna@example.test"
LINE = {"payment_id": "pay_1", "note": "for Anna Alvarez"}


def refund(amount: Money, resource: str, **changes: Any) -> Any:
    need = a_requirement(resources=(resource,), counts={"refunds": amount}, amount=eur(9_999))
    return a_content(requirement=need, **changes)


@pytest.fixture
def story(store: Store, ledger: Ledger) -> Ledger:
    """Two refunds: a small one that Ana approves and that happens, a large one that Ben rejects."""
    shown = Preview(
        headline="Refund 1 payment, 99.00 EUR",
        impact=(f"{ANNA} gets it back",),
        columns=("payment", "email"),
        sample=({"payment": "pay_1", "email": ANNA},),
        personal=("email",),
        body="Dear Anna, ...",
    )
    small = refund(
        eur(99),
        "pay_1",
        arguments=json.dumps({"lines": [LINE], "big": 2**70}),
        preview=shown,
        personal=("/lines/0/note",),
    )
    paused(store, a_call("call_1", content=small), a_call("call_2", number=2, content=refund(eur(400), "pay_2")))
    approve(store, "call_1")
    reject(store, "call_2", by=BEN, reason="Ask Anna Alvarez first")
    claimed = claim(store, lease_batch(store), "call_1")
    store.effects.intend(claimed)
    store.effects.succeed(claimed, receipt="{}")
    drain_once(store, ledger)
    return ledger


def kinds(ledger: Ledger, **asked: Any) -> list[tuple[str, str]]:
    found = answer(ledger, TENANT, Question(**asked))
    return [(one.row.type, one.row.body.get("call", "")) for one in found]


def test_a_decision_keeps_who_it_was_what_was_sealed_until_when_and_under_which_law(story: Ledger) -> None:
    (approved,) = story.rows(TENANT, types=("approved",))
    body = approved.body
    assert (body["actor"], body["name"], body["version"], body["law"]) == (ANA, "U0Ana", "1", "law-1")
    assert body["seal"] == "seal-call_1-1"
    assert int(body["decide_by"]) > approved.at
    (rejected,) = story.rows(TENANT, types=("rejected",))
    assert rejected.body["reason"] == "Ask Anna Alvarez first"


def test_what_was_shown_is_kept_with_the_version_it_was_shown_for(story: Ledger) -> None:
    (found,) = answer(story, TENANT, Question(types=("approved",)))
    assert found.shown["headline"] == "Refund 1 payment, 99.00 EUR"
    assert found.shown["resources"] == ["pay_1"]
    assert found.amount == eur(99)


def test_personal_values_are_in_no_event_and_no_sentence_only_apart(
    store: Store, story: Ledger, redis_client: redis.Redis
) -> None:
    with story.engine.connect() as connection:
        chained = " ".join(connection.scalars(select(EVENTS.c.body)))
        apart = set(connection.scalars(select(PERSONAL.c.value)))
    for value in (ANNA, "Anna", "U0Ana"):
        assert value not in chained
    assert {ANNA, "for Anna Alvarez", "Dear Anna, ...", "U0Ana", "Ask Anna Alvarez first"} == apart - {"U0Ben"}


def test_personal_values_wait_encrypted_in_redis(store: Store) -> None:
    content = a_content(json.dumps(LINE), personal=("/note",))
    paused(store, a_call("call_1", content=content))
    event = next(fields for _, fields in store.ledger.read() if fields["type"] == "proposed")
    assert "Anna" not in json.dumps(event)
    assert store.ledger.opened(event)["kept"].count("for Anna Alvarez") == 1


def test_personal_values_that_were_tampered_with_on_the_way_are_lost_and_nothing_else_is(
    store: Store, ledger: Ledger
) -> None:
    paused(store, a_call("call_1", content=a_content(json.dumps(LINE), personal=("/note",))))
    (event,) = [fields for _, fields in store.ledger.read() if fields["type"] == "proposed"]
    kept = json.loads(event["kept"])
    kept["personal"] = kept["personal"][:-8] + "AAAAAAA="
    opened = store.ledger.opened({**event, "kept": json.dumps(kept)})
    assert json.loads(opened["kept"])["arguments"] == {"payment_id": "pay_1", "note": {"$personal": None}}


def test_personal_values_moved_to_another_runs_event_open_for_nobody(store: Store) -> None:
    paused(store, a_call("call_1", content=a_content(json.dumps(LINE), personal=("/note",))))
    (event,) = [fields for _, fields in store.ledger.read() if fields["type"] == "proposed"]
    opened = store.ledger.opened({**event, "run": "run_of_somebody_else"})
    assert json.loads(opened["kept"])["arguments"] == {"payment_id": "pay_1", "note": {"$personal": None}}


def test_arguments_that_imitate_a_reference_are_kept_as_arguments(store: Store, ledger: Ledger) -> None:
    paused(store, a_call("call_1", content=a_content('{"$personal":7,"x":[{"$personal":"boo"}]}')))
    drain_once(store, ledger)
    (row,) = ledger.rows(TENANT, types=("proposed",))
    assert row.shown["arguments"] == {"$$personal": 7, "x": [{"$$personal": "boo"}]}


@pytest.mark.parametrize("text", ["{", "[]", '{"shown":{}}', '{"shown":{"$personal":3},"personal":""}'])
def test_an_event_that_somebody_spoilt_in_redis_holds_up_no_other(store: Store, text: str) -> None:
    opened = store.ledger.opened({"type": "proposed", "run": "run_1", "call": "call_1", "version": "1", "kept": text})
    assert json.loads(opened["kept"])["problem"] == UNREADABLE


def test_an_erased_person_is_forgotten_and_the_chain_stays_whole(story: Ledger) -> None:
    assert story.erase(TENANT, person="Anna Alvarez") == 2  # a note, a reason
    assert story.erase(TENANT, person=ANNA) == 1
    assert story.erase(TENANT, person=ANA) == 1
    assert story.erase(TENANT, person=ANA) == 0
    assert story.verify(TENANT) == []
    (approved,) = story.rows(TENANT, types=("approved",))
    assert (approved.body["actor"], approved.body["name"]) == (ANA, ERASED)
    (rejected,) = story.rows(TENANT, types=("rejected",))
    assert rejected.body["reason"] == ERASED


def test_names_of_people_with_a_percent_sign_erase_nobody_else(story: Ledger) -> None:
    assert story.erase(TENANT, person="%nna%") == 0
    assert story.erase(TENANT, person="____") == 0


def test_personal_values_older_than_an_instant_are_forgotten(story: Ledger) -> None:
    first = story.rows(TENANT)[0].at
    assert story.erase(TENANT, before=first) == 0
    assert story.erase(TENANT, before=first + 600_000) == 6
    with pytest.raises(ValueError, match="a person or an instant"):
        story.erase(TENANT)


def test_the_ledger_answers_by_reviewer_whether_by_id_or_by_name(story: Ledger) -> None:
    assert kinds(story, by=ANA) == [("approved", "call_1")]
    assert kinds(story, by="u0ben") == [("rejected", "call_2")]
    assert kinds(story, by="U0NOBODY") == []


def test_the_ledger_answers_by_run_tool_type_resource_and_amount(story: Ledger) -> None:
    assert kinds(story, run="run_2") == []
    assert kinds(story, tool="nothing") == []
    assert ("run_started", "") in kinds(story, run="run_1")
    assert kinds(story, types=("rejected",)) == [("rejected", "call_2")]
    assert {call for _, call in kinds(story, resource="pay_1")} == {"call_1"}
    assert {call for _, call in kinds(story, over=eur(99))} == {"call_2"}
    assert kinds(story, over=Money(minor=1, currency="USD")) == []


def test_the_ledger_answers_by_time_and_still_knows_what_was_shown_before(story: Ledger) -> None:
    at = {row.type: row.at for row in story.rows(TENANT)}
    assert kinds(story, until=at["run_started"]) == []
    late = answer(story, TENANT, Question(since=at["succeeded"]))
    (succeeded,) = (one for one in late if one.row.type == "succeeded")
    assert succeeded.amount == eur(99)


def test_a_story_tells_what_was_requested_approved_and_executed(story: Ledger) -> None:
    told = stories(story.rows(TENANT)).calls
    assert (told["call_1"].verdict, told["call_1"].approved_version, told["call_1"].executed_version) == (
        "approved",
        1,
        1,
    )
    assert (told["call_2"].verdict, told["call_2"].ended, told["call_2"].cause) == ("rejected", "rejected", "person")
    assert told["call_1"].words[0].dwell_ms is not None


def test_a_story_of_an_edit_keeps_both_arguments(store: Store, ledger: Ledger) -> None:
    paused(store, a_call("call_1"))
    edit(store, "call_1", arguments='{"payment_id":"pay_7"}')
    content = a_content('{"payment_id":"pay_7"}')
    assert store.calls.refresh("call_1", version=2, content=content, seal="seal-2", drift=False).ok
    drain_once(store, ledger)
    call = stories(ledger.rows(TENANT)).calls["call_1"]
    assert (call.verdict, call.approved_version) == ("edited", 2)
    assert [call.versions[number]["arguments"]["payment_id"] for number in (1, 2)] == ["pay_1", "pay_7"]


def test_every_line_of_the_export_fits_the_published_schema_and_the_chain_can_be_recomputed_from_it(
    story: Ledger,
) -> None:
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    lines = [json.loads(line) for line in export(story, TENANT)]
    previous = GENESIS
    for line in lines:
        assert list(validator.iter_errors(line)) == []
        covered = [line["previous"], str(line["seq"]), line["event_id"], line["body"]]
        assert line["previous"] == previous
        assert line["hash"] == hashlib.sha256(rfc8785.dumps(covered)).hexdigest()
        previous = line["hash"]
    assert [line["type"] for line in lines] == [row.type for row in story.rows(TENANT)]
    assert lines[0]["actor"] == {"id": REQUESTER, "name": "desk", "person": True}


def test_an_export_masks_personal_values_unless_they_are_asked_for(story: Ledger) -> None:
    assert ANNA not in "".join(export(story, TENANT))
    assert ANNA in "".join(export(story, TENANT, personal=True))


def test_an_export_names_nobody_and_quotes_nobody_unless_asked_to_but_says_by_id_who_it_was(story: Ledger) -> None:
    rejected = next(row for row in story.rows(TENANT) if row.type == "rejected")
    name, reason = rejected.body["name"], rejected.body["reason"]
    told = [json.loads(line) for line in export(story, TENANT)]
    assert {line["actor"]["name"] for line in told if line["actor"] and line["actor"]["person"]} == {"desk", MASKED}
    (line,) = [line for line in told if line["type"] == "rejected"]
    assert (line["actor"]["id"], line["reason"]) == (rejected.body["actor"], MASKED)
    whole = [json.loads(line) for line in export(story, TENANT, personal=True)]
    (line,) = [line for line in whole if line["type"] == "rejected"]
    assert (line["actor"]["name"], line["reason"]) == (name, reason)
    story.erase(TENANT, person=rejected.body["actor"])
    assert ERASED in "".join(export(story, TENANT)), "nothing is there to be masked"


def test_an_export_of_a_part_follows_from_the_row_before_it(story: Ledger) -> None:
    rows = story.rows(TENANT)
    first = json.loads(next(export(story, TENANT, since=rows[-1].at)))
    assert first["previous"] == rows[first["seq"] - 2].hash


def test_an_export_reads_some_rows_at_a_time_and_is_the_same(story: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, whole = story.rows(TENANT), [*export(story, TENANT, personal=True)]
    monkeypatch.setattr("approvals.ledger.AT_ONCE", 2)
    assert [len(page) for page in story.pages(TENANT)] == [2] * (len(rows) // 2) + [1] * (len(rows) % 2)
    assert [row for page in story.pages(TENANT) for row in page] == rows
    assert [*export(story, TENANT, personal=True)] == whole
    since = rows[-3].at
    assert [row for page in story.pages(TENANT, since=since) for row in page] == story.rows(TENANT, since=since)


def test_a_line_of_an_export_follows_from_the_row_before_it_even_if_that_is_left_out(
    store: Store, ledger: Ledger
) -> None:
    for at in ("3000", "1000", "3000"):  # a clock may have been set back
        store.runs.client.xadd(store.keys.ledger, {"type": "frozen", "at": at})
    drain_once(store, ledger)
    (first, _, third), lines = ledger.rows(TENANT), [json.loads(one) for one in export(ledger, TENANT, since=2000)]
    assert [line["seq"] for line in lines] == [1, 3]
    assert lines[1]["previous"] == ledger.hash_before(TENANT, 3) != first.hash
    assert lines[1]["hash"] == third.hash


def test_draining_the_same_events_twice_keeps_them_once(store: Store, ledger: Ledger) -> None:
    paused(store, a_call("call_1"))
    events = [(event_id, store.ledger.opened(fields)) for event_id, fields in store.ledger.read()]
    assert ledger.append(TENANT, events).new == len(events)
    assert ledger.append(TENANT, events).new == 0
    drain_once(store, ledger)
    assert ledger.verify(TENANT) == []
    assert len(ledger.rows(TENANT)) == len(events)
