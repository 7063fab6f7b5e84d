"""The primary dies while people decide and workers work, with every process real: nothing is lost, nothing doubled."""

import contextlib
from pathlib import Path

from bot.sandbox.errors import SandboxError
from effects import effects_of
from reviewing import BRUNO, CHANNEL, OLGA, Thread, calls_on, start
from sentinels import PASSWORD, sentinels
from stack import Stack, running, until


def decided(stack: Stack, thread: Thread, user: str, words: str) -> None:
    """Press the one call's button until the thread says these words; what could not be done was said privately."""

    def look() -> bool:
        for card in thread.cards():
            with contextlib.suppress(SandboxError):  # it has just been decided
                stack.slack.click(user, CHANNEL, card["ts"], "call.approve", calls_on(card)[0])
        return any(words in str(message) for message in thread.messages())

    until(look, f"{user}'s approval counts and the thread says {words!r}", 90, stack.home)


def test_a_failover_between_two_approvals_costs_seconds_and_nothing_else(home: Path) -> None:
    with sentinels(home) as trio, running(home, extra={"REDIS_URL": trio.url("&wait_replicas=1")}) as stack:
        stack.start("worker2")
        until(lambda: "Listening" in (home / "worker2.log").read_text(), "the second worker works", 30, home)
        thread = start(stack, "refund yesterday's failed payments")
        thread.wait_for_cards(1)
        thread.approve(BRUNO, "Refund 38")
        thread.wait_for("one more")
        others = [start(stack, "mail the customers whose payment failed yesterday") for _ in range(2)]
        for other in others:
            other.wait_for_cards(1)

        old = trio.primary()
        trio.kill(old)
        stack.slack.click(OLGA, CHANNEL, thread.cards()[0]["ts"], "call.approve", thread.call("Refund 38")[1])
        told = until(lambda: stack.slack.ephemerals(OLGA, CHANNEL), "Olga is told not to rely on it", 20, home)
        assert any(words in told[0]["text"] for words in ("nothing was decided", "do not rely on it"))
        trio.serve(old, of=trio.taken_over(old))
        decided(stack, thread, OLGA, "stand-in")

        refunds = effects_of(stack)["refunds"]
        assert len(refunds) == len({row["payment_id"] for row in refunds}) == 38
        for other in others:
            decided(stack, other, BRUNO, "Outcome")
        mails = effects_of(stack)["mails"]
        assert len(mails) == len({(row["idempotency_key"], row["recipient"]) for row in mails}), "a mail went out twice"
        assert "is whole" in stack.run("-m", "approvals", "ledger", "verify")
        logs = "".join(log.read_text(errors="replace") for log in home.glob("*.log") if "redis" not in log.name)
        assert PASSWORD not in logs
        assert "word-of-sentinels" not in logs
