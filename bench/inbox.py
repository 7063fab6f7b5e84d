"""`python bench/inbox.py [cards ...]`: one page of a Home tab while very many cards wait. Figures, never asserted."""

import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from slack_sdk import WebClient

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "bench")]

from figures import Grid, Section  # noqa: E402 - beside this file

from approvals import valkey  # noqa: E402 - this checkout, wherever it is started from
from approvals.inbox import digest  # noqa: E402 - as above
from approvals.models import Decision, PauseWrite, Person, ProposedBatch, ProposedCall  # noqa: E402 - as above
from approvals.redis_check import connect  # noqa: E402 - as above
from approvals.store import Store  # noqa: E402 - as above
from approvals.vault import Vault  # noqa: E402 - as above
from bot.deps import Deps  # noqa: E402 - as above
from bot.home import render_home  # noqa: E402 - as above
from bot.home_reading import read_home  # noqa: E402 - as above
from bot.home_state import HomeState  # noqa: E402 - as above
from bot.people import PeopleDesk, Watch  # noqa: E402 - as above
from builders import STATE_KEY, a_call, a_content, a_requirement, lease_run, start_run  # noqa: E402 - as above
from policies.law import Law, load_law  # noqa: E402 - as above
from policies.money import eur  # noqa: E402 - as above

SIZES = (1_000, 10_000)
ROUNDS = 60
PER_RUN = 100
RADII, REQUESTERS = 40, 30
TIERS = ("billing",) * 7 + ("ops_leads",) * 2 + ("support",)
OLGA = "U0002"


def measure(sizes: tuple[int, ...] = SIZES) -> Section:
    """Let ever more cards wait, and read pages as Olga, who belongs to three tiers and has approved some of them."""
    grid = Grid(("cards wait", "page", "p50 ms", "p95 ms", "own CPU ms", "index MiB", "all MiB"))
    with _a_store() as store:
        law = load_law(["policies.rules"], (ROOT / "policies" / "rules" / "reviewers.toml").read_text())
        deps, posted = _deps(store, law), 0
        for size in sizes:
            _post(store, posted, size)
            posted = size
            index = _index_bytes(store) / 2**20
            total = _used_memory(store) / 2**20
            for name, state in _pages(store, size).items():
                took = [_timed(lambda state=state: _page(deps, state)) for _ in range(ROUNDS)]  # type: ignore[misc]
                walls, busy = [wall for wall, _ in took], [cpu for _, cpu in took]
                cuts = statistics.quantiles(walls, n=20)
                row = (f"{size:,}", name, f"{statistics.median(walls):.1f}", f"{cuts[-1]:.1f}")
                grid.add(*row, f"{statistics.median(busy):.1f}", f"{index:.0f}", f"{total:.0f}")
    how = "One page of the Home tab (20 cards: read, judged and rendered), by how many cards wait."
    return Section("B3 A reviewer's inbox", how, [grid], ["aim: 50 ms (p95), and the same however many wait."])


@contextmanager
def _a_store() -> Iterator[Store]:
    data = Path(tempfile.mkdtemp(prefix="vk-"))
    try:
        client = connect(valkey.ensure_server(data).url)
        # Filling the store is not what is measured: no fsync after each of a quarter of a million writes.
        client.config_set("appendfsync", "no")
        store = Store.open(client, Vault.from_text(STATE_KEY), tenant="T0000HOME")
        store.people.set_home_team("T0000HOME")
        yield store
    finally:
        valkey.stop_server(data)
        shutil.rmtree(data)


def _deps(store: Store, law: Law) -> Deps:
    client = WebClient()
    desk = PeopleDesk(client, store, law.reviewers)
    parts: dict[str, Any] = {"home_team": "T0000HOME", "bot_user": "UBOT", "home_url": "https://example.test/"}
    return Deps(
        store=store,
        law=law,
        client=client,
        desk=desk,
        watch=Watch(desk, store, law.reviewers),
        pool=ThreadPoolExecutor(1),
        ledger=_no_ledger,
        nudge=lambda _job, _argument: None,
        **parts,
    )


def _no_ledger() -> Any:
    raise NotImplementedError("The Home tab reads no ledger.")


def _post(store: Store, first: int, last: int) -> None:
    """Cards of one call, a hundred a run, over tiers, radii and requesters; every tenth was approved by Olga."""
    chance = random.Random(last)  # noqa: S311 - figures that can be repeated
    for start in range(first, last, PER_RUN):
        run, requester = f"run_{start}", f"U9{start // PER_RUN % REQUESTERS:03d}"
        start_run(store, run, requester=requester, thread_ts=f"{start}.1")
        calls = []
        for number in range(start, min(last, start + PER_RUN)):
            tier, radius = chance.choice(TIERS), f"radius {chance.randrange(RADII):02d}"
            need = a_requirement(tier=tier, radius=radius, reviewers=2, amount=eur(99), counts={"refunds": eur(99)})
            calls.append(
                a_call(f"call_{number}", number=1, batch=f"batch_{number}", content=a_content(requirement=need))
            )
        write = _write(calls, chance)
        store.runs.pause(lease_run(store, run), write)
        for batch in write.batches:
            store.batches.record_posted(batch.id, channel="C0PAY", ts=f"{batch.id[6:]}.1")
    _answer(store, range(first, last, 10))


def _write(calls: list[ProposedCall], chance: random.Random) -> PauseWrite:
    batches = tuple(
        ProposedBatch(
            id=call.batch or "",
            radius=call.content.requirement.radius,
            number=number,
            calls=(call.key,),
            has_card=True,
            ttl_s=chance.randrange(3_600, 80_000),
            lapse_s=600,
        )
        for number, call in enumerate(calls, start=1)
    )
    return PauseWrite(state=b"{}", turns=1, calls=tuple(calls), batches=batches)


def _answer(store: Store, numbers: range) -> None:
    person = Person(user=OLGA, name="Olga", team="T0000HOME")
    for number, key in ((number, f"call_{number}") for number in numbers):
        seen = store.people.put(person) if number % 1_000 == 0 else person
        word = Decision(call=key, version=1, verdict="approve", reviewer=OLGA, name="Olga")
        store.calls.approve(key, version=1, decision=word, person=seen)


def _pages(store: Store, size: int) -> dict[str, HomeState]:
    place: Any = store.runs.client.zrange(store.keys.inbox("of:billing", "."), size // 3, size // 3, withscores=True)
    ((batch, at),) = place
    return {
        "the most urgent": HomeState(),
        "in the middle": HomeState(start=f"{int(at)}:{batch.decode()}"),
        "filtered by both": HomeState(radius=digest("radius 07"), requester="U9003"),
    }


def _page(deps: Deps, state: HomeState) -> None:
    person = Person(user=OLGA, name="Olga", team="T0000HOME", usergroups=("S_BILLING", "S_OPS_LEADS"))
    render_home(read_home(deps, person, state))


def _timed(work: Callable[[], None]) -> tuple[float, float]:
    """Milliseconds on the wall, and of this process alone: what else runs here does not count in the second."""
    began, busy = time.perf_counter(), time.process_time()
    work()
    return (time.perf_counter() - began) * 1000, (time.process_time() - busy) * 1000


def _used_memory(store: Store) -> int:
    told: Any = store.runs.client.info("memory")
    return int(told["used_memory"])


def _index_bytes(store: Store) -> int:
    client = store.runs.client
    return sum(
        client.memory_usage(key, samples=100) or 0 for key in client.scan_iter(match="vobo:*:inbox*", count=1000)
    )


if __name__ == "__main__":
    measure(tuple(map(int, sys.argv[1:])) or SIZES).show(Console(width=110))
