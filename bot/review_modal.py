"""Every call of a card decided in one window."""

from collections.abc import Sequence
from typing import NamedTuple

from approvals.models import Call
from bot.blocks import Block, context, divider, leaf, line, option, rich
from bot.card_text import undo_of
from bot.details import fully_readable
from bot.drift_words import look_lines
from bot.ids import CallbackId, Place, reason_block, verdict_block
from bot.language import say
from bot.modals import View, field, modal, text_input
from bot.payloads import Submission
from bot.reject_modal import no_reason
from bot.text import clip, inert, one_line

APPROVE, REJECT, LATER = "approve", "reject", "later"


class Reviewed(NamedTuple):
    """What was chosen for one call; `reason` is there for every rejection."""

    key: str
    approve: bool
    reason: str | None


def review_modal(calls: Sequence[Call], place: Place, who: str) -> View:
    """One choice and one reason for each call that waits."""
    blocks: list[Block] = []
    for call in calls:
        blocks += [_told(call), _choice(call), _reason(call), divider()]
    blocks.append(context(inert(who, 600) or "-"))
    return modal(CallbackId.REVIEW, say("Decide each call"), blocks, place, submit=say("Decide"))


def read_review(submitted: Submission, keys: Sequence[str]) -> tuple[list[Reviewed], dict[str, str]]:
    """What was decided, and sentences for inputs that are incomplete."""
    decided: list[Reviewed] = []
    errors: dict[str, str] = {}
    for key in keys:
        verdict, reason = submitted.values.get(verdict_block(key)), submitted.values.get(reason_block(key))
        said = reason.strip() if isinstance(reason, str) else ""
        if verdict == REJECT and not said:
            errors[reason_block(key)] = no_reason()
        elif verdict in {APPROVE, REJECT}:
            decided.append(Reviewed(key, verdict == APPROVE, said or None))
    if not decided and not errors and keys:
        nothing = say("Nothing was decided. Choose approve or reject for at least one call.")
        errors[verdict_block(keys[0])] = nothing
    return decided, errors


def _told(call: Call) -> Block:
    preview = call.content.preview
    told = (*preview.impact[:3], *call.content.requirement.reasons[:2])
    words = [clip(one_line(text), 200) for text in told]
    heading = line(leaf(f"{call.number}. {clip(one_line(preview.headline), 300)}", bold=True))
    undo = line(leaf(clip(undo_of(call), 200), bold=True))
    return rich(heading, *look_lines(call), undo, *(line(leaf(text)) for text in words if text))


def _choice(call: Call) -> Block:
    approving = [] if call.refreshing or not fully_readable(call) else [option(say("Approve"), APPROVE)]
    choices = [*approving, option(say("Reject"), REJECT), option(say("Leave open"), LATER)]
    element = {"type": "radio_buttons", "options": choices, "initial_option": choices[-1]}
    return field(verdict_block(call.key), say("Call {number}", number=call.number), element)


def _reason(call: Call) -> Block:
    hint = say("Needed for a rejection.")
    return field(reason_block(call.key), say("Reason"), text_input(most=1000), hint=hint, optional=True)
