"""What is said about a canary once it is over: that it was one, and what became of it. Until then nothing tells it."""

from approvals.lifecycle import Cause
from approvals.models import Call
from bot.blocks import FALLBACK_TEXT, Message, leaf, line, rich
from bot.card_text import NAME
from bot.language import say, say_list
from bot.standing import standing
from bot.text import cut, escaped, one_line

_ODDITY = 250


def canary_end(call: Call) -> str:
    """That it was a test, in a sentence or two; empty for a real call and for a canary that still waits."""
    if call.canary is None or not call.final:
        return ""
    names = say_list(_names(call)) or say("a person")
    match call.cause:
        case Cause.PERSON:
            return say("This was a test, and {name} caught it. Nothing would have run.", name=names)
        case Cause.CANARY:
            said = say("This was a test; nothing ran and nothing will. It was approved by {names}.", names=names)
            odd = cut(one_line(call.canary.oddity), _ODDITY)
            return f"{said} {say('What was odd: {oddity}', oddity=odd)}" if odd else said
        case Cause.NOBODY:
            return say("This was a test; nobody decided in time.")
        case _:
            return say("This was a test; it ended before anybody decided.")


def render_canary_end(call: Call) -> Message:
    """The last message of its thread, in the place of an agent's answer."""
    said = canary_end(call)
    return Message(cut(escaped(said), FALLBACK_TEXT), [rich(line(leaf(said, bold=True)))])


def _names(call: Call) -> list[str]:
    """Who rejected it, or everybody whose approval counted."""
    rejected = [one for one in call.decisions if one.verdict == "reject"]
    counted = standing(call).approved_by
    decided = rejected[-1:] or [one for one in call.decisions if one.reviewer in counted]
    return [cut(one_line(name), NAME) for name in dict.fromkeys(one.name for one in decided)]
