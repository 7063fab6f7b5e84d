"""What the law says about a typed value or a field, in the language of whoever types.

`policies` knows no language and raises English sentences. Those that a person meets at a field are known here by their
shape; whatever has none of these shapes (a team's own validator) is said in the law's own words.
"""

import functools
import re
from collections.abc import Callable
from typing import NamedTuple

from bot.language import ENGLISH, say, speaking


class _Shape(NamedTuple):
    """One sentence and the names of its places."""

    say: Callable[..., str]
    places: tuple[str, ...] = ()


#: An amount with a comma before two decimals, and an example of a currency that has two.
_COMMA, _TWO_DECIMALS = re.compile(r'"([0-9]{1,12}),([0-9]{2})"'), re.compile(r"[0-9]+\.[0-9]{2}")


def _not_an_amount(typed: str, example: str) -> str:
    """What is most likely meant is offered and not read as that: whoever typed it has to say so."""
    comma = _COMMA.fullmatch(typed)
    if comma is None or not _TWO_DECIMALS.fullmatch(example):
        return say("{typed} is not an amount. Type digits only, for example {example}.", typed=typed, example=example)
    point = f"{comma[1]}.{comma[2]}"
    return say("{typed} is not an amount. Use a point for decimals: {point}.", typed=typed, point=point)


_SHAPES = (
    _Shape(_not_an_amount, ("typed", "example")),
    _Shape(
        lambda **v: say("{typed} has {given} decimals; {currency} has none. Type for example {example}.", **v),
        ("typed", "given", "currency", "example"),
    ),
    _Shape(
        lambda **v: say("{typed} has {given} decimals; {currency} has {decimals}. Type for example {example}.", **v),
        ("typed", "given", "currency", "decimals", "example"),
    ),
    _Shape(lambda **v: say("{typed} is nothing. To pay nothing, remove the line or reject the call.", **v), ("typed",)),
    _Shape(
        lambda **v: say("{typed} is not a whole number. Type digits only, for example {example}.", **v),
        ("typed", "example"),
    ),
    _Shape(lambda **v: say("{typed} is more than the {most} proposed.", **v), ("typed", "most")),
    _Shape(
        lambda **v: say("{typed} is more than any amount of {currency} here; the most is {most}.", **v),
        ("typed", "currency", "most"),
    ),
    _Shape(lambda **v: say("{typed} is less than {least}.", **v), ("typed", "least")),
    _Shape(lambda **v: say("{typed} is not one of {values}.", **v), ("typed", "values")),
    _Shape(lambda **v: say("{typed} is blank. Type a text, or leave it as it was proposed.", **v), ("typed",)),
    _Shape(lambda **v: say("This text has {number} characters; at most {most} are allowed.", **v), ("number", "most")),
    _Shape(lambda **v: say("{typed} was not proposed, so it cannot be kept.", **v), ("typed",)),
    _Shape(lambda **v: say("{field} cannot be changed. A different value needs a new proposal.", **v), ("field",)),
    _Shape(lambda: say("What is not kept is dropped. At least one must stay.")),
    _Shape(lambda **v: say("One of: {values}.", **v), ("values",)),
    _Shape(lambda **v: say("At most {most} characters.", **v), ("most",)),
    _Shape(lambda **v: say("At most {most}. Type digits only, for example {example}.", **v), ("most", "example")),
    _Shape(lambda **v: say("A whole number, at least {least} and at most {most}.", **v), ("least", "most")),
    _Shape(lambda **v: say("A whole number, at least {least}.", **v), ("least",)),
    _Shape(lambda **v: say("A whole number, at most {most}.", **v), ("most",)),
    _Shape(lambda: say("Nothing is left. To drop everything, reject the call.")),
    _Shape(lambda: say("Nothing was changed. Change a value, or approve the call as it is.")),
)


def in_readers_words(sentence: str) -> str:
    """The same sentence in the language being spoken, or as it is."""
    for shape, pattern in _patterns():
        found = pattern.fullmatch(sentence)
        if found:
            return shape.say(**found.groupdict())
    return sentence


@functools.cache
def _patterns() -> tuple[tuple[_Shape, re.Pattern[str]], ...]:
    """How each shape reads in English, any text at its places."""
    with speaking(ENGLISH):
        read = [(shape, shape.say(**{name: f"\x00{name}\x00" for name in shape.places})) for shape in _SHAPES]
    return tuple((shape, re.compile(_pattern(english), re.DOTALL)) for shape, english in read)


def _pattern(english: str) -> str:
    return re.sub("\x00(.*?)\x00", r"(?P<\1>.+)", re.escape(english).replace("\\\x00", "\x00"))
