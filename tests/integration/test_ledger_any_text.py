"""Nothing that a tool, a model or a person wrote keeps an event out of the ledger. On SQLite and on PostgreSQL."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from approvals.databases import engine_of
from approvals.drain import drain_once
from approvals.ledger import Ledger
from approvals.ledger_rows import NOT_KEPT
from approvals.lifecycle import State
from approvals.storable import storable
from approvals.store import Store
from builders import TENANT, a_call, approve, paused
from tests.integration.ledger_databases import fresh_database
from tests.private_postgres import PrivatePostgres
from worker.actions import NothingHappened
from workshop import Workshop, saying, shipping

HARD = st.sampled_from("\x00\x01\x1b\x7f\x85\u200b\u202e\ufeff\ufffe\uffff\ud800\udbff\udc00\udfff\U0010ffff'\"\\%:{}")
#: Not `st.text`, which has no half characters.
ANY = st.lists(HARD | st.characters(), max_size=90).map("".join)
MET = "\ud800\udc00"  # two halves of one character
ALL_MET = dict.fromkeys(("reason", "actor", "name", "tool"), MET) | {"type": "rejected"}
EVENT = st.fixed_dictionaries(
    {"type": st.just("rejected"), "reason": ANY, "actor": ANY, "name": ANY, "tool": ANY, "run": ANY, "call": ANY},
    optional={"cause": ANY, "seal": ANY},
)
DOCUMENT = st.recursive(ANY | st.none() | st.integers(), lambda inner: st.lists(inner, max_size=2), max_leaves=4)
_numbers = itertools.count(1)
_PROPERTY = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def an_event(fields: dict[str, str], document: object, personal: str) -> dict[str, str]:
    shown = {"arguments": document, "body": {"$personal": personal}}
    return {"at": "1", "kept": json.dumps(shown), **fields}


@pytest.fixture
def both(tmp_path: Path, postgres: PrivatePostgres) -> Iterator[list[Ledger]]:
    """One ledger of each kind, whose salts are the same."""

    def opened(url: str) -> Ledger:
        salts = itertools.count(1)
        return Ledger(engine_of(url), lambda size: next(salts).to_bytes(size))

    ledgers = [opened(f"sqlite:///{tmp_path}/same.db"), opened(fresh_database(postgres))]
    yield ledgers
    for ledger in ledgers:
        ledger.engine.dispose()


@_PROPERTY
@example(fields=ALL_MET, document=MET, personal=MET)
@given(fields=EVENT, document=DOCUMENT, personal=ANY)
def test_any_text_is_kept_chained_and_the_same_on_both_databases(
    both: list[Ledger], fields: dict[str, str], document: object, personal: str
) -> None:
    tenant, refused = f"T{next(_numbers)}", list[str]()
    event = an_event(fields, document, personal)
    for ledger in both:
        assert ledger.append(tenant, [("1-0", event)], lambda event_id, _: refused.append(event_id)).new == 1
        assert ledger.verify(tenant) == []
    assert refused == []
    (here,), (there,) = (ledger.rows(tenant) for ledger in both)
    assert here == there
    assert here.body["reason"] == storable(fields["reason"])
    assert here.body["tool"] == storable(fields["tool"])
    assert here.shown["body"] == {"$personal": storable(personal)}


@pytest.mark.parametrize("hard", ["\x00", "\ud800", "half \udfff", "\x01\x02\x1b[31m", "\uffff"])
def test_what_a_tool_says_reaches_the_ledger_whatever_is_in_it(workshop: Workshop, ledger: Ledger, hard: str) -> None:
    def refuse() -> None:
        raise NothingHappened(f"the provider said: {hard} bad request")

    workshop.script.extend([[shipping(("cup", 1))], [saying()]])
    workshop.shop.before_effect = refuse
    workshop.start()
    (call,) = workshop.calls()
    if call.state is State.APPROVED:
        workshop.execute()
    assert workshop.calls()[0].state is State.FAILED
    while drain_once(workshop.store, ledger):
        continue
    assert workshop.store.ledger.read() == []
    (failed,) = ledger.rows(TENANT, types=["failed"])
    assert failed.body["reason"] == f"the provider said: {storable(hard)} bad request"
    assert ledger.rows(TENANT, types=[NOT_KEPT]) == []
    assert ledger.verify(TENANT) == []


def test_bytes_that_are_no_text_do_not_stop_the_others(store: Store, ledger: Ledger) -> None:
    store.runs.client.xadd(store.keys.ledger, {"type": "noted", "at": "1", "reason": b"half \xf0\x9f of it"})
    paused(store, a_call("call_1"))
    approve(store, "call_1")
    while drain_once(store, ledger):
        continue
    assert "\ufffd" in ledger.rows(TENANT, types=["noted"])[0].body["reason"]
    assert len(ledger.rows(TENANT, types=["approved"])) == 1
