"""What calls are about, in one line for whoever reads it away from their card: personal values are masked."""

from collections.abc import Sequence

from approvals.kept import masks_of
from approvals.models import Call
from bot.card_text import total
from bot.language import say_count
from bot.radius import radius_of
from bot.text import cut, one_line

_HEADLINE = 150
#: Characters of the blast radius, which a rule may have made of somebody's data.
_RADIUS = 200


def safe_headline(call: Call, most: int = _HEADLINE) -> str:
    """What the call does, without the values that are known to be somebody's."""
    return cut(one_line(masks_of(call.content).scrub(call.content.preview.headline)), most)


def what_of(calls: Sequence[Call]) -> str:
    """One call by its headline; several by their number, radius and sum."""
    if len(calls) == 1:
        return safe_headline(calls[0])
    amount = total(list(calls))
    where = one_line(cut(radius_of(calls), _RADIUS))
    return say_count(
        len(calls),
        "{number} call, {what}",
        "{number} calls, {what}",
        what=f"{where}, {amount}" if amount else where,
    )


def full_stop(text: str) -> str:
    """Somebody's words as a sentence that another one can follow."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def capital(text: str) -> str:
    """The same at the beginning of a sentence."""
    return f"{text[:1].upper()}{text[1:]}"
