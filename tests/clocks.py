"""A clock for tests: the real one, over the real queue that nobody works off."""

from approvals.queue import WakeupQueue
from approvals.store import Store
from approvals.vault import Vault
from builders import STATE_KEY
from policies.law import Law
from worker.clock import Clock


def a_clock(store: Store, law: Law) -> Clock:
    return Clock(store, WakeupQueue(store.runs.client, Vault.from_text(STATE_KEY)), law=law)
