"""However much a call holds, its edit dialog stays below what Slack takes for a view (250 kB)."""

import json
from dataclasses import replace

import pytest

from block_rules import all_text, assert_view, controls
from bot.edit_modal import edit_errors, edit_modal, read_edit, shown_fields
from bot.errors import Refused
from bot.ids import Place
from bot.payloads import Sender, Submission
from bot.sandbox.validate_view import checked_view
from policies.edits import EditField

PLACE = Place(ref="call_1:1", channel="C1", thread_ts="1.0")
NOTE = EditField(pointer="/note", label="note", kind="text", current="hello", hint="")


def lines(number: int, about: str) -> EditField:
    keys = tuple(f"pay_{at:06d}" for at in range(number))
    options = tuple((key, f"{key} · 120.00 EUR · {about}"[:75]) for key in keys)
    return replace(NOTE, pointer="/lines", label="Lines", kind="subset", current=keys, options=options)


def amounts(number: int) -> list[EditField]:
    one = replace(NOTE, kind="money", current="120.00", currency="EUR")
    return [
        replace(one, pointer=f"/lines/{at}/amount", label=f"pay_{at:06d}: amount", key=f"pay_{at:06d}")
        for at in range(number)
    ]


@pytest.mark.parametrize("about", ["paid on 2026-11-09, customer Some Person Name of Somewhere", "長" * 75])
@pytest.mark.parametrize("number", [99, 300, 1_500, 2_000, 9_999])
def test_a_list_is_offered_while_its_window_can_be_shown_and_is_counted_as_left_out_else(
    number: int, about: str
) -> None:
    view = edit_modal([lines(number, about), NOTE], PLACE, 1)
    assert_view(view)
    checked_view(view, "modal")
    assert len(json.dumps(view)) < 210_000
    offered = [one for one in controls(view["blocks"]) if one["type"] == "multi_static_select"]
    assert bool(offered) == (number <= 300)
    assert ("1 more value cannot be shown here" in all_text(view["blocks"])) != bool(offered)


def test_of_very_many_lines_to_change_as_many_are_offered_as_a_window_takes() -> None:
    fields = [lines(900, "x"), *amounts(5_000), NOTE]
    view = edit_modal(fields, PLACE, 1)
    assert_view(view)
    assert len(json.dumps(view)) < 210_000
    (choice,) = [one for one in controls(view["blocks"]) if one["type"] == "static_select"]
    offered = sum(len(group["options"]) for group in choice["option_groups"])
    assert 500 < offered < 5_000
    assert f"{5_000 - offered:,} more values cannot be shown here" in all_text(view["blocks"])


def test_what_is_left_out_of_a_window_is_neither_read_nor_given_a_sentence() -> None:
    fields = [lines(9_999, "x"), *amounts(3), NOTE]
    assert [one.pointer for one in shown_fields(fields)] == [one.pointer for one in fields[1:]]
    typed = Submission(
        sender=Sender(user="U0001", team="T0000HOME"),
        callback_id="edit",
        place=PLACE,
        values={"arg:/lines": (), "arg:/note": "bye"},
    )
    assert read_edit(fields, typed) == {"/note": "bye"}
    assert set(edit_errors(fields, {"/lines": "too few"})) == {"arg:/lines/0/amount"}


def test_what_is_wrong_with_a_window_that_has_no_input_is_said_in_its_place() -> None:
    fields = amounts(7)  # whoever saves before choosing a line
    assert shown_fields(fields) == []
    with pytest.raises(Refused, match=r"^nothing was changed less is needed$"):
        edit_errors(fields, {"": "nothing was changed", "/lines": "less is needed"})
