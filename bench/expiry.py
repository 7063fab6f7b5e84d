"""`python bench/expiry.py [batches]`: what it takes when very many cards end at once. Figures, never asserted."""

import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "bench")]

from figures import Grid, Section  # noqa: E402 - beside this file

from approvals import valkey  # noqa: E402 - this checkout, wherever it is started from
from approvals.redis_check import connect  # noqa: E402 - as above
from approvals.store import Store  # noqa: E402 - as above
from approvals.vault import Vault  # noqa: E402 - as above
from builders import STATE_KEY, a_call, paused  # noqa: E402 - the values of the tests, found through the path above
from clocks import a_clock  # noqa: E402 - as above
from workshop import a_law  # noqa: E402 - as above

MANY = 10_000
PER_RUN = 100
DAY_MS = 24 * 3_600_000


def measure(batches: int = MANY) -> Section:
    """Post many cards, move their instants a day back, let one clock sweep until nothing is due."""
    data = Path(tempfile.mkdtemp(prefix="vk-"))
    try:
        client = connect(valkey.ensure_server(data).url)
        store = Store.open(client, Vault.from_text(STATE_KEY), tenant="T0HOME")
        _post(store, batches)
        _let_pass(store, batches)
        began, rounds = time.monotonic(), 0
        clock = a_clock(store, a_law())
        while store.deadlines.due(1):
            clock.tick()
            rounds += 1
        took = time.monotonic() - began
        ended = [fields["call"] for _, fields in store.ledger.read(100_000_000) if fields["type"] == "expired"]
        times = Counter(Counter(ended).values())
    finally:
        valkey.stop_server(data)
        shutil.rmtree(data)
    grid = Grid(
        ("cards due at once", "expired exactly once", "otherwise", "seconds", "rounds of the clock", "a second")
    )
    grid.add(
        f"{batches:,}", f"{times[1]:,}", f"{batches - times[1]:,}", f"{took:.1f}", rounds, f"{batches / took:,.0f}"
    )
    how = "Each card has missed its reminder, its escalation and its end; one clock sweeps until nothing is due."
    return Section("B3 Everything expires at once", how, [grid])


def _post(store: Store, batches: int) -> None:
    for first in range(0, batches, PER_RUN):
        numbers = range(first, min(batches, first + PER_RUN))
        calls = [a_call(f"call_{n}", number=n - first + 1, batch=f"batch_{n}") for n in numbers]
        paused(store, *calls, run=f"run_{first}")


def _let_pass(store: Store, batches: int) -> None:
    posted, client, keys = store.now() - DAY_MS, store.runs.client, store.keys
    pipe = client.pipeline(transaction=False)
    for number in range(batches):
        pipe.hset(keys.batch(f"batch_{number}"), mapping={"posted_at": posted, "decide_by": posted + 900_000})
        places = {"remind": 450_000, "escalate": 720_000, "decide": 900_000}
        pipe.zadd(keys.deadlines, {f"{kind}:batch_{number}": posted + at for kind, at in places.items()})
    pipe.execute()


if __name__ == "__main__":
    measure(int(sys.argv[1]) if sys.argv[1:] else MANY).show(Console(width=110))
