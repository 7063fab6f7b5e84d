"""Texts in the reader's language. English stands in the code and is the key; the rest is in `bot/locales/*/vobo.po`.

Whoever renders for one reader (a modal, a private answer, a direct message, the Home tab) does so inside
`speaking(person.locale, person.tz)`; what many read is rendered inside `speaking(<the workspace's language>)`. The
language is ambient, like the decimal context, because every leaf of a card would have to be handed it otherwise. The
law's own sentences (reasons of rules, previews) are not translated: they are what was sealed, in the words of whoever
wrote them. Amounts and counts keep one notation in every language, because typed amounts are read in it.
"""

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from babel.core import Locale, UnknownLocaleError
from babel.dates import format_time, get_timezone
from babel.lists import format_list
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

LOCALES = Path(__file__).parent / "locales"
#: The language the code is written in, and of whoever's own is not shipped.
ENGLISH = "en"
#: A place in a text for what is no text: a mention, an instant or a link of rich text (see `around`).
HOLE = "\x00"


class _Spoken(NamedTuple):
    language: str
    locale: Locale
    tz: str | None


#: English of no region writes 23:10, and `A, B and C`.
_PLAIN_ENGLISH = Locale("en", "GB")
_spoken: ContextVar[_Spoken | None] = ContextVar("spoken", default=None)


def say(text: str, /, **values: object) -> str:
    """The text in the language being spoken, its `{names}` filled in. `text` must be a literal, so that it is found."""
    said = _catalogue(_now().language).gettext(text)
    return said.format(**values) if values else said


def say_count(number: int, one: str, many: str, /, **values: object) -> str:
    """`one` or `many` by the number, which fills `{number}` with its thousands grouped."""
    said = _catalogue(_now().language).ngettext(one, many, number)
    return said.format(number=f"{number:,}", **values)


def say_list(names: Sequence[str]) -> str:
    """`A`, `A and B`, `A, B and C`, as the reader's language joins them."""
    return format_list(list(names), locale=_now().locale)


def say_choice(names: Sequence[str]) -> str:
    """`A`, `A or B`, `A, B or C`, as the reader's language joins them."""
    return format_list(list(names), style="or", locale=_now().locale)


def say_time(at_ms: int) -> str:
    """The time of day in the reader's zone, written as they write it; in UTC, which it says, when the zone is unknown.

    For text that Slack does not render. Where it does, `bot.blocks.when` leaves the zone to the reader's own client.
    """
    now = _now()
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    try:
        said = format_time(at, "short", tzinfo=get_timezone(now.tz or ""), locale=now.locale)
    except (LookupError, ValueError):  # unknown, or no name of a zone at all
        said = f"{format_time(at, 'short', tzinfo=UTC, locale=now.locale)} UTC"
    return said.replace("\u202f", " ").replace("\xa0", " ")  # spaces of CLDR that would be spelled out as hidden


def around(said: str) -> tuple[str, str]:
    """What stands before and after the `HOLE` in a text, so that a leaf of another kind can be put there."""
    before, _, after = said.partition(HOLE)
    return before, after


@contextmanager
def speaking(locale: str, tz: str | None = None) -> Iterator[None]:
    """Everything said inside is in this person's or workspace's language, or in English if that is not shipped.

    Args:
        locale: As Slack names it (`es-ES`) or as a setting does (`es`).
        tz: The reader's time zone (`Europe/Madrid`), when there is one reader.
    """
    token = _spoken.set(_spoken_in(locale, tz))
    try:
        yield
    finally:
        _spoken.reset(token)


def switch_to(locale: str, tz: str) -> None:
    """From here to the end of the innermost `speaking`, its one reader is better known than when it began."""
    if _spoken.get() is not None:
        _spoken.set(_spoken_in(locale, tz))


def language_of(locale: str) -> str:
    """The shipped language for a locale; English for what is unknown or malformed."""
    found = _parsed(locale)
    return found.language if found and found.language in shipped() else ENGLISH


@functools.cache
def shipped() -> frozenset[str]:
    """The languages one can be spoken to in."""
    return frozenset({ENGLISH, *(found.parent.name for found in LOCALES.glob("*/vobo.po"))})


def _now() -> _Spoken:
    return _spoken.get() or _Spoken(ENGLISH, _PLAIN_ENGLISH, None)


def _spoken_in(locale: str, tz: str | None) -> _Spoken:
    found = _parsed(locale)
    if found is None or found.language not in shipped() or str(found) == ENGLISH:
        return _Spoken(ENGLISH, _PLAIN_ENGLISH, tz)
    return _Spoken(found.language, found, tz)


@functools.lru_cache(maxsize=64)
def _parsed(locale: str) -> Locale | None:
    """Slack names regions that are none (`es-LA` is Latin America there, and Laos elsewhere): then the language."""
    for name in (locale, locale.replace("_", "-").partition("-")[0]):
        try:
            return Locale.parse(name.replace("-", "_"))
        except (ValueError, UnknownLocaleError):
            continue
    return None


@functools.cache
def _catalogue(language: str) -> NullTranslations:
    """The language's texts, with its rule for plurals. An incomplete translation falls back to English by itself."""
    if language == ENGLISH:
        return NullTranslations()
    compiled = BytesIO()
    with (LOCALES / language / "vobo.po").open("rb") as file:
        write_mo(compiled, read_po(file, locale=language))
    compiled.seek(0)
    return GNUTranslations(compiled)
