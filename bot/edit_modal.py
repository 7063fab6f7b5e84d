"""The edit dialog, generated from the bounds that the law's argument models declare."""

from collections.abc import Mapping, Sequence

from bot.blocks import MODAL_BLOCKS, Block, context, leaf, line, option, rich
from bot.ids import CallbackId, Place, argument_block
from bot.modals import View, field, modal, notice, text_input
from bot.payloads import Submission
from bot.text import hides, plain
from policies.edits import EditField

NOTHING = "The law of this tool lets nobody change anything. Reject it and propose a correction instead."
_MOST_FIELDS = MODAL_BLOCKS - 4
_OPTIONS = 100
_ID = 255
_TEXT = 3000


def edit_modal(fields: Sequence[EditField], place: Place, number: int) -> View:
    """One input for each value that may be changed."""
    shown = shown_fields(fields)
    if not shown:
        return notice(CallbackId.EDIT, f"Edit call {number}", place, NOTHING)
    intro = "Saving is your approval of the changed call, once it has been checked."
    blocks: list[Block] = [rich(line(leaf(intro))), *map(_input, shown)]
    if len(shown) < len(fields):
        more = f"{len(fields) - len(shown)} more values cannot be shown here. Reject and propose a correction for them."
        blocks.append(context(more))
    return modal(CallbackId.EDIT, f"Edit call {number}", blocks, place, submit="Save and approve")


def shown_fields(fields: Sequence[EditField]) -> list[EditField]:
    """Those that Slack can show."""
    return [field for field in fields if _fits(field)][:_MOST_FIELDS]


def read_edit(fields: Sequence[EditField], submitted: Submission) -> dict[str, str | tuple[str, ...]]:
    """What was typed, by pointer. An input that came back empty counts as empty text."""
    typed: dict[str, str | tuple[str, ...]] = {}
    for one in shown_fields(fields):
        block = argument_block(one.pointer)
        if block not in submitted.values:
            continue
        value = submitted.values[block]
        if one.kind == "subset":
            typed[one.pointer] = tuple(_chosen(one, index) for index in value or ())
        elif one.kind == "choice":
            typed[one.pointer] = _chosen(one, value if isinstance(value, str) else "")
        else:
            typed[one.pointer] = value if isinstance(value, str) else ""
    return typed


def edit_errors(fields: Sequence[EditField], errors: Mapping[str, str]) -> dict[str, str]:
    """Sentences at their inputs; what belongs to no shown input stands at the first."""
    shown = [one.pointer for one in shown_fields(fields)]
    placed: dict[str, str] = {}
    for pointer, sentence in errors.items():
        block = argument_block(_nearest(pointer, shown))
        placed[block] = plain(f"{placed[block]} {sentence}" if block in placed else sentence)
    return placed


def _nearest(pointer: str, shown: Sequence[str]) -> str:
    inside = [one for one in shown if pointer == one or pointer.startswith(f"{one}/")]
    return max(inside, key=len) if inside else shown[0]


def _fits(one: EditField) -> bool:
    if len(argument_block(one.pointer)) > _ID:
        return False
    if one.kind in {"subset", "choice"}:
        return 0 < len(one.options) <= _OPTIONS * _OPTIONS
    return isinstance(one.current, str) and len(one.current) <= _TEXT


def _input(one: EditField) -> Block:
    hint = f"{one.hint} Contains invisible characters." if _hidden(one) else one.hint
    return field(argument_block(one.pointer), one.label, _element(one), hint=hint, optional=one.kind == "text")


def _hidden(one: EditField) -> bool:
    return isinstance(one.current, str) and hides(one.current)


def _element(one: EditField) -> Block:
    if one.kind == "subset":
        # The keys are somebody's data and may be long; their positions are the values.
        chosen = [choice for choice, (key, _) in zip(_choices(one), one.options, strict=True) if key in one.current]
        return {"type": "multi_static_select", **_offered(one), "initial_options": chosen[:_OPTIONS]}
    if one.kind == "choice":
        initial = [choice for choice, (key, _) in zip(_choices(one), one.options, strict=True) if key == one.current]
        element: Block = {"type": "static_select", **_offered(one)}
        return {**element, "initial_option": initial[0]} if initial else element
    most = min(one.max_length or (_TEXT if one.kind == "text" else 40), _TEXT)
    current = one.current if isinstance(one.current, str) else ""
    return text_input(initial=current, multiline=one.kind == "text", most=max(most, len(current), 1))


def _choices(one: EditField) -> list[Block]:
    return [option(label, str(at)) for at, (_, label) in enumerate(one.options)]


def _offered(one: EditField) -> Block:
    choices = _choices(one)
    if len(choices) <= _OPTIONS:
        return {"options": choices}
    parts = [choices[at : at + _OPTIONS] for at in range(0, len(choices), _OPTIONS)]
    groups = [
        {"label": {"type": "plain_text", "text": f"From {at * _OPTIONS + 1}"}, "options": part}
        for at, part in enumerate(parts)
    ]
    return {"option_groups": groups}


def _chosen(one: EditField, index: str) -> str:
    """The key behind a chosen position; a position that was never offered is no key at all."""
    return one.options[int(index)][0] if index.isdecimal() and int(index) < len(one.options) else f"?{index}"
