"""The outcome table of a pause: written by code from the state of record, never by the model."""

from approvals.lifecycle import State
from approvals.models import Call, PauseView
from bot.blocks import Block, Message, context, header, leaf, line, rich
from bot.card_text import decided_by, status
from bot.text import cut, inert, one_line

_ROWS = 40
#: Slack takes 10,000 characters in all cells of a table.
_TABLE = 9_000
_CELL = 300
_WORDS = {
    State.SUCCEEDED: "done",
    State.FAILED: "did not happen",
    State.UNKNOWN: "unknown",
    State.REJECTED: "not run",
    State.EXPIRED: "expired",
}
_TITLES = ("Asked", "Approved by", "What became of it")


def render_outcome(view: PauseView) -> Message:
    """One line per call: what was asked, who approved, whether it ran and why not."""
    shown = view.calls[:_ROWS]
    most = min(_CELL, _TABLE // (len(_TITLES) * max(1, len(shown))))
    rows = [[_cell(title, bold=True) for title in _TITLES], *(_row(call, most) for call in shown)]
    blocks: list[Block] = [header(f"Outcome: {summary(view)}"), {"type": "table", "rows": rows}]
    if len(view.calls) > len(shown):
        blocks.append(context(f"and {len(view.calls) - len(shown)} more; `vobo show {view.run.id}` has them all"))
    return Message(f"Outcome of `{view.run.id}`: {inert(summary(view))}.", blocks)


def summary(view: PauseView) -> str:
    """`7 done, 1 not run`."""
    counted = [(sum(call.state is state for call in view.calls), word) for state, word in _WORDS.items()]
    waiting = sum(call.state not in _WORDS for call in view.calls)
    parts = [f"{number} {word}" for number, word in counted if number]
    return ", ".join([*parts, *([f"{waiting} still open"] if waiting else [])])


def _row(call: Call, most: int) -> list[Block]:
    approved = call.state not in {State.REJECTED, State.EXPIRED} or call.execute_by is not None
    by = (decided_by(call) or "policy") if approved and call.state is not State.REJECTED else "-"
    became = "".join(part.get("text") or part.get("fallback", "") for part in _ending(call))
    asked = one_line(call.content.preview.headline)
    return [_cell(text, most) for text in (f"{call.number}. {asked}", by, became)]


def _ending(call: Call) -> list[Block]:
    """What became of the call, without repeating who approved it."""
    said = status(call)
    starts = [at for at, part in enumerate(said) if part.get("text", "").startswith((". ", ".\n"))]
    if call.state in {State.SUCCEEDED, State.FAILED, State.UNKNOWN} and starts:
        changed = [leaf(f"{one_line('; '.join(call.content.previous))}: ")] if call.content.previous else []
        return [*changed, *said[starts[-1] + 1 :]]
    return said


def _cell(text: str, most: int = _CELL, **style: bool) -> Block:
    return rich(line(leaf(cut(text or "-", most), **style)))
