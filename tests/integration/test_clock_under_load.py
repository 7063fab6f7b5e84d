"""More work than workers: the clock must not make it more by repeating hints that only wait for their turn."""

import redis

from approvals.queue import WakeupQueue, queue_name
from approvals.vault import Vault
from builders import STATE_KEY, TENANT, a_store, start_run
from worker.clock import AGAIN_MS, LONGEST_AGAIN_MS, Clock, again_ms

RUNS = 40


def test_a_hint_is_repeated_the_later_the_more_hints_wait_before_it(redis_client: redis.Redis) -> None:
    store = a_store(redis_client)
    queue = WakeupQueue(redis_client, Vault.from_text(STATE_KEY), queue_name(TENANT))
    clock = Clock(store, queue)
    for number in range(RUNS):
        start_run(store, f"run_{number}", thread_ts=str(number))
    clock.tick()
    assert queue.waiting() == RUNS
    for number in range(RUNS):  # seconds pass, and no worker takes anything
        assert store.wakeups.postpone("start_run", f"run_{number}", delay_ms=0)
    clock.tick()
    at = store.wakeups.peek()
    assert at is not None
    assert at - store.now() > 4 * AGAIN_MS


def test_a_hint_that_may_be_lost_is_repeated_within_seconds_while_the_queue_is_short() -> None:
    assert again_ms(0) == AGAIN_MS
    assert again_ms(1) < 2 * AGAIN_MS


def test_a_hint_is_repeated_at_the_latest_when_the_queue_has_forgotten_it() -> None:
    assert again_ms(1_000_000) == LONGEST_AGAIN_MS == 600_000
