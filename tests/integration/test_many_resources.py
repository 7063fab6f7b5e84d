"""A call that touches thousands of things can be decided like any other."""

import pytest

from approvals.lifecycle import State
from approvals.store import Store
from builders import CHANNEL, THREAD, a_call, a_content, a_requirement, approve, loaded, paused, reject

MANY = 12_000


@pytest.fixture
def many(store: Store) -> Store:
    resources = tuple(f"cus_{number}" for number in range(MANY))
    paused(store, a_call("call_1", content=a_content(requirement=a_requirement(resources=resources))))
    return store


def test_it_can_be_rejected_and_each_of_them_is_a_veto(many: Store) -> None:
    assert reject(many).ok
    assert loaded(many).state is State.REJECTED
    assert many.runs.client.hlen(many.keys.vetoes(CHANNEL, THREAD)) == MANY


def test_it_can_be_approved(many: Store) -> None:
    assert approve(many).ok
    assert loaded(many).state is State.APPROVED
