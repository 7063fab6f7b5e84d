"""`python bench/pending.py [runs ...]`: what it costs to keep very many runs waiting. Figures, never asserted.

The same pause of the sample agent is stored again and again under new ids: three calls, three cards.
"""

import functools
import itertools
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "bench")]

from desk_runs import a_desk, a_server, noted_pauses  # noqa: E402 - beside this file
from figures import Grid, Section, half_and_most, kb, took  # noqa: E402 - as above

from approvals import vault  # noqa: E402 - this checkout, wherever it is started from
from approvals.models import PauseWrite  # noqa: E402 - as above
from approvals.store import Store  # noqa: E402 - as above
from builders import a_decision, a_person, lease_run, start_run  # noqa: E402 - the values of the tests
from workshop import Workshop, saying, shipping  # noqa: E402 - as above

SIZES = (1_000, 10_000)
REQUEST = "refund pay_0001, pay_0009 and pay_0031, mail the affected customers, deploy dep_0042"
DECISIONS, CLIENTS = 400, 8
DAY_S = 24 * 60 * 60


def measure(sizes: tuple[int, ...] = SIZES) -> Section:
    """Let ever more runs wait; weigh them, and decide some."""
    memory = Grid(("runs waiting", "KB each", "state", "calls", "rest", "all MB"))
    speed = Grid(("runs waiting", "clients", "decisions a second", "p50 ms", "p95 ms"))
    states = {}
    for shape, of in SHAPES.items():
        with a_server(fsync=False) as store:  # a server of its own: what another shape left would be weighed too
            write, posted = of(store), 0
            states[shape] = f"{len(write.state) / 1000:.0f} KB"
            store.runs.client.flushall()
            store.people.set_home_team(store.tenant)
            empty = _used(store)
            for size in sizes if shape == SMALL else sizes[: len(SIZES)]:  # the others grow alike, and take an hour
                _fill(store, write, range(posted, size))
                posted = size
                memory.add(f"{size:,} on {shape}", *_weighed(store, size, empty))
            store.runs.client.config_set("appendfsync", "always")
            for number, clients in enumerate((1, CLIENTS)):
                speed.add(f"{posted:,} on {shape}", clients, *_decided(store, number * DECISIONS, clients))
    three, one = states.values()
    return Section(
        "B3 Runs that wait",
        f"Three calls each: of the sample agent on three cards, after two lookups ({three} of JSON state), and of B1's"
        f" agent on one card, with no lookups ({one}). Memory as Valkey counts it, cards posted, events already drained"
        " into the ledger.",
        [memory, speed],
        [
            (
                "aim: 6 KB a run. What is left in the state is the run's own: what the agent looked up, ids, digests"
                " and the"
                " schemas of the tools it may call; it is encrypted, so it cannot be shared between runs."
            ),
            (
                "rest: the run, its batches, what stands in Slack of each, and the lists and sets in which the scripts"
                " find what is open; 100 to 350 bytes each, 10 of them for one card, and an entry in the table of keys."
            ),
            "a decision is one fsync of the store (`appendfsync always`).",
        ],
    )


def _three_cards(store: Store) -> PauseWrite:
    """What the sample agent writes when it wants a refund, a mail and a deployment."""
    with a_desk(store) as desk:
        _, write = desk.pause("run_sample", REQUEST)
    if write is None or len(write.calls) != 3:  # noqa: PLR2004 - what the bench is about
        raise RuntimeError("the sample agent no longer asks for three calls")
    return write


def _one_card(store: Store) -> PauseWrite:
    """What B1's agent writes when it asks for three calls at once."""
    shop = Workshop(
        store, store.runs.client, [shipping((f"item-{n}", 2 + n), call_id=f"c{n}") for n in range(3)], [saying()]
    )
    shop.shop.owners = {f"item-{n}": "ann" for n in range(3)}
    shop.shop.stock = {f"item-{n}": 50 for n in range(3)}
    with noted_pauses() as written:
        shop.start("run_one_card")
    return written[-1]


SMALL = "one card"
SHAPES = {"three cards": _three_cards, SMALL: _one_card}


def _fill(store: Store, write: PauseWrite, numbers: range) -> None:
    """Packing the same text ten thousand times would say nothing: it is packed once, and encrypted every time."""
    with _packed_once():
        for number in numbers:
            run, again = f"run_{number:012d}", _renamed(write, number)
            start_run(store, run, requester="U0005", channel="C_REFUNDS", thread_ts=f"{number}.1", agent="default")
            answer = store.runs.pause(lease_run(store, run), again)
            if not answer.ok:
                raise RuntimeError(f"{run} cannot be paused: {answer.outcome}")
            store.outbox.delivered(f"opening:{run}", version=1, channel="C_REFUNDS", ts=f"{number}.0")
            for batch in again.batches:
                store.batches.record_posted(batch.id, channel="C_REFUNDS", ts=f"{number}.{batch.number}")
                for version in (1, 2):  # without buttons at first; with them once it can be decided
                    store.outbox.delivered(
                        f"card:{batch.id}", version=version, channel="C_REFUNDS", ts=f"{number}.{batch.number}"
                    )
    store.runs.client.delete(store.keys.ledger)  # as the clock leaves it once it has drained it


def _renamed(write: PauseWrite, number: int) -> PauseWrite:
    calls = {call.key: f"call_{number:09d}{call.number:03d}" for call in write.calls}
    batches = {batch.id: f"batch_{number:09d}{batch.number:03d}" for batch in write.batches}
    return write.model_copy(
        update={
            "interruptions": 1_000_000_000,
            "calls": tuple(
                call.model_copy(update={"key": calls[call.key], "batch": batches[call.batch or ""]})
                for call in write.calls
            ),
            "batches": tuple(
                batch.model_copy(
                    update={
                        "id": batches[batch.id],
                        "calls": tuple(calls[key] for key in batch.calls),
                        "notify": (),
                        "ttl_s": DAY_S,  # filling may take longer than the sample's cards wait
                    }
                )
                for batch in write.batches
            ),
        }
    )


@contextmanager
def _packed_once() -> Iterator[None]:
    original = vault.packed
    vault.packed = functools.lru_cache(64)(original)
    try:
        yield
    finally:
        vault.packed = original


def _weighed(store: Store, size: int, empty: int) -> tuple[str, ...]:
    used = _used(store) - empty
    client, keys = store.runs.client, store.keys
    last = f"{size - 1:09d}"
    state = client.memory_usage(keys.saved(f"run_{size - 1:012d}")) or 0
    calls = sum(client.memory_usage(keys.call(f"call_{last}{number:03d}")) or 0 for number in (1, 2, 3))
    rest = used / size - state - calls
    return kb(used / size), kb(state), kb(calls), kb(rest), f"{used / 1e6:,.0f}"


def _used(store: Store) -> int:
    """What the server keeps, without what it holds for a moment: buffers of the append-only file and of clients."""
    client: Any = store.runs.client
    while client.info("persistence")["aof_rewrite_in_progress"] or client.info("memory")["lazyfree_pending_objects"]:
        time.sleep(0.2)
    told = client.info("memory")
    return int(told["used_memory"]) - int(told["mem_aof_buffer"]) - int(told["mem_clients_normal"])


def _decided(store: Store, first: int, clients: int) -> tuple[str, ...]:
    """Approve one call of each of so many runs, by so many clients at once."""
    numbers = itertools.count(first)
    person = store.people.put(a_person("U0002", team=store.tenant))

    def one(_: int) -> float:
        key = f"call_{next(numbers):09d}001"
        word = a_decision(key, by="U0002")

        def approve() -> None:
            answer = store.calls.approve(key, version=1, decision=word, person=person)
            if not answer.ok:
                raise RuntimeError(f"{key} cannot be approved: {answer.outcome}")

        return took(approve)

    began = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        each = list(pool.map(one, range(DECISIONS)))
    return f"{DECISIONS / (time.perf_counter() - began):,.0f}", *half_and_most(each)


if __name__ == "__main__":
    measure(tuple(map(int, sys.argv[1:])) or SIZES).show(Console(width=110))
