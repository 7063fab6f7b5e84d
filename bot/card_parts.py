"""The blocks of one call on its card."""

from collections.abc import Iterator

from approvals.lifecycle import State
from approvals.models import Call
from approvals.preview import SAMPLE_ROWS, Preview, Row
from approvals.seal import short_seal
from bot.allowance import Allowance
from bot.blocks import Block, actions, bullets, button, confirm, context, leaf, line, plain_text, quote, rich, section
from bot.card_text import status
from bot.details import fully_readable
from bot.ids import ActionId, CallRef, call_block, decided_block
from bot.standing import CardLaw, standing
from bot.text import HIDDEN_WARNING, count, cut, escaped_within, hides, inert, mask, one_line
from policies.risk import Risk

#: Characters of one call's own text on a full card; with labels and buttons it stays under 1,100.
CALL_TEXT = 640
#: A card with few calls gives each more room, up to here, and still stays far below what Slack takes.
MOST_TEXT = 1_600
FULL_CARD = 8
_IMPACTS = 4


def call_blocks(call: Call, law: CardLaw, *, of: int = FULL_CARD) -> list[Block]:
    """One call, as its reviewer needs it: at most four blocks. `of` is how many calls share the card."""
    if call.state is not State.PENDING_REVIEW:
        return [folded(call)]
    allowance = Allowance(min(MOST_TEXT, CALL_TEXT * FULL_CARD // max(1, of)))
    body = _body(call, law, allowance, wide=2 if of <= FULL_CARD // 2 else 1)
    return [*body, _controls(call, more=allowance.cut)]


def folded(call: Call) -> Block:
    """A call that nobody has to decide any more, on two lines beside its details."""
    words = "".join(map(_mrkdwn, status(call)))
    text = f"*{call.number}. {inert(call.content.preview.headline, 250)}*\n{words}"
    return section(text, _details_button(call), decided_block(call.key))


def _mrkdwn(part: Block) -> str:
    if part["type"] == "date":
        return f"<!date^{part['timestamp']}^{part['format']}|{part['fallback']}>"
    return escaped_within(part["text"], 400)


def _body(call: Call, law: CardLaw, allowance: Allowance, *, wide: int) -> list[Block]:
    content, preview = call.content, call.content.preview
    headline = allowance.take(one_line(preview.headline), 200)
    must = [allowance.take(text, 170 * wide) for text in _warnings(call)]
    who = allowance.take(one_line(f"{law.who(content.requirement)} {_standing(call)}"), 170 * wide)
    tool = inert(f"{call.tool}, asked by agent {call.agent}", 110)
    points = [allowance.take(text, most * wide) for text, most in _points(call)]
    allowance.cut = allowance.cut or len(preview.impact) > _IMPACTS
    rows = [allowance.take(text, 85) for text in _rows(preview, call.key)]
    body = allowance.take(one_line(preview.body or ""), 300 * wide)
    words = allowance.take(cut(one_line(content.reason or ""), 160), 160)  # an excerpt; it is not what is decided
    parts = [_heading(call, headline)]
    shown = [*(line(leaf("⚠ "), leaf(text, bold=True)) for text in must if text)]
    shown += [line(leaf(text, bold=at == 0)) for at, text in enumerate(points) if text]
    parts += [bullets(shown)] if shown else []
    parts.append(line(leaf(who, bold=True)))
    if any(rows):
        parts += [line(leaf(_rows_title(preview), italic=True)), bullets([line(leaf(row)) for row in rows if row])]
    parts += [quote(body)] if body else []
    if words:
        parts.append(line(leaf("The agent's own words, not checked: ", italic=True), leaf(f"“{words}”")))
    seal = f" · seal `{short_seal(call.seal)}`" if call.seal else ""
    note = " · shortened, Details shows all of it" if allowance.cut else ""
    return [rich(*parts), context(f"{tool} · version {call.version}{seal}{note}")]


def _heading(call: Call, headline: str) -> Block:
    return line(leaf(f"{call.number}. {headline or cut(one_line(call.tool), 60)}", bold=True))


def _warnings(call: Call) -> list[str]:
    content, preview = call.content, call.content.preview
    found = []
    if content.problem:
        found.append(one_line(content.problem))
    if preview.generic:
        found.append("Nobody wrote a preview for this tool; its fields are shown as they are.")
    if any(map(hides, _texts(call))):
        found.append(HIDDEN_WARNING)
    if call.refreshing:
        found.append("An edit is being checked; only a rejection is possible meanwhile.")
    if not fully_readable(call):
        found.append("Too long to be read in full here, so it cannot be approved.")
    if content.previous:
        found.append(one_line(f"Changed: {'; '.join(content.previous)}"))
    return found


def _texts(call: Call) -> Iterator[str]:
    """Everything a reviewer could be shown of a call."""
    content, preview = call.content, call.content.preview
    yield from (content.requested, content.arguments, content.reason or "", preview.headline, preview.body or "")
    yield from (*preview.impact, *preview.details)
    yield from (str(part) for row in preview.sample for cell in row.items() for part in cell)


def _points(call: Call) -> list[tuple[str, int]]:
    requirement, preview = call.content.requirement, call.content.preview
    undo = f"Can be undone: {requirement.undo}" if requirement.undo else "Cannot be undone"
    lines = [(one_line(undo if requirement.risk is Risk.IRREVERSIBLE or requirement.undo else "Can be undone"), 100)]
    lines += [(one_line(text), 90) for text in preview.impact[:_IMPACTS]]
    lines += [(f"Asked because: {one_line('; '.join(requirement.reasons))}", 130)] if requirement.reasons else []
    if preview.precondition:
        lines.append((one_line(f"Runs only while this holds: {preview.precondition.sentence}"), 110))
    return lines


def _standing(call: Call) -> str:
    said = standing(call).sentence
    return said if call.decisions or call.content.requirement.reviewers > 1 else ""


def _rows_title(preview: Preview) -> str:
    of = len(preview.rows) or len(preview.sample)
    shown = min(SAMPLE_ROWS, len(preview.sample))
    return f"{shown} of {count(of, 'row')}:" if of > shown else f"{count(shown, 'row')}:"


def _rows(preview: Preview, salt: str) -> list[str]:
    return [_row(preview, row, salt) for row in preview.sample[:SAMPLE_ROWS]]


def _row(preview: Preview, row: Row, salt: str) -> str:
    """Values only, as a line of a list reads; the details name the columns."""
    cells = [
        mask(row[column], salt) if column in preview.personal else one_line(str(row[column]))
        for column in preview.brief or preview.columns or tuple(row)
        if row.get(column) is not None
    ]
    return one_line(" · ".join(cells))


def _controls(call: Call, *, more: bool) -> Block:
    value = str(CallRef(call.key, call.version))
    approve = button("Approve", ActionId.APPROVE, value, style="primary", label=f"Approve call {call.number}")
    if call.content.requirement.confirm:
        approve["confirm"] = confirm(
            f"Approve call {call.number}?", cut(one_line(call.content.preview.headline), 80), "Approve"
        )
    reject = button("Reject", ActionId.REJECT, value, label=f"Reject call {call.number}")
    edit = button("Edit", ActionId.EDIT, value, label=f"Edit call {call.number}")
    details = _details_button(call, "Details (more)" if more else "Details")
    deciding = [] if call.refreshing or not fully_readable(call) else [approve]
    editing = [] if call.refreshing or call.content.problem else [edit]
    return actions(call_block(call.key), *deciding, reject, *editing, details)


def _details_button(call: Call, text: str = "Details") -> Block:
    value = str(CallRef(call.key, call.version))
    found = button(text, ActionId.DETAILS, value, label=f"Details of call {call.number}")
    return {**found, "text": plain_text(text, 30)}
