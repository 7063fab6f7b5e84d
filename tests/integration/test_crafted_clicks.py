"""Interactions with a right signature that no card of ours would send: what is in the store decides what they do."""

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

import pytest
import redis
from slack_sdk.signature import SignatureVerifier

from approvals.lifecycle import State
from bot_office import BRUNO, OLGA, SECRET, Office, a_refund, readable
from builders import a_call, a_store, paused

FIRST, SECOND = "call_000000000001", "call_000000000002"
#: What an approval covers, when it is more than anybody reads.
ENDLESS = json.dumps({"note": "x" * 400_000})


def address(office: Office) -> str:
    return f"http://127.0.0.1:{office.bot.transports[0].port}/slack/events"  # type: ignore[attr-defined]


def send(office: Office, payload: dict[str, Any]) -> None:
    body, stamp = urllib.parse.urlencode({"payload": json.dumps(payload)}), str(int(time.time()))
    signature = SignatureVerifier(SECRET).generate_signature(timestamp=stamp, body=body) or ""
    headers = {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": signature}
    with urllib.request.urlopen(urllib.request.Request(address(office), body.encode(), headers), timeout=5) as answer:  # noqa: S310
        assert answer.status == 200


def approval(office: Office, batch: str, call: str = FIRST, **changes: Any) -> dict[str, Any]:
    """Bruno's click on Approve, made of one on Details."""
    office.press(BRUNO, batch, "call.details", call)
    payload: dict[str, Any] = office.slack.deliveries("block_actions")[-1]["payload"]
    payload["actions"][0]["action_id"] = "call.approve"
    return payload | {"trigger_id": "crafted", **changes}


def test_an_approval_of_what_nobody_could_read_in_full_is_refused_at_the_click(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240, facts=ENDLESS))
    assert "call.approve" not in readable(office.card_with(batch, "decide by"))
    send(office, approval(office, batch))
    office.told(BRUNO, "Part of this call cannot be shown")
    assert (office.call(FIRST).state, office.call(FIRST).decisions) == (State.PENDING_REVIEW, ())


def test_an_approval_of_what_nobody_could_read_in_full_is_refused_in_the_review(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240, facts=ENDLESS), a_refund(1000, number=2))
    office.press(BRUNO, batch, "batch.review")
    office.modal(BRUNO)
    office.slack.submit(BRUNO, {f"verdict:{FIRST}": {"value": "later"}})
    payload = office.slack.deliveries("view_submission")[-1]["payload"]
    for key in (FIRST, SECOND):
        payload["view"]["state"]["values"][f"verdict:{key}"]["value"]["selected_option"] = {"value": "approve"}
    send(office, payload)
    assert "1. Part of this call cannot be shown" in office.told(BRUNO, "1 of 2 decided")
    assert (office.call(FIRST).state, office.call(FIRST).decisions) == (State.PENDING_REVIEW, ())
    office.state(SECOND, State.APPROVED)


def test_a_click_is_about_the_call_that_it_names_wherever_it_claims_to_come_from(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240), a_refund(1000, number=2))
    elsewhere = {"container": {"type": "message", "message_ts": "1.000001", "channel_id": "C_GENERAL"}}
    send(office, approval(office, batch, channel={"id": "C_GENERAL", "name": "general"}, message={}, **elsewhere))
    office.state(FIRST, State.APPROVED)
    assert office.call(SECOND).state is State.PENDING_REVIEW


def test_a_click_reaches_no_call_of_another_workspace(office: Office, redis_client: redis.Redis) -> None:
    theirs = a_store(redis_client)
    assert theirs.tenant != office.store.tenant
    paused(theirs, a_call("call_theirs"))
    run, _ = office.start()
    payload = approval(office, office.pause(run, a_refund(31240)))
    payload["actions"][0]["value"] = "call_theirs:1"
    send(office, payload)
    office.told(BRUNO, "This call is no longer kept")
    found = theirs.calls.load("call_theirs")
    assert found is not None
    assert (found.state, found.decisions) == (State.PENDING_REVIEW, ())


def test_of_two_runs_that_ask_the_same_in_one_channel_each_click_decides_its_own(office: Office) -> None:
    batches = []
    for number in (1, 2):
        run, _ = office.start()
        batches.append(office.pause(run, a_refund(31240, number=number)))
    first = office.card_with(batches[0], "decide by")["blocks"]
    office.press(OLGA, batches[1], "call.approve", SECOND)
    office.state(SECOND, State.APPROVED)
    office.card_with(batches[1], "Approved by Olga")
    assert (office.call(FIRST).state, office.call(FIRST).decisions) == (State.PENDING_REVIEW, ())
    assert office.card(batches[0])["blocks"] == first
    office.press(BRUNO, batches[0], "call.approve", FIRST)
    office.card_with(batches[0], "Approved by Bruno")
    assert "Bruno" not in readable(office.card(batches[1]))


def test_whoever_decided_bears_the_name_that_slack_knows_and_not_one_that_a_payload_claims(office: Office) -> None:
    run, _ = office.start()
    payload = approval(office, office.pause(run, a_refund(31240)), decided_by=OLGA, actor=OLGA)
    payload["user"] |= {"name": "Olga Opslead", "username": "Olga Opslead", "real_name": "Olga Opslead"}
    payload["actions"][0] |= {"decided_by": OLGA, "name": "Olga Opslead"}
    send(office, payload)
    (word,) = office.state(FIRST, State.APPROVED).decisions
    assert (word.reviewer, word.name) == (BRUNO, "Bruno Billing")
    told = [event for _, event in office.store.ledger.read(1000) if event.get("actor") in {BRUNO, OLGA}]
    assert {(event["actor"], event["name"]) for event in told if "name" in event} == {(BRUNO, "Bruno Billing")}


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_browser_that_opens_the_address_of_the_events_is_told_that_nothing_is_there_for_it(
    office: Office, method: str
) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(address(office), method=method), timeout=5)  # noqa: S310
    assert refused.value.code == 405
    refused.value.close()
