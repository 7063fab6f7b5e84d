"""No row of the ledger holds a secret, not even one that only another process knew as such."""

import json

import pytest
import redis
from sqlalchemy import MetaData

from approvals.drain import drain_once
from approvals.known_secrets import WITHHELD, KnownSecrets
from approvals.ledger import Ledger
from approvals.models import Person
from approvals.preview import Preview
from approvals.store import Store
from approvals.vault import Vault
from builders import (
    STATE_KEY,
    TEAM,
    TENANT,
    a_call,
    a_content,
    a_person,
    a_requirement,
    a_store,
    approve,
    claim,
    edit,
    lease_batch,
    paused,
    reject,
)

SECRET = 'sk-live-"quoted"/4711'
KNOWN = KnownSecrets({"SHOP_TOKEN": SECRET})


@pytest.fixture
def unaware(redis_client: redis.Redis) -> Store:
    """As the bot: it has no credential of any tool, so it recognises none."""
    return a_store(redis_client)


@pytest.fixture
def aware(redis_client: redis.Redis) -> Store:
    """As worker and clock."""
    return Store.open(redis_client, Vault.from_text(STATE_KEY), tenant=TENANT, secrets=KNOWN)


def everything(ledger: Ledger) -> str:
    """Every cell of every table beside the ledger, escapes undone."""
    tables = MetaData()
    tables.reflect(ledger.engine)
    with ledger.engine.connect() as connection:
        cells = [
            str(cell) for table in tables.sorted_tables for row in connection.execute(table.select()) for cell in row
        ]
    return "\n".join(cells).replace("\\", "")


def in_every_text(store: Store) -> None:
    """A secret wherever a person, a model, a tool or an error can write freely."""
    shown = Preview(
        headline=f"Use {SECRET}",
        impact=(f"with {SECRET}",),
        columns=("key",),
        sample=({"key": SECRET},),
        personal=("key",),
        body=f"Dear {SECRET}",
    )
    need = a_requirement(reasons=(f"because of {SECRET}",))
    told = {"preview": shown, "requirement": need, "problem": f"broken: {SECRET}", "personal": ("/note",)}
    arguments = json.dumps({"payment_id": "pay_1", "note": SECRET, "free": f"x {SECRET}"})
    calls = [
        a_call(f"call_{number}", number=number, content=a_content(arguments, **told), reason=f"why {SECRET}")
        for number in range(1, 6)
    ]
    paused(store, *calls)
    stranger: Person = store.people.put(a_person("U0XENA", name=f"Xena {SECRET}"))
    store.calls.note("call_1", event="decision_refused", person=stranger, detail=f"no: {SECRET}")
    reject(store, "call_1", reason=f"never {SECRET}")
    edit(store, "call_2", arguments=arguments)
    reject(store, "call_2", version=2, reason=f"and not with {SECRET}")
    for key in ("call_3", "call_4", "call_5"):
        approve(store, key)
    lease = lease_batch(store)
    failed, lost, done = (claim(store, lease, key, token=key) for key in ("call_3", "call_4", "call_5"))
    for one in (failed, lost, done):
        store.effects.intend(one)
    store.effects.fail(failed, reason=f"HTTP 401 {SECRET}")
    store.effects.abandon("call_4", token="call_4", reason=f"timeout {SECRET}")
    store.effects.settle("call_4", happened=True, by="U0OMAR", reason=f"seen {SECRET}", receipt=f'"{SECRET}"')
    store.effects.succeed(done, receipt=json.dumps(SECRET))
    store.switches.freeze("Omar", f"stop {SECRET}")
    store.operators.refused("ops.close", "call:1", by=stranger, reason=SECRET)
    store.outbox.alarm("seal:call_9", event="seal_refused", reason=f"was {SECRET}")


def test_a_secret_that_its_writer_did_not_know_is_in_no_table_of_the_ledger(
    unaware: Store, aware: Store, ledger: Ledger
) -> None:
    assert aware.people.put(a_person("U0ANA", team=TEAM))
    in_every_text(unaware)
    assert SECRET in "".join(map(str, unaware.ledger.read())).replace("\\", "")
    while drain_once(aware, ledger):
        continue
    assert SECRET not in everything(ledger)
    assert everything(ledger).count(WITHHELD) > 20
    assert ledger.verify(TENANT) == []
    kinds = {row.type for row in ledger.rows(TENANT)}
    assert {"rejected", "edited", "failed", "settled", "frozen", "press_refused", "decision_refused"} <= kinds
    assert all(row.shown for row in ledger.rows(TENANT, types=("proposed", "edited"))), "what was shown stays readable"
