"""A personal value that changes while its call waits stays out of card, past and chain; a reason can be erased."""

import json

from sqlalchemy import select

from approvals.drain import drain_once
from approvals.ledger import Ledger
from approvals.ledger_rows import ERASED
from approvals.ledger_tables import EVENTS
from approvals.models import CallContent
from approvals.preview import Precondition, Preview
from approvals.questions import Question, answer
from approvals.store import Store
from bot.card_warnings import warnings
from bot.details import detail_pages
from bot.past_text import told_line
from builders import TENANT, a_call, a_content, approve, claim, lease_batch, loaded, paused
from worker.drift import difference

OLD, NEW = "anna.old@example.com", "anna.new@example.com"


def mailing(address: str) -> CallContent:
    rows = ({"recipient": "cus_1", "address": address},)
    resting = Precondition.over("1 recipient", rows, key="recipient", material=("recipient", "address"))
    preview = Preview(headline="Mail 1 person", sample=rows, rows=rows, personal=("address",), precondition=resting)
    return a_content(preview=preview, facts=json.dumps({"address_of": {"cus_1": address}}))


def returned(store: Store) -> None:
    """The address of an approved mail changed before it was sent."""
    paused(store, a_call("call_1", content=mailing(OLD)))
    assert approve(store).ok
    lines = difference(mailing(OLD), mailing(NEW))
    taken = claim(store, lease_batch(store))
    told = mailing(NEW).model_copy(update={"previous": tuple(lines)})
    assert store.effects.release(taken, content=told, seal="seal-call_1-2", difference=lines).ok


def drained(store: Store, ledger: Ledger) -> str:
    """Everything that is chained."""
    while drain_once(store, ledger):
        continue
    with ledger.engine.connect() as connection:
        return "\n".join(connection.scalars(select(EVENTS.c.body)))


def test_what_changed_is_told_and_neither_value_is(store: Store, ledger: Ledger) -> None:
    returned(store)
    card = " ".join(warnings(loaded(store), "law-1"))
    assert "cus_1: address changed" in card
    waiting = json.dumps([fields for _, fields in store.ledger.read()])
    chained = drained(store, ledger)
    (found,) = answer(ledger, TENANT, Question(types=("released",)))
    past = json.dumps(told_line(found, of_run=True))
    assert "cus_1: address changed" in past
    for place in (card, waiting, chained, past):
        assert OLD not in place
        assert NEW not in place


def test_the_details_have_the_value_as_it_is_now(store: Store) -> None:
    returned(store)
    assert NEW in json.dumps(detail_pages(loaded(store)))


def test_what_a_tool_said_about_somebody_is_kept_until_it_is_erased(store: Store, ledger: Ledger) -> None:
    paused(store, a_call("call_1"))
    assert approve(store).ok
    taken = claim(store, lease_batch(store))
    assert store.effects.intend(taken, longest_ms=1000).ok
    assert store.effects.fail(taken, reason=f"There is no mailbox {OLD}.").ok
    assert OLD not in drained(store, ledger)
    (failed,) = ledger.rows(TENANT, types=("failed",))
    assert failed.body["reason"] == f"There is no mailbox {OLD}."
    ledger.erase(TENANT, person=OLD)
    (failed,) = ledger.rows(TENANT, types=("failed",))
    assert failed.body["reason"] == ERASED
    assert ledger.verify(TENANT) == []
