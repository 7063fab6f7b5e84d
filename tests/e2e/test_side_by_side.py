"""Two bots, two workers and two clocks share one workspace: everything happens once, and is said once."""

import json
from collections import Counter
from pathlib import Path

from effects import effects_of
from reviewing import BRUNO, CHANNEL, OLGA, start
from stack import Stack, running, until

SECOND = ("bot2", "worker2", "clock2")


def doubled(stack: Stack) -> None:
    """The next thing a person does reaches both bots."""
    stack.slack.duplicate_next()


def ledger(stack: Stack) -> Counter[str]:
    rows = [json.loads(line) for line in stack.run("-m", "approvals", "ledger", "--as", "json").splitlines()]
    return Counter(row["type"] for row in rows)


def private_answers(stack: Stack, user: str) -> list[str]:
    return [one["text"] for one in stack.slack.ephemerals(user, CHANNEL)]


def test_the_refund_story_happens_once_with_two_of_every_process_and_every_click_twice(home: Path) -> None:
    with running(home) as stack:
        for name in SECOND:
            stack.start(name)
        until(lambda: stack.slack.state()["connections"] == 2, "both bots are connected", 30, home)
        for name in ("worker", "worker2"):
            until(lambda name=name: "Listening" in (home / f"{name}.log").read_text(), f"{name} works", 30, home)  # type: ignore[misc]

        doubled(stack)
        thread = start(stack, "refund yesterday's failed payments")
        thread.wait_for_cards(1)
        doubled(stack)
        thread.approve(BRUNO, "Refund 38")
        thread.wait_for("one more")
        until(lambda: private_answers(stack, BRUNO), "Bruno is told that another one is needed", 30, home)
        doubled(stack)
        thread.approve(OLGA, "Refund 38")
        thread.wait_for("stand-in", seconds=60)

        refunds = effects_of(stack)["refunds"]
        assert len(refunds) == len({row["payment_id"] for row in refunds}) == 38
        assert sum(row["minor"] for row in refunds) == 412_000
        ids = Counter(
            str(((message.get("metadata") or {}).get("event_payload") or {}).get("id")) for message in thread.messages()
        )
        assert {name: times for name, times in ids.items() if times > 1 and name != "None"} == {}, "said twice"
        assert sum(name.startswith("card:") for name in ids) == 1
        assert len(private_answers(stack, BRUNO)) == 1, "both bots answered one click"
        assert private_answers(stack, OLGA) == [], "the card says it"
        clicks = stack.slack.deliveries("block_actions")
        assert len(clicks) == 4, "each click was delivered twice"
        assert all(one["acked"] for one in clicks)
        logs = [(home / f"{name}.log").read_text() for name in ("bot", "bot2")]
        assert sum(log.count("a click that was taken up already") for log in logs) == 2
        until(lambda: ledger(stack)["completed"], "the ledger is drained", 30, home)
        told = ledger(stack)
        once = ("run_started", "approval_counted", "approved", "claimed", "succeeded", "completed")
        assert {name: told[name] for name in once} == dict.fromkeys(once, 1)
        assert "is whole" in stack.run("-m", "approvals", "ledger", "verify")


def test_the_other_bot_goes_on_writing_when_the_one_that_leads_is_killed(home: Path) -> None:
    with running(home) as stack:
        stack.start("bot2")
        until(lambda: stack.slack.state()["connections"] == 2, "both bots are connected", 30, home)
        thread = start(stack, "mail the customers whose payment failed yesterday")
        thread.wait_for_cards(1)
        stack.kill("bot")  # it came first, so it leads
        until(lambda: stack.slack.state()["connections"] == 1, "its connection is gone", 20, home)
        thread.approve_as_told(BRUNO, "Mail", lambda: len(effects_of(stack)["mails"]) == 36, "36 mails are sent")
        thread.wait_for("stand-in", seconds=60)
        assert len(effects_of(stack)["mails"]) == 36
        assert len(thread.cards()) == 0
