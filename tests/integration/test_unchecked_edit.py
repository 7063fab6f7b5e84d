"""An edit that no worker checked before the time ended is nobody's silence: every reader is told what was missing."""

import json

import pytest
import redis

from approvals.lifecycle import UNCHECKED, State
from approvals.store import Store
from block_rules import all_text
from bot.alerts import expired_alert
from bot.cards import render_card
from bot.outcome import render_outcome
from bot.reminders import render_direct
from bot_builders import AnyLaw
from builders import ANA, BEN, a_call, edit, loaded, move, paused
from worker.envelope import envelope_of

NEVER_CHECKED = "U0Ana's change was not checked in time"


@pytest.fixture
def unchecked(store: Store, redis_client: redis.Redis) -> Store:
    """A call whose time ended while an edit of it was being checked."""
    paused(store, a_call("call_1"))
    edit(store, by=ANA)
    over = store.now() - 1
    move(redis_client, store.keys.batch("batch_a"), decide_by=over)
    move(redis_client, store.keys.call("call_1"), check_by=over)
    assert store.deadlines.apply("decide:batch_a").ok
    call = loaded(store)
    assert (call.state, call.reason, call.refreshing) == (State.EXPIRED, UNCHECKED, False)
    return store


def test_people_read_on_card_reminder_and_outcome_that_the_edit_was_never_checked(unchecked: Store) -> None:
    view, pause = unchecked.batches.view("batch_a"), unchecked.runs.pause_view("run_1", 1)
    assert view
    assert pause
    card, direct, outcome = (
        render_card(view, AnyLaw()),
        render_direct(view, BEN, None, posted=True),
        render_outcome(pause),
    )
    assert direct
    for message in (card, direct, outcome):
        said = message.text + all_text(message.blocks)
        assert NEVER_CHECKED in said
        assert "nobody decided" not in said.lower()


def test_ops_and_the_agent_are_told_so_too(unchecked: Store) -> None:
    view = unchecked.batches.view("batch_a")
    assert view
    assert NEVER_CHECKED in all_text(expired_alert(view).blocks)
    told = json.loads(envelope_of(loaded(unchecked)))
    assert told["sentence"] == "NOT executed. A reviewer's change was not checked in time. This is not a refusal."
    assert "nobody decided" not in told["next"].lower()
    assert "not checked in time" in told["next"]
