"""The edit dialog, generated from the bounds that the law's argument models declare."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from approvals.models import Call
from approvals.preview import Row
from bot.blocks import MODAL_BLOCKS, Block, context, leaf, line, option, plain_text, rich
from bot.errors import Refused
from bot.ids import ActionId, CallbackId, Place, argument_block, line_block
from bot.language import say, say_count, say_list
from bot.law_words import in_readers_words
from bot.modals import View, field, modal, notice, text_input
from bot.payloads import Submission
from bot.standing import standing
from bot.text import clip, hides, one_line, plain
from policies.edits import EditField

#: Values of so many lines stand in the window at once; of more, a person first chooses whose to change.
AT_ONCE = 6
_MOST_FIELDS = MODAL_BLOCKS - 5
_OPTIONS = 100
_ID = 255
_TEXT = 3000
#: Bytes of all inputs of one window, of the 250 kB that Slack takes with everything.
_VIEW = 200_000
#: The shortest option has as many.
_OPTION = 75


def nothing_to_edit(place: Place, number: int) -> View:
    """What is shown for a call of which nobody may change anything."""
    why = say("Nothing here can be edited. Reject it and propose a correction instead.")
    return notice(CallbackId.EDIT, _title(number), place, why)


def about_call(call: Call) -> list[Block]:
    """What is edited, and whose approval that costs."""
    heading = line(leaf(clip(one_line(call.content.preview.headline), 300), bold=True))
    approved = standing(call).approved_by
    names = [one.name for one in call.decisions if one.reviewer in approved and one.version == call.version]
    if not names:
        return [heading]
    dropped = say("Approved so far by {names}; saving drops that approval.", names=clip(one_line(say_list(names)), 200))
    return [heading, line(leaf("⚠ "), leaf(dropped, bold=True))]


def with_rows(fields: Sequence[EditField], call: Call) -> tuple[EditField, ...]:
    """The fields, each line of a subset with what its row of the preview says that those of other lines do not.

    Personal columns stay out: the details have them.
    """
    return tuple(_with_rows(one, call) if one.kind == "subset" else one for one in fields)


def _with_rows(one: EditField, call: Call) -> EditField:
    preview = call.content.preview
    rows = preview.precondition.rows if preview.precondition else {}
    found = {key: rows[key] for key, _ in one.options if key in rows}
    columns = dict.fromkeys(column for row in found.values() for column in row if column not in preview.personal)
    telling = [column for column in columns if len({str(row.get(column)) for row in found.values()}) > 1]
    options = ((key, " · ".join([label, *_telling(label, found.get(key, {}), telling)])) for key, label in one.options)
    return replace(one, options=tuple(options))


def _telling(label: str, row: Row, columns: Sequence[str]) -> Iterator[str]:
    for column in columns:
        value = row.get(column)
        if isinstance(value, bool | int):
            yield f"{column} {value}"
        elif value and value not in label:
            yield one_line(value)


def edit_modal(fields: Sequence[EditField], place: Place, number: int, told: Sequence[Block] = ()) -> View:
    """The subset first, then a choice of the line to change, then the inputs of the lines that were chosen.

    `told` are lines about the call as a whole: what its data is now.
    """
    layout = _laid_out(fields, place.lines)
    shown, choice = layout.shown, _choice_of_line(layout, place.lines)
    if not shown and not choice:
        return nothing_to_edit(place, number)
    intro = say("Saving is your approval of the changed call, once it has been checked.")
    subsets = [one for one in shown if one.kind == "subset"]
    newest = fields[place.lines[-1]].pointer if place.lines and place.lines[-1] < len(fields) else ""
    inputs = [_input(one, focus=one.pointer == newest) for one in shown if one.kind != "subset"]
    blocks: list[Block] = [rich(*told, line(leaf(intro))), *map(_input, subsets), *choice, *inputs]
    blocks += _left_out(len(fields) - len(shown) - len(layout.offered))
    return modal(CallbackId.EDIT, _title(number), blocks, place, submit=say("Save and approve"))


def shown_fields(fields: Sequence[EditField], lines: Sequence[int] = ()) -> list[EditField]:
    """Those with an input: all, or where there are many lines, those of the chosen ones (their places in `fields`).

    What one window cannot hold has none: the same for the same fields and reader, so that what was shown is read.
    """
    return _laid_out(fields, lines).shown


class _Layout(NamedTuple):
    """What has an input, and which lines can still be chosen to get one, by their places."""

    shown: list[EditField]
    offered: dict[int, EditField]


def _laid_out(fields: Sequence[EditField], lines: Sequence[int]) -> _Layout:
    folded, room = _folded(fields), _VIEW
    chosen = [at for at in dict.fromkeys(lines) if at in folded]
    shown: list[int] = []
    for at in [*(at for at, one in enumerate(fields) if at not in folded and _fits(one)), *chosen][:_MOST_FIELDS]:
        size = _size(_input(fields[at]))
        if size <= room:
            shown.append(at)
            room -= size
    offered: dict[int, EditField] = {}
    for at, one in folded.items() if len(shown) < _MOST_FIELDS else ():
        room -= _size(_line_option(at, one))
        if room >= 0 and at not in chosen:
            offered[at] = one
    return _Layout([fields[at] for at in sorted(shown)], offered)


def _size(block: Block) -> int:
    """Bytes of it in a request, where what is no ASCII is escaped."""
    return len(json.dumps(block))


def read_edit(fields: Sequence[EditField], submitted: Submission) -> dict[str, str | tuple[str, ...]]:
    """What was typed, by pointer. An input that came back empty counts as empty text."""
    typed: dict[str, str | tuple[str, ...]] = {}
    for one in shown_fields(fields, submitted.place.lines):
        block = argument_block(one.pointer)
        if block not in submitted.values:
            continue
        value = submitted.values[block]
        if one.kind == "subset":
            typed[one.pointer] = _kept(one, tuple(_chosen(one, index) for index in value or ()))
        elif one.kind == "choice":
            typed[one.pointer] = _chosen(one, value if isinstance(value, str) else "")
        else:
            typed[one.pointer] = value if isinstance(value, str) else ""
    return typed


def _kept(one: EditField, chosen: tuple[str, ...]) -> tuple[str, ...]:
    """The keys that stay. More than Slack can show as chosen are asked the other way round: what to leave out."""
    if len(one.options) <= _OPTIONS:
        return chosen
    unknown = tuple(key for key in chosen if key not in one.current)
    return (*(key for key in one.current if key not in chosen), *unknown)


def edit_errors(fields: Sequence[EditField], errors: Mapping[str, str], lines: Sequence[int] = ()) -> dict[str, str]:
    """Sentences at their inputs; what belongs to no shown input stands at the first.

    Raises:
        Refused: nothing has an input, since no line was chosen; with the sentences.
    """
    shown = [one.pointer for one in shown_fields(fields, lines)]
    if not shown:
        raise Refused(" ".join(errors.values()))
    placed: dict[str, str] = {}
    for pointer, sentence in errors.items():
        block = argument_block(_nearest(pointer, shown))
        placed[block] = plain(f"{placed[block]} {sentence}" if block in placed else sentence)
    return placed


def _title(number: int) -> str:
    return say("Edit call {number}", number=number)


def _folded(fields: Sequence[EditField]) -> dict[int, EditField]:
    """The values of single lines, when they are too many to be shown at once; by their places."""
    of_lines = {at: one for at, one in enumerate(fields) if one.key is not None and one.kind != "subset" and _fits(one)}
    return of_lines if len(of_lines) > AT_ONCE else {}


def _choice_of_line(layout: _Layout, lines: Sequence[int]) -> list[Block]:
    """A select of the values that have no input yet. Its block id changes with each choice, so it starts empty."""
    choices = [_line_option(at, one) for at, one in layout.offered.items()]
    if not choices:
        return []
    placeholder = say("Choose a line") if not lines else say("Another line")
    select = {"type": "static_select", "action_id": ActionId.LINE, "placeholder": plain_text(placeholder, 150)}
    text = {"type": "plain_text", "text": say("To change one value, choose its line:"), "emoji": False}
    block: Block = {"type": "section", "block_id": line_block(len(lines)), "text": text}
    return [{**block, "accessory": {**select, **_offered(choices)}}]


def _line_option(at: int, one: EditField) -> Block:
    return option(f"{clip(one_line(one.label), 50)}: {_now(one)}", str(at))


def _left_out(number: int) -> list[Block]:
    if not number:
        return []
    return [
        context(
            say_count(
                number,
                "{number} more value cannot be shown here. Reject and propose a correction for it.",
                "{number} more values cannot be shown here. Reject and propose a correction for them.",
            )
        )
    ]


def _nearest(pointer: str, shown: Sequence[str]) -> str:
    inside = [one for one in shown if pointer == one or pointer.startswith(f"{one}/")]
    return max(inside, key=len) if inside else shown[0]


def _fits(one: EditField) -> bool:
    if len(argument_block(one.pointer)) > _ID:
        return False
    if one.kind in {"subset", "choice"}:
        return 0 < len(one.options) <= _VIEW // _OPTION  # nobody has to measure more
    return isinstance(one.current, str) and len(one.current) <= _TEXT


def _input(one: EditField, *, focus: bool = False) -> Block:
    hint = _hint(one)
    if _hidden(one):
        hint = f"{hint} {say('Contains invisible characters.')}".strip()
    element = {**_element(one), "focus_on_load": True} if focus else _element(one)
    optional = one.kind == "text" or (one.kind == "subset" and len(one.options) > _OPTIONS)
    return field(argument_block(one.pointer), _label(one), element, hint=hint, optional=optional)


def _hint(one: EditField) -> str:
    """How far the value may be changed; nothing where the choices show it."""
    if one.kind == "choice":
        return ""
    if one.kind == "subset" and len(one.options) > _OPTIONS:
        return say("Chosen lines are dropped; all others stay. At least one must stay.")
    return in_readers_words(one.hint)


def _label(one: EditField) -> str:
    """An amount or a number with its old value, so that both stand side by side while the new one is typed."""
    if one.kind in {"money", "integer"}:
        return say("{label}, now {value}", label=one.label, value=_now(one))
    if one.kind != "subset":
        return one.label
    keeping = len(one.options) <= _OPTIONS
    if keeping:
        return say("{label} to keep, now {number}", label=one.label, number=len(one.options))
    return say("{label} to leave out of {number}", label=one.label, number=len(one.options))


def _now(one: EditField) -> str:
    value = one.current if isinstance(one.current, str) else ""
    return f"{value} {one.currency}" if one.currency else clip(one_line(value), 20)


def _hidden(one: EditField) -> bool:
    return isinstance(one.current, str) and hides(one.current)


def _element(one: EditField) -> Block:
    if one.kind == "subset":
        # The keys are somebody's data and may be long; their positions are the values.
        element: Block = {"type": "multi_static_select", **_offered(_choices(one))}
        chosen = [choice for choice, (key, _) in zip(_choices(one), one.options, strict=True) if key in one.current]
        return {**element, "initial_options": chosen} if len(chosen) <= _OPTIONS and chosen else element
    if one.kind == "choice":
        initial = [choice for choice, (key, _) in zip(_choices(one), one.options, strict=True) if key == one.current]
        element = {"type": "static_select", **_offered(_choices(one))}
        return {**element, "initial_option": initial[0]} if initial else element
    most = min(one.max_length or (_TEXT if one.kind == "text" else 40), _TEXT)
    current = one.current if isinstance(one.current, str) else ""
    return text_input(initial=current, multiline=one.kind == "text", most=max(most, len(current), 1))


def _choices(one: EditField) -> list[Block]:
    return [option(label, str(at)) for at, (_, label) in enumerate(one.options)]


def _offered(choices: list[Block]) -> Block:
    if len(choices) <= _OPTIONS:
        return {"options": choices}
    parts = [choices[at : at + _OPTIONS] for at in range(0, len(choices), _OPTIONS)]
    groups = [
        {"label": plain_text(say("From {number}", number=at * _OPTIONS + 1), 75), "options": part}
        for at, part in enumerate(parts)
    ]
    return {"option_groups": groups}


def _chosen(one: EditField, index: str) -> str:
    """The key behind a chosen position; a position that was never offered is no key at all."""
    return one.options[int(index)][0] if index.isdecimal() and int(index) < len(one.options) else f"?{index}"
