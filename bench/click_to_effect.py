"""`python bench/click_to_effect.py [clicks]`: from a signed click to the first line of the tool. Never asserted.

All processes are real: sandbox Slack, bot over HTTP, store with an fsync at every write, worker, clock. The click is
sent as Slack sends it; the instant of the effect is noted in the tool's own process.
"""

import copy
import itertools
import json
import os
import statistics
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from rich.console import Console
from slack_sdk.signature import SignatureVerifier

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "bench")]

from figures import Grid, Section, half_and_most, ms  # noqa: E402 - beside this file
from peer_scripts import run_peer  # noqa: E402 - as above

from reviewing import BRUNO, Thread, start  # noqa: E402 - the harness of the tests, found through the path above
from stack import Stack, running, until  # noqa: E402 - as above

SECRET = "sandbox-signing-secret"  # noqa: S105 - of the sandbox of this bench
CLICKS, WARM = 30, 3
BEGUN, EFFECT = "click sent", "effect"


class PatientStack(Stack):
    """Nobody's attention is used up, and every process notes its instants."""

    def prepare(self) -> None:
        """As every stack, with reviewers of its own."""
        super().prepare()
        reviewers = self.home / "reviewers.toml"
        text = (ROOT / "policies" / "rules" / "reviewers.toml").read_text(encoding="utf-8")
        reviewers.write_text(text.replace("interruptions_per_hour = 12", "interruptions_per_hour = 100000"))
        self.env |= {
            "VOBO_REVIEWERS": str(reviewers),
            "PYTHONPATH": os.pathsep.join((str(ROOT / "bench" / "instants"), str(ROOT))),
            "BENCH_INSTANTS": str(self.home / "instants"),
        }


class Presser:
    """Presses one button after the other, as Slack would tell it."""

    def __init__(self, stack: Stack, template: dict[str, Any]) -> None:
        self._url = f"http://127.0.0.1:{stack.env['PORT']}/slack/events"
        self._template = template
        self._numbers = itertools.count(1)

    def press(self, thread: Thread, words: str) -> tuple[int, float]:
        """Approve the call with these words: when that was sent, and after how many seconds it was acknowledged.

        Raises:
            RuntimeError: there is no such button.
        """
        ts, block_id = thread.call(words)
        card = next(message for message in thread.messages() if message["ts"] == ts)
        block = next(block for block in card["blocks"] if block["block_id"] == block_id)
        buttons = [one for one in block["elements"] if one["action_id"] == "call.approve"]
        if not buttons:
            raise RuntimeError("the card has no Approve button")
        number = next(self._numbers)
        payload = copy.deepcopy(self._template)
        payload["actions"][0] |= {"block_id": block_id, "value": buttons[0]["value"], "action_ts": f"{number}.1"}
        payload["container"] |= {"message_ts": ts, "thread_ts": thread.ts}
        payload["message"] |= {"ts": ts, "thread_ts": thread.ts, "blocks": card["blocks"]}
        payload["trigger_id"] = f"{number}.{number}.bench"
        body = urllib.parse.urlencode({"payload": json.dumps(payload)})
        stamp = str(int(time.time()))
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": SignatureVerifier(SECRET).generate_signature(timestamp=stamp, body=body) or "",
        }
        request = urllib.request.Request(self._url, body.encode(), headers)  # noqa: S310 - our own address
        sent = time.monotonic_ns()
        with urllib.request.urlopen(request) as answer:  # noqa: S310 - as above
            answer.read()
        return sent, (time.monotonic_ns() - sent) / 1e9


def measure(clicks: int = CLICKS) -> Section:
    """Ours by phases, then the peer."""
    with (
        tempfile.TemporaryDirectory(prefix="vobo-") as home,
        running(Path(home), PatientStack, transport="http") as stack,
    ):
        rounds, acks = _rounds(stack, clicks + WARM)
    whole = [one[EFFECT] for one in rounds]
    ran = run_peer("awaiting.py", {})
    grid = Grid(("decision to effect", "p50 ms", "p95 ms", "rounds"))
    grid.add("vobo: signed click to the tool's first line", *half_and_most(whole), len(whole))
    grid.add("vobo: the same click to its acknowledgement", *half_and_most(acks), len(acks))
    notes = [
        "aim: 60 ms (p50) and 150 ms (p95). Below: where the time goes, medians of the same clicks.",
        _distance(rounds),
    ]
    for one in ran.found:
        grid.add(
            "awaithumans: decision over HTTP to the waiting agent", *half_and_most(one["seconds"]), len(one["seconds"])
        )
        factor = statistics.median(one["seconds"]) / statistics.median(whole)
        notes.append(
            f"awaithumans {ran.versions['awaithumans']} (SQLite, its own client) looks once a second; its figure is an"
            f" unsigned API call without Slack, and ends where its agent goes on: {factor:.1f} times ours."
        )
    if ran.problem:
        notes.append(f"awaithumans: not measured here, {ran.problem}")
    how = "One click at a time on a card of the sample agent (a mail to one customer), all processes on this machine."
    return Section("B2 From a signed click to its effect", how, [grid, _phases(rounds)], notes)


def _rounds(stack: Stack, clicks: int) -> tuple[list[dict[str, float]], list[float]]:
    template = _template(stack)
    presser = Presser(stack, template)
    sent, acks = [], []
    for number in range(clicks):
        words = f"Round {number:03d} of the bench."
        thread = start(stack, f'write to cus_0001 "{words}"')
        thread.wait_for_cards(1)
        time.sleep(0.5)  # nobody clicks while the card is still being recorded and the clock rounds up its work
        at, ack = presser.press(thread, "Mail 1 person")
        sent.append(at)
        acks.append(ack)
        until(lambda words=words: _sent(stack, words), "the mail is sent", 30, stack.home)  # type: ignore[misc]  # bound now
        thread.wait_for("stand-in", 30)
    return _read(stack.home / "instants", sent)[WARM:], acks[WARM:]


def _template(stack: Stack) -> dict[str, Any]:
    """A click as the sandbox delivers one."""
    thread = start(stack, 'write to cus_0001 "The first one."')
    thread.wait_for_cards(1)
    thread.approve(BRUNO, "Mail 1 person")
    thread.wait_for("stand-in", 30)
    (delivery,) = stack.slack.deliveries("block_actions")
    return dict(delivery["payload"])


def _sent(stack: Stack, words: str) -> bool:
    noted = (stack.home / "instants").read_text(encoding="utf-8")
    del words
    return noted.count(f" {EFFECT}\n") > 0


def _read(log: Path, sent: list[int]) -> list[dict[str, float]]:
    """By click: place -> seconds since the click was sent, of the first time the place was passed."""
    noted = [(int(at), name) for at, _, name in (line.partition(" ") for line in log.read_text().splitlines())]
    ends = [*sent[1:], sys.maxsize]
    rounds = []
    for began, end in zip(sent, ends, strict=True):
        passed: dict[str, float] = {}
        effect = min(at for at, name in noted if name == EFFECT and began < at < end)
        for at, name in sorted(noted):
            if began <= at <= effect:
                passed[name] = (at - began) / 1e9
        rounds.append(passed)
    return rounds


def _distance(rounds: list[dict[str, float]]) -> str:
    """What the median is made of, and what of it can never go."""
    enqueued, runs, effect = (
        statistics.median(one[name] for one in rounds if name in one)
        for name in ("job enqueued", "job's process runs", EFFECT)
    )
    return (
        f"{ms(enqueued)} ms in the bot (Slack is asked who clicked; a decision with its fsync),"
        f" {ms(runs - enqueued)} ms in RQ (its writes have an fsync each), {ms(effect - runs)} ms in the"
        " job: connection, lease, agent, authority, claim, the shop looked up and judged again, intent. Four of our own"
        " writes must be on disk before the effect. The job's process was forked ahead and has rehearsed; what is left"
        " are round trips, the sample's own queries and pages of memory that are copied when they are first used."
    )


def _phases(rounds: list[dict[str, float]]) -> Grid:
    grid = Grid(("place", "since the click, p50 ms", "since the place before, p50 ms"))
    names = sorted(
        {name for one in rounds for name in one},
        key=lambda name: statistics.median(one[name] for one in rounds if name in one),
    )
    before = 0.0
    for name in names:
        at = statistics.median(one[name] for one in rounds if name in one)
        grid.add(name, ms(at), ms(at - before))
        before = at
    return grid


if __name__ == "__main__":
    measure(int(sys.argv[1]) if sys.argv[1:] else CLICKS).show(Console(width=110))
