from typing import Any

import pytest

from bot.ids import BatchRef, CallRef, IdRefused, Place, read_batch_ref, read_call_ref
from bot.payloads import PayloadRefused, read_click, read_mention, read_submission, read_typed

Json = dict[str, Any]


def a_click(**changes: Any) -> Json:
    return {
        "type": "block_actions",
        "user": {"id": "U0001", "team_id": "T0000HOME"},
        "team": {"id": "T0000HOME"},
        "channel": {"id": "C1"},
        "container": {"message_ts": "2.0", "thread_ts": "1.0", "channel_id": "C1"},
        "actions": [{"action_id": "call.approve", "value": "call_1:2"}],
        "trigger_id": "t",
        "response_url": "https://hooks.example.test/1",
        **changes,
    }


def a_submission(values: Json) -> Json:
    place = Place(ref="call_1:1", channel="C1", thread_ts="1.0").model_dump_json()
    view = {"callback_id": "edit", "private_metadata": place, "state": {"values": values}}
    return {"user": {"id": "U0001", "team_id": "T0000HOME"}, "view": view}


def an_event(kind: str, **changes: Any) -> Json:
    event = {"type": kind, "user": "U0005", "text": "<@UBOT> hello", "ts": "1.0", "channel": "C1", "team": "T0000HOME"}
    return {"event_id": "Ev1", "team_id": "T0000HOME", "event": {**event, **changes}}


def test_a_click_names_its_thread_and_the_clickers_own_team() -> None:
    click = read_click(a_click(user={"id": "U0009", "team_id": "T0OTHER"}))
    assert click.sender.team == "T0OTHER"
    assert click.thread_ts == "1.0"
    assert click.value == "call_1:2"


@pytest.mark.parametrize(
    "place",
    [
        {"container": {"message_ts": "2.0", "channel_id": "C1"}, "message": {"ts": "2.0"}},
        {"container": {"message_ts": "2.0"}, "message": {"ts": "2.0", "thread_ts": "2.0"}},
    ],
)
def test_a_click_on_a_message_of_the_channel_is_answered_in_the_channel_where_it_can_be_seen(place: Json) -> None:
    assert read_click(a_click(**place)).thread_ts == ""


@pytest.mark.parametrize(
    "broken",
    [
        {"user": {"id": "U0001"}},
        {"user": {"id": "not a user", "team_id": "T1"}},
        {"actions": []},
        {"actions": [{"action_id": "call.approve", "value": 7}]},
        {"trigger_id": None},
    ],
)
def test_a_malformed_click_is_refused(broken: Json) -> None:
    with pytest.raises(PayloadRefused):
        read_click(a_click(**broken))


@pytest.mark.parametrize("value", ["", "call_1", "call_1:", "call_1:x", "call 1:2", "call_1:2:3", "call_1:٢", "a:1\n"])
def test_a_button_value_that_is_not_ours_is_refused(value: str) -> None:
    with pytest.raises(IdRefused):
        read_call_ref(value)


def test_values_read_back_as_they_were_written() -> None:
    call, batch = CallRef("call_abc", 3), BatchRef("batch_abc", 7, (1, 2, 1))
    assert read_call_ref(str(call)) == call
    assert read_batch_ref(str(batch)) == batch
    with pytest.raises(IdRefused):
        read_batch_ref("batch_abc:7")


def test_every_kind_of_input_is_read() -> None:
    values = {
        "arg:/lines": {"value": {"type": "multi_static_select", "selected_options": [{"value": "0"}, {"value": "2"}]}},
        "arg:/reason": {"value": {"type": "static_select", "selected_option": {"value": "1"}}},
        "arg:/note": {"value": {"type": "plain_text_input", "value": "hello"}},
        "kind": {"value": {"type": "radio_buttons", "selected_option": None}},
    }
    read = read_submission(a_submission(values)).values
    assert read == {"arg:/lines": ("0", "2"), "arg:/reason": "1", "arg:/note": "hello", "kind": None}


def test_a_modal_without_our_metadata_is_refused() -> None:
    body = a_submission({})
    body["view"]["private_metadata"] = "{}"
    with pytest.raises(PayloadRefused):
        read_submission(body)


def test_a_mention_opens_its_own_thread_or_stays_in_one() -> None:
    assert read_mention(an_event("app_mention")).thread_ts == "1.0"
    assert read_mention(an_event("app_mention", thread_ts="0.5")).thread_ts == "0.5"


def test_a_stranger_in_a_shared_channel_keeps_their_own_team() -> None:
    assert read_mention(an_event("app_mention", user_team="T0OTHER")).sender.team == "T0OTHER"


@pytest.mark.parametrize("changes", [{}, {"subtype": "message_changed"}, {"bot_id": "B1", "thread_ts": "1.0"}])
def test_only_what_people_write_in_threads_is_read(changes: Json) -> None:
    assert read_typed(an_event("message", **changes)) is None


def test_a_reply_in_a_thread_is_read() -> None:
    typed = read_typed(an_event("message", thread_ts="0.5", text="ok"))
    assert typed is not None
    assert typed.text == "ok"
