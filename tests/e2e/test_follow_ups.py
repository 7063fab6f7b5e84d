from pathlib import Path

from effects import effects_of
from reviewing import BRUNO, CHANNEL, OLGA, ROSA, Thread, start, text_of
from stack import running, until


def test_a_rejection_holds_for_later_runs_of_the_thread_and_an_approval_does_not(home: Path) -> None:
    with running(home) as stack:
        thread = start(stack, "delete the customers on the erasure list")
        thread.wait_for_cards(1)
        thread.reject(OLGA, "Delete 21 customers", "Legal must look at them first.")
        thread.approve(OLGA, "Delete 29 customers")
        thread.wait_for("stand-in")
        assert len(effects_of(stack)["deletions"]) == 29

        again = stack.slack.mention(ROSA, CHANNEL, "delete the customers on the erasure list", thread_ts=thread.ts)
        assert again["ts"] != thread.ts

        until(lambda: len(outcomes(thread)) == 2, "the second run's outcome", 40, home)
        assert "Legal must look at them first." in text_of(outcomes(thread)[-1])
        assert thread.cards() == []
        assert len(effects_of(stack)["deletions"]) == 29


def test_an_approved_refund_is_asked_again_when_it_is_wanted_again(home: Path) -> None:
    with running(home) as stack:
        thread = start(stack, "mail the customers whose payment failed yesterday")
        thread.wait_for_cards(1)
        thread.approve(BRUNO, "Mail 36 people")
        thread.wait_for("stand-in")

        stack.slack.mention(ROSA, CHANNEL, "mail the customers whose payment failed yesterday", thread_ts=thread.ts)

        thread.wait_for_cards(1)
        assert len(effects_of(stack)["mails"]) == 36


def test_a_run_started_from_code_opens_its_own_thread_and_is_reviewed_there(home: Path) -> None:
    with running(home) as stack:
        said = stack.run(
            "-m", "approvals", "start", "mail the customers whose payment failed yesterday",
            "--channel", CHANNEL, "--requester", ROSA, "--once", "nightly-2026-10-24",
        )  # fmt: skip
        assert "is queued" in said
        root = until(lambda: next(iter(stack.slack.messages(CHANNEL)), None), "the thread is opened", 20, home)
        thread = Thread(stack, root["ts"])
        thread.wait_for_cards(1)

        again = stack.run(
            "-m", "approvals", "start", "mail the customers whose payment failed yesterday",
            "--channel", CHANNEL, "--requester", ROSA, "--once", "nightly-2026-10-24",
        )  # fmt: skip
        assert "nothing new was started" in again
        thread.approve(BRUNO, "Mail 36 people")

        thread.wait_for("stand-in")
        assert len(effects_of(stack)["mails"]) == 36
        story = stack.run("-m", "approvals", "ledger", "--as", "csv")
        assert story.count(",succeeded,") == 1


def outcomes(thread: Thread) -> list[dict[str, object]]:
    """The outcome tables of the thread."""
    return [message for message in thread.messages() if message["text"].startswith("Outcome of")]
