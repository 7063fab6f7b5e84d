"""`python bench/reviewing_cost.py`: what a fixed corpus of runs costs its reviewers. Figures, never asserted.

Every turn of `bench/corpus.json` goes through the engine as a model's turn would: law, facts, grouping, budgets; the
cards are the ones Slack would get. The same calls are counted as the two other usual shapes would ask about them.
"""

import contextlib
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agents import Model
from agents.testing import ScriptedModel, assistant_message, function_call
from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "bench")]

from desk_runs import Desk, a_desk, a_server  # noqa: E402 - beside this file
from figures import Grid, Section  # noqa: E402 - as above

from approvals.lifecycle import State  # noqa: E402 - this checkout, wherever it is started from
from approvals.models import Call  # noqa: E402 - as above
from approvals.store import Store  # noqa: E402 - as above
from bot.cards import render_card  # noqa: E402 - as above
from bot.standing import ReviewersLaw  # noqa: E402 - as above
from policies.risk import Mode  # noqa: E402 - as above

CORPUS = ROOT / "bench" / "corpus.json"
#: Controls that decide, and so are what a press on the card can mean.
ONE, ALL = "call.approve", "batch.approve_all"


@dataclass(slots=True)
class Cost:
    """What reviewers do about some calls: read, and press to say yes to everything."""

    cards: int = 0
    presses: int = 0
    characters: int = 0

    def of(self, calls: int) -> tuple[str, ...]:
        """For every hundred calls."""
        return tuple(f"{value * 100 / calls:,.0f}" for value in (self.cards, self.presses, self.characters))


@dataclass(slots=True)
class Outcomes:
    """What the law made of the calls."""

    calls: int = 0
    asked: int = 0
    unasked: int = 0
    refused: int = 0
    unseen: int = 0


def measure() -> Section:
    """Replay the corpus."""
    runs = json.loads(CORPUS.read_text(encoding="utf-8"))["runs"]
    outcomes, ours = Outcomes(), Cost()
    each, each_asked, turn, turn_asked = Cost(), Cost(), Cost(), Cost()
    with a_server(fsync=False) as store, a_desk(store) as desk:
        for number, run in enumerate(runs):
            calls = _proposed(store, desk, f"run_{number}", run)
            _count(calls, outcomes)
            _ours(store, desk, calls, ours)
            asking = [call for call in calls if call.content.requirement.mode is Mode.HUMAN]
            _other(calls, each, turn)
            _other(asking, each_asked, turn_asked)
    grid = Grid(("for 100 calls", "cards", "presses", "characters read"))
    grid.add("one card for every gated call", *each.of(outcomes.calls))
    grid.add("one card for every call our law asks about", *each_asked.of(outcomes.calls))
    grid.add("one card for every turn with a gated call", *turn.of(outcomes.calls))
    grid.add("one card for every turn our law asks about", *turn_asked.of(outcomes.calls))
    grid.add("vobo: one card for every blast radius", *ours.of(outcomes.calls))
    fewer, beside = 100 - 100 * ours.cards / each.cards, 100 - 100 * ours.cards / each_asked.cards
    notes = [
        (
            f"{fewer:.0f} % fewer cards than one for every gated call, {beside:.0f} % fewer than one for every"
            f" call that"
            " needs a person (aim: 60 %)."
        ),
        (
            f"{outcomes.asked} calls were shown to a person, {outcomes.unasked} ran unasked because a rule says"
            f" that they"
            f" may, {outcomes.refused} were refused without asking (a rule forbids them, or the run has used its three"
            f" cards). Risky calls that would run unseen: {outcomes.unseen}."
        ),
        (
            "presses: Approve or Approve all, and its question where one is asked. Somebody who edits or rejects"
            " presses"
            " as often in every shape; on a card for a whole turn a person cannot say yes to one call and no to"
            " another."
        ),
        (
            "characters: ours are all texts of the rendered card without its buttons (who decides, impact,"
            " sample rows), and of the question. The other shapes show"
            " a tool's name and its arguments as JSON, which says less about what will happen."
        ),
    ]
    how = (
        f"{len(runs)} runs with {outcomes.calls} gated calls of the sample agent (`bench/corpus.json`), its own rules."
    )
    return Section("B4 What reviewing costs people", how, [grid], notes)


def _proposed(store: Store, desk: Desk, run: str, turn: dict[str, Any]) -> list[Call]:
    """The calls as the engine stored them. Each run meets reviewers whom nobody has bothered within the hour."""
    client = store.runs.client
    for key in client.scan_iter(match=f"{store.keys.prefix}heard:*"):
        client.delete(key)
    client.delete(store.keys.told, store.keys.withdrawn)
    wanted = [
        function_call(call["tool"], call["args"], call_id=f"c{number}") for number, call in enumerate(turn["calls"])
    ]

    @contextlib.asynccontextmanager
    async def model() -> AsyncIterator[Model]:
        yield ScriptedModel([wanted, [assistant_message("done")]])

    Desk(replace(desk.deps, model=model)).pause(run, turn["request"])
    calls = store.calls.of_pause(run, 1)
    if len(calls) != len(wanted):
        raise RuntimeError(f"{run} proposed {len(calls)} of {len(wanted)} calls")
    return calls


def _count(calls: list[Call], outcomes: Outcomes) -> None:
    for call in calls:
        asks = call.content.requirement.mode is Mode.HUMAN
        outcomes.calls += 1
        outcomes.asked += call.state is State.PENDING_REVIEW
        outcomes.refused += call.state is State.REJECTED
        outcomes.unasked += call.state in {State.APPROVED, State.PROPOSED}
        outcomes.unseen += asks and call.state in {State.APPROVED, State.PROPOSED}


def _ours(store: Store, desk: Desk, calls: list[Call], cost: Cost) -> None:
    law = desk.deps.law
    for batch in dict.fromkeys(call.batch for call in calls if call.state is State.PENDING_REVIEW and call.batch):
        store.batches.record_posted(batch, channel="C_REFUNDS", ts="1.1")
        view = store.batches.view(batch)
        if view is None:
            raise RuntimeError(f"{batch} is not kept")
        blocks = render_card(view, ReviewersLaw(law.reviewers, version=law.version)).blocks
        buttons = {one["action_id"]: one for one in _inside(blocks) if one.get("type") == "button"}
        deciding = buttons.get(ALL) or buttons[ONE]
        cost.cards += 1
        cost.presses += 1 + ("confirm" in deciding)
        cost.characters += _texts([block for block in blocks if block["type"] != "actions"])
        cost.characters += _texts(deciding.get("confirm"))


def _other(calls: list[Call], each: Cost, turn: Cost) -> None:
    read = sum(len(call.tool) + len(call.content.requested) for call in calls)
    each.cards += len(calls)
    each.presses += len(calls)
    turn.cards += bool(calls)
    turn.presses += bool(calls)
    each.characters += read
    turn.characters += read


def _texts(value: Any) -> int:
    return sum(len(one["text"]) for one in _inside(value) if isinstance(one.get("text"), str))


def _inside(value: Any) -> list[dict[str, Any]]:
    """Every object of a card, the outer ones first."""
    if isinstance(value, list):
        return [found for each in value for found in _inside(each)]
    if isinstance(value, dict):
        return [value, *(found for each in value.values() for found in _inside(each))]
    return []


if __name__ == "__main__":
    measure().show(Console(width=110))
