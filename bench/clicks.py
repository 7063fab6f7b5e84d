"""`python bench/clicks.py`: how fast clicks are acknowledged, also while the store is slow. Figures, never asserted.

Signed block_actions go over HTTP straight to a bot process, each a click of its own by somebody who may not decide, so
that every one of them ends in a private answer. Sandbox, worker, clock and store are real.
"""

import asyncio
import copy
import itertools
import json
import statistics
import sys
import tempfile
import time
import urllib.parse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from rich.console import Console
from slack_sdk.signature import SignatureVerifier

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "bench")]

from figures import Grid, Section  # noqa: E402 - beside this file
from slow_store import SlowStore, slow_store  # noqa: E402 - as above

from reviewing import RITA, start  # noqa: E402 - the harness of the tests, found through the path above
from stack import COMMANDS, Stack, until  # noqa: E402 - as above

SECRET = "sandbox-signing-secret"  # noqa: S105 - of the sandbox of this bench
CLICKS, AT_ONCE = 1_000, 50
SLOW_CLICKS = 200
SLOW_S = 0.5
CROWD = 100
ANSWER_S = 3.0


@dataclass
class Clicker:
    """Sends clicks that differ from each other, as different presses do."""

    url: str
    payload: dict[str, Any]

    def __post_init__(self) -> None:
        self._numbers = itertools.count(1)

    def body(self) -> str:
        """The next click."""
        payload = copy.deepcopy(self.payload)
        number = next(self._numbers)
        payload["actions"][0]["action_ts"] = f"{time.time():.0f}.{number:06d}"
        payload["trigger_id"] = f"{number}.{number}.bench"
        return urllib.parse.urlencode({"payload": json.dumps(payload)})

    async def click(self, session: aiohttp.ClientSession) -> float:
        """Press once; how long the acknowledgement took, in seconds.

        Raises:
            RuntimeError: it was not acknowledged.
        """
        body, stamp = self.body(), str(int(time.time()))
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": SignatureVerifier(SECRET).generate_signature(timestamp=stamp, body=body) or "",
        }
        began = time.perf_counter()
        async with session.post(self.url, data=body, headers=headers) as answer:
            await answer.read()
        if answer.status != 200:  # noqa: PLR2004 - HTTP's word for acknowledged
            raise RuntimeError(f"a click was answered with {answer.status}")
        return time.perf_counter() - began

    async def many(self, clicks: int, at_once: int) -> tuple[list[float], float]:
        """So many clicks, so many under way at once: the time of each, and of all."""
        gate = asyncio.Semaphore(at_once)

        async def one(session: aiohttp.ClientSession) -> float:
            async with gate:
                return await self.click(session)

        connector = aiohttp.TCPConnector(limit=at_once)
        async with aiohttp.ClientSession(connector=connector) as session:
            began = time.perf_counter()
            took = await asyncio.gather(*(one(session) for _ in range(clicks)))
            return list(took), time.perf_counter() - began


def measure() -> Section:
    """Normal store, slow store, and a crowd."""
    grid = Grid(("store", "clicks", "at once", "a second", "p50 ms", "p99 ms", "max ms"))
    with tempfile.TemporaryDirectory(prefix="vobo-") as home:
        stack = Stack(Path(home), transport="http")
        stack.prepare()
        with slow_store(urllib.parse.urlsplit(stack.env["REDIS_URL"]).path) as store:
            try:
                clicker = _ready(stack, store)
                asyncio.run(clicker.many(AT_ONCE, AT_ONCE))  # connections and snapshots are there afterwards
                _row(grid, "as it is", clicker, CLICKS, AT_ONCE)
                answered = _crowd(stack, clicker)
                store.delay_s = SLOW_S
                _row(grid, f"{SLOW_S * 1000:.0f} ms a request", clicker, SLOW_CLICKS, AT_ONCE)
                _row(grid, f"{SLOW_S * 1000:.0f} ms a request", clicker, CROWD, CROWD)
            finally:
                store.delay_s = 0
                stack.stop()
    crowd = (
        f"{CROWD} clicks at one moment, each with a private answer the person can see: the median after"
        f" {statistics.median(answered):.2f} s, the last after {answered[-1]:.2f} s (wanted: {ANSWER_S:.0f} s)."
    )
    how = "Signed clicks over HTTP by somebody who may not decide; Slack gives 3,000 ms for the acknowledgement."
    cores = (
        "all of it on the same cores: with the store as it is, the work of each click (who clicked, the law, a private"
        " answer) and the sandbox that takes the answers compete with the next acknowledgement; a slow store makes that"
        " work wait, and the acknowledgement does not wait for it."
    )
    return Section("Clicks acknowledged", how, [grid], [crowd, cores])


def _ready(stack: Stack, store: SlowStore) -> Clicker:
    """A card that waits, and a click on it as the sandbox once sent it."""
    stack.run("-m", "worker.refund_desk.shop", "load", "--fresh")
    own = stack.env["REDIS_URL"]
    for name in COMMANDS:
        stack.env["REDIS_URL"] = store.url if name == "bot" else own
        stack.start(name)
    stack.env["REDIS_URL"] = own
    stack.wait_for_bot()
    thread = start(stack, "mail the customers whose payment failed yesterday")
    thread.wait_for_cards(1)
    thread.press(RITA, "call.approve", "Mail")
    until(lambda: _answers(stack), "the first click is answered", 10, stack.home)
    (delivery,) = stack.slack.deliveries("block_actions")
    return Clicker(f"http://127.0.0.1:{stack.env['PORT']}/slack/events", delivery["payload"])


def _answers(stack: Stack) -> int:
    return len(stack.slack.ephemerals(RITA, "C_REFUNDS"))


def _row(grid: Grid, name: str, clicker: Clicker, clicks: int, at_once: int) -> None:
    took, whole = asyncio.run(clicker.many(clicks, at_once))
    took.sort()
    shown = (took[len(took) // 2], took[int(len(took) * 0.99) - 1], took[-1])
    grid.add(name, f"{clicks:,}", str(at_once), f"{clicks / whole:,.0f}", *(f"{value * 1000:,.0f}" for value in shown))


def _crowd(stack: Stack, clicker: Clicker) -> list[float]:
    """When each of a crowd's clicks had its visible answer, in seconds after they were all pressed."""
    before = _settled(stack)
    began = time.time()
    asyncio.run(clicker.many(CROWD, CROWD))
    until(lambda: _answers(stack) >= before + CROWD, "everybody is answered", 60, stack.home)
    answers = stack.slack.ephemerals(RITA, "C_REFUNDS")[before:]
    return sorted(float(one["ts"]) - began for one in answers)


def _settled(stack: Stack) -> int:
    """The number of answers once no more come from what was pressed before."""
    seen = -1
    while (now := _answers(stack)) != seen:
        seen = now
        time.sleep(1)
    return seen


if __name__ == "__main__":
    measure().show(Console(width=110))
