"""A card interrupts those who may decide it, each at most so often an hour, and nobody for nothing."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.budgets import Budgets
from policies.money import eur
from policies.notices import Heard, nobody_ever, to_notify
from policies.requirement import Requirement
from policies.reviewers import Reviewers

TOML = """
team = "T0HOME"
strictest = "leads"
[tiers.billing]
users = ["U1", "U2", "U3"]
next = "leads"
[tiers.leads]
users = ["U9"]
[tiers.night]
users = ["U1"]
[tiers.crowd]
users = ["U1"]
usergroups = ["S1"]
[tiers.empty]
[people.U1]
name = "Una"
limits = { EUR = "50.00" }
[people.U2]
name = "Ugo"
limits = { EUR = "500.00" }
"""
REVIEWERS = Reviewers.from_toml(TOML)
ROTATING = Reviewers.from_toml(TOML.replace('users = ["U1", "U2", "U3"]', 'users = ["U1", "U2", "U3"]\nrotate = 1'))


def need(tier: str = "billing", **changes: Any) -> Requirement:
    return Requirement(radius="x", tier=tier, **changes)


def told(requirement: Requirement, times: dict[str, int] | None = None, **changes: Any) -> tuple[str, ...]:
    given_ = {"requester": "U5", "heard": Heard(times or {}), **changes}
    return to_notify(given_.pop("reviewers", REVIEWERS), Budgets(), requirement, **given_).ids


def test_everybody_entitled_is_told_but_the_requester() -> None:
    assert told(need()) == ("U1", "U2", "U3")
    assert told(need(), requester="U2") == ("U1", "U3")
    assert told(need("crowd")) == ("U1", "S1")


def test_whose_limit_is_too_low_is_not_told_unless_everybodys_is() -> None:
    assert told(need(amount=eur(100))) == ("U2",)
    assert told(need(amount=eur(9000))) == ("U1", "U2", "U3")


def test_who_was_interrupted_twelve_times_this_hour_is_left_in_peace() -> None:
    assert told(need(), {"U1": 12, "U2": 11}) == ("U2", "U3")
    assert told(need(), dict.fromkeys(("U1", "U2", "U3"), 12)) == ()


def test_two_reviewers_cannot_be_found_among_one() -> None:
    assert told(need(reviewers=2), {"U1": 12}) == ("U2", "U3")
    assert told(need(reviewers=2), {"U1": 12, "U2": 12}) == ()


def test_a_usergroup_has_an_hour_of_its_own() -> None:
    assert told(need("crowd"), {"U1": 12}) == ("S1",)
    assert told(need("crowd"), {"U1": 12, "S1": 12}) == ()


def test_those_told_longest_ago_are_next_in_turn() -> None:
    last = Heard({}, {"U1": 30, "U2": 20})
    assert told(need(), heard=last, reviewers=ROTATING) == ("U3",)
    assert told(need(), heard=last.also(["U3"], 40), reviewers=ROTATING) == ("U2",)
    assert told(need(reviewers=2), heard=last.also(["U3"], 40), reviewers=ROTATING) == ("U2", "U1")


def test_turns_come_round() -> None:
    heard, order = Heard(), []
    for at in range(1, 7):
        chosen = told(need(), heard=heard, reviewers=ROTATING)
        heard = heard.also(chosen, at)
        order += chosen
    assert order == ["U1", "U2", "U3", "U1", "U2", "U3"]


def test_a_tier_without_people_turns_to_the_next_at_once() -> None:
    lonely = Reviewers.from_toml(TOML.replace("[tiers.empty]", '[tiers.empty]\nnext = "leads"'))
    assert told(need("empty"), reviewers=lonely) == ("U9",)
    assert nobody_ever(lonely, need("empty"), requester="U5") is None


@pytest.mark.parametrize(
    ("requirement", "requester", "sentence"),
    [
        (
            need("empty"),
            "U5",
            "Nobody may approve it: reviewers.toml names nobody for empty beside whoever started the run.",
        ),
        (
            need("night"),
            "U1",
            "Nobody may approve it: reviewers.toml names nobody for night beside whoever started the run.",
        ),
        (
            need("night", reviewers=2),
            "U5",
            (
                "Nobody may approve it: it needs two people of night, and reviewers.toml names one beside whoever"
                " started the run."
            ),
        ),
        (
            need("gone"),
            "U5",
            "Nobody may approve it: reviewers.toml names nobody for gone beside whoever started the run.",
        ),
    ],
)
def test_what_nobody_could_ever_approve_is_said_at_once(
    requirement: Requirement, requester: str, sentence: str
) -> None:
    assert nobody_ever(REVIEWERS, requirement, requester=requester) == sentence


def test_the_next_tier_counts_for_what_could_ever_be_approved() -> None:
    assert nobody_ever(REVIEWERS, need(reviewers=4), requester="U5") is None
    assert nobody_ever(REVIEWERS, need(reviewers=5), requester="U5") is not None
    assert nobody_ever(REVIEWERS, need("crowd", reviewers=3), requester="U5") is None, "a usergroup may have members"


@given(times=st.dictionaries(st.sampled_from(["U1", "U2", "U3", "U9", "S1"]), st.integers(0, 15)), data=st.data())
@settings(max_examples=100)
def test_nobody_is_told_beyond_the_limit_and_never_the_requester(times: dict[str, int], data: st.DataObject) -> None:
    tier = data.draw(st.sampled_from(["billing", "leads", "night", "crowd", "empty"]))
    requester = data.draw(st.sampled_from(["U1", "U2", "U5"]))
    reviewers = data.draw(st.sampled_from([REVIEWERS, ROTATING]))
    number = data.draw(st.integers(1, 3))
    chosen = told(need(tier, reviewers=number), times, requester=requester, reviewers=reviewers)
    assert requester not in chosen
    assert all(times.get(one, 0) < 12 for one in chosen)
    assert len(set(chosen)) == len(chosen)
