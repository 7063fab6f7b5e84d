"""An edit takes away: what is gone is no difference, and whatever came since was seen by nobody who edited."""

import json
from typing import Any

import pytest

import bot.details
from approvals.models import CallContent
from approvals.preview import Precondition, Preview
from approvals.readable import MOST_CHARACTERS, readable_in_full
from bot_builders import a_call
from builders import a_content, a_requirement
from policies.risk import Mode
from worker.drift import kept_difference
from worker.previews import generic_preview

UNTOLD = "What the call rests on can no longer be told"
NO_PREVIEW = "There is no preview of it any more, only its arguments as they are"
TOO_LONG = "It is too long to be read in full now, so nobody can approve it"


def told(old: Any, new: Any) -> list[str]:
    """What is told when the only fact `mail` was `old` and is `new` after the edit."""
    return kept_difference(*(a_content(facts=json.dumps({"mail": fact})) for fact in (old, new)))


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (["ann"], ["ann", "ben", "cem"], "mail: 2 of 3 entries are new"),
        (["ann", "ben"], ["ann", "cem"], "mail: 1 of 2 entries is new"),
        ([], ["ann"], "mail: 1 of 1 entries is new"),
        (["ann"], ["ann", "ann"], "mail: 1 of 2 entries is new"),
        ([{"to": "ann", "cc": []}], [{"to": "ann", "cc": ["ben"]}], "mail: 1 of 1 entries is new"),
        ([["ann"], ["ben"]], [["ann", "ben"]], "mail: 1 of 1 entries is new"),
        ([1], [True], "mail: 1 of 1 entries is new"),
        ({"vip": ["ann"]}, {"vip": ["ann", "ben"]}, "mail vip: 1 of 2 entries is new"),
        ({"vip": {"a": {"b": ["ann"]}}}, {"vip": {"a": {"b": ["ben"]}}}, "mail vip a b: 1 of 1 entries is new"),
    ],
)
def test_an_entry_that_came_into_a_list_is_told_however_deep_the_list(old: Any, new: Any, line: str) -> None:
    assert told(old, new) == [line]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ({"ann": "a@x"}, {"ann": "a@x", "ben": "b@x"}, "mail ben: new"),
        ({}, {"ann": "a@x"}, "mail ann: new"),
        ({"vip": {"ann": 1}}, {"vip": {"ann": 1, "the_others": None}}, "mail vip the others: new"),
        ({"ann": "a@x", "ben": "b@x"}, {"ben": "b@y"}, "mail ben: b@x -> b@y"),
    ],
)
def test_a_name_that_came_and_a_value_that_changed_are_told(old: Any, new: Any, line: str) -> None:
    assert told(old, new) == [line]


def test_a_fact_that_was_not_there_at_all_is_told() -> None:
    assert kept_difference(a_content(facts="{}"), a_content(facts='{"mail":[]}')) == ["mail: new"]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (["ann"], "ann", "mail: 1 entries -> ann"),
        ("ann", ["ann"], "mail: ann -> 1 entries"),
        (["ann"], {"ann": "ann"}, "mail: 1 entries -> 1 entries"),
        ({"0": "ann"}, ["ann"], "mail: 1 entries -> 1 entries"),
        (["ann"], None, "mail: 1 entries -> None"),
        ({"ann": 1}, 1, "mail: 1 entries -> 1"),
    ],
)
def test_one_value_in_place_of_many_is_told_and_many_in_place_of_one(old: Any, new: Any, line: str) -> None:
    assert told(old, new) == [line]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["ann", "ben", "cem"], ["ann", "cem"]),
        (["ann", "ann"], ["ann"]),
        (["ann"], []),
        ([{"to": "ann"}, {"to": "ben"}], [{"to": "ben"}]),
        ({"ann": "a@x", "ben": "b@x"}, {"ben": "b@x"}),
        ({"vip": {"ann": 1, "ben": [1, 2]}}, {"vip": {"ben": [2]}}),
        (["ann", "ben"], ["ben", "ann"]),
    ],
)
def test_what_an_edit_took_away_is_no_difference(old: Any, new: Any) -> None:
    assert told(old, new) == []


ROWS = [{"item": "cup", "stock": 5}, {"item": "pot", "stock": 5}]


def rests_on(*rows: dict[str, Any]) -> Preview:
    return Preview(headline="Ship", precondition=Precondition.over("stock", rows, key="item", material=("stock",)))


def seen(old: Preview, new: Preview, **changes: Any) -> list[str]:
    return kept_difference(a_content(preview=old), a_content(preview=new, **changes))


def test_rows_that_an_edit_dropped_are_no_difference_and_rows_that_came_are() -> None:
    assert seen(rests_on(*ROWS), rests_on(ROWS[0])) == []
    assert seen(rests_on(ROWS[0]), rests_on(*ROWS)) == ["pot is new"]


def test_rows_that_can_no_longer_be_told_are_a_difference_and_rows_that_nobody_was_told_of_too() -> None:
    silent = Preview(headline="Ship")
    assert seen(rests_on(*ROWS), silent) == [UNTOLD]
    assert seen(silent, rests_on(*ROWS)) == [UNTOLD]
    assert seen(silent, silent) == []


def test_a_preview_that_is_gone_is_a_difference_even_where_it_rested_on_no_rows() -> None:
    shown, generic = Preview(headline="Ship 2 cups"), generic_preview("ship", '{"count":2}')
    assert seen(shown, generic) == [NO_PREVIEW]
    assert seen(rests_on(*ROWS), generic) == [UNTOLD, NO_PREVIEW]
    assert seen(generic, generic) == [], "whoever edited it had seen no more either"
    assert seen(generic, shown) == []


def test_what_the_law_forbids_has_no_preview_and_its_refusal_says_why() -> None:
    forbidden = a_requirement(mode=Mode.FORBIDDEN)
    assert seen(rests_on(*ROWS), generic_preview("ship", "{}"), requirement=forbidden) == []


def test_a_tool_that_was_changed_since_may_mean_something_else_and_is_a_difference() -> None:
    old, new = a_content(tool_schema="schema-1"), a_content(tool_schema="schema-2")
    assert kept_difference(old, new) == ["The tool was changed since it was proposed"]
    assert kept_difference(old, old) == []


def of_length(size: int) -> CallContent:
    """A call with this much to read."""
    empty = a_content(preview=Preview(headline="Mail", body=""))
    rest = len(empty.arguments) + len(empty.requested) + len(empty.facts) + len(empty.preview.model_dump_json())
    return a_content(preview=Preview(headline="Mail", body="x" * (size - rest)))


def test_what_cannot_be_read_in_full_is_a_difference_from_the_first_character_too_many() -> None:
    short = of_length(1_000)
    assert kept_difference(short, of_length(MOST_CHARACTERS)) == []
    assert kept_difference(short, of_length(MOST_CHARACTERS + 1)) == [TOO_LONG]


@pytest.mark.parametrize("over", [0, 1])
def test_the_check_of_an_edit_and_the_buttons_of_a_card_agree_on_what_can_be_read(over: int) -> None:
    content = of_length(MOST_CHARACTERS + over)
    assert readable_in_full(content) is (over == 0)
    assert bot.details.fully_readable(a_call(content=content)) is (over == 0)
