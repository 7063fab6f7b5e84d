"""Runs of the sample agent over a real store, driven in this process as far as their pause, for several benches."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents import Model

from approvals import valkey
from approvals.models import PauseWrite, Run
from approvals.redis_check import connect
from approvals.runs import Runs
from approvals.store import Store
from approvals.vault import Vault
from builders import STATE_KEY
from policies.law import Law, load_law
from worker import runs
from worker.deps import Deps
from worker.refund_desk.agent import build_agent
from worker.refund_desk.planner import OfflinePlanner

ROOT = Path(__file__).resolve().parent.parent
ROSA, CHANNEL = "U0005", "C_REFUNDS"


@contextmanager
def a_server(*, fsync: bool = True) -> Iterator[Store]:
    """A store over a Valkey of its own. Without `fsync` filling it does not take all day."""
    data = Path(tempfile.mkdtemp(prefix="vk-"))
    try:
        client = connect(valkey.ensure_server(data).url)
        if not fsync:
            client.config_set("appendfsync", "no")
        store = Store.open(client, Vault.from_text(STATE_KEY), tenant=the_law().reviewers.team)
        ready(store)
        yield store
    finally:
        valkey.stop_server(data)
        shutil.rmtree(data)


def ready(store: Store) -> None:
    """The home team is known and the server is the one the ledger knows."""
    store.people.set_home_team(store.tenant)
    store.ledger.vouch(store.ledger.server())


def the_law() -> Law:
    """The sample's rules and reviewers."""
    return load_law(["policies.rules"], (ROOT / "policies" / "rules" / "reviewers.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Desk:
    """The sample agent with its offline planner and a freshly loaded shop."""

    deps: Deps

    def pause(self, run: str, request: str) -> tuple[Run, PauseWrite | None]:
        """Start a run and drive it until it waits for people or ends; what it wrote when it paused."""
        store = self.deps.store
        started = store.runs.start(
            run, request=request, requester=ROSA, channel=CHANNEL, thread_ts=f"{run}.1", agent="default"
        )
        if not started.ok:
            raise RuntimeError(f"{run} cannot be started: {started.outcome}")
        with noted_pauses() as written:
            asyncio.run(runs.advance(self.deps, run))
        found = store.runs.load(run)
        if found is None:
            raise RuntimeError(f"{run} is not kept")
        return found, written[-1] if written else None


@contextmanager
def a_desk(store: Store) -> Iterator[Desk]:
    """The desk over this store; its shop lives in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="shop-") as home:
        before = os.environ.get("VOBO_SHOP_URL")
        os.environ["VOBO_SHOP_URL"] = f"sqlite:///{home}/shop.db"
        load_shop()
        try:
            yield Desk(Deps(store, the_law(), {"default": build_agent}, _planner))
        finally:
            os.environ.pop("VOBO_SHOP_URL")
            if before is not None:
                os.environ["VOBO_SHOP_URL"] = before


def load_shop() -> None:
    """Fill the shop that VOBO_SHOP_URL names with the sample's data."""
    command = [sys.executable, "-m", "worker.refund_desk.shop", "load", "--fresh"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(command, check=True, cwd=ROOT, env=environment, capture_output=True)  # noqa: S603 - ours


@contextlib.asynccontextmanager
async def _planner() -> AsyncIterator[Model]:
    yield OfflinePlanner()


@contextmanager
def noted_pauses() -> Iterator[list[PauseWrite]]:
    """What is handed to `Runs.pause` meanwhile."""
    written: list[PauseWrite] = []
    original = Runs.pause

    def noted(self: Runs, lease: Any, write: PauseWrite) -> Any:
        written.append(write)
        return original(self, lease, write)

    Runs.pause = noted  # type: ignore[method-assign]  # for as long as the block lasts
    try:
        yield written
    finally:
        Runs.pause = original  # type: ignore[method-assign]
