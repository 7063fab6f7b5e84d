import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from approvals.lifecycle import State
from bot_builders import a_decision
from bot_office import BRUNO, CHANNEL, GUS, OLGA, RITA, ROSA, XENA, Office, a_refund, readable

FIRST, SECOND = "call_000000000001", "call_000000000002"


def test_a_mention_becomes_a_card_and_a_click_an_approval_shown_on_it(office: Office) -> None:
    run, thread = office.start()
    batch = office.pause(run, a_refund(31240))
    card = office.card_with(batch, "decide by")
    assert card["thread_ts"] == thread
    assert "Refund 1 payments, 312.40 EUR" in readable(card)
    assert card["arguments"]["unfurl_links"] is False
    assert card["arguments"]["unfurl_media"] is False

    pressed = office.press(BRUNO, batch, "call.approve")

    assert pressed["acked"]
    office.state(FIRST, State.APPROVED)
    shown = office.card_with(batch, "Approved by Bruno Billing")
    assert "call.approve" not in readable(shown)


def test_the_cards_button_echoes_no_content(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240, reason="x" * 12_000))
    office.press(BRUNO, batch, "call.approve")
    office.state(FIRST, State.APPROVED)
    (delivery,) = office.slack.deliveries("block_actions")
    assert len(json.dumps(delivery["payload"])) < 12_000


@pytest.mark.parametrize(
    ("user", "team", "words"),
    [
        (ROSA, None, "somebody else must decide"),
        (RITA, None, "Only billing may decide this"),
        (GUS, None, "Guests may not"),
        (XENA, "T0000OTHER", "Only members of the home workspace"),
        (BRUNO, "T0000OTHER", "Only members of the home workspace"),
    ],
)
def test_who_may_not_decide_is_told_privately_and_the_card_stays_open(
    office: Office, user: str, team: str | None, words: str
) -> None:
    run, thread = office.start()
    batch = office.pause(run, a_refund(31240))
    before = office.card_with(batch, "decide by")["blocks"]

    pressed = office.press(user, batch, "call.approve", team_id=team)

    assert pressed["acked"]
    if user != XENA and team is None:
        assert office.told(user, words)
        private = office.slack.ephemerals(user, CHANNEL)[-1]
        assert private["thread_ts"] == thread
    noted = office.until(
        lambda: [event for _, event in office.store.ledger.read(1000) if event["type"] == "decision_refused"],
        "the attempt is in the ledger",
    )
    assert noted[0]["actor"] == user
    assert office.call(FIRST).state is State.PENDING_REVIEW
    assert office.card(batch)["blocks"] == before


def test_a_deactivated_reviewer_decides_nothing(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    office.card(batch)
    office.slack.set_user(BRUNO, deleted=True)
    office.press(BRUNO, batch, "call.approve")
    office.told(BRUNO, "This account is deactivated")
    assert office.call(FIRST).state is State.PENDING_REVIEW


def test_when_slack_does_not_say_who_somebody_is_nothing_is_decided(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    office.card(batch)
    office.slack.fault("users.info", "error", error="internal_error")
    office.press(BRUNO, batch, "call.approve")
    office.told(BRUNO, "Slack could not say who you are")
    assert office.call(FIRST).state is State.PENDING_REVIEW
    office.press(BRUNO, batch, "call.approve")
    office.state(FIRST, State.APPROVED)


def test_two_different_people_are_needed_where_the_law_says_two(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240, reviewers=2))
    office.press(BRUNO, batch, "call.approve")
    office.card_with(batch, "Approved by Bruno Billing; one more approval needed, by somebody else.")
    office.told(BRUNO, "1 more needed")
    office.press(BRUNO, batch, "call.approve")
    office.told(BRUNO, "You had decided this already")
    assert office.call(FIRST).state is State.PENDING_REVIEW
    office.press(OLGA, batch, "call.approve")
    office.state(FIRST, State.APPROVED)
    office.card_with(batch, "Approved by Bruno Billing and Olga Opslead")


def test_deciding_one_call_leaves_the_buttons_of_its_siblings(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(1000, number=1), a_refund(2000, number=2))
    office.press(BRUNO, batch, "call.approve", FIRST)
    shown = office.card_with(batch, "Approved by Bruno Billing")
    assert f"call:{SECOND}" in readable(shown)
    assert f"call:{FIRST}" not in readable(shown)
    office.press(OLGA, batch, "call.approve", SECOND)
    final = office.card_with(batch, "Approved by Olga Opslead")
    assert "Approved by Bruno Billing" in readable(final)
    assert "call.approve" not in readable(final)


def test_all_are_approved_as_the_card_showed_them(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, *(a_refund(1000 * number, number=number) for number in range(1, 9)))
    office.card_with(batch, "decide by")
    office.press(BRUNO, batch, "batch.approve_all")
    for number in range(1, 9):
        office.state(f"call_{number:012d}", State.APPROVED)
    office.told(BRUNO, "8 of 8 decided as you said.")
    assert "call.approve" not in readable(office.card_with(batch, "8 approved"))


def test_an_old_approve_all_does_not_reach_a_card_that_has_changed(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(1000, number=1), a_refund(2000, number=2))
    ts = office.card_with(batch, "decide by")["ts"]
    call = office.call(SECOND)
    args = json.loads(call.content.arguments)
    args["lines"][0]["amount"]["minor"] = 1
    content = call.content.model_copy(update={"arguments": json.dumps(args)})
    person = office.bot.deps.desk.ask(OLGA)
    word = a_decision(call, "edit", reviewer=OLGA, name=person.name)
    assert office.store.calls.edit(SECOND, version=1, decision=word, person=person, content=content).ok
    office.store.calls.refresh(SECOND, version=2, content=content, seal="s2", drift=True)
    office.card_with(batch, "version 2")
    office.slack.click(BRUNO, CHANNEL, ts, "batch.approve_all", stale=True, value=f"{batch}:0:1.1")
    office.told(BRUNO, "The card has changed since you saw it")
    assert office.call(FIRST).state is State.PENDING_REVIEW
    assert office.call(SECOND).state is State.PENDING_REVIEW


def test_a_click_on_a_stale_button_is_answered_with_who_decided(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    ts = office.card(batch)["ts"]
    office.press(BRUNO, batch, "call.approve")
    office.card_with(batch, "Approved by Bruno Billing")
    office.slack.click(OLGA, CHANNEL, ts, "call.approve", stale=True)
    office.told(OLGA, "Already approved by Bruno Billing")


def test_a_click_that_arrives_twice_decides_once(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    office.card(batch)
    office.slack.duplicate_next()
    office.press(BRUNO, batch, "call.approve")
    office.state(FIRST, State.APPROVED)
    events = [event["type"] for _, event in office.store.ledger.read(1000)]
    assert events.count("approved") == 1


def test_a_late_click_loses_even_when_nobody_swept(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240), ttl_s=1)
    office.card(batch)
    office.until(lambda: _passed(office, batch), "the deadline passes")
    office.press(BRUNO, batch, "call.approve")
    office.told(BRUNO, "Too late")
    assert office.call(FIRST).state is State.PENDING_REVIEW


def _passed(office: Office, batch: str) -> bool:
    view = office.store.batches.view(batch)
    return bool(view and view.batch.decide_by and view.now > view.batch.decide_by)


def test_thirty_clicks_at_once_are_all_acknowledged(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, *(a_refund(1000, number=number) for number in range(1, 9)))
    office.card_with(batch, "decide by")
    office.slack.fault("users.info", "delay", count=30, seconds=1.0)

    def click(at: int) -> bool:
        return bool(office.press(BRUNO, batch, "call.details", f"call_{at % 8 + 1:012d}")["acked"])

    with ThreadPoolExecutor(30) as pool:
        assert all(pool.map(click, range(30)))


def test_above_the_agents_last_words_stands_how_many_calls_did_not_run(office: Office) -> None:
    run, thread = office.start()
    batch = office.pause(run, a_refund(1000, number=1), a_refund(2000, number=2))
    office.press(BRUNO, batch, "call.approve", FIRST)
    office.state(FIRST, State.APPROVED)
    office.press(BRUNO, batch, "call.reject", "call_000000000002")
    office.until(lambda: "reason" in str(office.modal(BRUNO)["blocks"]), "the window asks why")
    office.slack.submit(BRUNO, {"common": {"value": "own"}, "reason": {"value": "wrong"}})
    office.state("call_000000000002", State.REJECTED)
    office.run_the_batch(batch)
    lease = office.until(lambda: office.store.runs.lease(run, token="w", ttl_ms=60_000), "the run is ready")
    assert office.store.runs.complete(lease, answer="All is refunded!").ok
    answer = office.slack.wait_message(CHANNEL, "All is refunded!", thread)
    assert readable(answer).index("1 call of this run did not run.") < readable(answer).index("All is refunded!")
    blocks = str(answer["blocks"])
    assert blocks.index("1 call of this run did not run.") < blocks.index("All is refunded!")
