"""Quiet hours from the pause to the reminder: nobody who sleeps is told, nothing that waits is lost."""

from dataclasses import replace
from typing import Any

import pytest
import redis
from agents.testing import ScriptedModel

from approvals.lifecycle import Cause, State
from approvals.models import Batch
from approvals.outcomes import Outcome
from approvals.people import FEW, LISTED_MS
from approvals.store import Store
from builders import a_person, events, move, owed
from clocks import a_clock
from policies.budgets import Budgets
from policies.requirement import Requirement
from workshop import ANA, BEN, LEA, TEAM, Workshop, a_law, saying, shipping

CY = "U0CY"
LAW = f"""
team = "{TEAM}"
strictest = "leads"
ops = ["{LEA}"]
[tiers.desk]
users = ["{ANA}", "{BEN}"]
next = "leads"
[tiers.leads]
users = ["{LEA}", "{CY}"]
"""
GROUP = LAW.replace(f'users = ["{ANA}", "{BEN}"]', 'usergroups = ["S1"]')


def asleep(*users: str) -> str:
    """All day and every day."""
    return f'[[quiet_hours]]\nfor = {list(users)}\nfrom = "00:00"\nto = "00:00"\n'.replace("'", '"')


@pytest.fixture
def workshop(store: Store, redis_client: redis.Redis) -> Workshop:
    made = Workshop(store, redis_client)
    made.script.extend([[shipping(("cup", 3))], [saying()]])
    return made


def card(workshop: Workshop, reviewers: str) -> Batch:
    """The card of one call that waits under this law, posted."""
    workshop.law = a_law(reviewers=reviewers)
    workshop.start()
    (batch,) = workshop.post_cards()
    found = workshop.store.batches.load(batch)
    assert found
    return found


def again(workshop: Workshop, batch: Batch) -> Batch:
    found = workshop.store.batches.load(batch.id)
    assert found
    return found


def directs(workshop: Workshop, batch: Batch) -> set[str]:
    names = {entry.removeprefix(f"direct:{batch.id}:") for entry in owed(workshop.store)}
    return {name for name in names if name.startswith("U")}


def due(workshop: Workshop, batch: Batch, kind: str) -> None:
    """Let this deadline of a card be now."""
    places = {f"{kind}:{batch.id}": workshop.store.now() - 1}
    assert workshop.client.zadd(workshop.store.keys.deadlines, places, xx=True, ch=True) == 1
    a_clock(workshop.store, workshop.law).tick()


def test_who_sleeps_is_not_told_while_somebody_is_awake(workshop: Workshop) -> None:
    batch = card(workshop, LAW + asleep(ANA))
    assert (batch.notify, batch.quiet) == ((BEN,), False)
    assert not [entry for entry in owed(workshop.store) if entry.startswith("alert:")]
    a_clock(workshop.store, workshop.law).tick()
    assert again(workshop, batch).escalated_at is None
    due(workshop, batch, "remind")
    assert directs(workshop, batch) == {BEN}


def test_while_all_sleep_the_card_waits_unmentioned_the_next_tier_is_asked_at_once_and_ops_gets_a_line(
    workshop: Workshop,
) -> None:
    batch = card(workshop, LAW + asleep(ANA, BEN))
    assert (batch.notify, batch.quiet) == ((), True)
    assert f"alert:quiet:{batch.id}" in owed(workshop.store)
    a_clock(workshop.store, workshop.law).tick()
    assert again(workshop, batch).escalated_at is not None
    assert events(workshop.store).count("escalated") == 1
    assert directs(workshop, batch) == {LEA, CY}
    assert f"reminder:next:{batch.id}" in owed(workshop.store)


def test_of_the_next_tier_too_only_who_is_awake_is_told(workshop: Workshop) -> None:
    batch = card(workshop, LAW + asleep(ANA, BEN, CY))
    a_clock(workshop.store, workshop.law).tick()
    assert directs(workshop, batch) == {LEA}


def test_where_everybody_sleeps_the_next_tier_may_decide_all_the_same(workshop: Workshop) -> None:
    batch = card(workshop, LAW + asleep(ANA, BEN, CY, LEA))
    a_clock(workshop.store, workshop.law).tick()
    assert again(workshop, batch).escalated_at is not None
    assert directs(workshop, batch) == set()


def test_without_a_next_tier_the_card_waits_until_somebody_wakes(workshop: Workshop) -> None:
    batch = card(workshop, LAW.replace('next = "leads"\n', "") + asleep(ANA, BEN))
    a_clock(workshop.store, workshop.law).tick()
    assert again(workshop, batch).escalated_at is None
    workshop.law = a_law(reviewers=LAW.replace('next = "leads"\n', "") + asleep(ANA))
    due(workshop, batch, "remind")
    assert directs(workshop, batch) == {BEN}, "awake by now, and not told before"


def test_who_sleeps_may_decide(workshop: Workshop) -> None:
    card(workshop, LAW + asleep(ANA, BEN))
    assert workshop.decide(workshop.calls()[0], by=ANA).ok
    workshop.execute()
    assert workshop.shop.done


def test_members_of_a_small_usergroup_are_told_one_by_one_within_their_hour(workshop: Workshop) -> None:
    workshop.store.people.put_members("S1", [ANA, BEN, CY])
    now = workshop.store.now()
    workshop.client.zadd(workshop.store.keys.heard(BEN), {f"batch_{n}": now - n for n in range(12)})
    batch = card(workshop, GROUP + asleep(CY))
    assert batch.notify == (ANA,)
    due(workshop, batch, "remind")
    assert directs(workshop, batch) == {ANA}


def test_a_usergroup_nobody_knows_or_a_large_one_is_mentioned_and_its_members_get_the_reminder(
    workshop: Workshop,
) -> None:
    batch = card(workshop, GROUP)
    assert batch.notify == ("S1",)
    workshop.store.people.put_members("S1", [ANA, BEN])
    due(workshop, batch, "remind")
    assert directs(workshop, batch) == {ANA, BEN}
    assert again(workshop, batch).recalled == ()


def test_a_large_usergroup_is_reminded_as_a_whole_within_its_hour(workshop: Workshop) -> None:
    workshop.store.people.put_members("S1", [f"U{n:04}" for n in range(FEW + 1)])
    batch = card(workshop, GROUP)
    assert batch.notify == ("S1",)
    due(workshop, batch, "remind")
    assert directs(workshop, batch) == set()
    assert again(workshop, batch).recalled == ("S1",)
    assert workshop.client.zcard(workshop.store.keys.heard("S1")) == 2


def test_a_list_of_members_counts_as_long_as_it_is_recent(store: Store, redis_client: redis.Redis) -> None:
    store.people.put_members("S1", [BEN, ANA])
    store.people.put_members("S2", [])
    assert store.people.known_members(["S1", "S2", "S3"]) == {"S1": (ANA, BEN)}
    store.people.put(a_person(BEN, guest=True))
    assert store.people.known_members(["S1"]) == {"S1": (ANA,)}
    move(redis_client, store.keys.members("S1"), fetched_at=store.now() - LISTED_MS - 1)
    assert store.people.known_members(["S1"]) == {}


def test_an_escalation_that_was_made_at_once_is_not_made_again(workshop: Workshop) -> None:
    batch = card(workshop, LAW + asleep(ANA, BEN))
    a_clock(workshop.store, workshop.law).tick()
    answer = workshop.store.deadlines.escalate(batch.id, users=[LEA], interruptions=12)
    assert answer.outcome is Outcome.REPEATED
    assert events(workshop.store).count("escalated") == 1


#: `night` is asleep, `day` and `shift` are awake, and so is the one of `mixed` who is also of `day`.
TIERS = f"""
team = "{TEAM}"
strictest = "leads"
[tiers.night]
users = ["{BEN}"]
next = "leads"
[tiers.day]
users = ["{ANA}"]
next = "leads"
[tiers.mixed]
users = ["{ANA}", "{BEN}"]
next = "leads"
[tiers.shift]
users = ["{CY}"]
next = "leads"
[tiers.leads]
users = ["{LEA}"]
"""


def turn(workshop: Workshop, *items: str, **budgets: int) -> dict[str, Batch | None]:
    """Item -> its card, where each is for the tier it names: `night`, `day2`, `other.shift` (of another radius)."""

    def judge(ask: Any, so_far: Any) -> Requirement:
        (line,) = ask.args.lines
        radius, _, name = line.item.rpartition(".")
        return Requirement(radius=radius or "stock", resources=(line.item,)).needs(
            name.rstrip("0123456789"), because="Somebody must look."
        )

    law = a_law(reviewers=TIERS + asleep(BEN))
    rules = {**law.rules, "ship": replace(law.rules["ship"], judge=judge)}
    workshop.law = replace(law, rules=rules, budgets=Budgets(**budgets))
    workshop.shop.owners, workshop.shop.stock = dict.fromkeys(items, "ann"), dict.fromkeys(items, 50)
    workshop.script = ScriptedModel([[shipping((item, 2), call_id=f"call{n}") for n, item in enumerate(items)]])
    workshop.start()
    workshop.post_cards()
    found = {call.content.requirement.resources[0]: call.batch for call in workshop.calls()}
    return {item: workshop.store.batches.load(batch) if batch else None for item, batch in found.items()}


def test_a_call_that_somebody_awake_was_told_about_is_not_taken_to_the_next_tier_by_one_that_sleeps_on(
    workshop: Workshop,
) -> None:
    cards = turn(workshop, "night", "day")
    night, day = cards["night"], cards["day"]
    assert night
    assert day
    assert (night.quiet, night.notify, day.quiet, day.notify) == (True, (), False, (ANA,))
    a_clock(workshop.store, workshop.law).tick()
    assert again(workshop, night).escalated_at is not None
    assert again(workshop, day).escalated_at is None
    assert f"alert:quiet:{night.id}" in owed(workshop.store)
    assert f"alert:quiet:{day.id}" not in owed(workshop.store)


def test_calls_of_either_kind_fill_their_cards(workshop: Workshop) -> None:
    cards = turn(workshop, "night1", "day1", "night2", "day2", calls_per_card=2)
    assert len({card.id for card in cards.values() if card}) == 2
    assert cards["night1"] == cards["night2"]
    assert cards["day1"] == cards["day2"]


def test_who_is_told_too_often_by_an_earlier_card_leaves_those_who_sleep_on_a_card_of_their_own(
    workshop: Workshop,
) -> None:
    cards = turn(workshop, "first.day", "mixed", "shift1", "shift2", interruptions_per_hour=1)
    mixed, shift = cards["mixed"], cards["shift1"]
    assert mixed
    assert shift
    assert (len(mixed.calls), mixed.quiet, mixed.notify) == (1, True, ())
    assert shift == cards["shift2"]
    assert (shift.quiet, shift.notify) == (False, (CY,))


def test_a_card_that_is_needed_for_them_counts_for_the_run(workshop: Workshop) -> None:
    cards = turn(workshop, "first.day", "mixed", "shift", interruptions_per_hour=1, cards_per_run=2)
    assert cards["mixed"]
    assert cards["shift"] is None
    (refused,) = [call for call in workshop.calls() if call.batch is None]
    assert (refused.state, refused.cause) == (State.REJECTED, Cause.BUDGET)
