from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import redis

from approvals.lifecycle import RunState, State
from bot_office import BRUNO, CHANNEL, OMAR, OPS, Office, a_refund, readable
from builders import events, move, waking
from orphans import nobody_at_work

FIRST = "call_000000000001"
NINA = "U0008"
Json = dict[str, Any]


def letters(office: Office, words: str) -> list[Json]:
    return [message for message in office.slack.messages(OPS) if words in readable(message)]


def letter(office: Office, words: str) -> Json:
    """The one message of ops with these words; never a second one."""
    office.until(lambda: letters(office, words), f"ops reads {words!r}; it reads {office.slack.messages(OPS)}")
    (found,) = letters(office, words)
    return found


def controls(message: Json) -> list[str]:
    return [e["action_id"] for block in message["blocks"] if block["type"] == "actions" for e in block["elements"]]


def an_unknown(office: Office, *, reviewers: int = 1, alone: bool = True) -> str:
    """A run whose effect was begun and never heard of again; unless `alone`, its worker may still be at work on it."""
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240, reviewers=reviewers))
    approvers = (BRUNO, "U0002")[:reviewers]
    for number, user in enumerate(approvers, start=1):
        office.press(user, batch, "call.approve")
        office.until(lambda number=number: len(office.call(FIRST).decisions) == number, "the approval is kept")
    store = office.store
    store.ledger.vouch(store.ledger.server())
    lease = store.batches.lease(batch, token="w", ttl_ms=60_000)
    assert lease
    call = office.call(FIRST)
    people = [store.people.put(store.people.get(user)) for user in approvers]  # type: ignore[arg-type]
    answer, claim = store.effects.claim(
        FIRST, lease=lease, token="c", seal=call.seal, ttl_ms=60_000, people=people, day="2026-11-29"
    )
    assert claim, answer
    assert store.effects.intend(claim).ok
    assert store.effects.abandon(FIRST, token="c", reason="the tool did not answer").ok
    if alone:
        nobody_at_work(store, FIRST)
    assert store.effects.alert_unknown(FIRST).ok  # as a worker does when the tool cannot tell
    office.bot.deps.wake.set()
    return run


def press(office: Office, user: str, message: Json, control: str) -> None:
    office.slack.click(user, OPS, message["ts"], control, "ops")


def ops_told(office: Office, user: str, words: str) -> None:
    def look() -> bool:
        return any(words in one["text"] for one in office.slack.ephemerals(user, OPS))

    office.until(look, f"{user} is told {words!r}; told: {office.slack.ephemerals(user, OPS)}")


def settle(office: Office, user: str, message: Json, control: str, reason: str) -> Json:
    press(office, user, message, control)
    office.modal(user)
    return office.slack.submit(user, {"reason": {"value": reason}})


def test_an_unknown_outcome_says_what_is_certain_and_what_is_not_and_offers_what_cannot_run_it_again(
    office: Office,
) -> None:
    an_unknown(office)
    found = letter(office, "Unknown outcome")
    said = readable(found)
    for words in ("*Certain:*", "*Not certain:*", "*To do:*", "The tool did not answer.", "vobo-run_"):
        assert words in said
    assert controls(found) == ["ops.reconcile", "ops.mark_done", "ops.mark_not_done"]


def test_an_unknown_outcome_begins_with_what_it_is_about_and_ends_with_the_ids(office: Office) -> None:
    an_unknown(office)
    said = found_text(letter(office, "Unknown outcome"))
    first = said.split("\n")[0]
    assert "approved by Bruno Billing, begun <!date^" in first
    assert "|Open the card>" in first
    due = office.store.deadlines.at(f"unknown:{FIRST}")
    assert due
    assert f"until <!date^{due // 1000}^" in said
    assert office.store.effects.answer_unknown(FIRST).ok
    office.store.outbox.owe("alert", f"call:{FIRST}")
    office.bot.deps.wake.set()
    office.until(lambda: letters(office, "has been told that nobody knows"), "the message is updated")
    assert office.store.deadlines.at(f"unknown:{FIRST}") is None


def found_text(message: Json) -> str:
    return str(message["blocks"][1]["text"]["text"])


@pytest.mark.parametrize(
    ("control", "state"), [("ops.mark_done", State.SUCCEEDED), ("ops.mark_not_done", State.FAILED)]
)
def test_an_operator_settles_it_with_a_reason_and_the_same_message_says_so(
    office: Office, control: str, state: State
) -> None:
    run = an_unknown(office)
    found = letter(office, "Unknown outcome")
    refused = settle(office, OMAR, found, control, " ")
    assert "reason" in str(refused)
    assert office.call(FIRST).state is State.UNKNOWN
    office.slack.submit(OMAR, {"reason": {"value": "looked it up"}})
    office.state(FIRST, state)
    office.until(lambda: letters(office, "Settled: it"), "the message is updated")
    assert letter(office, "Unknown outcome")["ts"] == found["ts"]
    assert controls(letter(office, "Unknown outcome")) == ["ops.close"]
    assert events(office.store, FIRST)[-2:] == ["marked", "settled"]
    assert office.store.runs.load(run).state is RunState.READY  # type: ignore[union-attr]
    assert office.store.batches.claimable(office.call(FIRST).batch or "") == []


def test_whoever_is_not_ops_settles_nothing_and_the_ledger_knows(office: Office) -> None:
    an_unknown(office)
    found = letter(office, "Unknown outcome")
    press(office, BRUNO, found, "ops.reconcile")
    ops_told(office, BRUNO, "Only ops may do this")
    press(office, BRUNO, found, "ops.mark_done")
    office.until(lambda: events(office.store).count("press_refused") == 2, "both presses are in the ledger")
    assert office.call(FIRST).state is State.UNKNOWN


def test_where_two_reviewers_were_needed_two_operators_must_say_the_same(office: Office) -> None:
    law = office.bot.deps.law
    people = law.reviewers.model_copy(update={"ops": (OMAR, NINA)})
    object.__setattr__(office.bot.deps, "law", replace(law, reviewers=people))
    an_unknown(office, reviewers=2)
    found = letter(office, "Unknown outcome")
    settle(office, OMAR, found, "ops.mark_done", "seen at the provider")
    office.until(lambda: letters(office, "a second operator must say the same"), "one word is shown")
    settle(office, OMAR, found, "ops.mark_done", "seen again")
    assert office.call(FIRST).state is State.UNKNOWN
    settle(office, NINA, found, "ops.mark_not_done", "not on the statement")
    office.until(lambda: letters(office, "not done; a second operator"), "the contradiction replaces the first word")
    assert office.call(FIRST).state is State.UNKNOWN
    settle(office, OMAR, found, "ops.mark_not_done", "she is right")
    office.state(FIRST, State.FAILED)


def test_not_done_is_refused_with_when_to_say_it_again_while_a_worker_may_be_at_work(office: Office) -> None:
    run = an_unknown(office, alone=False)
    found = letter(office, "Unknown outcome")
    limit = office.call(FIRST).at_work_until
    assert limit
    minute = -(-limit // 60_000) * 60
    assert f"A worker may still be at work on it until <!date^{minute}^" in readable(found)
    office.store.effects.stay(FIRST)
    refused = str(settle(office, OMAR, found, "ops.mark_not_done", "not on the statement"))
    assert "Nothing was noted: a worker may still be at work on it until " in refused
    assert "send this once more" in refused
    assert (office.call(FIRST).state, office.store.operators.marked(FIRST)) == (State.UNKNOWN, None)
    assert office.store.runs.load(run).state is RunState.PAUSED  # type: ignore[union-attr]
    nobody_at_work(office.store, FIRST)
    office.slack.submit(OMAR, {"reason": {"value": "looked again: not on the statement"}})
    office.state(FIRST, State.FAILED)


def test_done_is_taken_while_a_worker_may_be_at_work(office: Office) -> None:
    an_unknown(office, alone=False)
    settle(office, OMAR, letter(office, "Unknown outcome"), "ops.mark_done", "on the statement")
    office.state(FIRST, State.SUCCEEDED)


def test_asking_the_provider_wakes_the_reconciliation_and_nothing_else(
    office: Office, redis_client: redis.Redis
) -> None:
    an_unknown(office)
    found = letter(office, "Unknown outcome")
    office.store.wakeups.drop("reconcile_call", FIRST)
    press(office, OMAR, found, "ops.reconcile")
    office.until(lambda: f"reconcile_call:{FIRST}" in waking(office.store), "the reconciliation is woken")
    assert not any(member.startswith("execute_batch") for member in waking(office.store) if "lease" in member)
    office.store.effects.settle(FIRST, happened=True, by="reconcile", reason="The provider has it.")
    press(office, OMAR, found, "ops.reconcile")
    ops_told(office, OMAR, "Nothing was done; by now the call is done")
    assert events(office.store, FIRST).count("provider_asked") == 1


def a_failed_run(office: Office) -> str:
    run, _ = office.start()
    lease = office.store.runs.lease(run, token="w", ttl_ms=60_000)
    assert lease
    office.store.runs.save_turn(lease, state=b"{}", turns=1)
    office.store.runs.fail(lease, reason="It got no further in 8 attempts")
    office.bot.deps.wake.set()
    return run


def test_a_failed_run_is_put_back_in_the_queue_by_ops_once(office: Office) -> None:
    run = a_failed_run(office)
    found = letter(office, "A run was interrupted")
    assert controls(found) == ["ops.requeue", "ops.close"]
    press(office, BRUNO, found, "ops.requeue")
    ops_told(office, BRUNO, "Only ops may do this")
    press(office, OMAR, found, "ops.requeue")
    office.until(lambda: office.store.runs.load(run).state is RunState.QUEUED, "it is queued")  # type: ignore[union-attr]
    office.until(lambda: letters(office, "taken up again"), "the message says so")
    office.slack.click(OMAR, OPS, found["ts"], "ops.requeue", "ops", stale=True)
    ops_told(office, OMAR, "Nothing was done; by now it waits for a worker")
    assert events(office.store).count("requeued") == 1


def test_a_closed_matter_is_open_again_when_it_comes_up_again(office: Office) -> None:
    run = a_failed_run(office)
    found = letter(office, "A run was interrupted")
    press(office, OMAR, found, "ops.close")
    office.until(lambda: letters(office, "Seen by Omar"), "it is closed")
    assert controls(letter(office, "A run was interrupted")) == []
    assert "alert_closed" in events(office.store)
    assert office.store.runs.requeue(run, by=OMAR).ok
    lease = office.store.runs.lease(run, token="w2", ttl_ms=60_000)
    assert lease
    office.store.runs.fail(lease, reason="again")
    office.bot.deps.wake.set()
    office.until(lambda: "ops.requeue" in controls(letter(office, "A run was interrupted")), "it is open again")


def test_an_unknown_outcome_cannot_be_closed_before_it_is_settled(office: Office) -> None:
    an_unknown(office)
    found = letter(office, "Unknown outcome")
    office.store.effects.settle(FIRST, happened=True, by="reconcile", reason="found")
    office.bot.deps.wake.set()
    office.until(lambda: controls(letter(office, "Unknown outcome")) == ["ops.close"], "it can be closed now")
    office.client.hset(office.store.keys.call(FIRST), "state", "unknown")
    press(office, OMAR, found, "ops.close")
    ops_told(office, OMAR, "Settle it first")


def test_an_expired_card_is_one_line_with_a_link(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    card = office.card(batch)
    move(office.client, office.store.keys.batch(batch), decide_by=office.store.now() - 1)
    assert office.store.deadlines.apply(f"decide:{batch}").ok
    office.bot.deps.wake.set()
    found = letter(office, "A card expired")
    assert f"/archives/{CHANNEL}/p{card['ts'].replace('.', '')}" in readable(found)
    assert controls(found) == ["ops.close"]


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        (lambda office: office.store.switches.freeze(OMAR, "something is off"), "Everything is frozen"),
        (lambda office: office.store.outbox.alarm("blob:changed:state:run_x", event="x", reason="r"), "was changed"),
        (lambda office: office.store.outbox.alarm("tier:billing", event="x", reason="r"), "Nobody may approve"),
        (
            lambda office: office.store.outbox.alarm("slack:C1:is_gone", event="x", reason="r"),
            "cannot be delivered",
        ),
        (lambda office: office.store.outbox.alarm("tool:call_x", event="x", reason="r"), "A tool is gone"),
    ],
    ids=["freeze", "tampered", "empty tier", "undeliverable", "tool gone"],
)
def test_every_matter_is_one_message_that_says_what_to_do(
    office: Office, cause: Callable[[Office], Any], words: str
) -> None:
    for _ in range(2):
        cause(office)
        office.bot.deps.wake.set()
        assert "*To do:*" in readable(letter(office, words))
