"""What the tallies must say after every step: how many calls are where, and every event counted once."""

from collections import Counter
from collections.abc import Sequence

import redis

from approvals.keys import Keys
from approvals.lifecycle import FINAL, State
from store_model_workers import Model


def check(client: redis.Redis, keys: Keys, model: Model, events: Sequence[dict[str, str]]) -> None:
    """Compare the tallies with the model and with the ledger's events so far."""
    with client.pipeline(transaction=True) as pipe:
        pipe.hgetall(keys.tallies)
        pipe.zrange(keys.pending, 0, -1, withscores=True)
        pipe.zrange(keys.waiting, 0, -1)
        pipe.smembers(keys.dead_letters)
        tallies, pending, waiting, dead = pipe.execute()
    counted = [(name.decode().split(":"), int(number)) for name, number in tallies.items()]
    calls = list(model.calls.values())
    states = Counter(call.state for call in calls if call.state not in FINAL)
    assert {rest[0]: number for (kind, *rest), number in counted if kind == "state" and number} == states
    assert sum(number for _, number in pending) == states[State.PENDING_REVIEW]
    assert all(number > 0 for _, number in pending)
    asking = {batch for batch in model.batches if model.asked(model.of_batch(batch))}
    assert {batch.decode() for batch in waiting} == asking
    unknown = {f"call:{call.key}".encode() for call in calls if call.state is State.UNKNOWN}
    assert unknown <= dead
    assert all(subject.partition(b":")[2].decode() in model.calls for subject in dead)
    told = Counter[str]()
    for (kind, *rest), number in counted:
        if kind == "event":
            told[rest[0]] += number
    assert told == Counter(event["type"] for event in events)
