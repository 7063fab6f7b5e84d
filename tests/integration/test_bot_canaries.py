"""A canary as people meet it in Slack: decided on with the card's own buttons, and then told for what it was."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from approvals.lifecycle import RunState, State
from approvals.models import Call
from approvals.planting import plant
from bot_office import BRUNO, CHANNEL, OLGA, REVIEWERS, ROSA, Office, a_refund, readable, running
from builders import events, move
from policies.law import Law, load_law

ODDITY = "The customer asked for it before the payment was made."
OPTED_IN = f"""
[canaries]
channel = "{CHANNEL}"
requester = "{ROSA}"
[[canaries.calls]]
tool = "refund_payments"
radius = "refunds in EUR"
tier = "billing"
request = "refund the payment of my friend"
headline = "Refund 1 payment, 98.00 EUR"
impact = ["1 customer", "0 already disputed"]
amount = "98.00 EUR"
oddity = "{ODDITY}"
agent = "Refund desk"
[canaries.calls.arguments]
payment_id = "pay_0099"
"""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "reviewers.toml"
    path.write_text(REVIEWERS.read_text(encoding="utf-8") + OPTED_IN, encoding="utf-8")
    return path


@pytest.fixture
def law(people: Path) -> Law:
    return load_law(["policies.rules"], people.read_text(encoding="utf-8"))


@pytest.fixture
def office(valkey_url: str, redis_client: redis.Redis, people: Path) -> Iterator[Office]:
    with running(valkey_url, redis_client, reviewers=people) as made:
        yield made


def planted(office: Office, law: Law) -> tuple[Call, str]:
    """The call and its batch, once the card stands in Slack and looks like any other."""
    tried = plant(office.store, law, 0)
    assert tried.run, tried.why
    (call,) = office.store.calls.of_pause(tried.run, 1)
    office.bot.deps.wake.set()
    card = readable(office.card(str(call.batch)))
    assert "Refund 1 payment, 98.00 EUR" in card
    assert "asked by agent Refund desk" in card
    assert not {"canary", "Canary", "test"} & set(card.replace('"', " ").replace("'", " ").split())
    return call, str(call.batch)


def thread(office: Office, call: Call) -> str:
    run = office.store.runs.load(call.run)
    assert run
    return str(office.slack.messages(CHANNEL, run.thread_ts))


def test_whoever_rejects_it_is_told_that_it_was_a_test_and_was_caught(office: Office, law: Law) -> None:
    call, batch = planted(office, law)
    office.press(BRUNO, batch, "call.reject")
    office.modal(BRUNO)
    office.slack.submit(BRUNO, {"common": {"value": "own"}, "reason": {"value": "That payment is not theirs."}})
    said = "This was a test, and Bruno Billing caught it. Nothing would have run."
    card = office.card_with(batch, said)
    assert "That payment is not theirs" not in readable(card)
    office.until(lambda: thread(office, call).count(said) >= 2, thread(office, call))
    assert office.call(call.key).state is State.REJECTED


def test_whoever_approves_it_is_told_kindly_what_was_odd(office: Office, law: Law) -> None:
    call, batch = planted(office, law)
    office.press(OLGA, batch, "call.approve")
    said = f"This was a test; nothing ran and nothing will. It was approved by Olga Opslead. What was odd: {ODDITY}"
    office.until(lambda: "This was a test" in readable(office.card(batch)), "the card says so")
    assert said in readable(office.card(batch)), readable(office.card(batch))
    office.until(lambda: "This was a test" in thread(office, call), "the thread says so")
    run = office.store.runs.load(call.run)
    assert run
    assert run.state is RunState.COMPLETED
    assert "Finished." not in thread(office, call)
    assert "Outcome" not in thread(office, call)


def test_nothing_of_it_can_be_changed_and_nobody_asks_the_same_again(office: Office, law: Law) -> None:
    call, batch = planted(office, law)
    office.press(BRUNO, batch, "call.edit")
    assert "Nothing here can be edited" in str(office.modal(BRUNO))
    office.store.runs.cancel(call.run, by=ROSA, name="Rosa")
    office.bot.deps.wake.set()
    card = office.card_with(batch, "This was a test; it ended before anybody decided.")
    assert "Ask again" not in readable(card)


def test_a_press_that_would_ask_for_it_again_starts_nothing(office: Office) -> None:
    other, _ = office.start()
    batch = office.pause(other, a_refund(9800))
    office.card(batch)
    move(office.client, office.store.keys.batch(batch), decide_by=office.store.now() - 1)
    assert office.store.deadlines.apply(f"decide:{batch}").ok
    office.bot.deps.wake.set()
    card = office.card_with(batch, "Ask again")
    office.client.hset(office.store.keys.run(other), "canary", "1")  # as if the button were on the card of a canary
    office.slack.click(ROSA, CHANNEL, card["ts"], "run.ask_again", "run")
    office.told(ROSA, "there is nothing to ask again")
    assert events(office.store).count("run_started") == 1
