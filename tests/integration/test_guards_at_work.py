"""Ops cannot say "it did not happen" while a worker may be at work on it: it could yet happen, beside the next."""

import asyncio
import threading
from collections.abc import Callable

import pytest
import redis
from agents.testing import function_call

from approvals import at_work
from approvals.lifecycle import State, UndoState
from approvals.outcomes import Answer, Outcome
from approvals.store import Store
from builders import a_call, a_person, approve, claim, events, lease_batch, loaded, owed, paused
from orphans import nobody_at_work
from stack import until
from undos import Ran, ran, reach
from worker.presence import Presence
from workshop import LEA, Workshop, saying, shipping

OPS, OTHER = "U0OPS", "U0OTHER"
LONGEST_MS = 5_000


class Doubt:
    """What nobody knows the end of, a call or an undo, and what an operator says of it."""

    def __init__(self, store: Store, client: redis.Redis, of: str) -> None:
        self.store, self.client, self.of = store, client, of
        self.ran: Ran | None = None
        if of == "undo":
            self.ran = ran(store, client)
            self.key, self.subject = self.ran.key, f"undo:{self.ran.key}"
            reach(self.ran, UndoState.EXECUTING, intended=True)
            assert store.undos.abandon(self.ran.claimed, reason="no answer").ok
            return
        self.key = self.subject = "call_1"
        paused(store, a_call(self.key))
        approve(store)
        taken = claim(store, lease_batch(store))
        assert store.effects.intend(taken, longest_ms=LONGEST_MS).ok
        assert store.effects.abandon(self.key, token=taken.token, reason="no answer").ok
        assert store.effects.alert_unknown(self.key).ok

    def say(self, *, happened: bool, by: str = OPS, needed: int = 1) -> Answer:
        if self.ran:
            return self.ran.settle(happened=happened, by=by, needed=needed)
        return self.store.operators.mark(
            self.key, happened=happened, by=a_person(by), reason="looked it up", needed=needed
        )

    @property
    def unknown(self) -> bool:
        return (self.ran.state is UndoState.UNKNOWN) if self.ran else loaded(self.store).state is State.UNKNOWN

    @property
    def first_word(self) -> tuple[str, str] | None:
        return self.store.undos.marked(self.key) if self.ran else self.store.operators.marked(self.key)

    @property
    def row(self) -> object:
        """All that is kept of it, what ops is told, and the ledger."""
        told = self.store.outbox.load(f"alert:{'undo' if self.ran else 'call'}:{self.key}")
        kept = self.client.hgetall(self.store.keys.call(self.key))
        return kept, told and told.desired, events(self.store), owed(self.store)

    def limit(self, at_ms: int | str) -> None:
        """Its time limit was, or is, over at this instant; "" for what version 0.1 wrote."""
        of = "undo_" if self.ran else ""
        self.client.hset(self.store.keys.call(self.key), f"{of}at_work_until", str(at_ms))

    def gone(self) -> None:
        """Its worker says no longer that it is there."""
        self.client.delete(self.store.keys.at_work(self.subject))


@pytest.fixture(params=["call", "undo"])
def doubt(request: pytest.FixtureRequest, store: Store, redis_client: redis.Redis) -> Doubt:
    return Doubt(store, redis_client, request.param)


def test_not_done_changes_nothing_while_the_time_limit_runs(doubt: Doubt) -> None:
    doubt.gone()
    before = doubt.row
    answer = doubt.say(happened=False)
    assert (answer.outcome, answer.detail["state"]) == (Outcome.WRONG_STATE, "unknown")
    left = at_work.left_ms(answer)
    assert left is not None
    assert at_work.MARGIN_MS < left <= LONGEST_MS + at_work.MARGIN_MS
    assert doubt.row == before


def test_not_done_changes_nothing_while_its_worker_says_that_it_is_there(doubt: Doubt) -> None:
    doubt.limit(1)
    doubt.store.effects.stay(doubt.subject)
    before = doubt.row
    left = at_work.left_ms(doubt.say(happened=False))
    assert left is not None
    assert at_work.PRESENT_MS - 5_000 < left <= at_work.PRESENT_MS
    assert doubt.row == before


def test_done_is_taken_at_once(doubt: Doubt) -> None:
    assert doubt.say(happened=True).outcome is Outcome.OK
    assert not doubt.unknown


def test_not_done_is_taken_once_the_time_is_over_and_a_dead_workers_presence_has_run_out(doubt: Doubt) -> None:
    doubt.limit(doubt.store.now() + 200)
    doubt.client.set(doubt.store.keys.at_work(doubt.subject), "1", px=400)  # the last that it said
    assert doubt.say(happened=False).outcome is Outcome.WRONG_STATE
    until(lambda: doubt.say(happened=False).ok, "nobody can be at work on it", 5)
    assert not doubt.unknown


def test_another_effect_that_is_at_work_is_none_of_its_business(doubt: Doubt) -> None:
    doubt.limit(1)
    doubt.gone()
    doubt.store.effects.stay("undo:" + doubt.key if doubt.of == "call" else doubt.key)
    assert doubt.say(happened=False).outcome is Outcome.OK


def test_what_was_said_before_stays_when_the_second_says_not_done_too_early(doubt: Doubt) -> None:
    assert doubt.say(happened=True, needed=2).outcome is Outcome.OK
    first = doubt.first_word
    assert first
    answer = doubt.say(happened=False, by=OTHER, needed=2)
    assert (answer.outcome, doubt.first_word) == (Outcome.WRONG_STATE, first)
    assert doubt.say(happened=True, by=OTHER, needed=2).ok, "the first word still counts"
    assert not doubt.unknown


def test_too_early_is_no_word_of_two(doubt: Doubt) -> None:
    assert at_work.left_ms(doubt.say(happened=False, needed=2))
    assert doubt.first_word is None
    nobody_at_work(doubt.store, doubt.key)
    assert doubt.say(happened=False, by=OTHER, needed=2).outcome is Outcome.OK
    assert doubt.unknown, "it is the first that counts"
    assert doubt.say(happened=False, needed=2).outcome is Outcome.OK
    assert not doubt.unknown


@pytest.mark.parametrize(("since_ms", "taken"), [(0, False), (60_000, True)])
def test_what_version_0_1_had_begun_may_be_at_work_as_long_as_it_would_be_today(
    doubt: Doubt, since_ms: int, *, taken: bool
) -> None:
    of = "undo_" if doubt.of == "undo" else ""
    begun = doubt.store.now() - since_ms
    doubt.client.hset(doubt.store.keys.call(doubt.key), mapping={f"{of}claimed_at": begun, f"{of}longest_ms": 5_000})
    doubt.limit("")
    doubt.gone()
    answer = doubt.say(happened=False)
    assert answer.ok is taken
    if not taken:
        assert 30_000 < (at_work.left_ms(answer) or 0) <= 35_000


# With a real thread that nobody can stop.


class Blocking:
    """Only the first time: work in a thread that outlives its time limit, and has its effect then."""

    def __init__(self, effect: Callable[[], None]) -> None:
        self.effect, self.times = effect, 0
        self.may_end = threading.Event()

    async def __call__(self) -> None:
        self.times += 1
        if self.times == 1:
            await asyncio.to_thread(self._block)

    def _block(self) -> None:
        self.may_end.wait(20)
        self.effect()


@pytest.fixture
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds instead of half a minute."""
    monkeypatch.setattr(at_work, "MARGIN_MS", 100)
    monkeypatch.setattr(at_work, "PRESENT_MS", 600)
    monkeypatch.setitem(Presence.__init__.__kwdefaults__, "every_s", 0.2)


@pytest.mark.usefixtures("_soon")
def test_an_undo_that_ops_does_not_find_is_not_tried_again_beside_its_first_attempt(workshop: Workshop) -> None:
    shop = workshop.shop
    late: list[str] = []
    blocking = Blocking(lambda: late.append("undone, late"))
    shop.timeout_s, shop.before_undo = 0.2, blocking
    workshop.script.extend([[function_call("label", {"item": "cup"}, call_id="k")], [saying()]])
    workshop.start()
    workshop.execute()
    (call,) = workshop.calls()
    assert workshop.ask_back(call, by=LEA).ok
    job = threading.Thread(target=workshop.take_back, args=(call,))
    job.start()

    def state() -> UndoState | None:
        found = workshop.calls()[0].undo
        return found.state if found else None

    def not_undone() -> Answer:
        return workshop.store.undos.settle(
            workshop.calls()[0], happened=False, by=OPS, name="Omar", reason="it is not there"
        )

    def over() -> bool:
        found = workshop.calls()[0].undo
        return found is not None and (found.at_work_until or 0) < workshop.store.now()

    try:
        until(lambda: state() is UndoState.UNKNOWN, "its time is over", 10)
        until(over, "so is the margin", 10)
        assert at_work.left_ms(not_undone())
        workshop.ask_back(workshop.calls()[0], by=LEA)
        workshop.take_back(call)
        assert (blocking.times, late, state()) == (1, [], UndoState.UNKNOWN)
    finally:
        blocking.may_end.set()
        job.join(20)
    assert late == ["undone, late"]
    until(lambda: not_undone().ok, "a wrong word counts once nobody is at work on it", 10)


@pytest.mark.usefixtures("_soon")
def test_a_call_that_ops_does_not_find_is_not_answered_while_its_thread_goes_on(workshop: Workshop) -> None:
    shop = workshop.shop
    late: list[str] = []
    blocking = Blocking(lambda: late.append("shipped, late"))
    shop.timeout_s, shop.before_effect = 0.2, blocking
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call).ok
    job = threading.Thread(target=workshop.execute)
    job.start()

    def mark(*, happened: bool) -> Answer:
        person = a_person(OPS)
        return workshop.store.operators.mark(call.key, happened=happened, by=person, reason="looked", needed=1)

    try:
        until(lambda: workshop.calls()[0].state is State.UNKNOWN, "its time is over", 10)
        until(lambda: (workshop.calls()[0].at_work_until or 0) < workshop.store.now(), "so is the margin", 10)
        assert at_work.left_ms(mark(happened=False))
        assert (workshop.calls()[0].state, late) == (State.UNKNOWN, [])
    finally:
        blocking.may_end.set()
        job.join(20)
    assert mark(happened=True).ok
    assert workshop.calls()[0].state is State.SUCCEEDED
