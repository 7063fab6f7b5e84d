"""The oracles and our own rules are strict: each refuses what Slack refuses."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import slackblocks

import oracle_types
from block_rules import assert_message, assert_view
from bot.blocks import Message, actions, button, context, header, leaf, line, rich, section
from bot.sandbox.errors import SlackError
from every_screen import SCREENS
from oracle_limits import build_message, build_view
from oracle_types import SchemaMissing, unlike_a_view, unlike_slacks
from screen_words import Words

Json = dict[str, Any]


def a_modal() -> Json:
    return copy.deepcopy(SCREENS["edit 2 lines"](Words()))  # type: ignore[return-value]  # a view is a dict


def a_button(**changes: Any) -> Json:
    return {**button("Approve", "call.approve", "call_1:1"), **changes}


@pytest.mark.parametrize(
    "block",
    [
        {"type": "bogus"},
        {"type": "header", "text": {"type": "mrkdwn", "text": "no"}},
        {"type": "section", "text": {"type": "mrkdwn", "text": "x"}, "colour": "red"},
        actions("a", a_button(style="loud")),
        actions("a", {**a_button(), "text": {"type": "mrkdwn", "text": "no"}}),
        actions("a", {"type": "plain_text_input", "action_id": "a"}),
        rich({"type": "rich_text_section", "elements": [{"type": "text"}]}),
        rich(line({"type": "user", "user": "U1"})),
        {"type": "input", "element": {"type": "plain_text_input"}},
    ],
)
def test_slacks_own_types_refuse_what_they_do_not_know(block: Json) -> None:
    assert list(unlike_slacks([block]))


def test_slacks_own_types_refuse_a_modal_without_a_title_and_a_field_they_do_not_know() -> None:
    assert list(unlike_a_view(a_modal())) == []
    assert list(unlike_a_view({name: part for name, part in a_modal().items() if name != "title"}))
    assert list(unlike_a_view({**a_modal(), "colour": "red"}))
    assert list(unlike_a_view({**a_modal(), "blocks": [{"type": "bogus"}]}))


@pytest.mark.parametrize(
    "block",
    [
        section("x" * 3001),
        {"type": "header", "text": {"type": "plain_text", "text": "x" * 151}},
        context(*["x"] * 11),
        actions("a", *[a_button(action_id=f"a{at}") for at in range(26)]),
        actions("a", a_button(value="x" * 2001)),
        actions("a", {**a_button(), "text": {"type": "plain_text", "text": "x" * 76}}),
        actions("a", a_button(accessibility_label="x" * 76)),
        actions("b" * 256, a_button()),
        {"type": "section"},
        {"type": "alert", "text": {"type": "plain_text", "text": "in modals only"}},
        {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}] * 21]},
        {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]] * 101},
    ],
)
def test_the_published_limits_refuse_what_is_too_long_too_many_or_in_the_wrong_place(block: Json) -> None:
    with pytest.raises(slackblocks.InvalidUsageError):
        build_message("text", [block])


def test_the_published_limits_refuse_too_many_blocks() -> None:
    with pytest.raises(slackblocks.InvalidUsageError):
        build_message("text", [header("x")] * 51)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda view: view.pop("submit"),
        lambda view: view["title"].update(text="x" * 25),
        lambda view: view.update(private_metadata="x" * 3001),
        lambda view: view["blocks"].extend([header("x")] * 100),
        lambda view: view["blocks"].append({"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]]}),
        lambda view: view["blocks"][1]["element"].update(options=[]),
        lambda view: view["blocks"][-1]["element"].update(max_length=3001),
    ],
)
def test_the_published_limits_refuse_a_spoiled_modal(spoil: Callable[[Json], Any]) -> None:
    build_view(a_modal())
    view = a_modal()
    spoil(view)
    with pytest.raises(slackblocks.InvalidUsageError):
        build_view(view)


def test_what_the_library_has_no_word_for_is_an_error_and_not_left_out() -> None:
    with pytest.raises(TypeError):
        build_message("text", [{**section("x"), "expand": True}])
    with pytest.raises(KeyError):
        build_message("text", [{"type": "bogus"}])


def named(text: str, *, action: str = "a", **changes: Any) -> Json:
    return {**button(text, action, "v"), **changes}


@pytest.mark.parametrize(
    "blocks",
    [
        [header("x")] * 51,
        [section("x" * 2500)] * 5,
        [
            rich(
                line(*[leaf("x")] * 300, {"type": "date", "timestamp": 1, "format": "{time}", "fallback": "x" * 12_000})
            )
        ],
        [{"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]]}] * 2,
        [{"type": "table", "rows": [[{"type": "raw_text", "text": "x" * 2900}]] * 4}],
        [{**header("x"), "block_id": "same"}, {**header("y"), "block_id": "same"}],
        [actions("a", named("One"), named("Two"))],
        [actions("a", named("One", action="a", style="primary"), named("Two", action="b", style="primary"))],
        [actions("a", named("Approve", action="a")), actions("b", named("Approve", action="b"))],
        [actions("a", {**named("x"), "text": {"type": "plain_text", "text": "x" * 31}})],
        [actions("a", {**named("x"), "value": "content" * 40})],
    ],
)
def test_our_own_rules_refuse_what_neither_oracle_counts(blocks: list[Json]) -> None:
    with pytest.raises((AssertionError, SlackError)):
        assert_message(Message("text", blocks))


def test_our_own_rules_refuse_a_message_that_a_screen_reader_cannot_read() -> None:
    assert_message(Message("text", [header("x")]))
    with pytest.raises(AssertionError):
        assert_message(Message(" ", [header("x")]))


def test_our_own_rules_refuse_a_modal_that_is_too_heavy() -> None:
    view = a_modal()
    assert_view(view)
    view["blocks"] = [rich(line(leaf("字" * 2900))) for _ in range(90)]
    with pytest.raises(AssertionError):
        assert_view(view)


def test_without_node_the_schema_is_a_failure_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SchemaMissing, match="make slack-types"):
        oracle_types.make(tmp_path / "schema.json")
    monkeypatch.setattr(oracle_types, "KEPT", tmp_path)
    with pytest.raises(SchemaMissing, match="Node 18"):
        oracle_types.schema.__wrapped__()
