"""What inputs hold: initial values, what a person filled in, and what a Slack client checks before it sends."""

from decimal import Decimal, InvalidOperation
from typing import Any

from bot.sandbox.errors import SandboxError
from bot.sandbox.model import Json
from bot.sandbox.schema_elements import offered
from bot.sandbox.validate_blocks import Block, controls_of, walk

REQUIRED = "Please complete this required field."
_TEXTUAL = ("plain_text_input", "number_input", "email_text_input", "url_text_input")
_SINGLE = ("static_select", "radio_buttons")
_MULTI = ("multi_static_select", "checkboxes")
_SCALAR = {"datepicker": "date", "timepicker": "time", "users_select": "user"}


def initial(element: Json) -> Json | None:
    """The state of an untouched element, or None for one that keeps no state."""
    kind = element["type"]
    if kind in _TEXTUAL:
        return {"type": kind, "value": element.get("initial_value")}
    if kind in _SINGLE:
        return {"type": kind, "selected_option": element.get("initial_option")}
    if kind in _MULTI:
        return {"type": kind, "selected_options": element.get("initial_options") or []}
    if kind in _SCALAR:
        return {"type": kind, f"selected_{_SCALAR[kind]}": element.get(f"initial_{_SCALAR[kind]}")}
    return None


def filled(element: Json, raw: Any) -> Json:
    """The state after a person entered `raw`: text, an option's value, or a list of option values.

    Raises:
        SandboxError: a value that the element does not offer.
    """
    kind = element["type"]
    if isinstance(raw, dict) and raw.get("type") == kind:
        return raw
    if kind in _TEXTUAL:
        return {"type": kind, "value": None if raw in (None, "") else str(raw)}
    if kind in _SINGLE:
        return {"type": kind, "selected_option": None if raw is None else _choice(element, raw)}
    if kind in _MULTI:
        return {"type": kind, "selected_options": [_choice(element, one) for one in raw or []]}
    if kind in _SCALAR:
        return {"type": kind, f"selected_{_SCALAR[kind]}": raw or None}
    raise SandboxError(f"A {kind} holds no value; click it instead.")


def _choice(element: Json, raw: Any) -> Json:
    wanted = raw.get("value") if isinstance(raw, dict) else raw
    for one in offered(element):
        if one.get("value") == wanted:
            return one
    known = ", ".join(str(one.get("value")) for one in offered(element))
    raise SandboxError(f"{wanted!r} is not offered by {element.get('action_id')}. Offered: {known}.")


def state_of(blocks: list[Block], typed: Json) -> Json:
    """`state.values` of a surface: initial values under what was typed.

    Raises:
        SandboxError: a value for a block or an element that is not there.
    """
    values: Json = {}
    for block in walk(blocks):
        for element in controls_of(block):
            start = initial(element)
            if start is None:
                continue
            entered = typed.get(block["block_id"], {})
            action_id = element["action_id"]
            now = filled(element, entered[action_id]) if action_id in entered else start
            values.setdefault(block["block_id"], {})[action_id] = now
    for block_id, entered in typed.items():
        for action_id in entered:
            if action_id not in values.get(block_id, {}):
                raise SandboxError(f"There is no input {action_id} in block {block_id}. Present: {sorted(values)}.")
    return values


def client_errors(blocks: list[Block], values: Json) -> dict[str, str]:
    """What a Slack client tells the person before anything is sent, by block id."""
    errors: dict[str, str] = {}
    for block in blocks:
        if block["type"] != "input":
            continue
        element = block["element"]
        state = values[block["block_id"]][element["action_id"]]
        content = next(value for key, value in state.items() if key != "type")
        if content in (None, "", []):
            if not block.get("optional"):
                errors[block["block_id"]] = REQUIRED
            continue
        problem = _number(element, content) if element["type"] == "number_input" else _length(element, content)
        if problem:
            errors[block["block_id"]] = problem
    return errors


def _length(element: Json, content: Any) -> str | None:
    if element["type"] != "plain_text_input":
        return None
    if len(content) < element.get("min_length", 0):
        return f"Please enter at least {element['min_length']} characters."
    if len(content) > element.get("max_length", 3_000):
        return f"Please enter at most {element.get('max_length', 3_000)} characters."
    return None


def _number(element: Json, content: str) -> str | None:
    try:
        number = Decimal(content)
    except InvalidOperation:
        return "Please enter a number."
    if not element["is_decimal_allowed"] and number != number.to_integral_value():
        return "Please enter a whole number."
    if "min_value" in element and number < Decimal(element["min_value"]):
        return f"Please enter a number of at least {element['min_value']}."
    if "max_value" in element and number > Decimal(element["max_value"]):
        return f"Please enter a number of at most {element['max_value']}."
    return None
