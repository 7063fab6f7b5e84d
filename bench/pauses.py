"""`python bench/pauses.py`: one turn with gated calls, paused and resumed, beside other systems. Never asserted.

Everything of ours runs in this process, as everything of theirs does: no Slack, no queue. Each peer is a script of
`bench/peers`, in an environment of its own.
"""

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents import Agent
from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "bench"), str(ROOT / "bench" / "peers")]

import scene  # noqa: E402 - in bench/peers
from desk_runs import a_server  # noqa: E402 - beside this file
from figures import Grid, Section, kb, ms  # noqa: E402 - as above
from peer_scripts import Ran, run_peer  # noqa: E402 - as above

from approvals.store import Store  # noqa: E402 - this checkout, wherever it is started from
from builders import a_decision  # noqa: E402 - the values of the tests, found through the path above
from policies.budgets import Budgets  # noqa: E402 - as above
from private_postgres import private_postgres  # noqa: E402 - the harness of the tests, found through the path above
from worker import batches  # noqa: E402 - as above
from workshop import ANA, BEN, Workshop, saying, shipping  # noqa: E402 - as above

PEERS = ("langchain_hitl", "pydantic_deferred", "dbos_inbox")
#: Whoever is asked this often in a bench is no person.
NO_BUDGET = Budgets(cards_per_run=1_000, interruptions_per_hour=1_000_000)


def measure() -> Section:
    """Ours, then everybody else."""
    found: list[dict[str, Any]] = []
    with a_server() as store:
        found += [_ours(store, calls).told() for calls in scene.ROUNDS]
    notes = [
        (
            "pause: from starting the run until nothing would be lost by kill -9. First and all effects: from"
            " handing in"
            " all decisions until the first and the last tool's body begins."
        ),
        (
            "all systems commit with an fsync (Valkey `appendfsync always`, SQLite WAL with `synchronous=full`,"
            " PostgreSQL's"
            " defaults), each on this machine's disk."
        ),
        (
            "not the same work: ours also evaluates the law, looks up facts, renders previews, seals and"
            " encrypts before"
            " it pauses, and validates, checks reviewers and records intent and receipt of every call, one after"
            " the other. The others keep the conversation, in clear, and run what was approved; DBOS keeps no"
            " agent at all."
        ),
        "bytes: ours is memory (with one copy in the append-only file), theirs is disk.",
    ]
    with private_postgres() as postgres:
        for name in PEERS:
            ran = run_peer(f"{name}.py", {"BENCH_POSTGRES": postgres.url("postgres").replace("+psycopg", "")})
            found += ran.found
            notes.append(_of(name, ran))
    grids = [_grid(calls, [one for one in found if one["calls"] == calls]) for calls in scene.ROUNDS]
    how = (
        f"A scripted model proposes 1, 3, 10 or 50 gated calls in one turn ({len(scene.PROMPT) / 1000:.1f} KB of"
        " instructions); all of them are approved. Medians."
    )
    return Section("B1 Pause and resume of one turn, in one process", how, grids, notes)


def _of(name: str, ran: Ran) -> str:
    if ran.problem:
        return f"{name}: not measured here, {ran.problem}"
    return ", ".join(f"{package} {version}" for package, version in ran.versions.items())


def _grid(calls: int, rows: list[dict[str, Any]]) -> Grid:
    grid = Grid(
        (f"{calls} gated call{'s' if calls > 1 else ''}", "pause ms", "first effect ms", "all ms", "KB pending")
    )
    for row in rows:
        grid.add(row["name"], ms(row["pause"]), ms(row["first"]), ms(row["every"]), kb(row["bytes"]))
    return grid


def _ours(store: Store, calls: int) -> scene.Timed:
    store.runs.client.flushall()
    store.people.set_home_team("T0HOME")
    store.ledger.vouch(store.ledger.server())
    timed = scene.Timed("vobo", calls)
    rounds = scene.ROUNDS[calls]
    for number in range(rounds):
        run = f"waiting_{calls}_{number}"
        shop = _shop(store, calls, timed)
        shop.start(run)
        shop.post_cards(run)
    timed.size = _weight(store) / rounds
    for number in range(rounds):
        run = f"run_{calls}_{number}"
        shop = _shop(store, calls, timed)
        timed.round(lambda shop=shop, run=run: shop.start(run), lambda shop=shop, run=run: _decide(shop, run))
        shop.advance(run)
        if shop.run(run).state != "completed":
            raise RuntimeError(f"{run} did not end: {shop.run(run).state}")
    return timed


def _shop(store: Store, calls: int, timed: scene.Timed) -> Workshop:
    wanted = [
        shipping(*((line["item"], line["count"]) for line in scene.arguments(number)["lines"]), call_id=f"c{number}")
        for number in range(calls)
    ]
    shop = Workshop(store, store.runs.client, wanted, [saying(scene.DONE)])
    items = [scene.arguments(number)["lines"][0]["item"] for number in range(calls)]
    shop.shop.owners, shop.shop.stock = dict.fromkeys(items, "ann"), dict.fromkeys(items, 50)
    shop.shop.before_effect = timed.effect
    shop.law = replace(shop.law, budgets=NO_BUDGET)
    shop.build = lambda model: Agent(name="desk", instructions=scene.PROMPT, model=model, tools=shop.shop.tools())
    for user in (ANA, BEN):
        shop.see(user)
    return shop


def _decide(shop: Workshop, run: str) -> None:
    """Card by card: approve all its calls, then run its job. No card waits for another."""
    for card in shop.post_cards(run):
        view = shop.store.batches.view(card)
        if view is None:
            raise RuntimeError(f"{card} is not kept")
        words = [(call.key, call.version, a_decision(call.key, by=ANA, version=call.version)) for call in view.calls]
        person = shop.store.people.get(ANA)
        if person is None:
            raise RuntimeError(f"nobody knows {ANA}")
        answers = shop.store.calls.decide_batch(card, generation=view.batch.generation, decisions=words, person=person)
        if not all(answer.ok for _, answer in answers):
            raise RuntimeError(f"{card} cannot be approved: {answers}")
        asyncio.run(batches.execute(shop.deps, card))


def _weight(store: Store) -> int:
    client = store.runs.client
    client.delete(store.keys.ledger)  # as the clock leaves it once it has drained it
    return sum(client.memory_usage(key, samples=0) or 0 for key in client.scan_iter(match="vobo:*", count=1000))


if __name__ == "__main__":
    os.environ.setdefault("OPENAI_AGENTS_DISABLE_TRACING", "1")
    measure().show(Console(width=110))
