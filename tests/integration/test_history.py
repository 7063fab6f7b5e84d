"""What has happened, from SQL and from what waits in Redis, each event once."""

import pytest
import redis

from approvals.drain import drain_once
from approvals.history import past
from approvals.ledger import Ledger
from approvals.questions import Question
from approvals.store import Store
from builders import ANA, TENANT, a_call, a_store, approve, paused

DECIDED = Question(types=("approved",))


@pytest.fixture
def store(redis_client: redis.Redis) -> Store:
    opened = a_store(redis_client)
    paused(opened, a_call("call_1"), a_call("call_2", number=2))
    return opened


def ids(store: Store, ledger: Ledger | None, question: Question = DECIDED, **options: int) -> list[str]:
    return [one.row.event_id for one in past(store, ledger, question, **options).found]


def test_an_event_that_is_in_both_places_is_told_once(store: Store, ledger: Ledger) -> None:
    approve(store, "call_1")
    events = store.ledger.read()
    ledger.append(TENANT, [(event_id, store.ledger.opened(fields)) for event_id, fields in events])
    assert ids(store, ledger, Question(run="run_1")) == [event_id for event_id, _ in events], "the drain died before it"
    assert len(ids(store, ledger)) == 1


def test_what_waits_comes_after_what_is_kept_and_knows_what_was_shown_before(store: Store, ledger: Ledger) -> None:
    approve(store, "call_1")
    drain_once(store, ledger)
    approve(store, "call_2")
    found = past(store, ledger, DECIDED)
    assert [one.row.body["call"] for one in found.found] == ["call_1", "call_2"]
    assert found.whole
    assert all(one.shown["headline"] == "Refund 1 payment, 99.00 EUR" for one in found.found)
    assert [one.row.seq > 0 for one in found.found] == [True, False]


def test_only_the_newest_of_what_is_kept_is_read(store: Store, ledger: Ledger) -> None:
    for key in ("call_1", "call_2"):
        approve(store, key)
    drain_once(store, ledger)
    found = past(store, ledger, DECIDED, newest=1).found
    assert [(one.row.body["call"], one.row.body["name"]) for one in found] == [("call_2", "U0Ana")]


@pytest.mark.parametrize(
    ("question", "number"),
    [
        (Question(run="run_1"), 1),
        (Question(run="run_2"), 0),
        (Question(tool="refund_payments"), 1),
        (Question(tool="ship"), 0),
        (Question(by=ANA), 1),
        (Question(by="U0NOBODY"), 0),
        (Question(by="u0ana"), 1),
        (Question(types=("rejected",)), 0),
        (Question(resource="pay_1"), 1),
        (Question(resource="pay_2"), 0),
        (Question(until=1), 0),
        (Question(since=1), 1),
        (Question(since=9_999_999_999_999), 0),
    ],
)
@pytest.mark.parametrize("drained", [True, False])
def test_both_places_answer_the_same_questions_alike(
    store: Store, ledger: Ledger, question: Question, number: int, *, drained: bool
) -> None:
    approve(store, "call_1")
    if drained:
        drain_once(store, ledger)
    found = past(store, ledger, question).found
    assert len([one for one in found if one.row.type == "approved"]) == number


def test_without_a_database_what_waits_is_told_and_that_it_is_not_all(store: Store) -> None:
    approve(store, "call_1")
    found = past(store, None, DECIDED)
    assert not found.whole
    assert [one.shown["headline"] for one in found.found] == ["Refund 1 payment, 99.00 EUR"]
