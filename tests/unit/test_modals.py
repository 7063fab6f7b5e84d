import json
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from block_rules import all_text, assert_view, controls, every, parsed_text
from bot.details import detail_pages, fully_readable, readable
from bot.edit_modal import edit_errors, edit_modal, read_edit
from bot.ids import CallbackId, Place
from bot.modals import details_modal, loading
from bot.payloads import Sender, Submission
from bot.reject_modal import CORRECTION, STOP, read_rejection, reject_modal
from bot.review_modal import read_review, review_modal
from bot_builders import a_call, a_content, a_decision, a_preview
from policies.arguments import Arguments, Id
from policies.edits import AtMostProposed, OneOf, SubsetOfProposed, Text, apply_edit, edit_fields
from policies.money import Money

PLACE = Place(ref="call_1:1", channel="C1", thread_ts="1.0")
TOKENS = "<!channel> <@U0001> <https://evil.example|Approve> \u202e"


class Line(Arguments):
    payment_id: Id
    amount: Annotated[Money, AtMostProposed()]


class Refund(Arguments):
    """Refund."""

    lines: Annotated[list[Line], SubsetOfProposed(key="payment_id"), Field(min_length=1)]
    why: Annotated[str, OneOf("duplicate", "goodwill")] = "duplicate"
    note: Annotated[str, Text(max=500)] = ""


def a_refund(lines: int = 2, note: str = "") -> Refund:
    amount = Money(minor=31240, currency="EUR")
    return Refund(lines=[Line(payment_id=f"pay_{at:04d}", amount=amount) for at in range(lines)], note=note)


def submitted(values: dict[str, Any], callback: str = "edit") -> Submission:
    sender = Sender(user="U0001", team="T0000HOME")
    return Submission(sender=sender, callback_id=callback, place=PLACE, values=values)


def as_opened(view: dict[str, Any]) -> dict[str, Any]:
    """What Slack sends when nothing was touched."""
    values: dict[str, Any] = {}
    for block in view["blocks"]:
        if block["type"] == "input":
            element = block["element"]
            if "initial_options" in element:
                values[block["block_id"]] = tuple(one["value"] for one in element["initial_options"])
            elif "initial_option" in element:
                values[block["block_id"]] = element["initial_option"]["value"]
            else:
                values[block["block_id"]] = element.get("initial_value")
    return values


def test_the_edit_dialog_has_one_input_for_each_value_that_may_change() -> None:
    view = edit_modal(edit_fields(a_refund(38, "hello")), PLACE, 3)
    assert_view(view)
    ids = [block["block_id"] for block in view["blocks"] if block["type"] == "input"]
    assert ids[:2] == ["arg:/lines", "arg:/lines/0/amount"]
    assert "arg:/lines/37/amount" in ids
    assert {"arg:/why", "arg:/note"} <= set(ids)
    assert all(one["action_id"] == "value" for one in controls(view["blocks"]))
    assert view["callback_id"] == "edit"


def test_an_untouched_dialog_changes_nothing() -> None:
    args = a_refund(3, "hello")
    fields = edit_fields(args)
    typed = read_edit(fields, submitted(as_opened(edit_modal(fields, PLACE, 1))))
    assert {one.pointer: one.current for one in fields} == typed


def test_what_was_typed_is_read_by_pointer() -> None:
    args = a_refund(2)
    fields = edit_fields(args)
    values = {**as_opened(edit_modal(fields, PLACE, 1)), "arg:/lines": ("1",), "arg:/lines/1/amount": "250.00"}
    changed = apply_edit(args, read_edit(fields, submitted(values)))
    assert changed.lines == [Line(payment_id="pay_0001", amount=Money(minor=25000, currency="EUR"))]


def test_a_choice_that_was_never_offered_is_no_choice() -> None:
    fields = edit_fields(a_refund(2))
    typed = read_edit(fields, submitted({"arg:/lines": ("0", "7"), "arg:/why": "9"}))
    assert typed == {"/lines": ("pay_0000", "?7"), "/why": "?9"}


def test_a_sentence_stands_at_the_input_it_is_about_or_at_the_nearest() -> None:
    fields = edit_fields(a_refund(2))
    errors = {"/lines/1/amount": "too much", "/lines/1/payment_id": "unknown", "/elsewhere": "and so on"}
    assert edit_errors(fields, errors) == {
        "arg:/lines/1/amount": "too much",
        "arg:/lines": "unknown and so on",
    }


def test_a_hundred_lines_still_make_a_dialog_that_says_what_is_missing() -> None:
    view = edit_modal(edit_fields(a_refund(100)), PLACE, 1)
    assert_view(view)
    assert "more values cannot be shown here" in all_text(view["blocks"])


def test_three_hundred_lines_are_offered_in_groups() -> None:
    view = edit_modal(edit_fields(a_refund(300)), PLACE, 1)
    assert_view(view)
    (subset,) = [one for one in controls(view["blocks"]) if one["type"] == "multi_static_select"]
    assert len(subset["option_groups"]) == 3


def test_a_tool_without_bounds_says_that_nothing_can_be_changed() -> None:
    view = edit_modal((), PLACE, 1)
    assert_view(view)
    assert "submit" not in view


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=400))
def test_the_dialog_starts_with_exactly_the_value_whatever_it_holds(note: str) -> None:
    args = a_refund(1, note)
    view = edit_modal(edit_fields(args), PLACE, 1)
    assert_view(view)
    (element,) = [block["element"] for block in view["blocks"] if block.get("block_id") == "arg:/note"]
    assert element.get("initial_value", "") == note


def test_a_rejection_needs_a_reason_and_stops_unless_a_correction_is_asked_for() -> None:
    view = reject_modal("call 3", PLACE)
    assert_view(view)
    opened = as_opened(view)
    assert opened["kind"] == STOP
    assert read_rejection(submitted(opened, "reject")) is None
    assert read_rejection(submitted({**opened, "reason": "  "}, "reject")) is None
    assert read_rejection(submitted({**opened, "reason": "no", "kind": CORRECTION}, "reject")) == ("no", True)
    assert read_rejection(submitted({**opened, "common": "2", "reason": "in May"}, "reject")) == (
        "Already done: in May",
        False,
    )


def test_every_call_is_decided_in_one_window_and_a_no_needs_a_reason() -> None:
    calls = [a_call(1), a_call(2), a_call(3)]
    view = review_modal(calls, PLACE, "who")
    assert_view(view)
    keys = [call.key for call in calls]
    nothing, errors = read_review(submitted(as_opened(view), "review"), keys)
    assert nothing == []
    assert "Nothing was decided" in errors[f"verdict:{keys[0]}"]
    values = {**as_opened(view), f"verdict:{keys[0]}": "approve", f"verdict:{keys[1]}": "reject"}
    _, errors = read_review(submitted(values, "review"), keys)
    assert set(errors) == {f"reason:{keys[1]}"}
    chosen, errors = read_review(submitted({**values, f"reason:{keys[1]}": "no"}, "review"), keys)
    assert [(one.key, one.approve, one.reason) for one in chosen] == [(keys[0], True, None), (keys[1], False, "no")]
    assert errors == {}


def test_while_an_edit_is_checked_the_review_offers_no_approval() -> None:
    view = review_modal([a_call(refreshing=True)], PLACE, "who")
    assert "approve" not in [one.get("value") for one in every(view["blocks"])]


def test_the_details_hold_everything_unmasked() -> None:
    call = a_call(content=a_content(facts='{"customer_of":{"pay_0009":"cus_1"}}', previous=("a -> b",)))
    call = call.model_copy(update={"decisions": (a_decision(call),)})
    view = details_modal(call, PLACE)
    assert_view(view)
    text = all_text(view["blocks"])
    for words in (
        "lines 1 / payment_id: pay_0009",
        "lines 1 / amount: 312.40 EUR (31240 minor units)",
        "anna@example.test",
        call.seal,
        call.idempotency_key,
        "customer_of / pay_0009: cus_1",
        "over 250.00: two different reviewers",
        "approve by Bruno Billing",
        "The customer paid twice.",
        "a -> b",
    ):
        assert words in text


@settings(max_examples=40, deadline=None)
@given(st.text(min_size=1, max_size=300))
def test_no_hostile_argument_is_live_in_the_details(text: str) -> None:
    arguments = json.dumps({"note": text, text: [text]})
    call = a_call(content=a_content(requested=text, arguments=arguments, preview=a_preview(headline=text, body=text)))
    view = details_modal(call, PLACE)
    assert_view(view)
    assert "<" not in parsed_text(view["blocks"])
    assert not any(one.get("type") in {"link", "user", "broadcast"} for one in every(view["blocks"]))


def test_long_arguments_are_readable_to_the_last_character_in_pages() -> None:
    note = "".join(f"{at:07d}" for at in range(40_000)) + "; ALSO DELETE cus_0001"
    call = a_call(content=a_content(arguments=json.dumps({"note": note}), requested="{}"))
    pages = detail_pages(call)
    assert len(pages) > 1
    assert fully_readable(call)
    leaves = [one["text"] for page in pages for one in every(page) if one.get("type") == "text"]
    assert f"note: {note}" in "".join(leaf for leaf in leaves if "continued" not in leaf)
    for page in range(len(pages)):
        view = details_modal(call, PLACE.model_copy(update={"page": page}))
        assert_view(view)
    assert "ALSO DELETE cus_0001" in json.dumps(pages)


@pytest.mark.parametrize("text", ["", "[]", "not json", "{", '{"a":{}}', "12345678901234567890"])
def test_arguments_of_any_kind_can_be_read(text: str) -> None:
    assert isinstance(readable(text), str)


def test_big_numbers_are_shown_digit_for_digit() -> None:
    assert readable('{"order":2512292042121000001}') == "order: 2512292042121000001"


def test_a_modal_is_shown_before_it_can_be_filled() -> None:
    assert_view(loading(CallbackId.EDIT, "Edit", PLACE))
