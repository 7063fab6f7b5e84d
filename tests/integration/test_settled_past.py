"""What was settled, in what is told of the past: as what it was settled as, wherever the event is kept by now."""

from pathlib import Path

import pytest
import redis

from approvals.drain import drain_once
from approvals.history import past
from approvals.ledger import Ledger
from approvals.lifecycle import UndoState
from approvals.store import Store
from bot.past_text import said_of
from bot.past_words import read_question
from builders import a_call, a_person, approve, claim, lease_batch, paused
from orphans import nobody_at_work
from undos import ran, reach

OPS = a_person("U0OPS")


def settled_call(store: Store, *, happened: bool) -> None:
    paused(store, a_call("call_1"))
    approve(store)
    taken = claim(store, lease_batch(store))
    assert store.effects.intend(taken).ok
    assert store.effects.abandon(taken.call, token=taken.token, reason="no answer").ok
    nobody_at_work(store, "call_1")
    assert store.operators.mark("call_1", happened=happened, by=OPS, reason="looked it up", needed=1).ok


def settled_undo(store: Store, client: redis.Redis, *, happened: bool) -> None:
    one = ran(store, client)
    reach(one, UndoState.UNKNOWN)
    assert one.settle(happened=happened).ok


def found(store: Store, words: str, ledger: Ledger | None) -> list[str]:
    """What a question is answered with, in words; of what is settled only."""
    question = read_question(words, tools=(), now=store.now(), zone="Europe/Madrid")
    rows = [one.row for one in past(store, ledger, question).found]
    return [said_of(row) for row in rows if row.type.endswith("settled")]


@pytest.mark.parametrize("drained", [False, True])
@pytest.mark.parametrize(
    ("happened", "words", "said"),
    [
        (True, "executed", ["It is settled: it happened"]),
        (True, "failed", []),
        (False, "executed", []),
        (False, "failed", ["It is settled: nothing happened"]),
        (True, "", ["It is settled: it happened"]),
        (False, "", ["It is settled: nothing happened"]),
    ],
)
def test_a_call_is_found_as_what_it_was_settled_as(
    store: Store, tmp_path: Path, words: str, said: list[str], *, happened: bool, drained: bool
) -> None:
    settled_call(store, happened=happened)
    assert found(store, words, drained_into(store, tmp_path) if drained else None) == said


@pytest.mark.parametrize("drained", [False, True])
@pytest.mark.parametrize(
    ("happened", "words", "said"),
    [
        (True, "undone", ["The undo is settled: it was undone"]),
        (False, "undone", []),
        (True, "executed", []),
        (False, "failed", []),
        (True, "", ["The undo is settled: it was undone"]),
        (False, "", ["The undo is settled: it was not undone"]),
    ],
)
def test_an_undo_is_found_as_what_it_was_settled_as(
    store: Store,
    redis_client: redis.Redis,
    tmp_path: Path,
    words: str,
    said: list[str],
    *,
    happened: bool,
    drained: bool,
) -> None:
    settled_undo(store, redis_client, happened=happened)
    assert found(store, words, drained_into(store, tmp_path) if drained else None) == said


def drained_into(store: Store, tmp_path: Path) -> Ledger:
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    drain_once(store, ledger)
    return ledger
