"""The blocks of one call on its card: what a tired person needs on the first screen of a phone, then its buttons."""

from typing import NamedTuple

from approvals.lifecycle import State
from approvals.models import Call
from approvals.preview import Preview, Row
from approvals.seal import short_seal
from bot.agent_names import of_call
from bot.allowance import Allowance
from bot.approval_words import asks_twice, comes_next
from bot.became_words import APART, Around
from bot.blocks import (
    Block,
    actions,
    bullets,
    button,
    confirm,
    context,
    dated,
    leaf,
    line,
    plain_text,
    quote,
    rich,
    section,
    text_length,
)
from bot.card_status import status
from bot.card_text import irreversible, limits_of, undo_of
from bot.card_warnings import warnings
from bot.details import fully_readable
from bot.drift_words import drift_asked, drift_lines
from bot.ids import ActionId, CallRef, call_block, decided_block
from bot.language import say, say_count
from bot.standing import CardLaw, standing
from bot.text import cut, escaped_within, few_lines, inert, mask, one_line
from bot.who_words import so_far

#: Characters of one call's own text on a full card; with labels and buttons it stays under 1,100.
CALL_TEXT = 600
#: A card with few calls gives each more room, up to here: more than this pushes the buttons off a phone's screen.
MOST_TEXT = 1_100
FULL_CARD = 8
_IMPACTS = 4
#: So many rows are all shown; of more, one: nobody decides by three of thirty-eight. All of them are in the details.
_ALL_ROWS = 3
#: Characters of one row: a line of a phone.
_ROW = 38


class Frame(NamedTuple):
    """What the card around a call says already. `of` is how many calls share the card."""

    of: int = FULL_CARD
    heading: bool = True
    who: bool = True
    words: bool = True
    #: Whether nothing else has to be decided before the call runs.
    alone: bool = True
    #: The run's agent, named once below everything; a call of another one names it.
    agent: str = ""
    #: For the calls that nobody has to decide any more, and for whether anything runs at all.
    around: Around = APART


def call_blocks(call: Call, law: CardLaw, frame: Frame) -> list[Block]:
    """One call, as its reviewer needs it: at most three blocks."""
    if call.state is not State.PENDING_REVIEW:
        return [folded(call, frame.around)]
    allowance = Allowance(min(MOST_TEXT, CALL_TEXT * FULL_CARD // max(1, frame.of)))
    body = _body(call, law, allowance, frame)
    return [body, _controls(call, frame, more=allowance.cut), _small_print(call, frame.agent)]


def folded(call: Call, beside: Around = APART) -> Block:
    """A call that nobody has to decide any more, on two lines beside its details."""
    words = "".join(map(_mrkdwn, status(call, beside)))
    text = f"*{call.number}. {inert(call.content.preview.headline, 250)}*\n{words}"
    return section(text, _details_button(call, say("Details"), FULL_CARD), decided_block(call.key))


def agents_words(call: Call, most: int = 160) -> str:
    """An excerpt of what the agent said beside the call; it is not what is decided, and all of it is in the details."""
    words = one_line(call.content.reason or "")
    end = words.rfind(". ", most // 3, most - 1)
    return f"{words[: end + 1]} …" if len(words) > most and end > 0 else cut(words, most)


def own_words(words: str) -> Block:
    """The agent's words, marked as its own."""
    return line(leaf(say("The agent's own words, not checked:"), italic=True), leaf(f" “{words}”"))


def _mrkdwn(part: Block) -> str:
    if part["type"] == "date":
        return dated(part)
    return escaped_within(part["text"], 400)


def _body(call: Call, law: CardLaw, allowance: Allowance, frame: Frame) -> Block:
    preview, wide = call.content.preview, 2 if frame.of <= FULL_CARD // 2 else 1
    headline = allowance.take(one_line(preview.headline), 200) if frame.heading else ""
    drifted = drift_lines(call)
    allowance.left -= text_length(drifted)  # shown whole, however little is left: the rest makes room
    must = [allowance.take(text, 170 * wide) for text in warnings(call, law.version)]
    who = allowance.take(one_line(_who(call, law, frame)), 170 * wide)
    points = [allowance.take(one_line(text), most * wide) for text, most in _points(call)]
    allowance.cut = allowance.cut or len(preview.impact) > _IMPACTS
    body = allowance.take(few_lines(preview.body or ""), 120 * wide)
    rows = [allowance.take(text, 85) for text in _rows(preview, call.key)] if not any(must) and not drifted else []
    words = allowance.take(agents_words(call), 160) if frame.words else ""
    parts = [_heading(call, headline)] if frame.heading else []
    shown = [*drifted, *(line(leaf("⚠ "), leaf(text, bold=True)) for text in must if text)]
    shown += [line(leaf(text, bold=at == 0)) for at, text in enumerate(points) if text]
    parts += [bullets(shown)] if shown else []
    parts += [line(leaf(who, bold=True))] if who else []
    parts += [quote(body)] if body else []
    if any(rows):
        parts += [line(leaf(_rows_title(preview), italic=True)), bullets([line(leaf(row)) for row in rows if row])]
    parts += [own_words(words)] if words else []
    parts += [line(leaf(say("Shortened; Details shows all of it."), italic=True))] if allowance.cut else []
    return rich(*parts)


def _heading(call: Call, headline: str) -> Block:
    return line(leaf(f"{call.number}. {headline or cut(one_line(call.tool), 60)}", bold=True))


def _points(call: Call) -> list[tuple[str, int]]:
    requirement, preview = call.content.requirement, call.content.preview
    lines = [(undo_of(call), 100), *((text, 90) for text in preview.impact[:_IMPACTS])]
    lines.append((limits_of(requirement), 120))
    if requirement.reasons:
        lines.append((say("Asked because: {reasons}", reasons="; ".join(requirement.reasons)), 130))
    if preview.precondition:
        lines.append((say("Runs only while true: {what}", what=preview.precondition.sentence), 110))
    return lines


def _who(call: Call, law: CardLaw, frame: Frame) -> str:
    """Who may decide; once somebody has, who that was and what is missing."""
    who = [law.who(call.content.requirement)] if frame.who else []
    return " ".join([*who, *([so_far(call)] if standing(call).approved_by else [])])


def _rows_title(preview: Preview) -> str:
    of = len(preview.rows) or len(preview.sample)
    if of <= _ALL_ROWS:
        return say_count(of, "{number} row:", "{number} rows:")
    return say_count(of, "{number} row in Details, such as:", "{number} rows in Details, such as:")


def _rows(preview: Preview, salt: str) -> list[str]:
    of = len(preview.rows) or len(preview.sample)
    return [_row(preview, row, salt) for row in preview.sample[: _ALL_ROWS if of <= _ALL_ROWS else 1]]


def _row(preview: Preview, row: Row, salt: str) -> str:
    """As many whole values as fit one line of a phone; the details name the columns and have the others."""
    cells = [
        mask(row[column], salt) if column in preview.personal else one_line(str(row[column]))
        for column in preview.brief or preview.columns or tuple(row)
        if row.get(column) is not None
    ]
    while len(cells) > 1 and len(" · ".join(cells)) > _ROW:
        cells.pop()
    return one_line(" · ".join(cells))


def _controls(call: Call, frame: Frame, *, more: bool) -> Block:
    value = str(CallRef(call.key, call.version))
    approve = button(
        say("Approve"), ActionId.APPROVE, value, style="primary", label=_aloud(say("Approve"), call, frame.of)
    )
    if asks_twice(call):
        approve["confirm"] = _asked_twice(call, frame)
    reject = button(say("Reject"), ActionId.REJECT, value, label=_aloud(say("Reject"), call, frame.of))
    edit = button(say("Edit"), ActionId.EDIT, value, label=_aloud(say("Edit"), call, frame.of))
    details = _details_button(call, say("Details (more)") if more else say("Details"), frame.of)
    deciding = [] if call.refreshing or not fully_readable(call) else [approve]
    editing = [] if call.refreshing or call.content.problem else [edit]
    return actions(call_block(call.key), *deciding, reject, *editing, details)


def _aloud(shown: str, call: Call, of: int) -> str:
    """What a screen reader says of a button: what is written on it, so that it can be called by that; then of what."""
    what = one_line(call.content.preview.headline)
    if of == 1:
        return say("{button}: {what}", button=shown, what=what)
    if of > FULL_CARD // 2:  # whatever is read aloud counts towards what Slack takes of one card
        return say("{button}, call {number}", button=shown, number=call.number)
    return say("{button}, call {number}: {what}", button=shown, number=call.number, what=cut(what, 45))


def _asked_twice(call: Call, frame: Frame) -> Block:
    """What happens, in words, before it does."""
    preview, roomy = call.content.preview, frame.of <= FULL_CARD // 2
    title = say("Approve: {what}?", what=cut(one_line(preview.headline), 85 if roomy else 55))
    then = comes_next(call, alone=frame.alone, frozen=frame.around.frozen)
    told = [drift_asked([call]), cut(undo_of(call), 90 if roomy else 60), then]
    told += [cut(one_line(text), 60) for text in preview.impact[:2]] if roomy else []
    text = " · ".join(part for part in told if part)
    return confirm(title, text, say("Approve"), style="danger" if irreversible(call) else "primary")


def _small_print(call: Call, run_agent: str) -> Block:
    tool = inert(call.tool, 60)
    agent = of_call(call)
    if agent != run_agent:
        tool = say("{tool}, asked by agent {agent}", tool=tool, agent=inert(agent, 50))
    seal = f" · {say('seal {seal}', seal=f'`{short_seal(call.seal)}`')}" if call.seal else ""
    which = say("call {number}, version {version}", number=call.number, version=call.version)
    return context(f"{which} · {tool}{seal}")


def _details_button(call: Call, shown: str, of: int) -> Block:
    value = str(CallRef(call.key, call.version))
    found = button(shown, ActionId.DETAILS, value, label=_aloud(shown, call, of))
    return {**found, "text": plain_text(shown, 30)}
