"""Interactive elements: what may stand in actions, accessories and inputs."""

from decimal import Decimal, InvalidOperation
from typing import Any

from bot.sandbox import limits
from bot.sandbox.schema import Check, Problems, array, boolean, integer, one_of, record, string, tagged
from bot.sandbox.schema_text import CONFIRM, IDENTIFIER, option, options, plain

TYPE = string(40)
_COMMON: dict[str, Check] = {"action_id": IDENTIFIER, "confirm": CONFIRM, "focus_on_load": boolean}
_PLACEHOLDER: dict[str, Check] = {**_COMMON, "placeholder": plain(limits.PLACEHOLDER)}
_DISPATCH = record(
    {"trigger_actions_on": array(one_of("on_enter_pressed", "on_character_entered"), 2)},
)

BUTTON = record(
    {"type": TYPE, "text": plain(limits.BUTTON_TEXT)},
    {
        "action_id": IDENTIFIER,
        "value": string(limits.BUTTON_VALUE, 0),
        "url": string(limits.BUTTON_URL),
        "style": one_of("primary", "danger"),
        "confirm": CONFIRM,
        "accessibility_label": string(limits.BUTTON_LABEL),
        "visible_to_user_ids": array(string(limits.IDENTIFIER), limits.VISIBLE_TO),
    },
)
OVERFLOW = record({"type": TYPE, "options": options(limits.OVERFLOW_OPTIONS)}, _COMMON)
IMAGE = record(
    {"type": TYPE, "alt_text": string(limits.ALT_TEXT)},
    {"image_url": string(limits.IMAGE_URL), "slack_file": record({}, {"id": TYPE, "url": string(3000)})},
)


def _select(*, multi: bool) -> Check:
    chosen = array(option(plain_only=True), limits.SELECT_OPTIONS) if multi else option(plain_only=True)
    group = record({"label": plain(limits.OPTION_TEXT), "options": options(limits.SELECT_OPTIONS)})
    optional = {
        **_PLACEHOLDER,
        "options": options(limits.SELECT_OPTIONS),
        "option_groups": array(group, limits.SELECT_OPTIONS),
        ("initial_options" if multi else "initial_option"): chosen,
    }
    if multi:
        optional["max_selected_items"] = integer(1, limits.SELECT_OPTIONS)
    shape = record({"type": TYPE}, optional)

    def check(value: Any, at: str, problems: Problems) -> None:
        shape(value, at, problems)
        if ("options" in value) == ("option_groups" in value):
            problems.add("exactly one of options and option_groups is required", at)
        _initial_is_offered(value, at, problems)

    return check


def _choices(*, multi: bool) -> Check:
    chosen = option(plain_only=False)
    shape = record(
        {"type": TYPE, "options": options(limits.CHOICE_OPTIONS, plain_only=False)},
        {
            **_COMMON,
            ("initial_options" if multi else "initial_option"): array(chosen, limits.CHOICE_OPTIONS)
            if multi
            else chosen,
        },
    )

    def check(value: Any, at: str, problems: Problems) -> None:
        shape(value, at, problems)
        _initial_is_offered(value, at, problems)

    return check


def offered(element: dict[str, Any]) -> list[dict[str, Any]]:
    """All options of a select, grouped or not."""
    groups = element.get("option_groups") or []
    return [*(element.get("options") or []), *(one for group in groups for one in group.get("options") or [])]


def _initial_is_offered(value: dict[str, Any], at: str, problems: Problems) -> None:
    initial = value.get("initial_options") or ([value["initial_option"]] if value.get("initial_option") else [])
    try:
        choices = offered(value)
    except (AttributeError, TypeError):  # malformed groups were reported by the shape already
        return
    if any(one not in choices for one in initial):
        problems.add("initial option must exactly match one of the options", at)


_PLAIN_TEXT = record(
    {"type": TYPE},
    {
        **_PLACEHOLDER,
        "initial_value": string(limits.INPUT_LENGTH, 0),
        "multiline": boolean,
        "min_length": integer(0, limits.INPUT_LENGTH),
        "max_length": integer(1, limits.INPUT_LENGTH),
        "dispatch_action_config": _DISPATCH,
    },
)


def _plain_text(value: Any, at: str, problems: Problems) -> None:
    _PLAIN_TEXT(value, at, problems)
    least, most = value.get("min_length"), value.get("max_length")
    if isinstance(least, int) and isinstance(most, int) and least > most:
        problems.add("min_length must not exceed max_length", at)
    initial = value.get("initial_value")
    if isinstance(initial, str) and isinstance(most, int) and len(initial) > most:
        problems.add("initial_value is longer than max_length", at)


_NUMBER = record(
    {"type": TYPE, "is_decimal_allowed": boolean},
    {
        **_PLACEHOLDER,
        "initial_value": string(limits.IDENTIFIER),
        "min_value": string(limits.IDENTIFIER),
        "max_value": string(limits.IDENTIFIER),
        "dispatch_action_config": _DISPATCH,
    },
)


def _number(value: Any, at: str, problems: Problems) -> None:
    _NUMBER(value, at, problems)
    numbers: dict[str, Decimal] = {}
    for key in ("min_value", "initial_value", "max_value"):
        if isinstance(value.get(key), str):
            try:
                numbers[key] = Decimal(value[key])
            except InvalidOperation:
                problems.add("must be a number in a string", f"{at}/{key}")
    if sorted(numbers.values()) != list(numbers.values()):
        problems.add("min_value, initial_value and max_value are out of order", at)


_PICKER = {**_PLACEHOLDER, "initial_date": string(10), "initial_time": string(5), "timezone": string(60)}
ELEMENTS: dict[str, Check] = {
    "button": BUTTON,
    "overflow": OVERFLOW,
    "static_select": _select(multi=False),
    "multi_static_select": _select(multi=True),
    "checkboxes": _choices(multi=True),
    "radio_buttons": _choices(multi=False),
    "plain_text_input": _plain_text,
    "number_input": _number,
    "datepicker": record({"type": TYPE}, _PICKER),
    "timepicker": record({"type": TYPE}, _PICKER),
    "users_select": record({"type": TYPE}, {**_PLACEHOLDER, "initial_user": IDENTIFIER}),
    "email_text_input": record({"type": TYPE}, {**_PLACEHOLDER, "initial_value": string(limits.TEXT, 0)}),
    "url_text_input": record({"type": TYPE}, {**_PLACEHOLDER, "initial_value": string(limits.TEXT, 0)}),
    "image": IMAGE,
}
_BUTTONS = ("button", "overflow")
_PICKERS = ("static_select", "datepicker", "timepicker", "users_select", "checkboxes", "radio_buttons")
_TYPED = ("plain_text_input", "number_input", "email_text_input", "url_text_input")


def _only(*types: str) -> Check:
    return tagged({name: ELEMENTS[name] for name in types}, "element type")


IN_ACTIONS = _only(*_BUTTONS, *_PICKERS)
IN_SECTION = _only(*_BUTTONS, *_PICKERS, "multi_static_select", "image")
IN_INPUT = _only(*_PICKERS, "multi_static_select", *_TYPED)
