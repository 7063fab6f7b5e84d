"""The sample's draft report is taken back from the shop by a button, whoever dies on the way."""

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from approvals.ledger import Ledger
from approvals.lifecycle import State, UndoState
from approvals.models import Call
from approvals.redis_check import connect
from approvals.store import Store
from approvals.vault import Vault
from crash.killing import Killer
from effects import effects_of
from kill_points import Owner, Step, Victim
from reviewing import BRUNO, CHANNEL, ROSA, Thread, start
from stack import ROOT, Stack, running, until

TENANT = "T0000HOME"
REQUEST = "draft a refund report about yesterday's failed payments"
ENDED = {UndoState.UNDONE, UndoState.FAILED}


@dataclass(frozen=True)
class Scene:
    """What happens on the way, and what must be left."""

    name: str
    user: str = BRUNO
    step: Step | None = None
    victim: Victim = Victim.HORSE
    ends: UndoState = UndoState.UNDONE
    unknown: bool = False


SCENES = (
    Scene("undisturbed"),
    Scene("by-whoever-asked-for-the-run", user=ROSA),
    Scene("bot-dies-after-the-word", step=Step(101, "undos.ask_for:after", Owner.BOT), victim=Victim.BOT),
    Scene("horse-dies-before-the-intent", step=Step(102, "undos.claim:after", Owner.WORKER)),
    Scene(
        "horse-dies-before-the-undo",
        step=Step(103, "undos.intend:after", Owner.WORKER),
        ends=UndoState.FAILED,
        unknown=True,
    ),
    Scene("horse-dies-before-the-receipt", step=Step(104, "undos.succeed:before", Owner.WORKER), unknown=True),
)
each = pytest.mark.parametrize("scene", SCENES, ids=[scene.name for scene in SCENES])


@dataclass(frozen=True)
class Left:
    """What is left of one scene's run: the call, the shop's report, the ledger, the thread's messages."""

    call: Call
    report: dict[str, Any]
    events: list[str]
    thread: str


@pytest.fixture(scope="module")
def left() -> Iterator[dict[str, Left]]:
    home = Path(tempfile.mkdtemp(prefix="vobo-"))
    extra = {
        "PYTHONPATH": f"{ROOT / 'tests' / 'crash'}:{ROOT}",
        "KILL_POINTS": str(home / "steps"),
        "KILL_POINTS_TENANT": TENANT,
    }
    with running(home, extra=extra) as stack, Killer(stack, home / "steps") as killer:
        with ThreadPoolExecutor(len(SCENES)) as pool:
            threads = dict(zip(SCENES, pool.map(lambda scene: played(stack, killer, scene), SCENES), strict=True))
        assert killer.failure is None
        yield {scene.name: looked_at(stack, scene, thread) for scene, thread in threads.items()}


def played(stack: Stack, killer: Killer, scene: Scene) -> Thread:
    thread = start(stack, REQUEST)
    shown = thread.wait_for("Can be undone: Delete the draft.", 90)
    (block,) = [block["block_id"] for block in shown["blocks"] if block.get("block_id", "").startswith("undo:")]
    if scene.step:
        killer.arm(thread.ts, scene.step, (scene.victim,))
    for _ in range(6):  # a bot that dies takes along the presses it has not worked off; whoever pressed sees no answer
        stack.slack.click(scene.user, CHANNEL, shown["ts"], "call.undo", block, stale=True)
        if _answered(thread, block):
            break
    words = "Undone by" if scene.ends is UndoState.UNDONE else "Not undone: The provider has not taken it back."
    until(lambda: any(words in one["text"] for one in thread.messages()), f"{scene.name}: {words}", 180, stack.home)
    return thread


def _answered(thread: Thread, block: str) -> bool:
    """Whether, within some seconds, the outcome no longer offers the undo."""
    until_s = time.monotonic() + 8
    while time.monotonic() < until_s:
        outcome = next(one for one in thread.messages() if "Outcome" in one["text"])
        if not any(part.get("block_id") == block for part in outcome["blocks"]):
            return True
        time.sleep(0.2)
    return False


def looked_at(stack: Stack, scene: Scene, thread: Thread) -> Left:
    store = Store.open(connect(stack.env["REDIS_URL"]), Vault.from_text(stack.env["VOBO_STATE_KEYS"]), tenant=TENANT)
    run = store.runs.newest_in_thread(CHANNEL, thread.ts)
    assert run is not None
    (call,) = store.calls.of_pause(run.id, 1)
    rows = Ledger.open(stack.env["VOBO_LEDGER_URL"])
    last = "undone" if scene.ends is UndoState.UNDONE and not scene.unknown else "undo_settled"

    def drained() -> list[str]:
        found = [row.type for row in rows.rows(TENANT, run=run.id)]
        return found if last in found else []

    events = until(drained, f"{scene.name}: the ledger knows", 60, stack.home)
    reports = effects_of(stack)["reports"]
    (report,) = [one for one in reports if one["idempotency_key"] == call.idempotency_key]
    return Left(call, report, events, "\n".join(one["text"] for one in thread.messages()))


@each
def test_the_report_is_withdrawn_exactly_when_the_undo_says_so(left: dict[str, Left], scene: Scene) -> None:
    one = left[scene.name]
    assert one.call.undo is not None
    assert one.call.undo.state is scene.ends
    assert (one.report["withdrawn_at"] is not None) is (scene.ends is UndoState.UNDONE)
    assert one.call.state is State.SUCCEEDED


@each
def test_an_undo_is_begun_once_whoever_dies(left: dict[str, Left], scene: Scene) -> None:
    events = left[scene.name].events
    assert events.count("undo_asked") == 1
    assert events.count("undo_intended") == 1
    assert events.count("undo_unknown") == int(scene.unknown)
    assert events.count("undo_unclaimed") == int(scene.name == "horse-dies-before-the-intent")
