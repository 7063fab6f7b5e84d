"""Every call of a card decided in one window, and the question before what the card would ask twice about."""

from collections.abc import Sequence
from typing import NamedTuple

from approvals.models import BatchView, Call
from bot.approval_words import all_come_next, asks_twice, comes_next, nothing_beside
from bot.blocks import Block, bullets, context, divider, leaf, line, option, rich
from bot.card_text import attention, deadline, limits_of, pending, total, undo_of
from bot.card_warnings import warnings
from bot.details import fully_readable
from bot.drift_words import drift_asked, look_lines
from bot.ids import CallbackId, Place, reason_block, verdict_block
from bot.language import say, say_count
from bot.modals import View, field, modal, text_input
from bot.payloads import Submission
from bot.reject_modal import no_reason
from bot.standing import CardLaw, standing
from bot.text import clip, cut, inert, one_line
from bot.who_words import so_far

APPROVE, REJECT, LATER = "approve", "reject", "later"
#: Characters of a reason.
_REASON = 1000


class Reviewed(NamedTuple):
    """What was chosen for one call; `reason` is there for every rejection."""

    key: str
    approve: bool
    reason: str | None


def review_modal(view: BatchView, place: Place, law: CardLaw, me: str = "") -> View:
    """One choice and one reason for each call that waits, but for those that the reader, `me`, has approved."""
    waiting = pending(view)
    blocks: list[Block] = [_until(view)]
    for call in waiting:
        blocks.append(_told(call, law))
        blocks += [_yours()] if me in standing(call).approved_by else [_choice(call), _reason(call)]
        blocks.append(divider())
    number = say_count(len(waiting), "{number} call.", "{number} calls.")
    blocks.append(context(inert(f"{number} {law.who(waiting[0].content.requirement)}", 600)))
    submit = say("Decide") if any(block["type"] == "input" for block in blocks) else None
    return modal(CallbackId.REVIEW, say("Decide each call"), blocks, place, submit=submit)


def read_review(submitted: Submission, keys: Sequence[str]) -> tuple[list[Reviewed], dict[str, str]]:
    """What was decided, and sentences for inputs that are incomplete."""
    decided: list[Reviewed] = []
    errors: dict[str, str] = {}
    asked = [key for key in keys if verdict_block(key) in submitted.values]
    for key in asked:
        verdict, said = submitted.values.get(verdict_block(key)), _said(submitted, key)
        if verdict == REJECT and not said:
            errors[reason_block(key)] = no_reason()
        elif verdict in {APPROVE, REJECT}:
            decided.append(Reviewed(key, verdict == APPROVE, said or None))
    if not decided and not errors and asked:
        nothing = say("Nothing was decided. Choose approve or reject for at least one call.")
        errors[verdict_block(asked[0])] = nothing
    return decided, errors


def asks_first(view: BatchView, chosen: Sequence[Reviewed]) -> bool:
    """Whether the card would ask once more about one of these approvals."""
    approved = {one.key for one in chosen if one.approve}
    return any(asks_twice(call) for call in pending(view) if call.key in approved)


def review_sure_modal(
    view: BatchView, chosen: Sequence[Reviewed], place: Place, law: CardLaw, *, frozen: bool = False
) -> View:
    """What would be approved and what it leads to, on top of the choices. Closing it decides nothing.

    The reasons are inputs again: they are too long to be remembered by the window itself.
    """
    said = {one.key: one for one in chosen}
    approved = [call for call in pending(view) if call.key in said and said[call.key].approve]
    rejected = [call for call in pending(view) if call.key in said and not said[call.key].approve]
    alone = nothing_beside(view, [*approved, *rejected])
    blocks: list[Block] = [_until(view)]
    for call in approved:
        blocks.append(_sure(call, law, comes_next(call, alone=alone, frozen=frozen)))
        blocks += [_reason(call, why, needed=False)] if (why := said[call.key].reason) else []
    if len(approved) > 1:
        then = all_come_next(approved, alone=alone, frozen=frozen)
        blocks.append(rich(line(leaf(_together(approved, then), bold=True))))
    for call in rejected:
        blocks.append(rich(_heading(call), line(leaf(say("Rejected: nothing of it will run.")))))
        blocks.append(_reason(call, said[call.key].reason or "", needed=True))
    if left := len(pending(view)) - len(approved) - len(rejected):
        blocks.append(context(say_count(left, "{number} call stays open.", "{number} calls stay open.")))
    title = say_count(len(approved), "Approve {number} call?", "Approve {number} calls?")
    here = place.model_copy(update={"approve": tuple(call.key for call in approved)})
    return modal(CallbackId.REVIEW_SURE, title, blocks, here, submit=say("Decide now"), close=say("Go back"))


def read_review_sure(submitted: Submission, keys: Sequence[str]) -> tuple[list[Reviewed], dict[str, str]]:
    """What was decided: approved is what the question was about, rejected what has a reason beside it."""
    approved = set(submitted.place.approve)
    chosen = [
        Reviewed(key, key in approved, _said(submitted, key) or None)
        for key in keys
        if key in approved or reason_block(key) in submitted.values
    ]
    errors = {reason_block(one.key): no_reason() for one in chosen if not one.approve and not one.reason}
    return chosen, errors


def _said(submitted: Submission, key: str) -> str:
    reason = submitted.values.get(reason_block(key))
    return reason.strip() if isinstance(reason, str) else ""


def _until(view: BatchView) -> Block:
    return context(" · ".join([deadline(view), *attention(view)]))


def _heading(call: Call) -> Block:
    return line(leaf(f"{call.number}. {clip(one_line(call.content.preview.headline), 300)}", bold=True))


def _warned(call: Call, law: CardLaw) -> list[Block]:
    return [line(leaf(f"⚠ {clip(one_line(text), 340)}", bold=True)) for text in warnings(call, law.version)]


def _told(call: Call, law: CardLaw) -> Block:
    """What the card says of the call: warnings, edits and approvals too."""
    content = call.content
    told = (*content.preview.impact[:4], limits_of(content.requirement), *content.requirement.reasons[:2])
    words = [clip(one_line(text), 200) for text in told]
    parts = [_heading(call), *look_lines(call), *_warned(call, law)]
    parts.append(line(leaf(clip(undo_of(call), 200), bold=True)))
    parts += [line(leaf(clip(one_line(so_far(call)), 300), bold=True))] if standing(call).approved_by else []
    return rich(*parts, *(line(leaf(text)) for text in words if text))


def _sure(call: Call, law: CardLaw, then: str) -> Block:
    told = [drift_asked([call]), undo_of(call), then, *call.content.preview.impact[:2]]
    points = [line(leaf(clip(one_line(text), 200))) for text in told if text]
    return rich(_heading(call), bullets([*_warned(call, law), *points]))


def _together(calls: list[Call], then: str) -> str:
    amount = total(calls)
    return f"{say('Together {total}', total=amount)}. {then}." if amount else f"{then}."


def _yours() -> Block:
    return context(say("You have approved this one already."))


def _choice(call: Call) -> Block:
    what = one_line(call.content.preview.headline)
    approve = option(say("Approve: {what}", what=what), APPROVE, cut(undo_of(call), 75))
    approving = [] if call.refreshing or not fully_readable(call) else [approve]
    choices = [*approving, option(say("Reject"), REJECT), option(say("Leave open"), LATER)]
    element = {"type": "radio_buttons", "options": choices, "initial_option": choices[-1]}
    return field(verdict_block(call.key), say("Call {number}", number=call.number), element)


def _reason(call: Call, typed: str = "", *, needed: bool = False) -> Block:
    hint = "" if typed else say("Needed for a rejection.")
    element = text_input(initial=typed[:_REASON], most=_REASON)
    return field(reason_block(call.key), say("Reason"), element, hint=hint, optional=not needed)
