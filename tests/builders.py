"""Values for tests, whole and valid, each field open to change."""

import base64
import itertools
import threading
from collections.abc import Sequence
from typing import Any

import redis

from approvals.lifecycle import State
from approvals.models import (
    BatchLease,
    Call,
    CallContent,
    Claim,
    Decision,
    PauseWrite,
    Person,
    ProposedBatch,
    ProposedCall,
    RunLease,
)
from approvals.outcomes import Answer
from approvals.preview import Preview
from approvals.store import Store
from approvals.vault import Vault
from policies.requirement import Requirement
from policies.risk import Mode

TEAM, TENANT, CHANNEL, THREAD = "T0HOME", "T0HOME", "C0PAY", "1700000000.000100"
REQUESTER, ANA, BEN = "U0REQ", "U0ANA", "U0BEN"
RUN_WORKER, BATCH_WORKER, FIRST_CLAIM = "worker-1", "worker-2", "claim-1"
LONG = 600_000  # ms; nothing in a test lasts as long
STATE_KEY = base64.b64encode(bytes(range(32))).decode()


def counting_ids() -> Any:
    """Ids in a foreseeable order, safe for threads."""
    numbers, lock = itertools.count(1), threading.Lock()

    def next_id() -> str:
        with lock:
            return f"{next(numbers):012d}"

    return next_id


def a_store(client: redis.Redis) -> Store:
    """A store whose home team is known."""
    store = Store.open(client, Vault.from_text(STATE_KEY), tenant=TENANT, ids=counting_ids())
    store.people.set_home_team(TEAM)
    store.ledger.vouch(store.ledger.server())  # as the clock does once it has compared it with the ledger
    return store


def a_person(user: str = ANA, **changes: Any) -> Person:
    return Person(user=user, **{"name": user.title(), "team": TEAM, **changes})


def a_decision(call: str, verdict: str = "approve", *, by: str = ANA, version: int = 1, **changes: Any) -> Decision:
    return Decision(call=call, version=version, verdict=verdict, reviewer=by, name=by.title(), **changes)


def a_requirement(**changes: Any) -> Requirement:
    return Requirement(
        **{"radius": "refunds in EUR", "resources": ("pay_1",), "ttl_s": 900, "lapse_s": 600, "law": "law-1", **changes}
    )


def a_content(arguments: str = '{"payment_id":"pay_1"}', **changes: Any) -> CallContent:
    return CallContent(
        **{
            "requested": arguments,
            "arguments": arguments,
            "requirement": a_requirement(),
            "preview": Preview(headline="Refund 1 payment, 99.00 EUR"),
            "agent_version": "1",
            "tool_schema": "schema-1",
            **changes,
        }
    )


def a_call(key: str, **changes: Any) -> ProposedCall:
    """A call that a person must decide."""
    return ProposedCall(
        **{
            "key": key,
            "sdk_id": f"sdk-{key}",
            "number": 1,
            "agent": "desk",
            "tool": "refund_payments",
            "batch": "batch_a",
            "state": State.PENDING_REVIEW,
            "content": a_content(),
            "seal": f"seal-{key}-1",
            **changes,
        }
    )


def an_auto(key: str, *, held: bool = False, **changes: Any) -> ProposedCall:
    """A call that runs unasked: at once, or held back until all people of the pause have decided."""
    state = State.PROPOSED if held else State.APPROVED
    content = a_content(requirement=a_requirement(mode=Mode.AUTO))
    return a_call(key, **{"batch": "batch_auto", "state": state, "held": held, "content": content, **changes})


def a_pause(*calls: ProposedCall, state: bytes = b'{"turn": 1}', turns: int = 1, **changes: Any) -> PauseWrite:
    """These calls in the batches they name; a batch has a card when one of its calls is for people."""
    batches: dict[str, list[ProposedCall]] = {}
    for call in calls:
        if call.batch:
            batches.setdefault(call.batch, []).append(call)
    proposed = [
        ProposedBatch(
            **{
                "id": name,
                "radius": "refunds in EUR",
                "number": number,
                "calls": tuple(call.key for call in members),
                "has_card": any(call.state is State.PENDING_REVIEW for call in members),
                "ttl_s": 900,
                "lapse_s": 600,
                **changes,
            }
        )
        for number, (name, members) in enumerate(batches.items(), start=1)
    ]
    return PauseWrite(state=state, turns=turns, calls=calls, batches=tuple(proposed))


def start_run(store: Store, run: str = "run_1", **changes: Any) -> Answer:
    return store.runs.start(
        run,
        **{
            "request": "refund yesterday's failed payments",
            "requester": REQUESTER,
            "channel": CHANNEL,
            "thread_ts": THREAD,
            "agent": "desk",
            **changes,
        },
    )


def lease_run(store: Store, run: str = "run_1", token: str = RUN_WORKER) -> RunLease:
    lease = store.runs.lease(run, token=token, ttl_ms=LONG)
    assert lease is not None
    return lease


def paused(store: Store, *calls: ProposedCall, run: str = "run_1", posted: bool = True, **changes: Any) -> PauseWrite:
    """A run that waits for these calls, its cards posted."""
    barrier = changes.pop("barrier", "batch")
    start_run(store, run, barrier=barrier)
    write = a_pause(*calls, **changes)
    answer = store.runs.pause(lease_run(store, run), write)
    assert answer.ok, answer
    for batch in write.batches:
        if posted and batch.has_card:
            assert store.batches.record_posted(batch.id, channel=CHANNEL, ts=f"{batch.number}.1").ok
    return write


def loaded(store: Store, key: str = "call_1") -> Call:
    call = store.calls.load(key)
    assert call is not None
    return call


def approve(store: Store, key: str = "call_1", *, by: str = ANA, version: int = 1, **changes: Any) -> Answer:
    decision = a_decision(key, by=by, version=version)
    return store.calls.approve(
        key, **{"version": version, "decision": decision, "person": store.people.put(a_person(by)), **changes}
    )


def reject(store: Store, key: str = "call_1", *, by: str = ANA, version: int = 1, **changes: Any) -> Answer:
    decision = a_decision(key, "reject", by=by, version=version, **changes)
    return store.calls.reject(key, version=version, decision=decision, person=store.people.put(a_person(by)))


def edit(
    store: Store, key: str = "call_1", *, by: str = ANA, version: int = 1, arguments: str = '{"payment_id":"pay_2"}'
) -> Answer:
    decision = a_decision(key, "edit", by=by, version=version)
    person = store.people.put(a_person(by))
    return store.calls.edit(key, version=version, decision=decision, person=person, content=a_content(arguments))


def lease_batch(store: Store, batch: str = "batch_a", token: str = BATCH_WORKER) -> BatchLease:
    lease = store.batches.lease(batch, token=token, ttl_ms=LONG)
    assert lease is not None
    return lease


def try_claim(
    store: Store,
    lease: BatchLease,
    key: str = "call_1",
    *,
    token: str = FIRST_CLAIM,
    people: Sequence[str] = (ANA, BEN),
    ttl_ms: int = LONG,
    **changes: Any,
) -> tuple[Answer, Claim | None]:
    call = loaded(store, key)
    snapshots = [store.people.put(a_person(user)) for user in people]
    arguments = {"lease": lease, "seal": call.seal, "people": snapshots, "day": "2026-11-29", **changes}
    return store.effects.claim(key, token=token, ttl_ms=ttl_ms, **arguments)


def claim(store: Store, lease: BatchLease, key: str = "call_1", **changes: Any) -> Claim:
    answer, taken = try_claim(store, lease, key, **changes)
    assert taken is not None, answer
    return taken


def move(client: redis.Redis, name: str, **instants: int) -> None:
    """Move instants of a stored hash: tests move deadlines, not clocks."""
    client.hset(name, mapping={field: str(value) for field, value in instants.items()})


def events(store: Store, call: str | None = None) -> list[str]:
    """The types of the ledger's events, of one call or of all, oldest first."""
    return [fields["type"] for _, fields in store.ledger.read() if call is None or fields.get("call") == call]


def waking(store: Store) -> set[str]:
    """Everything that waits for a worker, due or not."""
    return {member.decode() for member in store.runs.client.zrange(store.keys.wakeups, 0, -1)}


def owed(store: Store) -> set[str]:
    """The ids of everything the outbox owes."""
    return {entry.id for entry in store.outbox.due(1000)}
