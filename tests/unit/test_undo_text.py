import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from approvals.lifecycle import State, UndoState
from approvals.models import Call, Undo
from approvals.outcomes import Answer, Outcome
from block_rules import all_text, assert_message, controls, every, mentioned, parsed_text
from bot.ids import CallRef, IdRefused, UndoRef, read_call_ref, read_undo_ref
from bot.outcome import render_outcome
from bot.undo_alert import undo_alert
from bot.undo_sentences import undo_refusal, undo_sentence
from bot.undo_text import can_be_undone, render_undo
from bot_builders import (
    NOW,
    a_call,
    a_content,
    a_decision,
    a_pause,
    a_preview,
    a_requirement,
    a_run,
    decided,
)
from policies.authority import Refusal
from policies.money import eur
from policies.requirement import Spending

TOOL = "refund_payments"
TOKENS = "<!channel> <@U0001> <https://evil.example|Approve> *b* \u202e"


def ran(number: int = 1, undo: Undo | None = None, **changes: Any) -> Call:
    """A call that ran and whose rule says how it is undone."""
    call = a_call(number, content=a_content(requirement=a_requirement(undo="Pay it back.")))
    fields = {"receipt": "{}", "ended_at": NOW, "undo": undo, **changes}
    return decided(call, State.SUCCEEDED, a_decision(call), **fields)


def an_undo(state: UndoState, **changes: Any) -> Undo:
    return Undo(**{"state": state, "seal": "s", "by": "U0002", "name": "Olga", "at": NOW, "ended_at": NOW, **changes})


def undo_buttons(blocks: list[Any]) -> list[Any]:
    return [one for one in controls(blocks) if one["action_id"] == "call.undo"]


def test_what_ran_and_can_be_undone_offers_it_with_a_question_that_names_what() -> None:
    message = render_outcome(a_pause(ran(1), decided(a_call(2), State.REJECTED)), {TOOL})
    assert_message(message)
    (button,) = undo_buttons(message.blocks)
    assert read_call_ref(button["value"]) == CallRef("call_000000000001", 1)
    assert button["confirm"]["title"]["text"] == "Undo call 1?"
    assert button["confirm"]["text"]["text"] == "Refund 1 payment, 312.40 EUR. Pay it back."
    assert button["confirm"]["style"] == "danger"
    (block,) = [block for block in message.blocks if block.get("accessory") == button]
    assert block["block_id"] == "undo:call_000000000001"
    assert "Can be undone: Pay it back." in block["text"]["text"]


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (decided(ran(), State.FAILED), "it did not happen"),
        (decided(ran(), State.UNKNOWN), "nobody knows whether it happened"),
        (ran(content=a_content()), "its rule knows no undo"),
        (ran(tool="deploy"), "its tool knows none"),
        (ran(receipt=None), "nobody knows what exactly it did"),
        *((ran(undo=an_undo(state)), f"it is {state}") for state in ("asked", "executing", "undone", "unknown")),
        *((ran(undo=an_undo(state, contradicted=True)), "it was undone") for state in ("wanted", "failed")),
    ],
)
def test_what_cannot_be_undone_offers_nothing(call: Call, why: str) -> None:
    assert not can_be_undone(call, {TOOL}), why
    assert undo_buttons(render_outcome(a_pause(call), {TOOL}).blocks) == []


@pytest.mark.parametrize("state", [UndoState.WANTED, UndoState.FAILED])
def test_what_waits_for_a_second_person_or_failed_is_offered_again(state: UndoState) -> None:
    message = render_outcome(a_pause(ran(undo=an_undo(state, missing=1))), {TOOL})
    assert len(undo_buttons(message.blocks)) == 1


@pytest.mark.parametrize(
    ("undo", "words"),
    [
        (an_undo(UndoState.WANTED, missing=1), "Olga wants it undone. 1 more must agree."),
        (an_undo(UndoState.ASKED), "Being undone, as Olga asked."),
        (an_undo(UndoState.EXECUTING), "Being undone, as Olga asked."),
        (an_undo(UndoState.UNDONE, name="Bruno, Olga"), "Undone by Bruno, Olga at 2026-05-28 20:26 UTC."),
        (an_undo(UndoState.FAILED, reason="It is sold."), "Not undone: It is sold."),
        (
            an_undo(UndoState.FAILED, reason="It is sold.", contradicted=True),
            "A late answer says that it was undone; ops has been told.",
        ),
        (an_undo(UndoState.UNKNOWN), "Nobody can tell whether it was undone; ops has been told."),
    ],
)
def test_the_outcome_says_how_far_an_undo_is_before_what_the_call_did(undo: Undo, words: str) -> None:
    message = render_outcome(a_pause(ran(undo=undo)), {TOOL})
    assert_message(message)
    row = [one for one in every(message.blocks) if one.get("type") in {"text", "date"}]
    assert f"{words} Done at " in "".join(one.get("text") or one["fallback"] for one in row)


def test_the_heading_counts_what_was_undone_since() -> None:
    message = render_outcome(a_pause(ran(1), ran(2, an_undo(UndoState.UNDONE))), {TOOL})
    assert message.text == "Outcome of `run_1`: 2 done, 1 undone since."


def test_more_undos_than_there_is_room_for_are_offered_as_others_are_done() -> None:
    calls = [ran(number) for number in range(1, 41)]
    message = render_outcome(a_pause(*calls), {TOOL})
    assert_message(message)
    assert [read_call_ref(one["value"]).key for one in undo_buttons(message.blocks)] == [c.key for c in calls[:8]]
    assert "32 more can be undone" in all_text(message.blocks)
    calls[0] = ran(1, an_undo(UndoState.UNDONE))
    message = render_outcome(a_pause(*calls), {TOOL})
    assert [read_call_ref(one["value"]).key for one in undo_buttons(message.blocks)] == [c.key for c in calls[1:9]]
    assert "31 more can be undone" in all_text(message.blocks)


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=400), st.sampled_from(list(UndoState)))
def test_nothing_that_strangers_wrote_is_live_or_too_long(text: str, state: UndoState) -> None:
    hostile = (text + TOKENS) * 3
    undo = an_undo(state, name=hostile, reason=hostile)
    content = a_content(preview=a_preview(headline=hostile), requirement=a_requirement(undo=hostile))
    calls = [ran(number, undo, content=content, tool=TOOL) for number in range(1, 41)]
    told = render_undo(calls[0])
    alert = undo_alert(ran(undo=undo, tool=hostile), a_run(), (hostile, "undone"))
    for message in filter(None, (render_outcome(a_pause(*calls), {TOOL}), told, alert)):
        assert_message(message)
        live = f"{message.text}\n{parsed_text(message.blocks)}".replace("<@U0002>", "").replace("<#C_REFUNDS>", "")
        assert "<" not in live
        assert mentioned(message.blocks) <= {"U0002"}
        assert not any(one.get("type") == "link" for one in every(message.blocks))


def test_the_thread_and_whoever_asked_are_told_how_it_ended() -> None:
    done = render_undo(ran(undo=an_undo(UndoState.UNDONE)))
    assert done is not None
    assert_message(done)
    assert done.text == "<@U0002> 1. Refund 1 payment, 312.40 EUR: Undone by Olga at 2026-05-28 20:26 UTC."
    assert mentioned(done.blocks) == {"U0002"}
    failed = render_undo(ran(undo=an_undo(UndoState.FAILED, reason="It is sold.")))
    assert failed is not None
    assert failed.text.endswith("Not undone: It is sold.")
    assert [render_undo(ran(undo=an_undo(state))) for state in ("wanted", "asked", "executing")] == [None] * 3
    assert render_undo(ran()) is None


def test_limits_that_stay_taken_are_mentioned() -> None:
    spending = Spending(cap="refunds a day", amounts={"c1": eur(10)}, limit=eur(600))
    content = a_content(requirement=a_requirement(undo="Pay it back.", spends=(spending,)))
    told = render_undo(ran(undo=an_undo(UndoState.UNDONE), content=content))
    assert told is not None
    assert "What it took from limits stays taken." in told.text


def test_ops_reads_what_is_certain_and_the_key_to_look_it_up_by() -> None:
    call = ran(undo=an_undo(UndoState.UNKNOWN, reason="no answer"))
    alert = undo_alert(call, a_run())
    assert alert is not None
    text = all_text(alert.blocks)
    for words in ("Nobody can tell whether it was undone.", "No answer.", "begun exactly once", call.undo_key):
        assert words in text
    assert text.index("Refund 1 payment, 312.40 EUR* · approved by Bruno Billing") < text.index(call.undo_key)
    assert "anna" not in text, "no data of customers"
    half = undo_alert(call, a_run(), ("Omar", "undone"))
    assert half is not None
    assert "Omar: undone; a second operator must say the same." in all_text(half.blocks)
    assert undo_alert(ran(), a_run()) is None
    for state in UndoState:
        late = undo_alert(ran(undo=an_undo(state, contradicted=True)), a_run())
        assert late is not None
        assert "A receipt came late: it was undone, whatever was said before." in all_text(late.blocks)
    for state in UndoState:
        assert undo_alert(ran(undo=an_undo(state)), a_run()) is not None


def test_every_answer_of_the_store_has_its_sentence() -> None:
    states = ("wanted", "asked", "executing", "undone", "unknown", "contradicted", "")
    for outcome, state in itertools.product(Outcome, states):
        said = undo_sentence(
            Answer(outcome, {"state": state, "name": "Olga <!channel>", "at": str(NOW), "missing": "1"})
        )
        assert said.endswith(".")
        assert "<" not in said
    assert undo_sentence(Answer(Outcome.ALREADY_DECIDED, {"state": "undone", "name": "Olga", "at": str(NOW)})) == (
        "It is undone already. Olga asked for it at 20:26 UTC."
    )
    assert undo_sentence(Answer(Outcome.ALREADY_DECIDED, {"state": "contradicted"})) == (
        "A late answer says that it was undone, so it is not tried again. Ops has been told."
    )
    assert "2 more people" in undo_sentence(Answer(Outcome.OK, {"state": "wanted", "missing": "2"}))
    assert "frozen" in undo_sentence(Answer(Outcome.FROZEN))
    assert undo_sentence(Answer(Outcome.WRONG_STATE, {"state": "failed"})) == (
        "There is nothing to undo: the call has failed."
    )


@pytest.mark.parametrize("forged", ["", "call_1", "call_1:", ":u", "call_1:u:2", "call_1:u v", "call_1:<!channel>"])
def test_a_control_that_settles_an_undo_names_the_call_and_the_attempt(forged: str) -> None:
    assert read_undo_ref(str(UndoRef("call_1", "u-1"))) == UndoRef("call_1", "u-1")
    with pytest.raises(IdRefused):
        read_undo_ref(forged)


def test_every_refusal_of_the_law_has_its_sentence() -> None:
    causes = ("elsewhere", "bot", "deactivated", "guest", "requester", "not_in_tier", "over_limit", "forbidden")
    said = [undo_refusal(Refusal(cause=cause, sentence="-"), a_requirement()) for cause in causes]
    assert len(set(said)) == len(causes)
    assert "take this back" in said[4]
    assert "take it back" in said[5]
