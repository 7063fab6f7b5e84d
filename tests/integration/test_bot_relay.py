from typing import Any

import pytest
import redis

from alert_receiver import hearing
from approvals.lifecycle import State
from bot.assembly import assemble
from bot.parts import make_relay
from bot.people import Watch
from bot.sandbox import Workspace
from bot_office import BRUNO, CHANNEL, OPS, Office, a_refund, readable, running, settings_for

FIRST = "call_000000000001"


def cards(office: Office, batch: str) -> list[Any]:
    return [
        message
        for message in office.slack.messages(CHANNEL)
        if (message.get("metadata") or {}).get("event_payload", {}).get("id") == f"card:{batch}"
    ]


def test_a_connection_cut_after_slack_took_the_card_leaves_one_card(office: Office) -> None:
    run, thread = office.start()
    office.until(lambda: len(office.slack.messages(CHANNEL, thread)) == 2, "the opening reply")
    office.slack.fault("chat.postMessage", "cut_after")
    batch = office.pause(run, a_refund(31240))
    office.card_with(batch, "decide by")
    assert len(cards(office, batch)) == 1


def test_a_connection_cut_before_slack_took_the_card_still_brings_it(office: Office) -> None:
    run, thread = office.start()
    office.until(lambda: len(office.slack.messages(CHANNEL, thread)) == 2, "the opening reply")
    office.slack.fault("chat.postMessage", "cut_before")
    batch = office.pause(run, a_refund(31240))
    office.card_with(batch, "decide by")
    assert len(cards(office, batch)) == 1


@pytest.mark.parametrize("cut", ["cut_before", "cut_after"])
def test_what_comes_up_again_is_one_new_message_though_the_connection_was_cut(office: Office, cut: str) -> None:
    subject = "slack:C0OLD:is_archived"

    def told() -> int:
        ids = [(one.get("metadata") or {}).get("event_payload", {}).get("id") for one in office.slack.messages(OPS)]
        return ids.count(f"alert:{subject}")

    def nothing_owed() -> bool:
        return not office.client.zcard(office.store.keys.outbox)

    office.store.outbox.owe_once(subject)
    office.until(lambda: told() and nothing_owed(), "ops is told")
    assert office.store.operators.close(subject, by=office.bot.deps.desk.ask(BRUNO)).ok
    office.until(nothing_owed, "it says who has seen it")
    office.slack.fault("chat.postMessage", cut)
    office.store.outbox.owe_once(subject)
    office.until(nothing_owed, "ops is told anew")
    assert told() == 2


def test_slack_is_left_alone_for_as_long_as_it_asks(office: Office) -> None:
    run, thread = office.start()
    office.until(lambda: len(office.slack.messages(CHANNEL, thread)) == 2, "the opening reply")
    office.slack.fault("chat.postMessage", "http", status=429, retry_after=1)
    before = office.store.now()
    batch = office.pause(run, a_refund(31240))
    office.card(batch)
    view = office.store.batches.view(batch)
    assert view
    assert view.batch.posted_at - before >= 1000
    assert len(cards(office, batch)) == 1


def test_a_card_that_was_deleted_is_posted_again_with_its_first_deadline(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(1000, number=1), a_refund(2000, number=2))
    first = office.card_with(batch, "decide by")
    due = office.store.batches.view(batch).batch.decide_by
    office.bot.deps.client.chat_delete(channel=CHANNEL, ts=first["ts"])
    office.store.outbox.owe("card", batch)
    second = office.until(lambda: next(iter(cards(office, batch)), None), "the card is there again")
    assert second["ts"] != first["ts"]
    assert office.store.batches.view(batch).batch.decide_by == due


@pytest.mark.parametrize("error", ["is_archived", "not_in_channel"])
def test_what_only_ops_can_repair_is_told_once_and_nothing_is_lost(office: Office, error: str) -> None:
    run, thread = office.start()
    office.until(lambda: len(office.slack.messages(CHANNEL, thread)) == 2, "the opening reply")
    office.slack.fault("chat.postMessage", "error", error=error, count=2)
    batch = office.pause(run, a_refund(31240))
    office.card(batch)
    alerts = office.until(lambda: [one for one in office.slack.messages(OPS) if error in readable(one)], "ops is told")
    assert len(alerts) == 1
    assert len(cards(office, batch)) == 1


def test_the_outcome_table_and_the_answer_end_the_thread(office: Office) -> None:
    run, thread = office.start()
    batch = office.pause(run, a_refund(31240))
    office.press(BRUNO, batch, "call.approve")
    office.state(FIRST, State.APPROVED)
    office.run_the_batch(batch)
    office.bot.deps.wake.set()
    office.card_with(batch, "Done")

    def said(words: str) -> Any:
        return office.until(
            lambda: next((m for m in office.slack.messages(CHANNEL, thread) if words in readable(m)), None), words
        )

    table = said("Outcome: 1 done")
    assert table["blocks"][1]["type"] == "table"
    lease = office.store.runs.lease(run, token="w", ttl_ms=60_000)
    assert lease
    office.store.runs.complete(lease, answer="All done, <!channel>!")
    answer = said("The agent's own words")
    assert "<!channel>" not in answer["text"]


def test_ops_is_told_of_an_expired_card_and_the_card_says_so(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240), ttl_s=1)
    office.card(batch)
    office.until(lambda: office.store.deadlines.apply(f"decide:{batch}").ok and _expired(office), "it expires")
    office.card_with(batch, "nobody decided in time")
    office.until(
        lambda: [one for one in office.slack.messages(OPS) if "A card expired" in readable(one)], "ops is told"
    )


def _expired(office: Office) -> bool:
    return office.call(FIRST).state is State.EXPIRED


def test_one_relay_of_two_sends(office: Office) -> None:
    other = make_relay(office.bot.deps, _settings(office))
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    for _ in range(20):
        other.drain()
    office.card(batch)
    assert len(cards(office, batch)) == 1


def _settings(office: Office) -> Any:
    return settings_for(office.slack, "redis://unused", app_token="xapp-1")


def test_approvers_are_looked_up_again_before_their_snapshots_are_too_old(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    office.press(BRUNO, batch, "call.approve")
    office.state(FIRST, State.APPROVED)
    office.client.hset(office.store.keys.person(BRUNO), "fetched_at", office.store.now() - 50_000)

    def taken_again() -> bool:
        office.bot.deps.watch.round()  # the bot's own round may have been first
        known = office.store.people.get(BRUNO)
        return known is not None and office.store.now() - known.fetched_at < 5_000

    office.until(taken_again, "the snapshot is taken again")


def test_who_decided_through_a_bot_that_is_gone_is_watched_by_the_next(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240, reviewers=2))
    office.press(BRUNO, batch, "call.approve")
    office.card_with(batch, "one more approval needed")
    fresh = Watch(office.bot.deps.desk, office.store, office.bot.deps.law.reviewers)
    for _ in range(2):
        office.client.hset(office.store.keys.person(BRUNO), "fetched_at", office.store.now() - 50_000)
        assert fresh.round() == 1


def test_alerts_that_slack_refuses_take_the_second_route_once(valkey_url: str, redis_client: redis.Redis) -> None:
    told: list[str] = []
    with running(valkey_url, redis_client) as office:
        object.__setattr__(office.bot.relay, "_second_route", hearing(told))
        office.slack.remove_bot(OPS)
        run, _ = office.start()
        batch = office.pause(run, a_refund(31240), ttl_s=1)
        office.card(batch)
        office.until(lambda: office.store.deadlines.apply(f"decide:{batch}").ok and _expired(office), "it expires")
        office.bot.deps.wake.set()
        office.until(lambda: told, "the second route is taken")
        office.slack.remove_bot(OPS, removed=False)
        office.until(
            lambda: [one for one in office.slack.messages(OPS) if "A card expired" in readable(one)], "Slack too"
        )
    assert len(told) == 1
    assert "A card expired" in told[0]


def test_a_busy_channel_gets_one_message_a_second(office: Office) -> None:
    office.slack.rate_limits(on=True)
    for number in range(8):
        office.start(f"request {number}")
    office.until(lambda: len(office.slack.messages(CHANNEL)) == 16, "every opening is posted", 15)
    posted = office.slack.calls("chat.postMessage")
    assert [call["outcome"] for call in posted] == ["ok"] * 8


def test_a_message_posted_by_a_bot_that_died_before_noting_it_is_found_and_not_posted_again(
    valkey_url: str, redis_client: redis.Redis
) -> None:
    with Workspace.serve() as workspace:
        bot = assemble(settings_for(workspace, valkey_url, app_token="xapp-sandbox"))
        store, client = bot.deps.store, bot.deps.client
        thread = workspace.say(BRUNO, CHANNEL, "hello")["ts"]
        store.runs.start("run_1", request="r", requester=BRUNO, channel=CHANNEL, thread_ts=thread, agent="")
        assert store.outbox.begin("opening:run_1", token="the dead relay")
        metadata = {"event_type": "vobo_message", "event_payload": {"id": "opening:run_1"}}
        ts = client.chat_postMessage(channel=CHANNEL, thread_ts=thread, text="half done", metadata=metadata)["ts"]

        assert bot.relay.drain() == 1

        assert [message["ts"] for message in workspace.messages(CHANNEL, thread)] == [thread, ts]
        assert "Started" in readable(workspace.message(CHANNEL, ts))
        found = store.outbox.load("opening:run_1")
        assert found
        assert (found.ts, found.sending) == (ts, False)
        bot.transports[0].stop()


def test_a_relay_that_does_not_lead_sends_nothing(office: Office) -> None:
    office.start()
    office.until(lambda: office.slack.messages(CHANNEL)[1:], "the opening reply")
    other = make_relay(office.bot.deps, _settings(office))
    office.store.outbox.owe("alert", "run:run_x")
    assert other.drain() == 0
