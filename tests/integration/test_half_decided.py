"""Once a verb has stored a decision, nobody who made it is told that it was not made, whatever fails afterwards."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
from redis.exceptions import ConnectionError as Away
from redis.exceptions import TimeoutError as Slow

from approvals.batches import Batches
from approvals.calls import Calls
from approvals.lifecycle import State
from approvals.outcomes import Answer
from approvals.replicas import NotReplicated
from bot.deciding import EXECUTE, REFRESH
from bot_office import BRUNO, CHANNEL, Office, a_refund

FIRST, SECOND, THIRD = "call_000000000001", "call_000000000002", "call_000000000003"
#: What an edit of one payment of 312.40 EUR is judged by.
FACTS = '{"customer_of":{"pay_0001":"cus_1"},"charged":{"pay_0001":{"minor":31240,"currency":"EUR"}}}'
PERHAPS = "may or may not have been recorded"


def posted(office: Office, number: int, *, reviewers: int = 1) -> str:
    run, _ = office.start()
    calls = (a_refund(1000 * at, number=at, reviewers=reviewers) for at in range(1, number + 1))
    batch = office.pause(run, *calls)
    office.card_with(batch, "decide by")
    return batch


def nudges(office: Office) -> list[tuple[str, str]]:
    """The worker's nudges from now on."""
    seen: list[tuple[str, str]] = []
    object.__setattr__(office.bot.deps, "nudge", lambda job, argument: seen.append((job, argument)))
    return seen


def breaks_off(
    patch: pytest.MonkeyPatch, key: str, error: Exception, *, verb: str = "approve", stored: bool = False
) -> None:
    """The store breaks off while this call is decided: before the decision arrived, or before its answer did."""
    real: Callable[..., Answer] = getattr(Calls, verb)

    def broken(self: Calls, which: str, **given: Any) -> Answer:
        if which != key:
            return real(self, which, **given)
        if stored:
            real(self, which, **given)
        raise error

    patch.setattr(Calls, verb, broken)


def unreadable(office: Office, key: str) -> None:
    """What is stored of this call is not what was sealed."""
    place = office.store.keys.call(key)
    blob = office.client.hget(place, "content") or b""
    office.client.hset(place, "content", blob[:-1] + bytes([blob[-1] ^ 1]))


def answers(office: Office) -> list[str]:
    return [one["text"] for one in office.slack.ephemerals(BRUNO, CHANNEL)]


@pytest.mark.parametrize("stored", [False, True])
def test_whoever_approved_while_the_store_broke_off_is_told_that_nobody_knows(
    office: Office,
    monkeypatch: pytest.MonkeyPatch,
    stored: bool,  # noqa: FBT001 - a parameter of the cases
) -> None:
    batch = posted(office, 1)
    breaks_off(monkeypatch, FIRST, Away("gone for a second"), stored=stored)
    office.press(BRUNO, batch, "call.approve", FIRST)
    said = office.told(BRUNO, PERHAPS)
    assert "Look at the card" in said
    assert "othing was decided" not in said
    assert (office.call(FIRST).state is State.APPROVED) is stored


@pytest.mark.parametrize("stored", [False, True])
def test_of_several_each_is_told_by_itself_when_the_store_breaks_off_at_one(
    office: Office,
    monkeypatch: pytest.MonkeyPatch,
    stored: bool,  # noqa: FBT001 - a parameter of the cases
) -> None:
    batch = posted(office, 3)
    breaks_off(monkeypatch, SECOND, Slow("no answer"), stored=stored)
    office.press(BRUNO, batch, "batch.approve_all")
    counted, line = office.told(BRUNO, "as you said").split("\n")
    assert counted == "At least 2 of 3 decided as you said."
    assert line.startswith("2. ")
    assert PERHAPS in line
    assert {office.call(key).state for key in (FIRST, THIRD)} == {State.APPROVED}


def test_what_certainly_was_not_decided_is_told_beside_what_was(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = posted(office, 2)
    breaks_off(monkeypatch, SECOND, ValueError("a defect"))
    office.press(BRUNO, batch, "batch.approve_all")
    assert office.told(BRUNO, "as you said").split("\n") == [
        "1 of 2 decided as you said.",
        "2. This one could not be decided just now. Try again in a minute.",
    ]


def test_what_too_few_replicas_have_is_counted_as_neither(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = posted(office, 2)
    breaks_off(monkeypatch, SECOND, NotReplicated("0 of 1"), stored=True)
    office.press(BRUNO, batch, "batch.approve_all")
    counted, line = office.told(BRUNO, "as you said").split("\n")
    assert counted == "At least 1 of 2 decided as you said."
    assert "do not rely on it" in line


def test_a_sibling_that_cannot_be_read_denies_no_approval(office: Office) -> None:
    batch, seen = posted(office, 2), nudges(office)
    ts = office.card(batch)["ts"]
    unreadable(office, SECOND)
    office.slack.click(BRUNO, CHANNEL, ts, "call.approve", f"call:{FIRST}")
    said = office.told(BRUNO, "Approved.")
    assert "That is recorded." in said
    assert "cannot be approved" not in said
    assert office.call(FIRST).state is State.APPROVED
    assert seen == [(EXECUTE, batch)]
    assert BRUNO in office.bot.deps.watch._known


def slow_afterwards(office: Office, patch: pytest.MonkeyPatch) -> None:
    """The store does not answer about the card any more once the first call is decided."""
    real = Batches.view

    def view(self: Batches, batch: str) -> Any:
        if office.client.hget(office.store.keys.call(FIRST), "state") != b"pending_review":
            raise Slow("no answer")
        return real(self, batch)

    patch.setattr(Batches, "view", view)


def test_a_store_that_is_slow_afterwards_denies_no_approval(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    batch, seen = posted(office, 1), nudges(office)
    ts = office.card(batch)["ts"]
    slow_afterwards(office, monkeypatch)
    office.slack.click(BRUNO, CHANNEL, ts, "call.approve", f"call:{FIRST}")
    said = office.told(BRUNO, "Approved.")
    assert "That is recorded." in said
    office.until(lambda: seen == [(EXECUTE, batch)], "the worker is nudged")
    assert BRUNO in office.bot.deps.watch._known


def test_of_several_it_is_said_once_that_the_rest_of_the_card_could_not_be_read(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = posted(office, 2)
    real = Batches.view

    def view(self: Batches, which: str) -> Any:
        if sys._getframe(1).f_code.co_name == "_siblings":
            raise Slow("no answer")
        return real(self, which)

    monkeypatch.setattr(Batches, "view", view)
    office.press(BRUNO, batch, "batch.approve_all")
    counted, line = office.told(BRUNO, "as you said").split("\n")
    assert counted == "2 of 2 decided as you said."
    assert line.startswith("That is recorded.")


def test_an_approver_who_cannot_be_looked_up_afterwards_has_approved(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch, seen = posted(office, 1), nudges(office)

    def away(*_: object) -> None:
        raise Away("gone for a second")

    monkeypatch.setattr(type(office.bot.deps.watch), "add", away)
    monkeypatch.setattr(type(office.bot.deps.watch), "refresh", away)
    office.press(BRUNO, batch, "call.approve", FIRST)
    office.until(lambda: seen == [(EXECUTE, batch)], "the worker is nudged")
    office.state(FIRST, State.APPROVED)
    assert answers(office) == []


def test_an_approval_that_is_kept_is_told_though_nobody_can_say_who_else_is_needed(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = posted(office, 1, reviewers=2)
    monkeypatch.setattr("bot.deciding._others", lambda *_given, **_more: (_ for _ in ()).throw(Slow("no answer")))
    office.press(BRUNO, batch, "call.approve", FIRST)
    assert office.told(BRUNO, "Your approval is kept.") == "Your approval is kept. 1 more needed."


def test_a_late_click_is_answered_though_it_cannot_be_noted(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = posted(office, 1)
    office.press(BRUNO, batch, "call.approve", FIRST)
    office.state(FIRST, State.APPROVED)

    def away(*_: object, **__: object) -> None:
        raise Away("gone for a second")

    monkeypatch.setattr(Calls, "note", away)
    ts = office.card(batch)["ts"]
    office.slack.click("U0002", CHANNEL, ts, "call.approve", f"call:{FIRST}", stale=True)
    office.until(lambda: office.slack.ephemerals("U0002", CHANNEL), "Olga is answered")
    assert "Already approved by Bruno Billing" in office.slack.ephemerals("U0002", CHANNEL)[0]["text"]


def test_the_review_says_what_was_decided_and_of_what_nobody_knows(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = posted(office, 2)
    breaks_off(monkeypatch, FIRST, Away("gone for a second"))
    office.press(BRUNO, batch, "batch.review")
    office.modal(BRUNO)
    chosen = {f"verdict:{FIRST}": {"value": "approve"}, f"verdict:{SECOND}": {"value": "reject"}}
    assert office.slack.submit(BRUNO, {**chosen, f"reason:{SECOND}": {"value": "no"}})["ok"]
    counted, line = office.told(BRUNO, "as you said").split("\n")
    assert counted == "At least 1 of 2 decided as you said."
    assert PERHAPS in line
    assert office.call(SECOND).state is State.REJECTED


def test_a_review_of_which_nothing_is_known_does_not_say_that_nothing_was_decided(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = posted(office, 2)
    breaks_off(monkeypatch, FIRST, Away("gone for a second"), stored=True)
    office.press(BRUNO, batch, "batch.review")
    office.modal(BRUNO)
    assert office.slack.submit(BRUNO, {f"verdict:{FIRST}": {"value": "approve"}})["ok"]
    assert office.slack.view(BRUNO) is None
    (said,) = answers(office)
    assert said.startswith("1. ")
    assert PERHAPS in said


def test_a_rejection_whose_card_cannot_be_read_afterwards_closes_its_window_and_is_told(office: Office) -> None:
    batch = posted(office, 2)
    office.press(BRUNO, batch, "call.reject", FIRST)
    office.modal(BRUNO)
    unreadable(office, SECOND)
    done = office.slack.submit(BRUNO, {"common": {"value": "own"}, "reason": {"value": "not today"}})
    assert done["ok"], done
    assert "That is recorded." in office.told(BRUNO, "Rejected.")
    assert office.call(FIRST).state is State.REJECTED


def test_an_edit_whose_editor_cannot_be_watched_is_taken_and_checked(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = office.start()
    batch, seen = office.pause(run, a_refund(31240, facts=FACTS)), nudges(office)
    office.card_with(batch, "decide by")
    office.press(BRUNO, batch, "call.edit", FIRST)
    office.modal(BRUNO)

    def away(*_: object) -> None:
        raise Away("gone for a second")

    monkeypatch.setattr(type(office.bot.deps.watch), "add", away)
    done = office.slack.submit(BRUNO, {"arg:/lines/0/amount": {"value": "250.00"}})
    assert done["ok"], done
    assert office.call(FIRST).version == 2
    assert (REFRESH, FIRST) in seen
