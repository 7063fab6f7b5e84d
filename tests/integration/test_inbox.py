"""What waits for a reviewer, by deadline: the index that the scripts keep, and how it is read."""

import itertools
from typing import Any

import redis

from approvals.inbox import EVERYTHING, Choice, Cursor, Group, Reader, digest
from approvals.lifecycle import State
from approvals.models import ProposedCall
from approvals.store import Store
from builders import (
    ANA,
    BEN,
    CHANNEL,
    REQUESTER,
    a_call,
    a_content,
    a_person,
    a_requirement,
    approve,
    claim,
    edit,
    lease_batch,
    loaded,
    move,
    paused,
    reject,
    start_run,
)

BILLING, LATE = Group("of:billing", ("billing",), late=False), Group("late:billing", ("billing",), late=True)
CYD = "U0CYD"


def of(*groups: Group, user: str = ANA, own: bool = False) -> Reader:
    return Reader(user, groups, own)


def for_tier(key: str, tier: str = "billing", *, needed: int = 1, **changes: Any) -> ProposedCall:
    content = a_content(requirement=a_requirement(tier=tier, reviewers=needed))
    return a_call(key, content=content, **changes)


def seen(store: Store, reader: Reader, choice: Choice = EVERYTHING) -> list[str]:
    """Every batch of an inbox, page by page, which must be as many as are counted."""
    found: list[str] = []
    place: Cursor | None = None
    while True:
        page = store.inbox.since(reader, choice, place, 3)
        found += [one.batch for one in page.batches]
        place = page.further
        if place is None:
            assert store.inbox.count(reader, choice) == len(found)
            return found


def many(store: Store, number: int, run: str = "run_1", **changes: Any) -> list[str]:
    """Batches of one call, each due a second after the one before."""
    names = [f"batch_{run}_{at:03d}" for at in range(number)]
    calls = [for_tier(f"call_{run}_{at}", number=at + 1, batch=name) for at, name in enumerate(names)]
    paused(store, *calls, run=run, posted=False, **changes)
    for name, ttl in zip(names, itertools.count(900), strict=False):
        store.runs.client.hset(store.keys.batch(name), "ttl_s", ttl)
        assert store.batches.record_posted(name, channel=CHANNEL, ts=f"{name}.1").ok
    return names


def test_a_batch_waits_from_its_posting_until_its_last_call_is_decided(store: Store) -> None:
    paused(store, for_tier("call_1"), for_tier("call_2", number=2), posted=False)
    assert store.inbox.groups() == []
    assert store.batches.record_posted("batch_a", channel=CHANNEL, ts="1.1").ok
    assert store.inbox.groups() == [BILLING]
    assert seen(store, of(BILLING)) == ["batch_a"]
    assert approve(store, "call_1").ok
    assert seen(store, of(BILLING)) == ["batch_a"]
    assert reject(store, "call_2").ok
    assert seen(store, of(BILLING)) == []
    assert store.inbox.groups() == []


def test_what_has_no_card_yet_waits_for_nobody_whatever_becomes_of_its_siblings(store: Store) -> None:
    paused(store, for_tier("call_1"), for_tier("call_2", number=2), posted=False)
    assert store.calls.withdraw("call_2", by=REQUESTER).ok
    assert store.inbox.groups() == []


def test_a_group_is_named_by_the_tiers_of_what_is_still_open(store: Store) -> None:
    paused(store, for_tier("call_1"), for_tier("call_2", "ops: leads/é", number=2))
    (both,) = store.inbox.groups()
    assert (both.tiers, both.late) == (("billing", "ops: leads/é"), False)
    assert approve(store, "call_2").ok
    assert store.inbox.groups() == [BILLING]
    assert seen(store, of(BILLING)) == ["batch_a"]


def test_the_most_urgent_comes_first_and_pages_go_both_ways(store: Store) -> None:
    names = many(store, 10)
    reader = of(BILLING)
    first = store.inbox.since(reader, EVERYTHING, None, 4)
    assert [one.batch for one in first.batches] == names[:4]
    second = store.inbox.since(reader, EVERYTHING, first.further, 4)
    assert [one.batch for one in second.batches] == names[4:8]
    third = store.inbox.since(reader, EVERYTHING, second.further, 4)
    assert ([one.batch for one in third.batches], third.further) == (names[8:], None)
    back = store.inbox.before(reader, EVERYTHING, third.batches[0], 4)
    assert [one.batch for one in back.batches] == names[4:8]
    assert back.further == first.batches[-1]
    start = store.inbox.before(reader, EVERYTHING, back.batches[0], 4)
    assert ([one.batch for one in start.batches], start.further) == (names[:4], None)


def test_a_page_stays_where_it_is_when_its_first_batch_is_decided(store: Store) -> None:
    names = many(store, 6)
    place = store.inbox.since(of(BILLING), EVERYTHING, None, 3).further
    assert approve(store, "call_run_1_3").ok
    page = store.inbox.since(of(BILLING), EVERYTHING, place, 3)
    assert [one.batch for one in page.batches] == names[4:]


def test_batches_due_at_the_same_instant_are_all_met_once(store: Store, redis_client: redis.Redis) -> None:
    many(store, 120)
    at = store.now() + 60_000
    for key in redis_client.scan_iter(match="vobo:*:inbox:*"):
        members: Any = redis_client.zrange(key, 0, -1)
        redis_client.zadd(key, dict.fromkeys(members, at))
    names = seen(store, of(BILLING))
    assert names == sorted(set(names))
    assert len(names) == 120
    back = store.inbox.before(of(BILLING), EVERYTHING, Cursor(at, names[100]), 60)
    assert [one.batch for one in back.batches] == names[40:100]


def test_several_groups_are_merged_by_deadline(store: Store) -> None:
    paused(store, for_tier("call_1"), for_tier("call_2", "release", number=2, batch="batch_b"), posted=False)
    release = Group("of:release", ("release",), late=False)
    for batch, ttl in (("batch_a", 600), ("batch_b", 300)):
        store.runs.client.hset(store.keys.batch(batch), "ttl_s", ttl)
        assert store.batches.record_posted(batch, channel=CHANNEL, ts=f"{batch}.1").ok
    assert seen(store, of(BILLING, release)) == ["batch_b", "batch_a"]
    assert seen(store, of(release)) == ["batch_b"]


def test_what_a_person_asked_for_is_not_in_their_inbox_unless_a_switch_says_so(store: Store) -> None:
    many(store, 4)
    start_run(store, "run_2", requester=BEN)
    others = many(store, 4, "run_2")
    assert len(seen(store, of(BILLING))) == 8
    assert seen(store, of(BILLING, user=REQUESTER)) == others
    assert seen(store, of(BILLING, user=REQUESTER), Choice(requester=BEN)) == others
    assert seen(store, of(BILLING, user=REQUESTER), Choice(requester=REQUESTER)) == []
    assert len(seen(store, of(BILLING, user=REQUESTER, own=True))) == 8


def test_filters_narrow_by_radius_requester_and_deadline(store: Store) -> None:
    paused(store, for_tier("call_1"), radius="deploy: api")
    start_run(store, "run_2", requester=BEN)
    paused(store, for_tier("call_2", batch="batch_b"), run="run_2")
    reader = of(BILLING)
    assert seen(store, reader, Choice(radius=digest("deploy: api"))) == ["batch_a"]
    assert seen(store, reader, Choice(requester=BEN)) == ["batch_b"]
    assert seen(store, reader, Choice(radius=digest("deploy: api"), requester=BEN)) == []
    assert seen(store, reader, Choice(radius=digest("refunds in EUR"), requester=BEN)) == ["batch_b"]
    move(store.runs.client, store.keys.batch("batch_b"), decide_by=store.now() + 30_000)
    assert edit(store, "call_2").ok  # two more minutes
    assert seen(store, reader, Choice(until=store.now() + 200_000)) == ["batch_b"]
    assert seen(store, reader, Choice(until=store.now() + 60_000)) == []
    menu = store.inbox.menu(reader)
    assert menu == (("deploy: api", "refunds in EUR"), (BEN, REQUESTER))
    assert store.inbox.menu(of(BILLING, user=BEN)).requesters == (REQUESTER,)
    assert store.inbox.menu(of(BILLING, user=BEN, own=True)).requesters == (BEN, REQUESTER)
    assert reject(store, "call_1").ok
    assert store.inbox.menu(reader) == (("refunds in EUR",), (BEN,))


def test_what_is_past_its_deadline_is_not_shown_even_before_the_sweep(store: Store) -> None:
    names = many(store, 3)
    key = store.keys.inbox("of:billing", ".")
    store.runs.client.zadd(key, {names[0]: store.now() - 1})
    assert seen(store, of(BILLING)) == names[1:]
    assert store.inbox.before(of(BILLING), EVERYTHING, Cursor(store.now() + 10**9, "z"), 9).batches[0].batch == names[1]


def test_whoever_has_approved_everything_that_is_open_has_nothing_to_do_there(store: Store) -> None:
    paused(store, for_tier("call_1", needed=2), for_tier("call_2", needed=2, number=2))
    assert approve(store, "call_1").ok
    assert seen(store, of(BILLING)) == ["batch_a"]
    assert approve(store, "call_2").ok
    assert seen(store, of(BILLING)) == []
    assert seen(store, of(BILLING), Choice(radius=digest("refunds in EUR"), requester=REQUESTER)) == []
    assert seen(store, of(BILLING, user=BEN)) == ["batch_a"]
    assert edit(store, "call_1", by=BEN).ok  # earlier approvals fall
    assert seen(store, of(BILLING)) == ["batch_a"]


def test_escalation_moves_a_batch_to_those_who_may_decide_late(store: Store, redis_client: redis.Redis) -> None:
    paused(store, for_tier("call_1"))
    redis_client.zadd(store.keys.deadlines, {"escalate:batch_a": 1})
    assert store.deadlines.escalate("batch_a", users=[], interruptions=12).ok
    assert store.inbox.groups() == [LATE]
    assert seen(store, of(LATE)) == ["batch_a"]


def test_a_checked_edit_asks_the_tier_of_the_new_arguments(store: Store) -> None:
    paused(store, for_tier("call_1", needed=2))
    assert edit(store).ok
    content = a_content('{"payment_id":"pay_2"}', requirement=a_requirement(tier="ops_leads", reviewers=2))
    assert store.calls.refresh("call_1", version=2, content=content, seal="seal-2", drift=True).ok
    assert [group.tiers for group in store.inbox.groups()] == [("ops_leads",)]


def test_what_a_worker_gives_back_waits_again_with_its_new_deadline(store: Store) -> None:
    paused(store, for_tier("call_1"))
    assert approve(store).ok
    assert store.inbox.groups() == []
    taken = claim(store, lease_batch(store))
    content = a_content(requirement=a_requirement(tier="release"))
    assert store.effects.release(taken, content=content, seal="seal-2", difference=["a row is gone"]).ok
    (group,) = store.inbox.groups()
    assert group.tiers == ("release",)
    (one,) = store.inbox.since(of(group), EVERYTHING, None, 3).batches
    by = store.batches.load("batch_a").decide_by  # type: ignore[union-attr]
    assert (one.batch, one.at) == ("batch_a", by)


def test_an_unreadable_menu_of_hundreds_is_cut_to_what_most_wait_for(store: Store) -> None:
    for at in range(95):
        paused(store, for_tier(f"call_{at}", batch=f"batch_{at}"), run=f"run_{at}", radius=f"radius {at:02d}")
    paused(store, for_tier("call_x", batch="batch_x"), run="run_x", radius="radius 94")
    radii = store.inbox.menu(of(BILLING)).radii
    assert len(radii) == 90
    assert radii[0] == "radius 94"


def test_many_own_batches_do_not_make_a_page_dear(store: Store) -> None:
    many(store, 520)
    start_run(store, "run_2", requester=BEN)
    other = many(store, 1, "run_2")
    store.runs.client.zadd(store.keys.inbox("of:billing", "."), {other[0]: store.now() + 3_600_000})
    page = store.inbox.since(of(BILLING, user=REQUESTER), EVERYTHING, None, 20)
    assert page.batches == ()
    assert page.further is not None  # it went as far as a page may, and reading goes on there
    reader = of(BILLING, user=REQUESTER)
    assert store.inbox.count(reader) == 1
    assert [one.batch for one in store.inbox.since(reader, EVERYTHING, page.further, 20).batches] == other


def test_what_somebody_decided_lately_is_kept_the_latest_first_and_twenty_at_most(store: Store) -> None:
    many(store, 25)
    for at in range(22):
        assert approve(store, f"call_run_1_{at}").ok
    assert reject(store, "call_run_1_22", by=BEN).ok
    assert edit(store, "call_run_1_23", by=BEN).ok
    lately = store.inbox.decided(ANA)
    assert len(lately) == 20
    assert set(lately) <= {f"call_run_1_{at}" for at in range(2, 22)}
    assert set(store.inbox.decided(BEN)) == {"call_run_1_22", "call_run_1_23"}
    assert store.inbox.decided(CYD) == []
    assert loaded(store, "call_run_1_5").state is State.APPROVED


def test_a_forgotten_run_is_forgotten_in_what_people_decided(store: Store, redis_client: redis.Redis) -> None:
    paused(store, for_tier("call_1"))
    start_run(store, "run_2", thread_ts="9.9")
    paused(store, for_tier("call_2", batch="batch_b"), run="run_2")
    assert reject(store, "call_1").ok
    assert reject(store, "call_2").ok
    lease = store.runs.lease("run_1", token="w", ttl_ms=60_000)
    assert lease is not None
    assert store.runs.complete(lease, answer="done").ok
    store.ledger.drop([event for event, _ in store.ledger.read()])
    redis_client.zadd(store.keys.deadlines, {"retire:run_1": 1})
    assert store.deadlines.apply("retire:run_1").ok
    assert store.inbox.decided(ANA) == ["call_2"]
    left = [key for key in redis_client.scan_iter(match="vobo:*") if b"call_1" in key or b"batch_a" in key]
    assert left == []


def test_several_batches_are_read_as_one_alone_is_and_unreadable_ones_left_out(
    store: Store, redis_client: redis.Redis
) -> None:
    paused(store, for_tier("call_1"), for_tier("call_2", number=2, batch="batch_b"))
    store.people.put(a_person(ANA))
    views = store.views.of(["batch_b", "batch_none", "batch_a"])
    assert [view.model_copy(update={"now": 0}) for view in views] == [
        found.model_copy(update={"now": 0}) for batch in ("batch_b", "batch_a") if (found := store.batches.view(batch))
    ]
    assert store.views.posts(["batch_a", "batch_none"]) == {"batch_a": (CHANNEL, "1.1", "1700000000.000100")}
    blob: Any = redis_client.hget(store.keys.call("call_1"), "content")
    redis_client.hset(store.keys.call("call_1"), "content", blob[:-1] + bytes([blob[-1] ^ 1]))
    assert [view.batch.id for view in store.views.of(["batch_a", "batch_b"])] == ["batch_b"]
    assert [call.key for call in store.views.calls(["call_1", "call_2", "call_3"])] == ["call_2"]
