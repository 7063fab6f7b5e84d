"""Why not, and whether a corrected proposal is welcome."""

from typing import NamedTuple

from bot.blocks import leaf, line, option, rich
from bot.common_reasons import common_reasons, kept_reasons
from bot.ids import COMMON_REASON, KIND, REASON, CallbackId, Place
from bot.language import say
from bot.modals import View, field, modal, text_input
from bot.payloads import Submission
from bot.text import clip, one_line

STOP, CORRECTION = "stop", "correction"
#: The choice of whoever writes the reason; the others are numbered.
OWN_WORDS = "own"
_TOLD = 300


class Rejection(NamedTuple):
    """What a reviewer said with a no."""

    reason: str
    correction: bool


def no_reason() -> str:
    """What somebody is told who said no and not why."""
    return say("Say why, in a few words: the agent is told your reason.")


def reject_modal(what: str, place: Place, told: str = "", number: int = 1) -> View:
    """Asks for the reason of a rejection; `what` names the `number` calls, `told` says what they would do."""
    common = [option(text, str(at)) for at, text in enumerate(common_reasons())]
    common.append(option(say("Another reason, in my words below"), OWN_WORDS))
    kinds = [
        option(say("Stop"), STOP, say("The agent may not propose this again in this thread.")),
        option(
            say("Propose a correction"), CORRECTION, say("The agent may make one new proposal; it gets a new card.")
        ),
    ]
    shown = clip(one_line(told), _TOLD)
    blocks = [rich(line(leaf(shown, bold=True)), line(leaf(say("Nothing of it will run."))))] if shown else []
    own = text_input(multiline=True, most=1000, placeholder=say("The agent and the thread are told this."))
    needed = say("Needed for another reason.")
    submit = say("Reject") if number == 1 else say("Reject all {number}", number=number)
    blocks += [
        field(COMMON_REASON, say("Why"), _radio(common)),
        field(REASON, say("In your words"), own, hint=needed, optional=True),
        field(KIND, say("And then"), _radio(kinds, kinds[0])),
    ]
    return modal(CallbackId.REJECT, say("Reject {what}", what=what), blocks, place, submit=submit)


def read_rejection(submitted: Submission) -> Rejection | None:
    """What was said; None when no reason was given."""
    chosen, own = submitted.values.get(COMMON_REASON), submitted.values.get(REASON)
    common = kept_reasons()
    number = int(chosen) if isinstance(chosen, str) and chosen.isdecimal() else len(common)
    parts = [common[number]] if number < len(common) else []
    parts += [own.strip()] if isinstance(own, str) and own.strip() else []
    if not parts:
        return None
    return Rejection(": ".join(parts), submitted.values.get(KIND) == CORRECTION)


def _radio(choices: list[View], initial: View | None = None) -> View:
    return {"type": "radio_buttons", "options": choices, **({"initial_option": initial} if initial else {})}
