"""The words about taking a call back: the offer, how far it is, what became of it."""

from collections.abc import Collection

from approvals.lifecycle import State, UndoState
from approvals.models import Call, Undo
from bot.blocks import FALLBACK_TEXT, Block, Message, button, confirm, leaf, line, person, rich, section, when
from bot.ids import ActionId, CallRef, undo_block
from bot.language import HOLE, around, say, say_count
from bot.text import cut, escaped, inert, one_line
from bot.what_words import full_stop

_NAMES = 120
_HEADLINE = 120
_HOW = 80
_REASON = 200
#: From here an undo may be asked for: nobody did, one person did where two must, or it provably did not happen.
_OPEN = frozenset({UndoState.WANTED, UndoState.FAILED})
_ENDED = frozenset({UndoState.UNDONE, UndoState.FAILED, UndoState.UNKNOWN})


def can_be_undone(call: Call, undoable: Collection[str]) -> bool:
    """Whether an undo may be asked for now. `undoable` are the tools that the worker knows how to undo."""
    return (
        call.state is State.SUCCEEDED
        and call.content.requirement.undo is not None
        and call.tool in undoable
        and call.receipt is not None
        and (call.undo is None or (call.undo.state in _OPEN and not call.undo.contradicted))
    )


def offer(call: Call) -> Block:
    """One call that ran, and the button that takes it back."""
    headline, how = one_line(call.content.preview.headline), one_line(call.content.requirement.undo or "")
    said = say("Can be undone: {how}", how=inert(how, _HOW))
    text = f"*{call.number}. {inert(headline, _HEADLINE)}*\n{said}"
    label = say("Undo call {number}", number=call.number)
    take_back = button(say("Undo"), ActionId.UNDO, str(CallRef(call.key, call.version)), label=label)
    take_back["confirm"] = confirm(
        say("Undo call {number}?", number=call.number),
        f"{cut(headline, _HEADLINE)}. {cut(how, _HOW)}",
        say("Undo"),
        style="danger",
    )
    return section(text, take_back, undo_block(call.key))


def undo_became(undo: Undo) -> list[Block]:
    """How far an undo is, for whoever reads what became of its call."""
    names = cut(one_line(undo.name), _NAMES)
    match undo.state:
        case UndoState.WANTED:
            more = say_count(undo.missing, "{number} more must agree.", "{number} more must agree.")
            return [leaf(say("{names} wants it undone.", names=names), bold=True), leaf(f" {more}")]
        case UndoState.ASKED | UndoState.EXECUTING:
            return [leaf(say("Being undone, as {names} asked.", names=names), bold=True)]
        case UndoState.UNDONE:
            before, after = around(say("Undone by {names} at {time}.", names=names, time=HOLE))
            return [leaf(before, bold=True), when(undo.ended_at or undo.at), leaf(after)]
        case UndoState.FAILED if undo.contradicted:
            return [leaf(say("A late answer says that it was undone; ops has been told."), bold=True)]
        case UndoState.FAILED:
            why = full_stop(cut(one_line(undo.reason or say("the tool said no")), _REASON))
            return [leaf(say("Not undone"), bold=True), leaf(f": {why}")]
        case UndoState.UNKNOWN:
            return [leaf(say("Nobody can tell whether it was undone; ops has been told."), bold=True)]


def render_undo(call: Call) -> Message | None:
    """Tells the thread, and whoever asked, what became of an undo; None while that is open."""
    undo = call.undo
    if undo is None or undo.state not in _ENDED:
        return None
    what = cut(one_line(call.content.preview.headline), _HEADLINE)
    parts = [leaf(f" {call.number}. {what}: "), *undo_became(undo)]
    if undo.state is UndoState.UNDONE and call.content.requirement.spends:
        parts.append(leaf(f" {say('What it took from limits stays taken.')}"))
    text = "".join(part.get("text") or part.get("fallback", "") for part in parts)
    return Message(cut(f"<@{undo.by}>{escaped(text)}", FALLBACK_TEXT), [rich(line(person(undo.by), *parts))])
