"""`python bench/whole_run.py`: what one approval costs on this machine, as people see it. Figures, never asserted."""

import sqlite3
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "bench")]

from figures import Grid, Section, half_and_most, kb  # noqa: E402 - beside this file

from approvals.redis_check import connect  # noqa: E402 - this checkout, wherever it is started from
from reviewing import BRUNO, start  # noqa: E402 - the harness of the tests, found through the path above
from stack import Stack, running, until  # noqa: E402 - as above

ROUNDS = 10


def measure() -> Section:
    """Mention to card, click to the agent's last words, bytes at rest."""
    mention, outcome = list[float](), list[float]()
    with tempfile.TemporaryDirectory(prefix="vobo-") as home, running(Path(home)) as stack:
        before = _used_memory(stack)
        for _ in range(ROUNDS):
            began = time.monotonic()
            thread = start(stack, "mail the customers whose payment failed yesterday")
            thread.wait_for_cards(1)
            mention.append(time.monotonic() - began)
            sent = _mails(stack)
            began = time.monotonic()
            thread.approve(BRUNO, "Mail 36 people")
            until(lambda sent=sent: _mails(stack) > sent, "the mail is sent", 30)  # type: ignore[misc]  # bound now
            thread.wait_for("stand-in", 30)
            outcome.append(time.monotonic() - began)
        grown = (_used_memory(stack) - before) / ROUNDS
    grid = Grid(("from", "to", "p50 ms", "p95 ms"))
    grid.add("mention", "card in the thread", *half_and_most(mention))
    grid.add("click", "the agent's last words in the thread", *half_and_most(outcome))
    return Section(
        "A whole run, as people see it",
        f"{ROUNDS} runs with one card each over Socket Mode: sandbox Slack, bot, worker, clock, embedded Valkey.",
        [grid],
        [
            f"Kept in Valkey for each closed run, everything included: {kb(grown)} KB.",
            (
                "Slack takes about one message a second for each channel; a run has four, so the next run's card waits"
                " for the last one's outcome."
            ),
            "The sandbox is looked at ten times a second, so up to 100 ms of each figure are the looking.",
        ],
    )


def _mails(stack: Stack) -> int:
    with sqlite3.connect(stack.home / "shop.db") as connection:
        (count,) = connection.execute("select count(*) from mails_sent").fetchone()
    return int(count)


def _used_memory(stack: Stack) -> int:
    """Bytes of every key of ours, as the server counts them, without what RQ and the clock keep for a minute."""
    client = connect(stack.env["REDIS_URL"])
    return sum(client.memory_usage(key, samples=0) or 0 for key in client.scan_iter(match="vobo:*"))


if __name__ == "__main__":
    measure().show(Console(width=110))
