"""What a look at the data of a waiting call found, on its card and in its windows."""

import json
from typing import Annotated, Any

import pytest

from approvals.drifts import Drift
from approvals.lifecycle import State
from approvals.models import Call
from block_rules import all_text, assert_message, assert_view, controls, every
from bot.blocks import text_length
from bot.cards import render_card
from bot.details import detail_pages
from bot.drift_words import look_lines
from bot.edit_modal import edit_modal
from bot.ids import Place
from bot.review_modal import review_modal
from bot_builders import NOW, AnyLaw, a_call, a_content, a_preview, a_requirement, a_view
from policies.arguments import Arguments
from policies.edits import Text, edit_fields

LAW = AnyLaw()
LOOKED, FAILED = NOW + 60_000, NOW + 120_000
PLACE = Place(ref="call_1:1", channel="C1", thread_ts="1.0")
CHANGED = "The data has changed since it was proposed (looked at "
AGAIN = "It will be checked again before anything runs; what changed comes back for review."
LINES = ("pay_0009: status failed -> refunded", "pay_0010 is gone")
Json = dict[str, Any]


class Noted(Arguments):
    """Something with a note."""

    note: Annotated[str, Text(max=50)]


def drifted(number: int = 1, **changes: Any) -> Call:
    found = Drift(**{"rows": 2, "of": 38, "lines": LINES, **changes})
    return a_call(number, looked_at=LOOKED, drifted=found)


def card(*calls: Call) -> list[Json]:
    made = render_card(a_view(*calls), LAW)
    assert_message(made)
    return made.blocks


def read(blocks: Any) -> str:
    """The text as it is read, an instant standing as its timestamp."""
    leaves = [one for one in every(blocks) if one.get("type") in {"text", "date"}]
    return "".join(str(one.get("text") or one.get("timestamp")) for one in leaves)


def confirms(blocks: list[Json]) -> list[str]:
    return [f"{one['confirm']['text']['text']}" for one in controls(blocks) if "confirm" in one]


def test_what_changed_is_counted_above_the_buttons_with_the_instant_of_the_look() -> None:
    blocks = card(drifted())
    buttons = next(at for at, block in enumerate(blocks) if block["type"] == "actions")
    assert f"⚠ {CHANGED}{LOOKED // 1000}): 2 of 38 rows. {AGAIN}" in read(blocks[:buttons])
    assert "pay_0010" not in all_text(blocks), "rows are for the details: they may be personal"


def test_what_is_no_row_is_said_to_have_changed_without_a_number() -> None:
    assert f"⚠ {CHANGED}{LOOKED // 1000}). {AGAIN}" in read(card(drifted(rows=0, of=0)))


def test_what_would_be_refused_is_not_said_to_come_back() -> None:
    text = read(card(drifted(rows=0, of=0, refused=True, lines=("There is no pot.",))))
    assert f"⚠ It could not run on the data as it is now (looked at {LOOKED // 1000})." in text
    assert "comes back for review" not in text


def test_a_look_that_failed_says_only_that() -> None:
    text = read(card(a_call(look_failed_at=FAILED)))
    assert f"⚠ The data could not be looked up again at {FAILED // 1000}." in text
    assert "changed" not in text


def test_a_look_that_failed_after_one_that_did_not_leaves_what_that_one_found() -> None:
    text = read(card(drifted().model_copy(update={"look_failed_at": FAILED})))
    assert f"{CHANGED}{LOOKED // 1000}): 2 of 38 rows." in text
    assert f"could not be looked up again at {FAILED // 1000}." in text


def test_a_look_that_found_nothing_leaves_the_card_as_it_was() -> None:
    assert card(a_call(looked_at=LOOKED)) == card(a_call())
    assert f"Looked up again at {LOOKED // 1000}: nothing has changed." in read(detail_pages(a_call(looked_at=LOOKED)))
    assert "Looked up again" not in read(detail_pages(a_call()))


def test_equal_views_make_equal_cards_and_another_look_another_one() -> None:
    assert card(drifted()) == card(drifted())
    assert card(drifted()) != card(drifted(rows=3))


@pytest.mark.parametrize("state", [state for state in State if state is not State.PENDING_REVIEW])
def test_nothing_of_it_is_told_once_nobody_decides_by_it(state: State) -> None:
    call = drifted().model_copy(update={"state": state, "look_failed_at": FAILED})
    shown = read(render_card(a_view(call), LAW).blocks) + read(detail_pages(call))
    assert CHANGED not in shown
    assert "could not be looked up" not in shown
    assert "nothing has changed" not in read(detail_pages(a_call(1, state, looked_at=LOOKED)))
    assert "pay_0010 is gone" not in shown


def test_nothing_of_it_is_told_while_an_edit_is_checked() -> None:
    assert CHANGED not in read(card(drifted().model_copy(update={"refreshing": True})))


def test_the_details_tell_row_by_row_what_changed_and_how_much_is_left_out() -> None:
    text = read(detail_pages(drifted(more=3)))
    assert f"{CHANGED}{LOOKED // 1000}): 2 of 38 rows. {AGAIN}" in text
    assert "Changed since it was proposed" + "\n".join((*LINES, "and 3 more")) in text
    assert "Changed since it was proposed" not in read(detail_pages(a_call(looked_at=LOOKED)))


def test_every_window_that_decides_tells_it_too() -> None:
    reviewed = review_modal(a_view(drifted(1), a_call(2, looked_at=LOOKED)), PLACE, AnyLaw())
    assert f"{CHANGED}{LOOKED // 1000}): 2 of 38 rows. {AGAIN}" in read(reviewed["blocks"])
    assert f"Looked up again at {LOOKED // 1000}: nothing has changed." in read(reviewed["blocks"])
    assert_view(reviewed)


def test_the_question_before_an_approval_names_the_change_even_where_no_tier_asks_twice() -> None:
    assert confirms(card(a_call())) == []
    assert confirms(card(a_call(looked_at=LOOKED))) == []
    (asked,) = confirms(card(drifted()))
    assert asked.startswith("The data has changed: 2 of 38 rows · Cannot be undone")
    (other,) = confirms(card(drifted(rows=0, of=0)))
    assert other.startswith("The data has changed · Cannot be undone")


def test_approving_all_names_how_many_have_changed_and_still_that_it_cannot_be_undone() -> None:
    long = a_content(preview=a_preview(headline="Refund " + "very " * 100), requirement=a_requirement(radius="r" * 200))
    calls = [drifted(1), a_call(2), a_call(3, content=long)]
    asked = next(one["confirm"] for one in controls(card(*calls)) if one["action_id"] == "batch.approve_all")
    assert asked["text"]["text"].startswith("The data of 1 call has changed. ")
    assert asked["text"]["text"].endswith("Cannot be undone.")
    same = [call.model_copy(update={"drifted": None}) for call in calls]
    before = next(one["confirm"] for one in controls(card(*same)) if one["action_id"] == "batch.approve_all")
    assert len(asked["text"]["text"]) <= len(before["text"]["text"]) + 2, "what was there makes room"
    plain = next(one["confirm"] for one in controls(card(a_call(1), a_call(2))) if one["action_id"].endswith("_all"))
    assert "changed" not in plain["text"]["text"]


def test_hostile_rows_are_inert_in_the_details() -> None:
    hostile = "pay_1: note <!channel> <https://evil.example|ok> \u202e *bold*"
    pages = detail_pages(drifted(lines=(hostile,)))
    assert not any(one.get("type") in {"link", "user", "broadcast"} for one in every(pages))
    assert "⟨U+202E⟩" in json.dumps(pages, ensure_ascii=False)
    assert "\u202e" not in json.dumps(pages, ensure_ascii=False)


def test_eight_changed_calls_stay_within_what_slack_takes() -> None:
    failed = {"look_failed_at": FAILED}
    blocks = card(*(drifted(number).model_copy(update=failed) for number in range(1, 9)))
    assert read(blocks).count(CHANGED) == 8
    assert text_length(blocks) < 10_000


def test_the_edit_window_tells_it_before_its_inputs() -> None:
    view = edit_modal(edit_fields(Noted(note="x")), PLACE, 1, look_lines(drifted()))
    assert_view(view)
    assert read(view["blocks"]).startswith(f"⚠ {CHANGED}{LOOKED // 1000}): 2 of 38 rows. {AGAIN}")
