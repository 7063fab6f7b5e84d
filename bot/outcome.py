"""The outcome table of a pause: written by code from the state of record, never by the model."""

from collections.abc import Collection

from approvals.lifecycle import State, UndoState
from approvals.models import Call, PauseView
from bot.became_words import Around, around_of
from bot.blocks import MESSAGE_TEXT, Block, Message, context, header, leaf, line, rich, text_length
from bot.card_status import decided_by, ending, status
from bot.language import say, say_count
from bot.text import cut, inert, one_line
from bot.undo_text import can_be_undone, offer, undo_became
from bot.what_words import full_stop

_ROWS = 40
#: Slack takes 10,000 characters in all cells of a table.
_TABLE = 9_000
_CELL = 300
#: Two, not three: a phone would cut a column of names into syllables.
_COLUMNS = 2
#: Of the message's text, for heading and small print.
_REST = 600
#: Calls whose undo is offered at once; when one of them is undone, the next takes its place.
_OFFERS = 8
_ENDED = frozenset({State.SUCCEEDED, State.FAILED, State.UNKNOWN})
_COUNTED = (State.SUCCEEDED, State.FAILED, State.UNKNOWN, State.REJECTED, State.EXPIRED)


def render_outcome(view: PauseView, undoable: Collection[str] = (), *, frozen: bool = False) -> Message:
    """One line per call: what was asked, who approved, whether it ran and why not; then what can be undone.

    `undoable` are the tools that the worker knows how to undo; `frozen`: operators have frozen all effects.
    """
    shown = view.calls[:_ROWS]
    open_ones = [call for call in view.calls if can_be_undone(call, undoable)]
    offers = [offer(call) for call in open_ones[:_OFFERS]]
    room = min(_TABLE, MESSAGE_TEXT - _REST - text_length(offers))
    most = min(_CELL, room // (_COLUMNS * max(1, len(shown))))
    titles = (say("Asked"), say("What became of it"))
    beside = around_of(view, frozen=frozen)
    rows = [[_cell(leaf(title, bold=True)) for title in titles], *(_row(call, beside, most) for call in shown)]
    said = summary(view)
    blocks: list[Block] = [header(say("Outcome: {summary}", summary=said)), {"type": "table", "rows": rows}]
    if len(view.calls) > len(shown):
        more = say_count(len(view.calls) - len(shown), "and {number} more", "and {number} more")
        blocks.append(context(f"{more}; {say('`vobo show {run}` has them all', run=view.run.id)}"))
    blocks += [*offers, *_later(len(open_ones) - len(offers))]
    return Message(say("Outcome of `{run}`: {summary}.", run=view.run.id, summary=inert(said)), blocks)


def summary(view: PauseView) -> str:
    """`7 done, 1 not run`."""
    counted = [(sum(call.state is state for call in view.calls), state) for state in _COUNTED]
    undone = sum(call.undo is not None and call.undo.state is UndoState.UNDONE for call in view.calls)
    waiting = sum(call.state not in _COUNTED for call in view.calls)
    parts = [_counted(number, state) for number, state in counted if number]
    parts += [say_count(undone, "{number} undone since", "{number} undone since")] if undone else []
    parts += [say_count(waiting, "{number} still open", "{number} still open")] if waiting else []
    return ", ".join(parts)


def _counted(number: int, state: State) -> str:
    match state:
        case State.SUCCEEDED:
            return say_count(number, "{number} done", "{number} done")
        case State.FAILED:
            return say_count(number, "{number} did not happen", "{number} did not happen")
        case State.UNKNOWN:
            return say_count(number, "{number} unknown", "{number} unknown")
        case State.REJECTED:
            return say_count(number, "{number} not run", "{number} not run")
        case _:
            return say_count(number, "{number} expired", "{number} expired")


def _later(number: int) -> list[Block]:
    """That more can be undone than there is room to offer."""
    if number == 0:
        return []
    said = say_count(
        number,
        "{number} more can be undone; it is offered here once one of these is.",
        "{number} more can be undone; they are offered here once one of these is.",
    )
    return [context(said)]


def _row(call: Call, beside: Around, most: int) -> list[Block]:
    return [
        _cell(leaf(cut(f"{call.number}. {one_line(call.content.preview.headline)}", most))),
        _became(call, beside, most),
    ]


def _became(call: Call, beside: Around, most: int) -> Block:
    """What became of the call, then who approved it and what was changed; of what was undone, that first."""
    if call.state not in _ENDED:
        return _cell(*_cut(status(call, beside), most))
    undo = [*undo_became(call.undo), leaf(" ")] if call.undo else []
    by = say("Approved by {names}.", names=decided_by(call) or say("policy"))
    changed = f" {full_stop(one_line('; '.join(call.content.previous)))}" if call.content.previous else ""
    return _cell(*_cut([*undo, *ending(call, beside), leaf(f" {by}{changed}")], most))


def _cut(parts: list[Block], most: int) -> list[Block]:
    """At most so many characters, an instant counted by what stands in for it; the rest is left out."""
    found: list[Block] = []
    for part in parts:
        said = part.get("text") or part.get("fallback", "")
        if len(said) >= most:
            return [*found, leaf(cut(said, most))] if "text" in part and most > 1 else found or [leaf("…")]
        found.append(part)
        most -= len(said)
    return found


def _cell(*parts: Block) -> Block:
    return rich(line(*parts))
