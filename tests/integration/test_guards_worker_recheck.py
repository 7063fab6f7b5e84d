"""Whether an approval still carries: each condition alone."""

from typing import Any

import pytest
import redis

from approvals.models import Call, Decision
from approvals.store import Store
from builders import a_call, a_content, a_decision, a_person, a_requirement, loaded, paused
from policies.money import Money, eur
from policies.requirement import STRICTEST_TIER, Requirement, Spending
from policies.risk import Mode
from worker.recheck import Standing, approvals_of, authority, stricter
from workshop import ANA, BEN, LEA, REVIEWERS, a_law

REQUESTER = "U0REQ"


def need(**changes: Any) -> Requirement:
    return a_requirement(**{"mode": Mode.HUMAN, "tier": "desk", **changes})


def decided(store: Store, *decisions: Decision, **changes: Any) -> Call:
    """A stored call, as if these decisions had been made on it; everybody was seen just now."""
    paused(store, a_call("call_1", content=a_content(requirement=need(**changes))))
    for user in (ANA, BEN, LEA):
        store.people.put(a_person(user))
    return loaded(store).model_copy(update={"decisions": decisions})


def look(store: Store, call: Call, now: Requirement) -> Standing:
    return authority(store, a_law(reviewers=REVIEWERS).reviewers, call, now, requester=REQUESTER).standing


def yes(by: str, **changes: Any) -> Decision:
    return a_decision("call_1", by=by, **changes)


def test_rejections_and_decisions_on_other_versions_are_no_approvals(store: Store) -> None:
    no = a_decision("call_1", "reject", by=BEN)
    old = yes(LEA).model_copy(update={"version": 7})
    assert approvals_of(decided(store, yes(ANA), no, old)) == [yes(ANA)]


def test_one_person_who_approved_twice_is_one_person(store: Store) -> None:
    call = decided(store, yes(ANA), yes(ANA))
    assert look(store, call, need(reviewers=1)) is Standing.ENTITLED
    assert look(store, call, need(reviewers=2)) is Standing.LOST
    both = call.model_copy(update={"decisions": (yes(ANA), yes(BEN))})
    assert look(store, both, need(reviewers=2)) is Standing.ENTITLED


def test_nobody_has_to_approve_what_runs_unasked(store: Store) -> None:
    call = decided(store, mode=Mode.AUTO)
    assert look(store, call, need(mode=Mode.AUTO)) is Standing.ENTITLED
    assert look(store, call.model_copy(update={"content": a_content(requirement=need())}), need()) is Standing.LOST


def test_who_was_never_seen_or_long_ago_makes_it_wait(store: Store, redis_client: redis.Redis) -> None:
    call = decided(store, yes(ANA))
    assert look(store, call, need()) is Standing.ENTITLED
    redis_client.hset(store.keys.person(ANA), "fetched_at", store.now() - 61_000)
    assert look(store, call, need()) is Standing.STALE
    redis_client.delete(store.keys.person(ANA))
    assert look(store, call, need()) is Standing.STALE


def test_who_may_not_decide_any_more_takes_the_approval_along(store: Store) -> None:
    call = decided(store, yes(ANA))
    store.people.put(a_person(ANA, deactivated=True))
    assert look(store, call, need()) is Standing.LOST


def test_a_looser_law_does_not_lower_what_the_strictest_tier_was_asked(store: Store) -> None:
    strict = decided(store, yes(ANA), tier=STRICTEST_TIER)
    assert look(store, strict, need()) is Standing.LOST
    by_lea = strict.model_copy(update={"decisions": (yes(LEA),)})
    assert look(store, by_lea, need()) is Standing.ENTITLED


def test_a_law_that_asks_nobody_any_more_holds_people_to_what_they_were_asked(store: Store) -> None:
    call = decided(store, yes(ANA), reviewers=2)
    assert look(store, call, need(mode=Mode.AUTO)) is Standing.LOST


CAP = Spending(cap="parcels", amounts={"ann": eur(3)}, limit=eur(10))

OF_A_RUN = CAP.model_copy(update={"window": "run"})
OF_BOB = CAP.model_copy(update={"amounts": {"bob": eur(3)}})
MORE = CAP.model_copy(update={"amounts": {"ann": eur(4)}})
LOW = CAP.model_copy(update={"limit": eur(5)})


def capped(limit: Money) -> Requirement:
    return need(spends=(CAP.model_copy(update={"limit": limit}),))


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (need(mode=Mode.AUTO), need(), "asks a person"),
        (need(), need(mode=Mode.FORBIDDEN), "forbids it"),
        (need(mode=Mode.AUTO), need(mode=Mode.FORBIDDEN), "forbids it"),
        (need(), need(reviewers=2), "2 reviewers instead of 1"),
        (need(), need(confirm=True), "second look"),
        (capped(eur(10)), capped(eur(5)), "limit on parcels is now 5.00 EUR"),
        (need(spends=(OF_A_RUN,)), need(spends=(CAP,)), "limit on parcels is now 10.00 EUR"),
        (need(spends=(CAP,)), need(spends=(OF_BOB,)), "limit on parcels is now 10.00 EUR"),
        (need(spends=(CAP,)), need(spends=(MORE,)), "now takes 4.00 EUR from the limit on parcels"),
        (need(spends=(MORE,)), need(spends=(CAP,)), None),
        (need(spends=(CAP, OF_BOB)), need(spends=(CAP,)), None),
        (need(spends=(MORE, CAP)), need(spends=(MORE, CAP)), None),
        (need(spends=(LOW, CAP)), need(spends=(LOW, CAP)), None),
        (need(spends=(CAP, CAP)), need(spends=(MORE,)), None),
        (need(spends=(MORE,)), need(spends=(CAP, CAP)), "now takes 6.00 EUR from the limit on parcels"),
        (need(spends=(CAP, CAP)), need(spends=(LOW, CAP)), "limit on parcels is now 5.00 EUR"),
        (need(), capped(eur(5)), "limit on parcels is now 5.00 EUR"),
        (need(), need(), None),
        (need(reviewers=2), need(), None),
        (need(confirm=True), need(confirm=True), None),
        (need(confirm=True), need(), None),
        (need(), need(mode=Mode.AUTO), None),
        (need(), need(mode=Mode.AUTO, reviewers=3, confirm=True), None),
        (capped(eur(10)), capped(eur(10)), None),
        (capped(eur(10)), capped(eur(20)), None),
        (capped(eur(10)), need(), None),
    ],
)
def test_only_what_asks_for_more_is_stricter(old: Requirement, new: Requirement, sentence: str | None) -> None:
    told = stricter(old, new)
    assert (told is None) is (sentence is None)
    assert sentence is None or sentence in (told or "")
