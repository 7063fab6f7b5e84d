"""Effects and undos that go on, or may go on, after nobody waits for them any more."""

from approvals.store import Store


def nobody_at_work(store: Store, key: str) -> None:
    """Long after the intent of a call, and of its undo: no time limit runs any more, and whoever had begun has gone."""
    row, client = store.keys.call(key), store.effects.client
    for begun in ("at_work_until", "undo_at_work_until"):
        if client.hexists(row, begun):
            client.hset(row, begun, "1")
    client.delete(store.keys.at_work(key), store.keys.at_work(f"undo:{key}"))
