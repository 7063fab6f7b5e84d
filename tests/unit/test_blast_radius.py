"""Calls are grouped by what they hurt, and an agent takes up a bounded share of attention."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.blast_radius import Group, group
from policies.budgets import Budgets, cards_left


def test_calls_of_one_radius_share_a_card_in_their_order() -> None:
    calls = [("c1", "refunds in EUR"), ("c2", "mail"), ("c3", "refunds in EUR")]
    assert group(calls) == (Group("refunds in EUR", ("c1", "c3")), Group("mail", ("c2",)))


def test_a_card_holds_at_most_the_limit() -> None:
    groups = group([(f"c{at}", "mail") for at in range(17)])
    assert [len(each.keys) for each in groups] == [8, 8, 1]
    assert groups[1].keys[0] == "c8"


def test_no_calls_make_no_cards() -> None:
    assert group([]) == ()


@given(radii=st.lists(st.sampled_from(["a", "b", "c"]), max_size=60), limit=st.integers(1, 9))
@settings(max_examples=100)
def test_grouping_partitions_the_calls(radii: list[str], limit: int) -> None:
    calls = [(f"c{at}", radius) for at, radius in enumerate(radii)]
    groups = group(calls, limit=limit)
    assert sorted(key for each in groups for key in each.keys) == sorted(key for key, _ in calls)
    assert all(0 < len(each.keys) <= limit for each in groups)
    assert all(dict(calls)[key] == each.radius for each in groups for key in each.keys)
    assert groups == group(calls, limit=limit)
    for radius in set(radii):
        together = [key for each in groups if each.radius == radius for key in each.keys]
        assert together == [key for key, of in calls if of == radius]


@pytest.mark.parametrize(
    ("posted", "wanted", "left"), [(0, 2, 2), (0, 9, 3), (2, 2, 1), (3, 1, 0), (5, 1, 0), (1, 0, 0)]
)
def test_a_run_posts_no_more_cards_than_its_budget(posted: int, wanted: int, left: int) -> None:
    assert cards_left(Budgets(), posted, wanted) == left
