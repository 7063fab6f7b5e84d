"""Random sequences of everything that people, workers, crashes and the clock may do, against a model of the store.

Time is never waited for: deadlines and leases are moved instead. Every verb may be repeated later with the arguments
it had. `make fuzz` runs the same with fresh randomness and many more steps.
"""

import os

import redis
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from store_machine import StoreMachine

#: What the steps must have brought about at least once.
OFTEN = ("approve", "reject", "edit", "refresh", "claim", "intend", "succeed", "finish")
LATE = ("lapse", "lost_lease", "alert_unknown", "answer_unknown")
GATE = settings(  # at least a thousand steps, always the same ones
    max_examples=150,
    stateful_step_count=50,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
FUZZ = settings(
    GATE, max_examples=int(os.environ.get("FUZZ_EXAMPLES", "1")), stateful_step_count=200, derandomize=False
)


def test_whatever_happens_in_whatever_order_the_store_keeps_its_promises(redis_client: redis.Redis) -> None:
    StoreMachine.taken.clear()
    fuzzing = "FUZZ_EXAMPLES" in os.environ
    run_state_machine_as_test(lambda: StoreMachine(redis_client), settings=FUZZ if fuzzing else GATE)
    assert StoreMachine.taken["steps"] >= 1000
    never = [verb for verb in (*OFTEN, *LATE) if not StoreMachine.taken[verb]]
    assert never == [], "sequences that never get that far prove little"
