"""Why not, and whether a corrected proposal is welcome."""

from typing import NamedTuple

from bot.blocks import option
from bot.ids import COMMON_REASON, KIND, REASON, CallbackId, Place
from bot.modals import View, field, modal, text_input
from bot.payloads import Submission

COMMON = (
    "The amount is wrong",
    "The wrong rows or recipients",
    "Already done",
    "Not needed any more",
    "I need to know more first",
)
STOP, CORRECTION = "stop", "correction"
NO_REASON = "Say why, in a few words: the agent is told your reason."


class Rejection(NamedTuple):
    """What a reviewer said with a no."""

    reason: str
    correction: bool


def reject_modal(what: str, place: Place) -> View:
    """Asks for the reason of a rejection; `what` names the call or calls."""
    kinds = [option("Stop: it must not be proposed again", STOP), option("Propose a correction", CORRECTION)]
    common = {"type": "static_select", "options": [option(text, str(at)) for at, text in enumerate(COMMON)]}
    text = text_input(multiline=True, most=1000, placeholder="The agent and the thread are told this.")
    blocks = [
        field(COMMON_REASON, "Reason", common, optional=True),
        field(REASON, "In your words", text, optional=True, hint="A common reason, your own words, or both."),
        field(KIND, "And then", {"type": "radio_buttons", "options": kinds, "initial_option": kinds[0]}),
    ]
    return modal(CallbackId.REJECT, f"Reject {what}", blocks, place, submit="Reject")


def read_rejection(submitted: Submission) -> Rejection | None:
    """What was said; None when no reason was given."""
    chosen, own = submitted.values.get(COMMON_REASON), submitted.values.get(REASON)
    parts = (
        [COMMON[int(chosen)]] if isinstance(chosen, str) and chosen.isdecimal() and int(chosen) < len(COMMON) else []
    )
    parts += [own.strip()] if isinstance(own, str) and own.strip() else []
    if not parts:
        return None
    return Rejection(": ".join(parts), submitted.values.get(KIND) == CORRECTION)
