"""38 refunds are approved, three more payments fail before they run: what happens, and what the ledger says of it."""

import json
from pathlib import Path

from effects import effects_of
from reviewing import BRUNO, CHANNEL, OLGA, start
from stack import Stack, running

NEW = ("pay_0039", "pay_0040", "pay_0041")


def vobo(stack: Stack, *words: str) -> str:
    return stack.run("-m", "approvals", *words)


def test_what_was_approved_is_what_runs_and_the_ledger_tells_it_in_one_command(home: Path) -> None:
    with running(home) as stack:
        thread = start(stack, "refund yesterday's failed payments")
        thread.wait_for_cards(1)
        thread.approve(BRUNO, "Refund 38")
        thread.wait_for("one more")

        assert "3 payments added" in stack.run("-m", "worker.refund_desk.shop", "load", "--with", "overnight")

        thread.approve(OLGA, "Refund 38")
        thread.wait_for("stand-in", seconds=40)
        refunds = effects_of(stack)["refunds"]
        assert len(refunds) == len({row["payment_id"] for row in refunds}) == 38
        assert sum(row["minor"] for row in refunds) == 412_000
        assert not {row["payment_id"] for row in refunds} & set(NEW)

        rows = [json.loads(line) for line in vobo(stack, "ledger", "--as", "json").splitlines()]
        run = next(row["run"] for row in rows if row["type"] == "run_started")
        story = vobo(stack, "show", run)
        assert "refund_payments: requested 38, approved 38, executed 38, in 1 call." in story
        assert "Bruno" in story
        assert "Olga" in story
        assert "more lines (--full)" in story
        assert "pay_0030" in vobo(stack, "show", run, "--full"), "every argument"
        assert len(story.splitlines()) < 60 < len(vobo(stack, "show", run, "--full").splitlines())
        assert not any(payment in vobo(stack, "show", run, "--full") for payment in NEW)

        of_run = [row for row in rows if row.get("run") == run]
        assert {row["actor"] for row in of_run if row["type"] in {"approval_counted", "approved"}} == {BRUNO, OLGA}
        (done,) = [row for row in of_run if row["type"] == "succeeded"]
        assert (done["amount"], done["currency"], len(done["resources"])) == ("4120.00", "EUR", 38)
        assert vobo(stack, "ledger", "--resource", NEW[0], "--as", "json") == "", "nobody asked about the new ones"
        approved = vobo(stack, "ledger", "--run", run, "--type", "approved", "--as", "csv")
        assert f",{OLGA}," in approved
        kinds = [row["type"] for row in rows]
        assert kinds.count("law_changed") == 1, "bot, worker and clock start under one law"
        assert sorted(row["cause"] for row in rows if row["type"] == "configuration_changed") == [
            "bot",
            "clock",
            "worker",
        ]
        assert "is whole" in vobo(stack, "ledger", "verify")

        stack.slack.slash(OLGA, CHANNEL, f"history {run}")
        view = thread.modal(OLGA, ready="rich_text")
        assert view["title"]["text"] == "What happened"
