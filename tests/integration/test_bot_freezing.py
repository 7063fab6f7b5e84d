import re
from collections.abc import Iterator

import pytest
import redis

from bot_office import BRUNO, CHANNEL, OMAR, OPS, Json, Office, a_refund, readable, running


@pytest.fixture
def office(valkey_url: str, redis_client: redis.Redis) -> Iterator[Office]:
    with running(valkey_url, redis_client) as office:
        yield office


def test_ops_freezes_from_slack_with_a_reason_and_lets_go_again(office: Office) -> None:
    office.slack.slash(OMAR, CHANNEL, "freeze the provider pays twice")
    office.told(OMAR, "Frozen: nothing new runs")
    assert office.store.switches.frozen() == "frozen by Omar Ops: the provider pays twice"

    office.slack.slash(OMAR, CHANNEL, "unfreeze compared with the provider")
    said = office.told(OMAR, "Unfrozen")
    assert "Lifted:\n• by Omar Ops, <!date^" in said
    assert said.endswith(": the provider pays twice")
    assert office.store.switches.frozen() is None


@pytest.mark.parametrize("typed", ["upgraded", "2", "3 upgraded", "2.5% were paid twice", "reconciled, and upgraded"])
def test_of_several_reasons_none_is_lifted_before_all_of_them_were_shown(office: Office, typed: str) -> None:
    office.store.switches.freeze("olga", "upgrade")
    office.store.switches.freeze("bruno", "the provider pays twice")
    office.slack.slash(OMAR, CHANNEL, f"unfreeze {typed}")
    said = office.told(OMAR, "Nothing was lifted. Effects are frozen for 2 reasons.")
    assert "send `/vobo unfreeze 2 WHY`" in said
    assert re.search(r"\n• by olga, <!date.*>: upgrade\n• by bruno, <!date.*>: the provider pays twice$", said)
    assert len(office.store.switches.freezes()) == 2


def test_who_names_the_number_that_was_shown_lifts_all_of_them_and_no_other(office: Office) -> None:
    switches = office.store.switches
    switches.freeze("olga", "upgrade")
    switches.freeze("bruno", "the provider pays twice")
    switches.freeze("rita", "just now")
    office.slack.slash(OMAR, CHANNEL, "unfreeze 2 upgraded, and it pays once")
    office.told(OMAR, "Effects are frozen for 3 reasons.")
    assert len(switches.freezes()) == 3
    office.slack.slash(OMAR, CHANNEL, "unfreeze 3: upgraded, and it pays once")
    said = office.told(OMAR, "Unfrozen")
    assert all(why in said for why in (": upgrade\n", ": the provider pays twice\n", ": just now"))
    assert switches.frozen() is None


def test_of_very_many_reasons_each_is_listed_though_shortened(office: Office) -> None:
    for number in range(1, 31):
        office.store.switches.freeze(f"olga {number}", f"why {number} {'x' * 500}")
    office.slack.slash(OMAR, CHANNEL, "unfreeze it is over")
    office.told(OMAR, "Effects are frozen for 30 reasons.")
    (said,) = office.slack.ephemerals(OMAR, CHANNEL)
    assert all(f": why {number} x" in readable(said) for number in range(1, 31))


def test_ops_gets_a_message_for_each_reason_and_each_says_when_it_is_over(office: Office) -> None:
    def told(words: str) -> int:
        return sum(words in readable(message) for message in office.slack.messages(OPS))

    office.store.switches.freeze("olga", "upgrade")
    office.until(lambda: told("Everything is frozen") == 1, "ops is told")
    office.store.switches.guard("Redis is older than the ledger")
    office.until(lambda: told("Everything is frozen") == 2, "a message of its own")
    assert told("by vobo: Redis is older than the ledger; by olga: upgrade") == 1
    office.slack.slash(OMAR, CHANNEL, "unfreeze reconciled 2, and upgraded")
    office.until(lambda: told("Effects go on again") == 2, "both say so")
    office.store.switches.freeze("olga", "upgrade")
    office.until(lambda: told("Everything is frozen") == 1, "the next freeze is told anew")
    assert told("Effects go on again") == 2


def test_the_message_about_a_freeze_begins_with_its_reason_however_many_there_are(office: Office) -> None:
    for number in range(1, 9):
        office.store.switches.freeze("olga", f"reason {number} {'x' * 500}")

    def newest() -> str:
        told = [readable(message) for message in office.slack.messages(OPS)]
        return next((one for one in told if "Frozen by olga: reason 8" in one), "")

    office.until(lambda: bool(newest()), "the last reason is told first")
    assert "reason 1 " in newest()
    assert "And 5 more reasons" in newest()


def test_from_slack_too_only_who_says_reconciled_lifts_what_the_guard_found(office: Office) -> None:
    office.store.switches.guard("Redis is older than the ledger")
    office.slack.slash(OMAR, CHANNEL, "freeze the provider pays twice")
    office.told(OMAR, "Redis is older than the ledger")
    office.slack.slash(OMAR, CHANNEL, "unfreeze it pays once now")
    office.told(OMAR, "/vobo unfreeze reconciled 2 WHY")
    office.slack.slash(OMAR, CHANNEL, "unfreeze 2 it pays once now")
    office.until(lambda: len(office.slack.ephemerals(OMAR, CHANNEL)) == 3, "answered")
    assert len(office.store.switches.freezes()) == 2
    office.slack.slash(OMAR, CHANNEL, "unfreeze Reconciled: 2, all of it is at the provider")
    office.told(OMAR, "Unfrozen")
    assert office.store.switches.frozen() is None


def test_a_freeze_needs_a_reason(office: Office) -> None:
    office.slack.slash(OMAR, CHANNEL, "freeze")
    office.told(OMAR, "Say why")
    assert office.store.switches.frozen() is None


def test_who_is_no_operator_freezes_nothing_and_is_noted(office: Office) -> None:
    office.slack.slash(BRUNO, CHANNEL, "freeze because I can")
    office.told(BRUNO, "Only ops may do this")
    assert office.store.switches.frozen() is None
    assert any(event.get("type") == "press_refused" for _, event in office.store.ledger.read(count=100))


def test_unfreezing_what_is_not_frozen_says_so(office: Office) -> None:
    office.slack.slash(OMAR, CHANNEL, "unfreeze all good")
    office.told(OMAR, "Nothing is frozen")


HELD = "Everything is frozen: it runs only if that is released in time"


def test_while_all_is_frozen_no_question_and_no_answer_promises_that_anything_runs(office: Office) -> None:
    office.store.switches.freeze("Omar", "the provider pays twice")
    run, _ = office.start()
    batch = office.pause(run, *(a_refund(1000 * at, number=at) for at in (1, 2, 3)))
    questions = [one["confirm"]["text"]["text"] for one in _buttons(office.card(batch)) if "confirm" in one]
    assert questions
    assert all(HELD in text and "at once" not in text for text in questions)
    office.press(BRUNO, batch, "call.approve", "call_000000000001")
    assert office.told(BRUNO, HELD) == f"Approved. {HELD}."
    office.card_with(batch, "Approved by Bruno")
    assert f"{HELD}." in readable(office.card(batch))
    office.press(BRUNO, batch, "batch.approve_all")
    assert office.told(BRUNO, "2 of 2") == f"2 of 2 decided as you said.\n{HELD}."
    assert "Waiting to run." not in readable(office.card_with(batch, "Refund 1 payments, 30.00 EUR"))


def test_a_rejection_while_all_is_frozen_says_nothing_of_it(office: Office) -> None:
    office.store.switches.freeze("Omar", "the provider pays twice")
    run, _ = office.start()
    batch = office.pause(run, a_refund(1000, number=1), a_refund(2000, number=2))
    office.press(BRUNO, batch, "batch.reject_all")
    office.until(lambda: "reason" in str(office.modal(BRUNO)["blocks"]), "the window asks why")
    office.slack.submit(BRUNO, {"common": {"value": "own"}, "reason": {"value": "wrong"}})
    assert office.told(BRUNO, "2 of 2") == "2 of 2 decided as you said."


def _buttons(card: Json) -> list[Json]:
    return [one for block in card["blocks"] if block["type"] == "actions" for one in block["elements"]]
