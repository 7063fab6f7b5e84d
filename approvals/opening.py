"""From settings to an open store: the one place where a process meets Redis for the first time."""

import os
from typing import NamedTuple

from approvals.known_secrets import KnownSecrets
from approvals.queue import WakeupQueue, queue_name
from approvals.redis_check import check_server, connect
from approvals.settings import Settings
from approvals.store import Store
from approvals.vault import Vault


class Opened(NamedTuple):
    """What a process needs of the state of record. `warnings` are sentences for whoever started it."""

    store: Store
    queue: WakeupQueue
    vault: Vault
    warnings: tuple[str, ...]


def open_store(settings: Settings, *, tenant: str) -> Opened:
    """Connect, check the server, and open one tenant's store.

    Raises:
        StateKeysError: VOBO_STATE_KEYS cannot be used.
        RedisUnreachable: nobody answers at REDIS_URL.
        UnsafeRedis: the server could lose or evict what waits for a decision.
        StoreUnusable: it cannot save to its disk.
    """
    store = connected(settings, tenant=tenant)
    client, vault = store.runs.client, store.runs.vault
    warnings = check_server(client)
    return Opened(store, WakeupQueue(client, vault, queue_name(tenant)), vault, tuple(warnings))


def connected(settings: Settings, *, tenant: str) -> Store:
    """One tenant's store over a connection of its own, for whoever has looked at the server already.

    Raises:
        StateKeysError: VOBO_STATE_KEYS cannot be used.
        RedisUnreachable: nobody answers at REDIS_URL.
    """
    vault = Vault.from_text(settings.state_keys.get_secret_value())
    secrets = KnownSecrets.of(settings, os.environ)
    return Store.open(connect(settings.redis_url), vault, tenant=tenant, secrets=secrets)
