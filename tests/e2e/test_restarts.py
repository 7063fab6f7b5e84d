import os
import signal
from pathlib import Path

from approvals import valkey
from effects import effects_of
from reviewing import BRUNO, OLGA, start
from stack import running, until

PROCESSES = ("bot", "worker", "clock")


def test_an_old_card_still_works_after_bot_worker_and_clock_were_killed(home: Path) -> None:
    with running(home) as stack:
        thread = start(stack, "mail the customers whose payment failed yesterday")
        thread.wait_for_cards(1)
        for name in PROCESSES:
            stack.kill(name)
        for name in PROCESSES:
            stack.start(name)
        stack.wait_for_bot()

        thread.approve_as_told(BRUNO, "Mail", lambda: len(effects_of(stack)["mails"]) == 36, "36 mails are sent")

        thread.wait_for("stand-in", 40)
        assert len(effects_of(stack)["mails"]) == 36


def test_a_decision_taken_while_no_worker_lives_is_carried_out_once_by_the_next(home: Path) -> None:
    with running(home) as stack:
        thread = start(stack, "refund yesterday's failed payments")
        thread.wait_for_cards(1)
        stack.kill("worker")
        stack.kill("clock")
        thread.approve(BRUNO, "Refund 38")
        thread.wait_for("one more approval needed")
        thread.approve(OLGA, "Refund 38")
        assert effects_of(stack)["refunds"] == []

        stack.start("worker")
        stack.start("clock")

        until(lambda: len(effects_of(stack)["refunds"]) == 38, "38 refunds are paid", 40, home)
        thread.wait_for("stand-in", 40)
        assert sum(row["minor"] for row in effects_of(stack)["refunds"]) == 412000


def test_a_killed_store_comes_back_with_everything_that_waits(home: Path) -> None:
    with running(home) as stack:
        thread = start(stack, "mail the customers whose payment failed yesterday")
        thread.wait_for_cards(1)
        server = valkey.ensure_server(home / "valkey")
        os.kill(server.pid, signal.SIGKILL)
        valkey.ensure_server(home / "valkey")

        thread.approve_as_told(BRUNO, "Mail", lambda: len(effects_of(stack)["mails"]) == 36, "36 mails are sent")
