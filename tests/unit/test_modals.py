import json
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from approvals.drifts import Drift
from approvals.models import Call
from approvals.preview import Precondition
from block_rules import all_text, assert_view, controls, every, parsed_text
from bot.details import detail_pages, fully_readable, readable
from bot.edit_modal import about_call, edit_errors, edit_modal, read_edit, with_rows
from bot.ids import CallbackId, Place
from bot.language import speaking
from bot.modals import details_modal, loading
from bot.payloads import Sender, Submission
from bot.reject_modal import CORRECTION, STOP, read_rejection, reject_modal
from bot.review_modal import Reviewed, asks_first, read_review, read_review_sure, review_modal, review_sure_modal
from bot_builders import NOW, AnyLaw, a_call, a_content, a_decision, a_preview, a_requirement, a_view
from policies.arguments import Arguments, Id
from policies.edits import AtMostProposed, OneOf, SubsetOfProposed, Text, apply_edit, edit_fields
from policies.money import Money

PLACE = Place(ref="call_1:1", channel="C1", thread_ts="1.0")
LAW = AnyLaw()
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
            elif element["type"] == "multi_static_select":
                values[block["block_id"]] = ()
            else:
                values[block["block_id"]] = element.get("initial_value")
    return values


def inputs(view: dict[str, Any]) -> list[str]:
    return [block["block_id"] for block in view["blocks"] if block["type"] == "input"]


def choice_of_line(view: dict[str, Any]) -> dict[str, Any]:
    (block,) = [block for block in view["blocks"] if str(block.get("block_id")).startswith("line:")]
    return dict(block)


def test_the_edit_dialog_has_one_input_for_each_value_that_may_change() -> None:
    view = edit_modal(edit_fields(a_refund(6, "hello")), PLACE, 3)
    assert_view(view)
    amounts = [f"arg:/lines/{at}/amount" for at in range(6)]
    assert inputs(view) == ["arg:/lines", *amounts, "arg:/why", "arg:/note"]
    assert all(one["action_id"] == "value" for one in controls(view["blocks"]))
    assert view["callback_id"] == "edit"
    assert "pay_0000: amount, now 312.40 EUR" in all_text(view["blocks"])


def test_of_many_lines_one_is_chosen_before_its_amount_is_typed() -> None:
    fields = edit_fields(a_refund(38, "hello"))
    view = edit_modal(fields, PLACE, 3)
    assert_view(view)
    assert inputs(view) == ["arg:/lines", "arg:/why", "arg:/note"]
    choice = choice_of_line(view)
    assert view["blocks"].index(choice) == 2, "after the subset, before everything else"
    offered = {one["text"]["text"]: one["value"] for one in choice["accessory"]["options"]}
    assert len(offered) == 38

    chosen = PLACE.model_copy(update={"lines": (int(offered["pay_0008: amount: 312.40 EUR"]),)})
    opened = edit_modal(fields, chosen, 3)
    assert_view(opened)
    assert inputs(opened) == ["arg:/lines", "arg:/lines/8/amount", "arg:/why", "arg:/note"]
    assert Place.model_validate_json(opened["private_metadata"]) == chosen
    (amount,) = [block for block in opened["blocks"] if block.get("block_id") == "arg:/lines/8/amount"]
    assert amount["element"]["initial_value"] == "312.40"
    assert amount["element"]["focus_on_load"] is True
    again = choice_of_line(opened)
    assert again["block_id"] != choice["block_id"], "a new id, so that Slack shows it empty again"
    assert len(again["accessory"]["options"]) == 37


def test_an_amount_is_read_and_refused_only_where_its_line_was_chosen() -> None:
    args = a_refund(38)
    fields = edit_fields(args)
    at = next(at for at, one in enumerate(fields) if one.pointer == "/lines/8/amount")
    typed = {"arg:/lines/8/amount": "250.00"}
    assert read_edit(fields, submitted(typed)) == {}
    chosen = submitted(typed).model_copy(update={"place": PLACE.model_copy(update={"lines": (at,)})})
    assert read_edit(fields, chosen) == {"/lines/8/amount": "250.00"}
    errors = {"/lines/8/amount": "too much"}
    assert edit_errors(fields, errors, (at,)) == {"arg:/lines/8/amount": "too much"}
    assert edit_errors(fields, errors) == {"arg:/lines": "too much"}


@pytest.mark.parametrize("lines", [(99_999,), (0,), (1, 1, 1), tuple(range(1, 101))])
def test_lines_that_were_never_offered_or_are_too_many_break_no_dialog(lines: tuple[int, ...]) -> None:
    fields = edit_fields(a_refund(100))
    view = edit_modal(fields, PLACE.model_copy(update={"lines": lines}), 1)
    assert_view(view)
    assert len(inputs(view)) == len(set(inputs(view)))


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


class Letter(Arguments):
    """A text that may be longer than any input of Slack's."""

    subject: Annotated[str, Text(max=100)] = "Your refund"
    body: Annotated[str, Text(max=5000)]


def test_values_that_cannot_be_shown_are_counted() -> None:
    view = edit_modal(edit_fields(Letter(body="x" * 3001)), PLACE, 1)
    assert_view(view)
    assert "1 more value cannot be shown here" in all_text(view["blocks"])


def test_three_hundred_lines_are_offered_in_groups_and_what_to_leave_out_is_asked() -> None:
    args = a_refund(300)
    fields = edit_fields(args)
    view = edit_modal(fields, PLACE, 1)
    assert_view(view)
    (subset,) = [one for one in controls(view["blocks"]) if one["type"] == "multi_static_select"]
    assert len(subset["option_groups"]) == 3
    text = all_text(view["blocks"])
    assert "Lines to leave out of 300" in text
    assert "Chosen lines are dropped; all others stay." in text
    assert "What is not kept is dropped" not in text, "here it is the other way round"
    untouched = read_edit(fields, submitted(as_opened(view)))
    assert untouched["/lines"] == fields[0].current, "an untouched window drops nothing"
    two_out = read_edit(fields, submitted({"arg:/lines": ("0", "299")}))
    assert apply_edit(args, two_out).lines == args.lines[1:299]
    assert "?300" in read_edit(fields, submitted({"arg:/lines": ("300",)}))["/lines"]


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


def test_a_rejection_says_what_would_not_run_and_what_stop_and_correction_mean() -> None:
    view = reject_modal("all 2 calls", PLACE, "Delete 50 customers")
    assert_view(view)
    text = all_text(view["blocks"])
    for words in (
        "Delete 50 customers",
        "Nothing of it will run.",
        "The agent may not propose this again in this thread.",
        "The agent may make one new proposal; it gets a new card.",
    ):
        assert words in text
    optional = [block["block_id"] for block in view["blocks"] if block.get("optional")]
    assert optional == ["reason"], "one choice of a list is enough, and so are one's own words"
    (why,) = [block for block in view["blocks"] if block.get("block_id") == "common"]
    assert "initial_option" not in why["element"], "nobody says no for a reason that was chosen for them"
    assert view["submit"]["text"] == "Reject"
    assert reject_modal("all 2 calls", PLACE, number=2)["submit"]["text"] == "Reject all 2"


def test_a_reason_from_the_list_is_kept_in_english_whoever_clicked() -> None:
    with speaking("es-ES"):
        assert read_rejection(submitted({"common": "0"}, "reject")) == ("The amount is wrong", False)
        assert read_rejection(submitted({"common": "99"}, "reject")) is None


def test_the_review_says_first_whether_each_call_can_be_undone() -> None:
    told = all_text(review_modal(a_view(a_call()), PLACE, LAW)["blocks"])
    assert told.index("Cannot be undone") < told.index("1 customer")


def test_every_call_is_decided_in_one_window_and_a_no_needs_a_reason() -> None:
    calls = [a_call(1), a_call(2), a_call(3)]
    view = review_modal(a_view(*calls), PLACE, LAW)
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
    view = review_modal(a_view(a_call(refreshing=True)), PLACE, LAW)
    assert "approve" not in [one.get("value") for one in every(view["blocks"])]


def sure(*calls: Call, **choices: tuple[bool, str | None]) -> tuple[dict[str, Any], Submission]:
    """The question on top of the review, with a choice for each call by its number; and what Slack sends of it."""
    keys = {f"c{call.number}": call.key for call in calls}
    chosen = [Reviewed(keys[name], approve, reason) for name, (approve, reason) in choices.items()]
    view = review_sure_modal(a_view(*calls), chosen, PLACE, LAW)
    assert_view(view)
    place = Place.model_validate_json(view["private_metadata"])
    return view, submitted(as_opened(view), "review_sure").model_copy(update={"place": place})


def confirmed(number: int, **changes: Any) -> Call:
    return a_call(number, content=a_content(requirement=a_requirement(confirm=True, **changes)))


def test_the_review_asks_once_more_only_about_an_approval_that_the_card_asks_twice_about() -> None:
    plain, asking = a_call(1), confirmed(2)
    view = a_view(plain, asking)
    assert not asks_first(view, [Reviewed(plain.key, True, None), Reviewed(asking.key, False, "no")])
    assert asks_first(view, [Reviewed(plain.key, True, None), Reviewed(asking.key, True, None)])
    changed = a_view(a_call(1, looked_at=NOW, drifted=Drift(rows=1, of=2, lines=())))
    assert asks_first(changed, [Reviewed(plain.key, True, None)])


def test_the_question_of_the_review_names_what_is_approved_the_sum_what_follows_and_what_is_rejected() -> None:
    calls = [confirmed(1, reviewers=2), confirmed(2), confirmed(3), confirmed(4)]
    calls[0] = calls[0].model_copy(update={"decisions": (a_decision(calls[0]),)})
    view, _ = sure(*calls, c1=(True, "seen"), c2=(True, None), c3=(False, "paid already"))
    text = all_text(view)
    assert view["title"]["text"] == "Approve 2 calls?"
    for words in (
        "1. Refund 1 payment, 312.40 EUR",
        "Cannot be undone",
        "Last approval: it runs once the calls beside it are decided or expire",
        "Together 624.80 EUR",
        "Rejected: nothing of it will run.",
        "1 call stays open.",
        "Decide now",
        "Go back",
        "decide by",
    ):
        assert words in text
    assert inputs(view) == [f"reason:{calls[0].key}", f"reason:{calls[2].key}"]


def test_the_question_of_the_review_promises_nothing_while_all_is_frozen() -> None:
    chosen = [Reviewed(confirmed(1).key, approve=True, reason=None)]
    view = review_sure_modal(a_view(confirmed(1)), chosen, PLACE, LAW, frozen=True)
    assert "Everything is frozen: it runs only if that is released in time" in all_text(view)
    assert "at once" not in all_text(view)


def test_the_answer_to_the_question_decides_what_was_asked_with_the_reasons_beside_it() -> None:
    calls = [confirmed(at) for at in (1, 2, 3)]
    keys = [call.key for call in calls]
    _, answer = sure(*calls, c1=(True, None), c2=(False, "paid already"))
    chosen, errors = read_review_sure(answer, keys)
    assert errors == {}
    assert chosen == [Reviewed(keys[0], True, None), Reviewed(keys[1], False, "paid already")]
    emptied = answer.model_copy(update={"values": {f"reason:{keys[1]}": "  "}})
    assert set(read_review_sure(emptied, keys)[1]) == {f"reason:{keys[1]}"}


def test_the_first_of_two_approvals_says_that_nothing_runs_yet() -> None:
    view, _ = sure(confirmed(1, reviewers=2), c1=(True, None))
    assert "Approval 1 of 2: nothing runs until another person approves" in all_text(view)


def test_the_review_shows_what_the_card_shows_about_approvals_edits_warnings_and_the_deadline() -> None:
    content = a_content(
        problem="The facts are not known.", previous=("a -> b",), requirement=a_requirement(reviewers=2)
    )
    call = a_call(version=2, content=content)
    call = call.model_copy(update={"decisions": (a_decision(call),)})
    text = all_text(review_modal(a_view(call), PLACE, LAW)["blocks"])
    for words in ("⚠ The facts are not known.", "a -> b", "Approved by Bruno Billing; one more approval", "decide by"):
        assert words in text


def test_what_one_has_approved_oneself_is_not_asked_again_in_the_review() -> None:
    first, second = (a_call(at, content=a_content(requirement=a_requirement(reviewers=2))) for at in (1, 2))
    first = first.model_copy(update={"decisions": (a_decision(first, reviewer="U0001"),)})
    view = review_modal(a_view(first, second), PLACE, LAW, "U0001")
    assert_view(view)
    assert inputs(view) == [f"verdict:{second.key}", f"reason:{second.key}"]
    nothing, errors = read_review(submitted(as_opened(view), "review"), [first.key, second.key])
    assert (nothing, list(errors)) == ([], [f"verdict:{second.key}"])
    alone = review_modal(a_view(first), PLACE, LAW, "U0001")
    assert_view(alone)
    assert "submit" not in alone


def test_the_edit_dialog_says_what_is_edited_and_whose_approval_is_dropped() -> None:
    call = a_call(content=a_content(requirement=a_requirement(reviewers=2)))
    assert "drops" not in all_text(about_call(call))
    call = call.model_copy(update={"decisions": (a_decision(call, name="Olga Opslead"),)})
    view = edit_modal(edit_fields(a_refund(38)), PLACE, 1, about_call(call))
    assert_view(view)
    text = all_text(view["blocks"])
    assert text.startswith("Refund 1 payment, 312.40 EUR")
    assert "Approved so far by Olga Opslead; saving drops that approval." in text
    assert "Lines to keep, now 38" in text
    assert "One of: duplicate, goodwill." not in text, "the choices show it"


def test_lines_of_the_edit_dialog_are_told_apart_by_their_rows_but_not_by_personal_values() -> None:
    rows = {
        "pay_0000": {"payment": "pay_0000", "mail": "anna@example.test", "status": "failed", "campaigns": "subscribed"},
        "pay_0001": {"payment": "pay_0001", "mail": "ben@example.test", "status": "failed", "campaigns": "on no list"},
    }
    preview = a_preview(personal=("mail",), precondition=Precondition(sentence="two rows", rows=rows))
    fields = with_rows(edit_fields(a_refund(2)), a_call(content=a_content(preview=preview)))
    assert [label for _, label in fields[0].options] == [
        "pay_0000, 312.40 EUR · subscribed",
        "pay_0001, 312.40 EUR · on no list",
    ]
    assert_view(edit_modal(fields, PLACE, 1))


def test_the_details_hold_everything_unmasked() -> None:
    call = a_call(content=a_content(facts='{"customer_of":{"pay_0009":"cus_1"}}', previous=("a -> b",)))
    call = call.model_copy(update={"decisions": (a_decision(call),)})
    view = details_modal(call, PLACE)
    assert_view(view)
    text = all_text(view["blocks"])
    for words in (
        "lines 1 / payment_id: pay_0009",
        "lines 1 / amount: 312.40 EUR\n",
        "anna@example.test",
        call.seal,
        call.idempotency_key,
        "customer_of / pay_0009: cus_1",
        "over 250.00: two different reviewers",
        "approved by Bruno Billing",
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
