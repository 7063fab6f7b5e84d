"""`make bench`: what one approval costs on this machine, all processes real. Figures are reported, never asserted."""

import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from approvals.redis_check import connect  # noqa: E402 - this checkout, wherever it is started from
from reviewing import BRUNO, start  # noqa: E402 - the harness of the tests, found through the path above
from stack import Stack, running, until  # noqa: E402 - as above

ROUNDS = 12


def main() -> None:
    """Mention to card, click to effect, bytes at rest."""
    mention, click, outcome = [], [], []
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
            click.append(time.monotonic() - began)
            thread.wait_for("stand-in", 30)
            outcome.append(time.monotonic() - began)
        grown = (_used_memory(stack) - before) / ROUNDS
    table = Table(title=f"{ROUNDS} runs, one card each, sandbox Slack, embedded Valkey with fsync on every write")
    for column in ("from", "to", "p50 ms", "max ms"):
        table.add_column(column, justify="right" if column.endswith("ms") else "left")
    for since, to, took in (
        ("mention", "card in the thread", mention),
        ("click", "effect in the shop's database", click),
        ("click", "the agent's last words in the thread", outcome),
    ):
        table.add_row(since, to, f"{statistics.median(took) * 1000:.0f}", f"{max(took) * 1000:.0f}")
    console = Console()
    console.print(table)
    console.print(f"Kept in Valkey for each closed run, everything included: {grown / 1024:.1f} KiB")


def _mails(stack: Stack) -> int:
    with sqlite3.connect(stack.home / "shop.db") as connection:
        (count,) = connection.execute("select count(*) from mails_sent").fetchone()
    return int(count)


def _used_memory(stack: Stack) -> int:
    """Bytes of every key of ours, as the server counts them, without what RQ and the clock keep for a minute."""
    client = connect(stack.env["REDIS_URL"])
    return sum(client.memory_usage(key) or 0 for key in client.scan_iter(match="vobo:*"))


if __name__ == "__main__":
    main()
