"""A call that nobody is asked about, whose data is another each time it is to run."""

import pytest

from approvals.lifecycle import Cause, RunState, State
from builders import events
from workshop import Workshop, saying, shipping


class Moving(dict[str, int]):
    """A stock that is never the same."""

    looks = 0

    def __getitem__(self, item: str) -> int:
        self.looks += 1
        return self.looks


@pytest.fixture
def moving(workshop: Workshop) -> Workshop:
    workshop.script.extend([[shipping(("cup", 1))], [saying()]])
    workshop.start()
    workshop.shop.stock = Moving(workshop.shop.stock)
    return workshop


def wakes_in(workshop: Workshop) -> float:
    batch = workshop.calls()[0].batch
    at = workshop.client.zscore(workshop.store.keys.wakeups, f"execute_batch:{batch}")
    return float(at) - workshop.store.now()


def test_it_is_tried_again_after_some_seconds_and_not_at_once(moving: Workshop) -> None:
    before = moving.calls()[0].execute_by
    moving.execute()
    (call,) = moving.calls()
    assert (call.state, call.version) == (State.PROPOSED, 2)
    assert wakes_in(moving) > 3_000
    assert call.execute_by == before, "a new version gives it no more time"
    assert moving.store.deadlines.at(f"lapse:{call.key}") == before


def test_it_is_given_up_after_some_times_and_the_model_and_the_thread_hear_why(moving: Workshop) -> None:
    for _ in range(12):
        moving.execute()
    (call,) = moving.calls()
    assert (call.state, call.cause) == (State.EXPIRED, Cause.LAPSED)
    assert "each time it was to run something was different" in (call.reason or "")
    assert moving.shop.done == []
    assert moving.run().state is RunState.READY, "its run goes on"
    assert events(moving.store, call.key).count("released") == 9
