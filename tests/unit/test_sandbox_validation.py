"""What the workspace refuses; sizes are compared with a registry nobody here wrote."""

from typing import Any

import pytest
from slackblocks import _limits as registry

from bot.sandbox import limits
from bot.sandbox.errors import SlackError
from bot.sandbox.validate_blocks import check_blocks
from bot.sandbox.validate_message import checked_blocks, checked_metadata, checked_text
from bot.sandbox.validate_view import checked_view

Json = dict[str, Any]


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text}


def section(text: str = "x", **more: Any) -> Json:
    return {"type": "section", "text": mrkdwn(text), **more}


def button(**more: Any) -> Json:
    return {"type": "button", "text": plain("Go"), "action_id": "go", **more}


def actions(*elements: Json, **more: Any) -> Json:
    return {"type": "actions", "elements": list(elements), **more}


def option(value: str = "v", text: str = "t") -> Json:
    return {"text": plain(text), "value": value}


def field(element: Json, **more: Any) -> Json:
    return {"type": "input", "label": plain("L"), "element": {"action_id": "value", **element}, **more}


def table(rows: int = 1, columns: int = 1, text: str = "c") -> Json:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": text}] * columns] * rows}


def modal(*blocks: Json, **more: Any) -> Json:
    return {"type": "modal", "title": plain("T"), "submit": plain("Go"), "blocks": list(blocks), **more}


ACCEPTED = [
    section("x" * 3000),
    section(fields=[plain("x" * 2000), *[plain("x" * 900)] * 9]),
    {"type": "header", "text": plain("x" * 150)},
    {"type": "divider", "block_id": "d"},
    {"type": "context", "elements": [mrkdwn("a")] * 10},
    {"type": "image", "image_url": "https://x.test/y.png", "alt_text": "y"},
    actions(*[button(action_id=f"b{n}", value="x" * 2000) for n in range(25)]),
    actions(button(text=plain("x" * 75), accessibility_label="x" * 75, visible_to_user_ids=["U1"])),
    actions(button(confirm={"title": plain("x" * 100), "text": mrkdwn("x" * 300), "confirm": plain("x" * 30)})),
    actions({"type": "overflow", "action_id": "o", "options": [option(str(n)) for n in range(5)]}),
    actions({"type": "static_select", "action_id": "s", "options": [option(str(n)) for n in range(100)]}),
    field({"type": "checkboxes", "options": [option(str(n)) for n in range(10)]}),
    field({"type": "number_input", "is_decimal_allowed": True, "min_value": "1", "initial_value": "2.5"}),
    field({"type": "plain_text_input", "multiline": True, "max_length": 3000}),
    table(100, 20),
    {"type": "markdown", "text": "x" * 12_000},
    {"type": "container", "title": plain("t"), "child_blocks": [section()], "is_collapsible": True},
    {
        "type": "rich_text",
        "elements": [
            {
                "type": "rich_text_section",
                "elements": [
                    {"type": "text", "text": "<!channel>", "style": {"strike": True}},
                    {"type": "date", "timestamp": 1_700_000_000, "format": "{time}", "fallback": "then"},
                ],
            },
            {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "x"}], "border": 0},
        ],
    },
]
REFUSED = {
    "a section over 3000": section("x" * 3001),
    "an empty text": section(""),
    "a section without text": {"type": "section"},
    "eleven fields": section(fields=[plain("x")] * 11),
    "a field over 2000": section(fields=[plain("x" * 2001)]),
    "a header over 150": {"type": "header", "text": plain("x" * 151)},
    "a header in mrkdwn": {"type": "header", "text": mrkdwn("x")},
    "eleven context elements": {"type": "context", "elements": [mrkdwn("a")] * 11},
    "an image without alt text": {"type": "image", "image_url": "https://x.test/y.png"},
    "an empty actions block": actions(),
    "26 buttons": actions(*[button(action_id=f"b{n}") for n in range(26)]),
    "a label over 75": actions(button(text=plain("x" * 76))),
    "a button in mrkdwn": actions(button(text=mrkdwn("x"))),
    "a value over 2000": actions(button(value="x" * 2001)),
    "an action id over 255": actions(button(action_id="x" * 256)),
    "a block id over 255": section(block_id="x" * 256),
    "a style that is not one": actions(button(style="warning")),
    "the same action id twice in a block": actions(button(), button()),
    "a confirm text over 300": actions(button(confirm={"text": mrkdwn("x" * 301)})),
    "a confirm button over 30": actions(button(confirm={"text": mrkdwn("x"), "deny": plain("x" * 31)})),
    "an aria label over 75": actions(button(accessibility_label="x" * 76)),
    "an overflow of six": actions({"type": "overflow", "options": [option(str(n)) for n in range(6)]}),
    "an option text over 75": actions({"type": "overflow", "options": [option(text="x" * 76)]}),
    "an option value over 150": actions({"type": "overflow", "options": [option("x" * 151)]}),
    "a select of 101": actions({"type": "static_select", "options": [option(str(n)) for n in range(101)]}),
    "a select of nothing": actions({"type": "static_select"}),
    "equal option values": actions({"type": "static_select", "options": [option(), option()]}),
    "an initial option not offered": actions(
        {"type": "static_select", "options": [option()], "initial_option": option("w")}
    ),
    "eleven radio buttons": actions({"type": "radio_buttons", "options": [option(str(n)) for n in range(11)]}),
    "a text input in actions": actions({"type": "plain_text_input"}),
    "a button in an input": field(button()),
    "a number that is not a string": field({"type": "number_input", "is_decimal_allowed": True, "min_value": 1}),
    "a number range upside down": field(
        {"type": "number_input", "is_decimal_allowed": True, "min_value": "5", "max_value": "1"}
    ),
    "an initial value above the maximum": field(
        {"type": "number_input", "is_decimal_allowed": True, "initial_value": "9", "max_value": "1"}
    ),
    "a number without is_decimal_allowed": field({"type": "number_input"}),
    "101 table rows": table(101),
    "21 table columns": table(1, 21),
    "10001 characters in a table": table(100, 1, "x" * 101),
    "an empty cell": table(1, 1, ""),
    "an unknown block": {"type": "bogus"},
    "no type": {},
    "a typing error in a key": section(blok_id="x"),
    "an alert in a message": {"type": "alert", "text": plain("x")},
    "eleven children": {"type": "container", "child_blocks": [section()] * 11},
    "a container in a container": {
        "type": "container",
        "child_blocks": [{"type": "container", "child_blocks": [section()]}],
    },
    "an input in a container": {"type": "container", "child_blocks": [field({"type": "plain_text_input"})]},
    "rich text with an empty leaf": {
        "type": "rich_text",
        "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": ""}]}],
    },
    "emoji in mrkdwn": {"type": "section", "text": {"type": "mrkdwn", "text": "x", "emoji": True}},
    "a string for a block": "section",
}


def refusal(blocks: Any) -> SlackError:
    with pytest.raises(SlackError) as refused:
        checked_blocks(blocks)
    return refused.value


@pytest.mark.parametrize("block", ACCEPTED, ids=lambda block: block["type"])
def test_what_slack_takes_is_taken(block: Json) -> None:
    assert checked_blocks([block]) == [block]


@pytest.mark.parametrize("block", REFUSED.values(), ids=REFUSED.keys())
def test_what_slack_refuses_is_invalid_blocks_with_a_pointer(block: Any) -> None:
    refused = refusal([block])
    assert refused.code == "invalid_blocks"
    assert all("[json-pointer:/blocks/0" in one for one in refused.extra["errors"])
    assert refused.extra["response_metadata"]["messages"][0].startswith("[ERROR] ")


def test_a_message_holds_fifty_blocks_and_a_block_id_once() -> None:
    assert len(checked_blocks([section()] * 50) or []) == 50
    assert refusal([section()] * 51).code == "invalid_blocks"
    assert refusal([section(block_id="a"), section(block_id="a")]).code == "invalid_blocks"
    inside = {"type": "container", "child_blocks": [section(block_id="a")]}
    assert refusal([section(block_id="a"), inside]).code == "invalid_blocks"


def test_one_table_per_message_even_when_one_is_in_a_container() -> None:
    refused = refusal([table(), {"type": "container", "child_blocks": [table()]}])
    assert refused.code == "invalid_attachments"
    assert refused.extra["errors"] == ["only_one_table_allowed"]


def test_all_text_of_a_message_together_has_a_limit() -> None:
    assert checked_blocks([section("x" * 3000)] * 4)
    assert refusal([*[section("x" * 3000)] * 4, section("x")]).code == "msg_blocks_too_long"
    buttons = [actions(button(text=plain("x" * 75))) for _ in range(40)]
    assert refusal([*[section("x" * 3000)] * 4, *buttons]).code == "msg_blocks_too_long"


def test_form_encoded_blocks_are_read_and_nonsense_is_a_format_error() -> None:
    assert checked_blocks('[{"type": "divider"}]') == [{"type": "divider"}]
    assert refusal("[nonsense").code == "invalid_blocks_format"
    assert refusal({"type": "divider"}).code == "invalid_blocks_format"


def test_text_and_metadata_have_their_own_refusals() -> None:
    with pytest.raises(SlackError, match="msg_too_long"):
        checked_text("x" * 4001, limits.UPDATE_TEXT)
    assert checked_text(None, 10) == ""
    with pytest.raises(SlackError, match="invalid_metadata_format"):
        checked_metadata({"event_type": "x"})


VIEWS_REFUSED = {
    "a title over 24": modal(section(), title=plain("x" * 25)),
    "a submit over 24": modal(section(), submit=plain("x" * 25)),
    "private metadata over 3000": modal(section(), private_metadata="x" * 3001),
    "a callback id over 255": modal(section(), callback_id="x" * 256),
    "101 blocks": modal(*[section()] * 101),
    "a table in a modal": modal(table()),
    "markdown in a modal": modal({"type": "markdown", "text": "x"}),
    "a container in a modal": modal({"type": "container", "child_blocks": [section()]}),
    "an input without submit": {k: v for k, v in modal(field({"type": "plain_text_input"})).items() if k != "submit"},
    "no title": {"type": "modal", "blocks": [section()]},
    "no blocks": {"type": "modal", "title": plain("T")},
    "an alert over 200": modal({"type": "alert", "text": plain("x" * 201)}),
    "an unknown key": modal(section(), colour="red"),
}


@pytest.mark.parametrize("view", VIEWS_REFUSED.values(), ids=VIEWS_REFUSED.keys())
def test_what_slack_refuses_in_a_modal_is_refused(view: Json) -> None:
    with pytest.raises(SlackError, match="invalid_arguments"):
        checked_view(view, "modal")


def test_a_modal_takes_a_hundred_blocks_an_alert_and_inputs_but_not_250_kilobytes() -> None:
    alert = {"type": "alert", "level": "warning", "text": plain("careful")}
    assert checked_view(modal(alert, field({"type": "plain_text_input"}), *[section()] * 98), "modal")
    with pytest.raises(SlackError, match="view_too_large"):
        checked_view(modal(*[section("x" * 3000)] * 90), "modal")
    assert checked_view({"type": "home", "blocks": [section(), table()]}, "home")


SAME_SIZES = {
    "TEXT": "TEXT_MAX_LENGTH",
    "SECTION_FIELDS": "SECTION_FIELDS_MAX_ITEMS",
    "SECTION_FIELD_TEXT": "SECTION_FIELDS_ITEM_MAX_LENGTH",
    "HEADER_TEXT": "HEADER_TEXT_MAX_LENGTH",
    "CONTEXT_ELEMENTS": "CONTEXT_ELEMENTS_MAX_ITEMS",
    "ACTIONS_ELEMENTS": "ACTIONS_ELEMENTS_MAX_ITEMS",
    "BUTTON_TEXT": "BUTTON_TEXT_MAX_LENGTH",
    "BUTTON_VALUE": "BUTTON_VALUE_MAX_LENGTH",
    "BUTTON_LABEL": "BUTTON_ACCESSIBILITY_LABEL_MAX_LENGTH",
    "OPTION_TEXT": "OPTION_TEXT_MAX_LENGTH",
    "OPTION_VALUE": "OPTION_VALUE_MAX_LENGTH",
    "OVERFLOW_OPTIONS": "OVERFLOW_OPTIONS_MAX_ITEMS",
    "SELECT_OPTIONS": "SELECT_OPTIONS_MAX_ITEMS",
    "CHOICE_OPTIONS": "RADIO_BUTTONS_OPTIONS_MAX_ITEMS",
    "CONFIRM_TITLE": "CONFIRMATION_TITLE_MAX_LENGTH",
    "CONFIRM_TEXT": "CONFIRMATION_TEXT_MAX_LENGTH",
    "CONFIRM_BUTTON": "CONFIRMATION_DENY_MAX_LENGTH",
    "IDENTIFIER": "ACTION_ID_MAX_LENGTH",
    "TABLE_ROWS": "TABLE_ROWS_MAX_ITEMS",
    "TABLE_COLUMNS": "TABLE_COLUMNS_MAX_ITEMS",
    "MESSAGE_BLOCKS": "MESSAGE_BLOCKS_MAX_ITEMS",
    "VIEW_BLOCKS": "VIEW_BLOCKS_MAX_ITEMS",
    "VIEW_TITLE": "VIEW_TITLE_MAX_LENGTH",
    "VIEW_METADATA": "VIEW_PRIVATE_METADATA_MAX_LENGTH",
    "CONTAINER_CHILDREN": "CONTAINER_CHILD_BLOCKS_MAX_ITEMS",
    "ALERT_TEXT": "ALERT_TEXT_MAX_LENGTH",
    "MARKDOWN_TEXT": "MARKDOWN_TEXT_MAX_LENGTH",
}


@pytest.mark.parametrize(("ours", "theirs"), SAME_SIZES.items())
def test_our_sizes_are_those_of_an_independent_registry(ours: str, theirs: str) -> None:
    assert getattr(limits, ours) == getattr(registry, theirs)


def test_a_malformed_value_anywhere_is_a_problem_and_never_a_crash() -> None:
    for wrong in (None, 1, "x", [], [1], {"type": 3}):
        for block in (
            section(fields=wrong),
            section(accessory=wrong),
            actions({"type": "static_select", "option_groups": wrong, "options": wrong}),
            field({"type": "checkboxes", "options": wrong, "initial_options": wrong}),
            {"type": "rich_text", "elements": wrong},
            {"type": "table", "rows": wrong, "column_settings": wrong},
            {"type": "container", "child_blocks": wrong},
        ):
            assert check_blocks([block], "message", "/blocks", 50) is not None
