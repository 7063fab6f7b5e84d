"""What lies between a click and its effect, and must not take longer than it has to."""

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from approvals.lifecycle import State
from approvals.redis_check import connect
from bot import deciding
from bot.deciding import EXECUTE
from bot.people import Watch
from bot_office import BRUNO, OLGA, Office, a_refund
from builders import STATE_KEY
from stack import ROOT


def aged(office: Office, user: str) -> None:
    """What Slack said about this person is half a minute old."""
    known = office.store.people.get(user)
    assert known
    office.client.hset(office.store.keys.person(user), "fetched_at", known.fetched_at - 30_000)


def approved_twice(office: Office, monkeypatch: pytest.MonkeyPatch, nudged: Any) -> str:
    """A card for two reviewers, settled by the second one; `nudged` is called when the worker is."""
    original = deciding.after_decision

    def noting(deps: Any, *args: Any) -> None:
        original(replace(deps, nudge=lambda job, argument: nudged(deps, job, argument)), *args)

    monkeypatch.setattr("bot.actions.after_decision", noting)
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240, reviewers=2))
    key = "call_000000000001"
    office.card(batch)
    office.press(BRUNO, batch, "call.approve", key)
    office.until(lambda: office.call(key).decisions, "the first approval is recorded")
    aged(office, BRUNO)
    office.press(OLGA, batch, "call.approve", key)
    office.state(key, State.APPROVED)
    return batch


def test_the_worker_is_nudged_under_fresh_snapshots_of_everybody_it_rests_on(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, str, list[int]]] = []

    def nudged(deps: Any, job: str, batch: str) -> None:
        now = deps.store.now()
        seen.append((job, batch, [now - deps.store.people.get(user).fetched_at for user in (BRUNO, OLGA)]))

    batch = approved_twice(office, monkeypatch, nudged)
    office.until(lambda: seen, "the worker is nudged")
    ((job, about, ages),) = seen
    assert (job, about) == (EXECUTE, batch)
    assert all(age < 1_000 for age in ages), ages


def test_only_those_who_are_asked_for_are_looked_up_again(office: Office) -> None:
    deps = office.bot.deps
    watch = Watch(deps.desk, office.store, deps.law.reviewers)
    for user in (BRUNO, OLGA):
        deps.desk.ask(user)
        aged(office, user)
    assert watch.refresh([OLGA]) == 1
    assert watch.refresh([OLGA]) == 0
    ages = {user: office.store.now() - office.store.people.get(user).fetched_at for user in (BRUNO, OLGA)}  # type: ignore[union-attr]
    assert ages[OLGA] < 10_000 < ages[BRUNO]


def test_connections_share_what_they_tell_about_themselves(valkey_url: str) -> None:
    # Otherwise redis-py reads its own package's metadata for each connection, and a job opens three.
    one, other = connect(valkey_url), connect(valkey_url)
    kwargs = [client.connection_pool.connection_kwargs for client in (one, other)]
    assert kwargs[0]["driver_info"] is kwargs[1]["driver_info"]
    assert one.ping()


def test_building_the_sample_agent_loads_what_its_jobs_need_and_opens_nothing(tmp_path: Any) -> None:
    script = (
        "import sys; from worker.refund_desk.agent import build_agent;"
        "from worker.refund_desk.planner import OfflinePlanner; build_agent(OfflinePlanner());"
        "from worker.refund_desk.shop.tables import Base;"
        "print('sqlalchemy.dialects.sqlite' in sys.modules, all(one.configured for one in Base.registry.mappers))"
    )
    place = tmp_path / "not-there" / "shop.db"
    environment = {"PYTHONPATH": str(ROOT), "VOBO_SHOP_URL": f"sqlite:///{place}", "PATH": ""}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "True"], done.stderr
    assert not place.parent.exists()


def test_a_collection_in_a_job_does_not_touch_what_its_parent_had_loaded(valkey_url: str, tmp_path: Any) -> None:
    script = (
        "import gc, sys, worker.__main__ as main;"
        "main.keep_working = lambda _build: print(gc.get_freeze_count(), len(gc.get_objects()));"
        "sys.argv = ['worker']; sys.exit(main.main())"
    )
    environment = {
        "PYTHONPATH": str(ROOT),
        "PATH": "",
        "REDIS_URL": valkey_url,
        "VOBO_STATE_KEYS": STATE_KEY,
        "VOBO_LEDGER_URL": f"sqlite:///{tmp_path}/ledger.db",
        "VOBO_SHOP_URL": f"sqlite:///{tmp_path}/shop.db",
    }
    load = [sys.executable, "-m", "worker.refund_desk.shop", "load"]
    subprocess.run(load, env=environment, check=True, capture_output=True)
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    frozen, collected = map(int, done.stdout.split())
    assert frozen > 100_000 > 10 * collected
