"""A clock for tests: the real one, over the real queue that nobody works off."""

from approvals.queue import WakeupQueue, queue_name
from approvals.store import Store
from approvals.vault import Vault
from builders import STATE_KEY, TENANT
from policies.law import Law
from worker.clock import Clock


def a_clock(store: Store, law: Law) -> Clock:
    return Clock(store, WakeupQueue(store.runs.client, Vault.from_text(STATE_KEY), queue_name(TENANT)), law=law)
