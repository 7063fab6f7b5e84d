"""A pause that has to be written once more has no more time for its checks than one that is written once."""

import asyncio
import time
from dataclasses import replace

import pytest
import redis
from agents import Agent

from approvals.lifecycle import Cause
from approvals.store import Store
from approvals.vault import Vault
from builders import STATE_KEY, TEAM, TENANT, counting_ids
from policies.budgets import Budgets
from policies.rule import NoFacts
from worker import bounded
from worker.actions import ActionContext, action
from workshop import ANA, BEN, LEA, Ship, Workshop, saying, shipping


def test_the_minutes_of_one_pause_are_given_once_however_often_it_is_written(
    redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded, "TURN_S", 1.0)
    monkeypatch.setattr(bounded, "MOMENT_S", 0.05)
    waited: list[float] = []
    ids, given = counting_ids(), iter(range(99))

    def new_id() -> str:
        if next(given) == 1:  # the card's: another run asks the same people after this one has looked whom it may ask
            for user in (ANA, BEN, LEA):
                redis_client.zadd(store.keys.heard(user), {"batch_other": store.now()})
        return str(ids())

    async def check(args: Ship) -> NoFacts:
        began = time.monotonic()
        try:
            await asyncio.sleep(30)
        finally:
            waited.append(time.monotonic() - began)
        return NoFacts()

    @action(Ship, check=check)
    async def ship(ctx: ActionContext, args: Ship) -> None:
        """Send items away for good."""

    store = Store.open(redis_client, Vault.from_text(STATE_KEY), tenant=TENANT, ids=new_id)
    store.people.set_home_team(TEAM)
    workshop = Workshop(store, redis_client, [shipping(("cup", 3))], [saying()])
    workshop.law = replace(workshop.law, budgets=Budgets(interruptions_per_hour=1))
    workshop.build = lambda model: Agent(name="desk", instructions="Keep.", model=model, tools=[ship])
    workshop.start()
    assert workshop.calls()[0].cause is Cause.BUDGET
    assert len(waited) == 2
    assert waited[0] > 0.5 > waited[1]
